"""A peer's process reaches loopback only, and gets none of the user's keys."""

import subprocess
import sys

from benchmarks.options import root
from benchmarks.peers.fence import environment

FENCED = """
import socket
from benchmarks.peers.fence import Fenced, close_the_network
close_the_network()
def attempt(name, act):
    try:
        act()
    except Fenced:
        print(name, "fenced")
    except OSError:
        print(name, "allowed")
connection = socket.socket()
connection.settimeout(1)
attempt("connect", lambda: connection.connect(("192.0.2.1", 9)))
attempt("connect_ex", lambda: connection.connect_ex(("192.0.2.1", 9)))
attempt("name", lambda: socket.getaddrinfo("example.org", 443))
attempt("datagram", lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 9)))
attempt("loopback", lambda: connection.connect(("127.0.0.1", 9)))
"""


def test_sockets_reach_loopback_only(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FENCED],
        env=dict(environment(str(tmp_path), str(root()))),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:-1] == [
        "connect fenced",
        "connect_ex fenced",
        "name fenced",
        "datagram fenced",
        "loopback allowed",
    ]


def test_the_environment_of_a_peer_holds_no_key_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", "sk-real")
    given = environment(str(tmp_path), "somewhere")
    assert "LANGFUSE_SECRET_KEY" not in given
    assert given["https_proxy"] == given["HTTP_PROXY"] == "http://127.0.0.1:9"
    assert given["HOME"] == str(tmp_path)
