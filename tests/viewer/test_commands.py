"""`agenttrace view` and `agenttrace serve`: what they print, refuse, note and leave behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import shop
from click.testing import CliRunner

from agenttrace.cli.main import cli
from agenttrace.store.viewer_note import note_path, running_viewer
from agenttrace.viewer.serving import listen


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run(*arguments):
    return CliRunner().invoke(cli, [str(one) for one in arguments], standalone_mode=False)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Viewer:
    """The command in a process of its own."""

    def __init__(self, *arguments) -> None:
        command = [sys.executable, "-m", "agenttrace", *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()

    @property
    def url(self) -> str:
        return re.match(r"(http://\S+)", self.line)[1]

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def test_the_command_serves_says_where_notes_it_and_cleans_up(tmp_path):
    path = tmp_path / "traces.db"
    shop.fill(path).close()
    viewer = Viewer("view", "failed", "--store", path, "--no-open", "--port", free_port())
    try:
        assert "(Ctrl-C ends)" in viewer.line
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(viewer.url) as answer:
            text = answer.read().decode()
        assert "card declined" in text or "Tool Order" in text
        note = Path(note_path(str(path)))
        assert note.stat().st_mode & 0o777 == 0o600
        assert json.loads(note.read_text())["pid"] == viewer.process.pid
        assert "token" not in note.read_text()
        assert running_viewer(str(path)).pid == viewer.process.pid
        second = run("view", "last", "--store", path, "--no-open")
        assert "shows this store already" in second.output
    finally:
        viewer.end()
    assert not note.exists()
    assert running_viewer(str(path)) is None


def test_a_note_of_a_process_that_is_gone_or_of_another_address_does_not_count(tmp_path):
    path = str(tmp_path / "traces.db")
    for note in ('{"url": "http://127.0.0.1:1/", "pid": 1}', '{"url": "http://evil/", "pid": 1}', "[]", "no"):
        Path(note_path(path)).write_text(note)
        assert running_viewer(path) is None


def test_a_port_that_is_taken_is_said_and_without_one_the_next_is_used():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert "give another --port" in str(
            run("view", "--no-open", "--port", port, "--store", "x.db").exception
        )
    with listen("127.0.0.1", None) as first, listen("127.0.0.1", None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]


def test_beyond_this_machine_a_token_is_needed_and_said_how_to_make(tmp_path):
    refused = run("serve", "--host", "0.0.0.0", "--store", tmp_path / "x.db")
    assert "--token-file" in str(refused.exception)
    assert "chmod 600" in str(refused.exception)
    assert "cannot be read" in str(
        run("serve", "--token-file", tmp_path / "none", "--store", tmp_path / "x").exception
    )
    assert "begins with one slash" in str(
        run("serve", "--root-path", "x/", "--store", tmp_path / "x").exception
    )


def test_what_is_not_there_is_said_before_anything_is_served(tmp_path, shop_path):
    assert "no trace and no run" in str(run("view", "ffffffff", "--store", shop_path, "--no-open").exception)
    assert "no trace" in str(run("view", "last", "--store", tmp_path / "none.db", "--no-open").exception)
    assert "in memory" in str(run("view", "--store", "memory", "--no-open").exception)


def test_a_served_store_needs_the_token_of_the_file(tmp_path, shop_path):
    token = tmp_path / "team.token"
    token.write_text("a-token-of-the-team-1234")
    os.chmod(token, 0o600)
    viewer = Viewer("serve", "--store", shop_path, "--port", "0", "--token-file", token)
    try:
        url = viewer.url.rstrip("/")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{url}/api/v1/runs")
        asked = urllib.request.Request(
            f"{url}/api/v1/runs", headers={"Authorization": f"Bearer {token.read_text()}"}
        )
        with urllib.request.urlopen(asked) as answer:
            assert len(json.loads(answer.read())["runs"]) == 3
    finally:
        viewer.end()
