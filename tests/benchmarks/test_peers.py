"""Peers are found where they are installed, and a peer that fails is said, not fatal."""

import ast
import sys
from pathlib import Path

import pytest

import benchmarks.peers
from benchmarks.overhead import PeerFailed, measure_peer
from benchmarks.peers.catalogue import PEERS, Peer, installed

FOLDER = Path(benchmarks.peers.__file__).parent


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.distribution)
def test_each_peer_has_a_module_that_starts_it(peer):
    tree = ast.parse((FOLDER / f"{peer.module}.py").read_text())
    assert "start" in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_each_peer_is_named_with_a_version_in_the_list_to_install():
    lines = FOLDER.with_name("peers.txt").read_text().splitlines()
    named = [line.partition("==")[0] for line in lines if not line.startswith("#")]
    assert named == [peer.distribution for peer in PEERS]


def test_no_interpreter_means_no_peer():
    assert installed([]) == {}


def test_the_first_interpreter_that_has_a_peer_is_taken():
    found = installed([sys.executable, sys.executable])
    assert {interpreter for interpreter, _ in found.values()} <= {sys.executable}


def test_a_peer_that_fails_is_told_with_its_last_words():
    absent = Peer("no_such_module", "nothing", "nothing", "never")
    with pytest.raises(PeerFailed, match="no_such_module"):
        measure_peer(absent, sys.executable, quick=True)


def test_a_peer_that_is_installed_gives_every_figure():
    pytest.importorskip("opentelemetry.sdk", reason="the peer of this test is not installed")
    (peer,) = [peer for peer in PEERS if peer.distribution == "opentelemetry-sdk"]
    found = measure_peer(peer, sys.executable, quick=True)
    assert {"cases", "threads", "stored", "loads"} == set(found)
    assert found["stored"]["lost"] == 0
