"""Hostile text in what runs, tools, the health of a store and addresses say: it is text on every page."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hostile import add_runs
from test_pages import HOSTILE, Read, hostile_store

from agenttrace.core.report import EvaluationReport
from agenttrace.viewer import api
from agenttrace.viewer.app import PAGES
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.report import run_report

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def check(text: str) -> Read:
    """Nothing of the store's has become an element, an attribute or an address."""
    page = Read(text)
    names = {name for name, _ in page.elements}
    assert not {"img", "iframe", "object", "embed"} & names
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert all((attrs.get("src") or "").startswith("/static/") for attrs in page.of("script"))
    hrefs = [attrs.get("href") or "" for _, attrs in page.elements]
    assert not [one for one in hrefs if one.strip().lower().startswith(("javascript", "data:t", "//"))]
    assert not CONTROLS.search(text)
    text.encode()
    return page


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_of_runs_examples_scorers_models_branches_and_files_are_text(tmp_path, reads, text):
    store = hostile_store(tmp_path / "hostile.db", text)
    before, after = add_runs(store, reads.store, text)
    with sqlite3.connect(tmp_path / "hostile.db") as db:
        db.execute(
            "INSERT INTO quarantine (trace_id, name, reason, created_ns) VALUES (?, ?, ?, ?)",
            (None, *[text.encode(errors="replace").decode()] * 2, 10**18),
        )
    own = Reads.of(store)
    pages = {
        "/r/{id}": [{"id": before}, {"id": after}, {"id": text}, {"id": before, "show": text, "from": text}],
        "/compare": [{"a": before, "b": after, "show": "all"}, {"a": after, "b": before, "show": text}],
        "/runs": [{}, {"project": text, "from": text}],
        "/health": [{}],
        "/session/{session:path}": [{"session": text, "from": text}],
        "/scores/{name:path}": [{"name": text, "q": text}],
        "/t/{id}/vs/{other}": [{"id": f"{7:032x}", "other": f"{7:032x}"}, {"id": text, "other": text}],
        "/t/{id}/s/{span}": [{"id": text, "span": text}, {"id": f"{7:032x}", "span": text}],
        "/traces": [{"q": text, "sort": text, "after": text, "before": text}],
        "/tools": [{"q": text}],
        "/groups/{by:path}": [{"by": text, "q": text}, {"by": "customer"}, {"by": "tag", "order": text}],
    }
    for path, asks in pages.items():
        for asked in asks:
            check(PAGES[path](own, asked)[1])
    report = EvaluationReport.from_dict(store.run(before))
    written = run_report(report, against=store.run(after), reads=own)
    assert Read(written).of("script") == []
    assert not CONTROLS.search(written)
    for path, data in (("/runs", api.runs), ("/health", api.health)):
        assert api.body_of(data(own, {})), path
    store.close()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_an_address_is_answered_as_text(server, text):
    from urllib.parse import quote

    part = quote(text, safe="", errors="backslashreplace")
    for path in (
        *("", "t/", "r/", "session/", "scores/", "compare?b=", "traces?q=", "runs?from="),
        *(f"t/{0xDEAD:032x}/s/", f"t/{0xDEAD:032x}/vs/"),
    ):
        answer = server.ask(f"/{path}{part}")
        assert answer.status in (200, 400, 404), path
        if answer.headers["content-type"].startswith("text/html"):
            check(answer.text)
