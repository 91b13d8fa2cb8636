"""What pages say of a store that is missing, busy, newer, damaged, replaced, retired or behind its index."""

from __future__ import annotations

import html
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from test_pages import MOST_BYTES, MOST_NODES, Read, asks

from agenttrace.core.query import Query
from agenttrace.core.span import Span
from agenttrace.store import SQLiteStore
from agenttrace.viewer import api
from agenttrace.viewer.app import PAGES
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.trace_list import trace_list

LISTS = ["/traces", "/runs", "/scores", "/tools", "/health"]


@pytest.fixture
def copy_of_shop(tmp_path, shop_path) -> Path:
    """A store of the test's own, filled."""
    path = tmp_path / "own" / "traces.db"
    path.parent.mkdir()
    shutil.copy(shop_path, path)
    return path


def many(path: Path, count: int) -> SQLiteStore:
    store = SQLiteStore(path)
    for start in range(1, count + 1, 5_000):
        store.export(
            [
                Span(
                    trace_key=number,
                    span_key=1,
                    name=f"agent_{number % 9}",
                    span_type="agent",
                    project="p",
                    start_ns=10**18 + number * 10**9,
                    end_ns=10**18 + number * 10**9 + 500,
                    input={"message": f"question {number} " * 20},
                )
                for number in range(start, min(start + 5_000, count + 1))
            ]
        )
    return store


def files_in(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


# --- empty --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", LISTS)
def test_without_a_file_every_page_says_so_and_makes_none(tmp_path, start_server, path):
    answer = start_server(tmp_path / "none" / "traces.db").ask(path)
    assert answer.status == 200
    assert {
        "/traces": "No traces yet",
        "/runs": "No evaluation runs yet",
        "/scores": "No trace has a score",
        "/tools": "No tool was called",
        "/health": "Nothing is stored yet",
    }[path] in answer.text
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_matches_each_term_can_be_taken_away(reads):
    _, text = trace_list(reads, {"q": "customer:acme tool:refund customer:nobody"})
    chips = [attrs["href"] for attrs in Read(text).of("a") if attrs.get("class") == "pill"]
    assert chips == [
        "/traces?q=tool%3Arefund%20customer%3Anobody",
        "/traces?q=customer%3Aacme%20customer%3Anobody",
        "/traces?q=customer%3Aacme%20tool%3Arefund",
    ]
    assert re.search(r"Without customer:nobody : (\d+) match", Read(text).text)


# --- retired ------------------------------------------------------------------------------------------------


def test_a_trace_that_retention_has_taken_is_said_so_and_its_run_keeps_its_scores(copy_of_shop, start_server):
    store = SQLiteStore(copy_of_shop)
    run = next(run for run in store.runs() if run.name == "refunds")
    trace_id = store.run(run.run_id)["results"][0]["trace_id"]
    server = start_server(copy_of_shop)
    assert server.ask(f"/t/{trace_id}").status == 200
    store.delete_trace(trace_id)
    store.close()
    gone = server.ask(f"/t/{trace_id}")
    assert gone.status == 404
    assert "retention has taken it" in gone.text
    assert "Scores of runs stay" in gone.text
    kept = Read(server.ask(f"/r/{run.run_id}").text)
    assert "Tool Order" in kept.text
    assert server.ask(f"/compare?a=baseline&b={run.run_id}&show=all").status == 200


# --- trouble ------------------------------------------------------------------------------------------------


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE IF NOT EXISTS later_migrations (name TEXT PRIMARY KEY, applied_ns INTEGER)")
        db.execute("INSERT INTO later_migrations VALUES ('9999_of_tomorrow', 1)")
        db.execute("PRAGMA user_version = 99")


def damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 60_000)


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE theirs (x)")


def no_database(path: Path) -> None:
    path.write_bytes(b"this is no database at all" * 100)


TROUBLES = {
    newer: "newer version of agenttrace; upgrade",
    damaged: "cannot be read",
    foreign: "another application",
    no_database: "cannot be read",
}


@pytest.mark.parametrize("what", TROUBLES)
@pytest.mark.parametrize("path", [*LISTS, "/t/0123", "/api/v1/traces"])
def test_a_store_that_cannot_be_read_is_said_with_what_to_do_and_is_left_as_it_is(
    copy_of_shop, start_server, what, path
):
    server = start_server(copy_of_shop)
    assert server.ask("/traces").status == 200
    what(copy_of_shop)
    before = copy_of_shop.read_bytes()
    answer = server.ask(path)
    assert answer.status == 503
    assert TROUBLES[what] in (answer.text if path.startswith("/api") else Read(answer.text).text)
    assert copy_of_shop.read_bytes() == before
    if not path.startswith("/api"):
        assert "Nothing was changed in it" in answer.text
        assert 'href="/runs"' in answer.text


def test_a_store_that_another_program_holds_is_said_to_be_in_use_and_shown_when_it_is_let_go(
    copy_of_shop, start_server
):
    server = start_server(copy_of_shop, busy_timeout=0.05)
    with closing(sqlite3.connect(copy_of_shop, isolation_level=None)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        for path in ("/runs", "/health", "/traces", "/api/v1/runs"):
            answer = server.ask(path)
            assert answer.status == 503
            assert "lock" in answer.text
        db.execute("ROLLBACK")
    assert server.ask("/runs").status == 200
    assert server.ask("/traces").status == 200


def test_a_store_that_is_replaced_is_shown_as_the_new_one_on_every_page(copy_of_shop, start_server, tmp_path):
    server = start_server(copy_of_shop)
    assert "handle_ticket" in server.ask("/traces").text
    other = many(tmp_path / "other.db", 3)
    other.close()
    os.replace(tmp_path / "other.db", copy_of_shop)
    for _ in range(2):
        text = server.ask("/traces").text
        assert "handle_ticket" not in text
        assert "agent_1" in text
    assert "No evaluation runs yet" in server.ask("/runs").text
    assert server.ask("/api/v1/health").json["state"]["traces"] == 3
    for file in copy_of_shop.parent.glob("traces.db*"):
        if file.is_file():
            file.unlink()
    assert "No traces yet" in server.ask("/traces").text
    many(copy_of_shop, 5).close()
    assert len(Read(server.ask("/traces").text).of("tr")) == 6


def test_looking_over_http_writes_nothing_to_the_store(copy_of_shop, start_server):
    server = start_server(copy_of_shop)
    before = copy_of_shop.read_bytes()
    reads = Reads.of(SQLiteStore(copy_of_shop))
    for name in PAGES:
        path = name.replace(":path", "").format(**{"id": "", **asks(reads).get(name, {})})
        query = "?a=baseline&b=last" if name == "/compare" else "?q=failed:refund"
        assert server.ask(quote(path) + query).status in (200, 404)
    for name in api.ROUTES:
        path = name.replace(":path", "").format(id="0", span="0", name="Tool%20Order")
        assert server.ask(f"/api/v1{path}").status in (200, 404, 400, 503)
    assert copy_of_shop.read_bytes() == before
    assert {name.partition("-index")[0] for name in files_in(copy_of_shop.parent)} <= {
        "traces.db",
        "traces.db-wal",
        "traces.db-shm",
        "traces.db.lock",
    }


@pytest.fixture
def shut(shop_path) -> Iterator[Path]:
    """A store in a directory in which nobody may write, and which everybody may read."""
    directory = Path(tempfile.mkdtemp(prefix="agenttrace-shut-"))
    path = directory / "traces.db"
    shutil.copy(shop_path, path)
    path.chmod(0o444)
    directory.chmod(0o555)
    yield path
    directory.chmod(0o700)
    shutil.rmtree(directory)


def test_in_a_directory_that_may_not_be_written_all_is_shown_and_nothing_left_behind(shut, shop_path):
    before = files_in(shut.parent)
    child = subprocess.run(
        [sys.executable, Path(__file__).with_name("as_nobody.py"), shut, shop_path],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    lines = child.stdout.split("\n")
    assert [line for line in lines if line.startswith("/")] == [
        f"{name} {404 if name == '/compare' else 200}" for name in PAGES if "{" not in name
    ]
    assert "rows" in lines
    assert files_in(shut.parent) == before


# --- behind -------------------------------------------------------------------------------------------------


def test_while_the_index_is_made_the_list_shows_the_newest_and_says_how_far_it_has_come(tmp_path):
    store = many(tmp_path / "traces.db", 12_000)
    behind = Reads.of(store, fill_seconds=0.0)
    _, text = trace_list(behind, {})
    page = Read(text)
    (progress,) = page.of("progress")
    assert 0 < int(progress["value"]) < int(progress["max"])
    assert "The index is being made" in page.text
    assert f'data-id="{12_000:032x}"' in text  # the newest first
    assert api.changes(behind, {"q": ""})[1]["indexing"] is True
    _, text = trace_list(Reads.of(store), {})
    assert Read(text).of("progress") == []
    assert api.changes(Reads.of(store), {"q": ""})[1]["indexing"] is False
    store.close()


def test_a_list_of_20000_traces_is_within_its_budget_and_counts_up_to_a_bound(tmp_path, start_server):
    store = many(tmp_path / "traces.db", 20_000)
    server = start_server(tmp_path / "traces.db")
    Reads.of(store).traces.count_matches(Query())
    for query in ("", "?q=name:agent_3", "?q=question", "?sort=-duration"):
        text = server.ask(f"/traces{query}").text
        page = Read(text)
        assert len(text.encode()) <= MOST_BYTES
        assert len(page.elements) <= MOST_NODES
        assert len([attrs for attrs in page.of("tr") if "data-id" in attrs]) == 50
    assert "5,000+ traces" in Read(server.ask("/traces").text).text
    assert "2,222 traces" in Read(server.ask("/traces?q=name:agent_3").text).text
    store.close()


def test_every_page_says_that_there_is_no_store_yet(tmp_path):
    path = tmp_path / "missing.db"
    reads = Reads.of(SQLiteStore(path))
    for address in [*LISTS, "/failures", "/review"]:
        text = html.unescape(re.sub(r"\s+", " ", PAGES[address](reads, {})[1]))
        assert f"There is no store at <code>{path}</code> yet" in text, address
        assert "Nothing went wrong yet" not in text
    assert not path.exists()


def test_a_store_that_is_there_is_not_said_to_be_missing(reads):
    assert "There is no store" not in PAGES["/failures"](reads, {})[1]
