"""Several viewers at once: of one store, of several, beside other programs, after one that was killed."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_commands import Viewer, free_port, run

from agenttrace.cli import view as view_command
from agenttrace.store import SQLiteStore
from agenttrace.store.viewer_note import note_path, running_viewer
from agenttrace.tracer import Tracer
from agenttrace.viewer.serving import PORT


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def path(tmp_path, shop_path) -> Path:
    path = tmp_path / "traces.db"
    shutil.copy(shop_path, path)
    return path


def count(viewer: Viewer) -> int:
    """How many traces a viewer shows: asked as a reader does, by the address that it printed."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(viewer.url, timeout=20).close()
    base, _, _ = viewer.url.partition("/traces")
    with opener.open(f"{base}/api/v1/health", timeout=20) as answer:
        state = json.loads(answer.read())["state"]
    with opener.open(f"{base}/traces", timeout=20) as answer:
        assert f'"total">{state["traces"]} traces<' in answer.read().decode()
    return state["traces"]


def test_two_viewers_of_one_store_show_the_same_and_both_notice_what_is_new(path):
    viewers = [Viewer("view", "--store", path, "--no-open", "--port", free_port()) for _ in range(2)]
    try:
        assert viewers[0].url != viewers[1].url
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(count, viewers)) == [49, 49]
            tracer = Tracer(project_name="p", store=str(path))
            tracer.observe(span_type="agent")(lambda: 1)()
            assert tracer.flush(timeout=60)
            tracer.shutdown()
            assert list(pool.map(count, viewers)) == [50, 50]
    finally:
        codes = [viewer.end() for viewer in viewers]
    assert len(set(codes)) == 1
    assert not Path(note_path(str(path))).exists()


def test_where_one_of_two_viewers_ends_the_other_is_still_found(path):
    first = Viewer("view", "--store", path, "--no-open", "--port", free_port())
    second = Viewer("view", "--store", path, "--no-open", "--port", free_port())
    try:
        first.end()
        assert running_viewer(str(path)).pid == second.process.pid
    finally:
        second.end()


def test_where_the_second_of_two_viewers_ends_the_first_is_still_found(path):
    first = Viewer("view", "--store", path, "--no-open", "--port", free_port())
    second = Viewer("view", "--store", path, "--no-open", "--port", free_port())
    try:
        assert running_viewer(str(path)).pid == first.process.pid
        second.end()
        assert running_viewer(str(path)).pid == first.process.pid
    finally:
        first.end()
    assert not Path(note_path(str(path))).exists()


def test_a_viewer_that_runs_already_is_opened_at_the_page_that_was_asked_for(path, monkeypatch):
    opened: list[str] = []
    monkeypatch.setattr(view_command.webbrowser, "open", opened.append)
    viewer = Viewer("view", "--store", path, "--no-open", "--port", free_port())
    try:
        done = run("view", "failed", "--store", path)
        assert done.exception is None
        base = viewer.url.partition("/traces")[0]
        assert done.output == f"{base}/ shows this store already\n"
        (address,) = opened
        assert address.startswith(f"{base}/t/")
        assert viewer.url.partition("token=")[2] not in address  # all users can read a command line
        with urllib.request.build_opener(urllib.request.HTTPCookieProcessor()).open(address) as answer:
            assert "<h1>" in answer.read().decode()
    finally:
        viewer.end()


def test_beside_another_program_on_the_usual_port_the_next_free_one_is_taken(path):
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            holder.bind(("127.0.0.1", PORT))
            holder.listen()
        except OSError:
            pass  # somebody has it already, which is what is wanted
        viewer = Viewer("view", "--store", path, "--no-open")
        try:
            assert int(viewer.url.split(":")[2].split("/")[0]) != PORT
            assert count(viewer) == 49
        finally:
            viewer.end()
    finally:
        holder.close()


def test_a_store_of_its_own_gets_a_viewer_of_its_own(path, tmp_path):
    other = tmp_path / "other.db"
    shutil.copy(path, other)
    first = Viewer("view", "--store", path, "--no-open")
    second = Viewer("view", "--store", other, "--no-open")
    try:
        assert "Ctrl-C ends" in second.line
        assert running_viewer(str(path)).pid == first.process.pid
        assert running_viewer(str(other)).pid == second.process.pid
    finally:
        first.end()
        second.end()


def test_after_a_viewer_that_was_killed_the_next_one_starts_and_the_store_is_as_it_was(path):
    before = path.read_bytes()
    killed = Viewer("view", "--store", path, "--no-open", "--port", free_port())
    assert count(killed) == 49
    killed.process.send_signal(signal.SIGKILL)
    killed.process.wait(20)
    killed.process.stdout.close()
    killed.process.stderr.close()
    assert Path(note_path(str(path))).exists()
    assert running_viewer(str(path)) is None
    viewer = Viewer("view", "--store", path, "--no-open")
    try:
        assert "Ctrl-C ends" in viewer.line
        assert count(viewer) == 49
        assert running_viewer(str(path)).pid == viewer.process.pid
    finally:
        viewer.end()
    assert path.read_bytes() == before
    assert len(SQLiteStore(path).runs()) == 3
