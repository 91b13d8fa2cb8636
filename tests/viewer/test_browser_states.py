"""In a real browser: what an open page says when something becomes slow, breaks, ends, or comes back; values
and trees of any size."""

from __future__ import annotations

import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from browsing import expect, needs_browser
from test_pages import VALUES, span_of
from test_states import many, newer

from agenttrace.core.span import SpanError
from agenttrace.store import SQLiteStore

pytestmark = needs_browser
TRACE = f"/t/{9:032x}"


@pytest.fixture
def path(tmp_path, shop_path) -> Path:
    """A store of the test's own, filled."""
    path = tmp_path / "own" / "traces.db"
    path.parent.mkdir()
    shutil.copy(shop_path, path)
    return path


def store_of(path: Path, *spans) -> Path:
    store = SQLiteStore(path)
    store.export(list(spans))
    store.close()
    return path


# --- live ---------------------------------------------------------------------------------------------------


def test_a_placeholder_vanishes_from_an_open_page_when_its_call_arrives(tmp_path, start_server, look):
    path = store_of(tmp_path / "traces.db", span_of(2, 1, name="child"))
    page = look(TRACE, at=start_server(path)).page
    expect(page.locator(".tree tr.missing")).to_have_count(1)
    expect(page.locator("#head")).to_contain_text("so far")
    store_of(path, span_of(1, None, name="parent"), span_of(3, 1, name="sibling"))
    expect(page.locator(".tree tr.missing")).to_have_count(0)
    expect(page.locator(".tree .name")).to_have_text(["parent", "child", "sibling"])
    expect(page.locator("#head")).not_to_contain_text("so far")
    expect(page.locator("tr.selected .name")).to_have_text("child")  # what was chosen stays chosen


def test_eight_live_pages_of_one_trace_all_grow_and_a_ninth_opens(tmp_path, start_server, look):
    path = store_of(tmp_path / "traces.db", span_of(1, None, name="root"))
    watched = look(TRACE, at=start_server(path))
    tabs = [watched.page, *[watched.context.new_page() for _ in range(7)]]
    for tab in tabs[1:]:
        tab.goto(watched.server.url + TRACE)
    store_of(path, span_of(2, 1, name="late"))
    for tab in tabs:
        tab.bring_to_front()
        expect(tab.locator(".tree tbody")).to_contain_text("late")
    ninth = watched.context.new_page()
    ninth.goto(watched.server.url + "/runs")
    expect(ninth.get_by_role("heading", name="Runs", exact=True)).to_be_visible()


# --- slow and broken ----------------------------------------------------------------------------------------


def test_a_part_that_does_not_come_is_said_quietly_then_with_a_link_to_try_again(look, reads, shop_path):
    watched = look("/traces?q=failed:refund")
    page = watched.page
    page.locator("#rows a.row").first.click()
    held = []
    page.route(re.compile("/s/[0-9a-f]{16}"), lambda route: held.append(route))
    page.locator(".tree a.choose").filter(has_text="lookup_order").click()
    expect(page.locator("#said")).to_have_text("Loading …")
    again = page.locator("#said").get_by_role("link", name="Try again")
    expect(again).to_be_visible()
    for route in held:
        route.abort()
    page.unroute_all()
    expect(page.locator("#said")).to_contain_text("could not be loaded")
    again.click()
    expect(page.locator("#detail h2")).to_contain_text("lookup_order")
    expect(page.locator("#gone")).to_be_hidden()
    watched.troubles.clear()  # the browser says that a request was aborted


def test_an_open_page_says_what_has_become_of_its_store_and_stays_readable(path, start_server, look):
    watched = look(at=start_server(path))
    page = watched.page
    expect(page.locator("#rows tbody tr")).to_have_count(49)
    newer(path)
    expect(page.locator("#said")).to_contain_text("newer version of agenttrace")
    expect(page.locator("#rows tbody tr")).to_have_count(49)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE later_migrations")
        db.execute("PRAGMA user_version = 0")
    path.unlink()
    for file in path.parent.glob("traces.db-*"):
        file.unlink()
    expect(page.locator("#said")).to_be_hidden()
    watched.goto("/traces")
    expect(page.get_by_role("heading", name="No traces yet")).to_be_visible()
    store_of(path, span_of(1, None, name="again"))
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    watched.troubles.clear()  # the browser says that the status was 503


# --- sizes --------------------------------------------------------------------------------------------------


def test_a_list_of_20000_traces_needs_five_requests_and_few_elements(tmp_path, start_server, look):
    many(tmp_path / "traces.db", 20_000).close()
    watched = look(at=start_server(tmp_path / "traces.db"))
    watched.requests.clear()
    page = watched.goto("/traces")
    expect(page.locator("#rows tbody tr")).to_have_count(50)
    expect(page.locator(".total")).to_have_text("5,000+ traces")
    assert page.locator("*").count() <= 2_500
    assert len([url for url in watched.requests if "/api/" not in url and not url.startswith("data:")]) <= 5
    page.get_by_role("link", name=re.compile("Next")).click()
    expect(page.get_by_role("link", name=re.compile("Newer"))).to_be_visible()


def test_broken_and_very_deep_trees_are_walked_by_keys(tmp_path, start_server, look):
    deep = [span_of(1, None, name="top"), *[span_of(key, key - 1, key) for key in range(2, 5_000)]]
    deep.append(span_of(5_000, 4_999, 5_000, name="bottom", status="error", error=SpanError("E", "deep")))
    odd = [
        span_of(6_001, 6_002),
        span_of(6_002, 6_001),
        span_of(6_003, 70_077),
        span_of(6_004, None, name="second"),
    ]
    watched = look(TRACE, at=start_server(store_of(tmp_path / "traces.db", *deep, *odd)))
    page = watched.page
    expect(page.locator("tr.selected .name")).to_have_text("bottom")
    assert page.locator("*").count() <= 2_500
    expect(page.locator(".tree tr.gap")).to_contain_text("levels between")
    page.locator(".tree tr.gap a").click()
    expect(page.locator("tr.selected")).to_have_count(1)
    page.keyboard.press("e")
    expect(page.locator("tr.selected .name")).to_have_text("bottom")
    for words in ("second", "its parents form a loop", "running, or its process ended"):
        expect(page.locator(".tree tbody").get_by_text(words).first).to_be_visible()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("tr.selected .name")).not_to_have_text("bottom")


def test_values_of_any_size_and_kind_are_drawn_and_the_whole_is_plain_text(tmp_path, start_server, look):
    odd = {"nul": "a\x00b", "bidi": "a\u202eb", "surrogate": "a\ud800b", "markup": "<b>bold</b>", **VALUES}
    spans = [span_of(1, None, name="root", span_type="agent")]
    spans += [
        span_of(key, 1, key, name=name, input={"value": value}, output=value)
        for key, (name, value) in enumerate(odd.items(), 2)
    ]
    watched = look(TRACE, at=start_server(store_of(tmp_path / "traces.db", *spans)))
    page = watched.page
    for name in odd:
        page.locator(".tree a.choose").get_by_text(name, exact=True).click()
        expect(page.locator("#detail h2")).to_contain_text(name)
        assert page.locator("*").count() <= 2_500, name
        assert page.locator("#detail b").count() == 0
    page.locator(".tree a.choose").get_by_text("a megabyte", exact=True).click()
    expect(page.locator("#detail h2")).to_contain_text("a megabyte")
    page.locator("#detail").get_by_role("link", name="Show all").last.click()
    assert len(page.locator("body").inner_text()) == 1_000_000
    assert watched.context.pages == [page]


def test_very_long_names_do_not_widen_a_narrow_page(tmp_path, start_server, look):
    long = "x" * 400
    spans = [span_of(1, None, name=long, span_type="agent", input={long: long}, output={long: [long]})]
    spans += [span_of(2, 1, 5, name=long, status="error", error=SpanError(long, long))]
    watched = look(
        at=start_server(store_of(tmp_path / "traces.db", *spans)), viewport={"width": 320, "height": 700}
    )
    for path in ("/traces", TRACE, f"{TRACE}/s/{2:016x}", "/tools", f"{TRACE}/vs/{9:032x}"):
        page = watched.goto(path)
        wide = page.locator("body").evaluate("body => document.documentElement.scrollWidth")
        assert wide <= 320, (path, wide)


# --- what is in sight ---------------------------------------------------------------------------------------


def test_a_failed_call_far_down_is_scrolled_into_view_and_one_at_the_top_leaves_the_page_alone(
    tmp_path, start_server, look
):
    calls = [span_of(key, 1, key, name=f"call {key}") for key in range(2, 90)]
    broken = span_of(90, 1, 90, name="broken", status="error", error=SpanError("E", "no"))
    far = store_of(tmp_path / "far.db", span_of(1, None, name="root"), *calls, broken)
    page = look(TRACE, at=start_server(far)).page
    expect(page.locator("tr.selected .name")).to_have_text("broken")
    expect(page.locator("tr.selected")).to_be_in_viewport()
    assert page.evaluate("scrollY") > 0
    near = store_of(tmp_path / "near.db", span_of(1, None, name="root"), *calls)
    page = look(TRACE, at=start_server(near)).page
    expect(page.locator("tr.selected")).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0  # the root is chosen, which is in sight


@pytest.mark.parametrize("width", [1366, 1600, 1920])
def test_numbers_and_heads_of_the_list_are_not_cut(tmp_path, start_server, look, width):
    start = time.time_ns() - 10**18 - 23 * 60 * 10**9
    root = span_of(1, None, start, name="agent", span_type="llm", usage={"model": "m", "cost": 12.34567})
    path = store_of(tmp_path / "traces.db", root)
    page = look("/traces", at=start_server(path)).page
    page.set_viewport_size({"width": width, "height": 700})
    expect(page.locator("td.age")).to_contain_text("min")
    cells = page.locator(".traces :is(td.number, th)")
    cut = "cells => cells.filter(c => c.scrollWidth > c.clientWidth).map(c => c.textContent)"
    assert cells.evaluate_all(cut) == []
