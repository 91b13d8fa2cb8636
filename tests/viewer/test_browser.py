"""The pages in a real browser: what a reader does there, with keys and without a script, narrow and dark.

The policy of the pages forbids code from text, so everything is asked by locators.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import shop
from browsing import expect, needs_browser
from test_pages import HOSTILE, hostile_store, span_of

from agenttrace.store import SQLiteStore
from agenttrace.tracer import Tracer

pytestmark = needs_browser


def ids_in(page) -> list[str]:
    return [row.get_attribute("data-id") for row in page.locator("#rows tbody tr").all()]


def sql(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        return db.execute(statement).fetchall()


def test_an_empty_directory_gives_advice_and_the_first_trace_appears_by_itself(tmp_path, start_server, look):
    path = tmp_path / "traces.db"
    page = look(at=start_server(path)).page
    expect(page.get_by_role("heading", name="No traces yet")).to_be_visible()
    tracer = Tracer(project_name="p", store=str(path))
    tracer.observe(span_type="agent")(lambda: 1)()
    assert tracer.flush(timeout=60)
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    tracer.shutdown()


def test_a_click_on_a_facet_narrows_the_address_says_so_and_back_returns(look):
    page = look().page
    page.locator("#facets").get_by_role("link", name="acme").click()
    expect(page).to_have_url(re.compile(r"q=customer%3Aacme$"))
    expect(page.locator(".total")).to_have_text("16 traces")
    page.go_back()
    expect(page.locator(".total")).to_have_text("49 traces")


def test_what_is_searched_for_is_what_sql_says(shop_path, look):
    page = look().page
    page.locator("#q").fill("failed:refund customer:acme")
    page.locator("#q").press("Enter")
    expect(page.locator(".chips .pill")).to_have_count(2)
    wanted = sql(
        shop_path,
        "SELECT DISTINCT trace_id FROM spans JOIN traces USING (trace_id)"
        " WHERE spans.name = 'refund' AND status = 'error' AND customer = 'acme'",
    )
    assert sorted(ids_in(page)) == sorted(trace_id for (trace_id,) in wanted)


def test_a_wrong_term_is_said_with_a_suggestion_and_stays_in_the_box(look):
    watched = look("/traces?q=custmer:acme")
    expect(watched.page.get_by_role("alert")).to_contain_text("did you mean 'customer'")
    expect(watched.page.locator("#q")).to_have_value("custmer:acme")
    expect(watched.page.locator("#rows")).to_have_count(0)
    watched.troubles.clear()  # the browser says that the status was 400


def test_columns_sort_and_turn_round(look):
    page = look().page
    for column in ("duration", "cost"):
        for direction in ("descending", "ascending"):
            page.locator(f"#rows th.{column}").get_by_role("link").click()
            expect(page.locator(f"#rows th.{column}")).to_have_attribute("aria-sort", direction)
            texts = page.locator(f"#rows td.{column}").all_inner_texts()
            numbers = [float(re.sub(r"[^0-9.]", "", text)) for text in texts if text]
            assert numbers == sorted(numbers, reverse=direction == "descending")


def test_a_bar_of_the_histogram_leads_to_its_time(look):
    page = look().page
    page.locator(".histogram a").last.click()
    expect(page.locator("#q")).to_have_value(re.compile("since:.+ until:.+"))
    assert ids_in(page)


def failed_trace(page) -> None:
    page.locator("#rows tbody tr").filter(has_text="✕ refund").first.locator("a.row").click()


def test_a_trace_opens_at_its_deepest_failure(look):
    page = look("/traces?q=failed:refund").page
    failed_trace(page)
    expect(page.locator("tr.selected .name")).to_have_text("refund")
    expect(page.locator("#detail")).to_contain_text("card declined: issuer unavailable")


def test_a_row_of_the_diff_leads_to_its_span_and_a_span_to_its_row(look):
    page = look('/traces?q=score:"Tool Order"<1').page
    page.locator("#rows a.row").first.click()
    page.locator(".diff tr.differs a.choose").first.click()
    expect(page.locator("tr.selected .name")).to_have_text("refund")
    expect(page.locator("#detail h2")).to_contain_text("refund")
    page.locator(".tree a.choose").filter(has_text="lookup_order").click()
    expect(page.locator("#detail h2")).to_contain_text("lookup_order")
    expect(page.locator(".diff tr.chosen")).to_contain_text("lookup_order")
    expect(page).to_have_url(re.compile(r"[?&]s=[0-9a-f]{16}"))


def test_a_trace_of_5000_spans_stays_small_unfolds_and_is_searched(tmp_path, start_server, look):
    spans = [span_of(1, None, name="root", span_type="agent")]
    spans += [span_of(k, 1, k, name=f"page {k}", span_type="chain") for k in range(2, 152)]
    spans += [span_of(k, 2 + (k % 150), k, name=f"call {k}") for k in range(152, 5_000)]
    store = SQLiteStore(tmp_path / "traces.db")
    store.export(spans)
    store.close()
    page = look(f"/t/{9:032x}", at=start_server(tmp_path / "traces.db")).page
    assert page.locator("*").count() <= 2_500
    rows = page.locator(".tree tbody tr")
    before = rows.count()
    page.locator(".tree tr", has_text="page 5").first.locator("a.fold").click()
    expect(page.locator(".tree .name", has_text=re.compile("^call 153$"))).to_have_count(1)
    assert rows.count() > before
    page.locator(".tree tr", has_text="page 7").first.locator("a.choose").click()
    expect(page.locator("#detail h2")).to_contain_text("page 7")
    page.locator("#detail").get_by_role("link", name="Unfold all below").click()
    expect(page.locator(".tree .name", has_text=re.compile("^call 155$"))).to_have_count(1)
    page.locator(".tree tr.more a").click()
    expect(page.locator(".tree .name", has_text=re.compile("^page 60$"))).to_have_count(1)
    assert page.locator("*").count() <= 2_500
    page.locator("#find").fill("call 4321")
    page.locator("#find").press("Enter")
    expect(page.locator(".tree tbody tr")).to_have_count(1)


@pytest.mark.parametrize("number", [0, 1, 5, 6])
def test_hostile_text_opens_no_dialog_asks_for_nothing_and_is_no_element(
    tmp_path, start_server, look, number
):
    hostile_store(tmp_path / "traces.db", HOSTILE[number]).close()
    trace = f"{7:032x}"
    watched = look(at=start_server(tmp_path / "traces.db"))
    for path in (
        "/traces",
        f"/t/{trace}",
        f"/t/{trace}?s={2:016x}",
        f"/t/{trace}/s/{3:016x}",
        "/tools",
        "/scores",
    ):
        page = watched.goto(path)
        assert page.locator("main img, main script, main iframe").count() == 0
        assert page.locator("main").inner_text()


def test_two_runs_are_compared_in_words_classes_and_chance(look):
    page = look("/runs").page
    page.get_by_role("link", name="against the one before").first.click()
    expect(page.locator(".lead")).to_contain_text("6 of 6 examples got worse")
    expect(page.locator(".chip.worse")).to_have_count(6)
    expect(page.locator("main")).to_contain_text("hardly chance")
    page.get_by_role("navigation", name="Kinds of change").get_by_role("link", name="All 6").click()
    expect(page.locator("tr.change")).to_have_count(6)
    page.get_by_role("link", name="side by side").first.click()
    expect(page.locator(".diff tbody tr").first).to_contain_text("lookup_order")


def test_a_list_tells_of_new_matches_and_an_open_trace_grows(tmp_path, start_server, look):
    path = tmp_path / "traces.db"
    tracer = Tracer(project_name="p", store=str(path))
    child = tracer.observe(span_type="tool", name="child")(lambda: 1)
    ended = tracer.observe(span_type="agent", name="parent")
    ended(lambda: child())()
    assert tracer.flush(timeout=60)
    at = start_server(path)
    listed = look("/traces?q=name:parent", at=at).page
    expect(listed.locator("#rows tbody tr")).to_have_count(1)
    trace_id = ids_in(listed)[0]
    opened = look(f"/t/{trace_id}", at=at).page
    expect(opened.locator(".tree tbody tr")).to_have_count(2)
    ended(lambda: child())()
    tracer.observe(span_type="agent", name="other")(lambda: 1)()
    late = span_of(77, None, name="late")
    late.trace_key = int(trace_id, 16)
    late.parent_key = 12_345
    tracer.store.export([late])
    assert tracer.flush(timeout=60)
    expect(listed.locator("#newer")).to_have_text("1 new")
    assert len(ids_in(listed)) == 1
    expect(opened.locator(".tree tbody")).to_contain_text("running, or its process ended")
    expect(opened.locator(".tree tbody")).to_contain_text("late")
    listed.locator("#newer").click()
    expect(listed.locator("#rows tbody tr")).to_have_count(2)
    tracer.shutdown()


def test_the_whole_way_can_be_gone_by_keys_and_the_focus_is_seen(look):
    page = look().page
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.type("failed:refund")
    page.keyboard.press("Enter")
    expect(page.locator(".chips .pill")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#rows a.row").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#detail h2")).to_contain_text("refund")
    first = page.url
    page.keyboard.press("]")
    page.wait_for_url(lambda url: url.partition("?")[0] != first.partition("?")[0])
    page.keyboard.press("[")
    page.wait_for_url(lambda url: url.partition("?")[0] == first.partition("?")[0])
    page.keyboard.press("e")
    expect(page.locator("tr.selected .name")).to_have_text("handle_ticket")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".tree tbody tr")).to_have_count(1)
    page.keyboard.press("f")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator("#q")).to_have_value("failed:refund")


def test_everything_works_without_a_script(look):
    page = look(java_script_enabled=False).page
    page.locator("#q").fill("failed:refund")
    page.locator("#q").press("Enter")
    failed_trace(page)
    expect(page.locator("tr.selected .name")).to_have_text("refund")
    page.locator(".tree a.choose").filter(has_text="lookup_order").click()
    expect(page.locator("#detail h2")).to_contain_text("lookup_order")
    page.locator(".tree a.fold").first.click()
    expect(page.locator(".tree tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Runs", exact=True).click()
    page.locator("a.row").first.click()
    expect(page.locator("h1")).to_be_visible()


PATHS = [
    "/traces",
    "/runs",
    "/scores",
    "/scores/Tool%20Order",
    "/tools",
    "/failures",
    "/failures?open=first",
    "/review",
    "/review?result=first",
    "/health",
    "/session/s-1",
    "/compare",
    "/traces?q=custmer:acme",
    "/traces?q=customer:acme+customer:nobody",
    "/t/0123456789abcdef0123456789abcdef",
    "trace",
    "span",
    "two traces",
    "run",
]


def path_of(reads, name: str) -> str:
    if not name.startswith("/"):
        trace = shop.trace_of(reads.store)
        return {
            "trace": f"/t/{trace.trace_id}",
            "span": f"/t/{trace.trace_id}/s/{trace.spans[1].span_id}",
            "two traces": f"/t/{trace.trace_id}/vs/{reads.store.traces(limit=9)[8].trace_id}",
            "run": f"/r/{reads.store.runs(limit=2)[1].run_id}",
        }[name]
    if name.startswith("/failures?"):
        return f"/failures?open={reads.watch.failures()[0].fingerprint}"
    if name.startswith("/review?"):
        return f"/review?result={reads.store.runs(limit=2)[1].run_id}:0&back=/runs"
    if name == "/compare":
        return f"/compare?a=baseline&b={reads.store.runs(limit=2)[1].run_id}"
    return name


SCREENS = {
    "420 pixels, light": (420, {"color_scheme": "light"}),
    "320 pixels, dark": (320, {"color_scheme": "dark"}),
    "420 pixels, forced colours": (420, {"forced_colors": "active"}),
    "1280 pixels at 200 %": (640, {"device_scale_factor": 2}),
    "1280 pixels, dark": (1280, {"color_scheme": "dark"}),
}


@pytest.mark.parametrize("screen", SCREENS)
def test_no_page_scrolls_sideways(look, reads, screen):
    width, options = SCREENS[screen]
    watched = look(viewport={"width": width, "height": 800}, **options)
    for name in PATHS:
        page = watched.goto(path_of(reads, name))
        wide = page.locator("body").evaluate("body => document.documentElement.scrollWidth")
        assert wide <= width, (name, wide)
        expect(page.locator("main")).to_be_visible()
    watched.troubles.clear()  # the browser says what was not found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_to_say(look, reads, scheme):
    axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
    watched = look(color_scheme=scheme)
    violations = {}
    for name in PATHS:
        page = watched.goto(path_of(reads, name))
        tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
        options = {"runOnly": {"type": "tag", "values": tags}}
        found = axe_module.Axe().run(page, options=options).response["violations"]
        if found:
            violations[name] = [(v["id"], [node["target"] for node in v["nodes"][:3]]) for v in found]
    watched.troubles.clear()  # the browser says what was not found
    assert violations == {}


@pytest.mark.parametrize("script", [True, False], ids=["with a script", "without one"])
def test_a_case_is_judged_a_failure_fixed_and_both_are_seen(own_shop, start_server, look, script):
    server = start_server(own_shop)
    store = SQLiteStore(own_shop)
    watched = look("/review", at=server, java_script_enabled=script)
    page = watched.page
    expect(page.locator(".case")).to_have_count(1)
    page.locator(".case summary").click()
    page.get_by_label("Note").fill("<b>It is</b> not what was asked.")
    page.get_by_label("Your name").fill("ann")
    page.keyboard.press("Enter")  # which of the verdicts would it be?
    expect(page.locator(".case")).to_have_count(1)
    page.get_by_role("button", name="Bad").click()
    expect(page.get_by_role("status").filter(has_text="Kept of")).to_contain_text("<b>It is</b> not what was")
    expect(page.locator(".case")).to_have_count(0)
    (word,) = store.annotations()
    assert (word.thumbs, word.by, word.label) == ("down", "ann", "Faithfulness")
    watched.goto(f"/t/{word.trace_id}")
    expect(page.locator("#people")).to_contain_text("ann bad Faithfulness")
    watched.goto("/scores/Faithfulness")
    expect(page.locator(".agreement")).to_contain_text("the same as people on 100% of 1 case")
    watched.goto("/failures?state=open")
    page.locator(".failing").filter(has_text="refund amount differs").locator("summary").click()
    page.get_by_label("Fixed in").locator("visible=true").fill("2.6.0")
    page.get_by_role("button", name="It is fixed").locator("visible=true").click()
    expect(page.locator(".failing").filter(has_text="refund amount differs")).to_have_count(0)
    page.get_by_role("navigation", name="States").get_by_role("link", name="Fixed 1").click()
    page.locator(".failing summary").click()
    expect(page.locator(".failing")).to_contain_text("fixed in 2.6.0")
    page.get_by_role("button", name="open it again").click()
    expect(page.get_by_role("navigation", name="States")).to_contain_text("Fixed 0")
    store.close()


def test_neither_the_token_nor_a_query_is_told_to_anybody_as_where_the_reader_came_from(look):
    watched = look("/traces?q=customer:acme")
    watched.page.locator("#rows a.row").first.click()
    watched.page.wait_for_load_state()
    told = []
    watched.page.on("request", lambda request: told.append(request.all_headers().get("referer", "")))
    for path in ("/failures", "/review?project=shop", "/traces?token=wrong"):
        watched.goto(path)
        watched.page.get_by_role("link", name="Runs", exact=True).click()
        watched.page.wait_for_url("**/runs")
    assert set(told) <= {"", f"{watched.server.url}/"}


def test_a_form_on_another_sites_page_changes_nothing(own_shop, start_server, browser):
    import http.server
    import threading

    server = start_server(own_shop)
    trace_id = SQLiteStore(own_shop).traces()[0].trace_id
    form = (
        f'<form method="post" action="{server.url}/annotations"><input name="thumbs" value="up">'
        f'<input name="form_token" value="{server.form_token}"><input name="trace" value="{trace_id}">'
        "<button>Win</button></form>"
    )

    class Evil(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(form.encode())

        def log_message(self, *_):
            pass

    evil = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    thread = threading.Thread(target=evil.serve_forever, daemon=True)
    thread.start()
    before = own_shop.read_bytes()
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/?token={server.token}")
    page.goto(f"http://localhost:{evil.server_port}/")
    with page.expect_response("**/annotations") as answer:
        page.get_by_role("button", name="Win").click()
    assert answer.value.status == 403
    assert own_shop.read_bytes() == before
    context.close()
    evil.shutdown()
    evil.server_close()
    thread.join(60)


def test_first_paint_of_a_list_needs_five_requests(look):
    watched = look()
    watched.requests.clear()
    watched.goto("/traces")
    expect(watched.page.locator("#rows")).to_be_visible()
    pages = [url for url in watched.requests if "/api/" not in url and not url.startswith("data:")]
    assert len(pages) <= 5


def test_a_token_opens_the_page_once_and_for_all(browser, server):
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url + "/traces")
    expect(page.get_by_role("heading")).to_contain_text("agenttrace view")
    page.goto(f"{server.url}/traces?q=is:failed&token={server.token}")
    expect(page).to_have_url(f"{server.url}/traces?q=is%3Afailed")
    expect(page.locator("#rows")).to_be_visible()
    page.goto(server.url + "/runs")
    expect(page.locator("h1")).to_have_text("Runs")
    context.close()


def test_a_store_that_is_deleted_damaged_or_newer_is_said_on_the_page(tmp_path, start_server, look):
    path = tmp_path / "traces.db"
    shop.fill(path).close()
    watched = look(at=start_server(path))
    page = watched.page
    expect(page.locator("#rows")).to_be_visible()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE IF NOT EXISTS later_migrations (name TEXT PRIMARY KEY, applied_ns INTEGER)")
        db.execute("INSERT INTO later_migrations VALUES ('9999_of_tomorrow', 1)")
        db.execute("PRAGMA user_version = 99")
    db.close()
    watched.goto("/traces")
    expect(page.get_by_role("alert")).to_contain_text("newer version of agenttrace")
    for file in tmp_path.glob("traces.db*"):
        file.unlink()
    watched.goto("/traces")
    expect(page.get_by_role("heading", name="No traces yet")).to_be_visible()
    path.write_bytes(b"this is no database at all" * 100)
    watched.goto("/traces")
    expect(page.get_by_role("alert")).to_be_visible()
    assert path.read_bytes() == b"this is no database at all" * 100
    watched.troubles.clear()


def test_a_viewer_that_ended_is_said_on_the_open_page_and_coming_back_is_noticed(
    tmp_path, start_server, look
):
    import threading

    from agenttrace.viewer.serving import guard_of, listen, server_of

    path = tmp_path / "traces.db"
    shop.fill(path).close()

    def run(port):
        listener = listen("127.0.0.1", port)
        number = listener.getsockname()[1]
        server = server_of(SQLiteStore(path), guard_of("127.0.0.1", number, "a-token-for-tests-only"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        return server, thread, number

    server, thread, number = run(0)

    class At:
        url, token = f"http://127.0.0.1:{number}", "a-token-for-tests-only"

    watched = look(at=At)
    expect(watched.page.locator("#rows")).to_be_visible()
    server.should_exit = True
    thread.join(60)
    expect(watched.page.locator("#gone")).to_be_visible()
    expect(watched.page.locator("#rows")).to_be_visible()
    server, thread, _ = run(number)
    expect(watched.page.locator("#gone")).to_be_hidden()
    server.should_exit = True
    watched.page.goto("about:blank")
    thread.join(60)
    watched.troubles.clear()


def test_a_page_is_printed_without_what_is_only_for_the_screen(look, reads):
    page = look(path_of(reads, "trace")).page
    page.emulate_media(media="print")
    expect(page.locator(".top")).to_be_hidden()
    expect(page.locator("h1")).to_be_visible()
    assert page.pdf().startswith(b"%PDF")


def test_eight_open_pages_leave_a_ninth_responsive(look):
    watched = look()
    tabs = [watched.context.new_page() for _ in range(8)]
    for tab in tabs:
        tab.goto(watched.server.url + "/traces")
    expect(tabs[-1].locator("#rows")).to_be_visible()
    watched.goto("/runs")
    expect(watched.page.locator("h1")).to_have_text("Runs")


def test_the_report_is_opened_from_disk_and_asks_for_nothing(look, reads, tmp_path):
    from agenttrace.viewer.report import trace_report

    trace = shop.trace_of(reads.store)
    (tmp_path / "x.html").write_text(trace_report(trace, reads.store.scores(trace.trace_id)))
    watched = look()
    watched.requests.clear()
    watched.page.goto(f"file://{tmp_path}/x.html")
    expect(watched.page.locator("h1")).to_contain_text("handle_ticket")
    expect(watched.page.locator(".tree tbody tr")).to_have_count(len(trace.spans))
    assert watched.requests == [f"file://{tmp_path}/x.html"]
    watched.requests.clear()


def test_keys_compare_a_trace_and_copy_it_as_an_example(look, shop_path):
    trace_id = shop.trace_of(SQLiteStore(shop_path)).trace_id
    page = look(f"/t/{trace_id}", permissions=["clipboard-read", "clipboard-write"]).page
    page.keyboard.press("Y")
    expect(page.locator("#said")).to_have_text("Copied as example")
    expect(page.locator("#example")).to_contain_text("expected_tools:")
    page.keyboard.press("c")
    expect(page.locator("#other")).to_be_focused()
    first = page.locator("#compare-with li a").first
    other = first.get_attribute("href").rpartition("/")[2]
    page.keyboard.type(other[:10])
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Two traces side by side")
    page.goto(f"{page.url.split('/t/')[0]}/r/refunds")
    page.keyboard.press("c")
    page.wait_for_url("**/compare?**")
