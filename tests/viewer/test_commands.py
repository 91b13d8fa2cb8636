"""`agenttrace view` and `agenttrace serve`: what they print, refuse, note and leave behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest
import shop
from click.testing import CliRunner

from agenttrace.cli.main import cli
from agenttrace.redaction import Redaction
from agenttrace.scoring.annotating import annotate
from agenttrace.store import SQLiteStore
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
        try:
            return self.process.wait(20)
        finally:  # what runs on, and its pipes, would fail tests after this one
            self.process.kill()
            self.process.communicate(timeout=20)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=20)


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


def test_a_viewer_that_is_killed_while_it_is_asked_leaves_the_store_as_it_was(own_shop):
    before = own_shop.read_bytes()
    viewer = Viewer("view", "--store", own_shop, "--no-open", "--no-token", "--port", free_port())
    base = viewer.url.removesuffix("/traces")
    with urllib.request.urlopen(f"{base}/failures") as answer:
        assert answer.status == 200
    asking = [socket.create_connection(("127.0.0.1", int(base.rpartition(":")[2]))) for _ in range(5)]
    for one in asking:
        one.sendall(f"GET /traces HTTP/1.1\r\nHost: {base.removeprefix('http://')}\r\n\r\n".encode())
    viewer.kill()
    for one in asking:
        one.close()
    assert own_shop.read_bytes() == before
    store = SQLiteStore(own_shop)
    trace_id = store.traces()[0].trace_id
    assert annotate(store, "shop", Redaction(), trace_id, None, None, {"note": "still written"})
    assert [word.note for word in store.annotations()] == ["still written"]
    store.close()


def test_a_viewer_that_is_killed_while_forms_are_sent_loses_no_word_that_it_confirmed(own_shop):
    store = SQLiteStore(own_shop)
    trace_id = store.traces()[0].trace_id
    viewer = Viewer("view", "--store", own_shop, "--no-open", "--no-token", "--port", free_port())
    base = viewer.url.removesuffix("/traces")
    with urllib.request.urlopen(f"{base}/failures") as answer:
        form_token = re.search('name="form_token" value="([^"]+)"', answer.read().decode())[1]
    for number in range(5):
        fields = {"form_token": form_token, "trace": trace_id, "note": str(number), "back": "/health"}
        sent = urllib.request.Request(
            f"{base}/annotations", urlencode(fields).encode(), headers={"Origin": base}
        )
        with urllib.request.urlopen(sent) as answer:
            assert answer.url == f"{base}/health"
    viewer.kill()
    assert {word.note for word in store.annotations()} == set("01234")
    store.close()
    with sqlite3.connect(own_shop) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_neither_tokens_nor_queries_are_in_the_log_of_a_server(tmp_path, own_shop):
    token = tmp_path / "team.token"
    token.write_text("a-token-of-the-team-1234")
    os.chmod(token, 0o600)
    viewer = Viewer("serve", "--store", own_shop, "--port", "0", "--token-file", token, "--read-only")
    try:
        base = viewer.url.rstrip("/")
        paths = ["/traces?q=secret-query&token=a-token-of-the-team-1234", "/traces?token=a-wrong-token-1234",
                 "/nowhere?q=secret-query", "/api/v1/traces?q=secret-query:x"]  # fmt: skip
        for path in paths:
            try:
                urllib.request.urlopen(base + path).close()
            except urllib.error.HTTPError as error:
                error.close()
        with socket.create_connection(("127.0.0.1", int(base.rpartition(":")[2]))) as client:
            client.sendall(b"GET /traces?q=secret-query HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            assert client.recv(1_000).startswith(b"HTTP/1.1 400")
        posted = urllib.request.Request(f"{base}/annotations", b"thumbs=up", headers={"Origin": base})
        with pytest.raises(urllib.error.HTTPError, match="405"):
            urllib.request.urlopen(posted)
    finally:
        viewer.process.send_signal(signal.SIGINT)
        out, log = viewer.process.communicate(timeout=20)
    for text in (viewer.line, out, log):
        assert "a-token-of-the-team" not in text
        assert "wrong-token" not in text
        assert "secret-query" not in text


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_an_address_that_others_reach_is_refused_without_a_token_whatever_else_is_asked(tmp_path, host):
    for more in ((), ("--no-token",), ("--read-only",)):
        refused = run("serve", "--host", host, "--store", tmp_path / "x.db", *more)
        assert "so a token is needed" in str(refused.exception)


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
