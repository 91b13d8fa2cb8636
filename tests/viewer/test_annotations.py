"""What people say on a page, by the one address that takes it: kept, checked, and only from our own forms."""

from __future__ import annotations

import sqlite3

import pytest
import shop

from agenttrace.store import SQLiteStore
from agenttrace.viewer.annotating import own_address


@pytest.fixture
def store(own_shop):
    store = SQLiteStore(own_shop)
    yield store
    store.close()


@pytest.fixture
def writable(own_shop, start_server):
    return start_server(own_shop)


def words(store):
    """What people said, without ids and times."""
    hidden = ("annotation_id", "created_ns")
    return [
        {name: value for name, value in one.to_dict().items() if value is not None and name not in hidden}
        for one in store.annotations()
    ]


def test_a_form_keeps_a_word_on_a_trace_and_leads_back_to_its_page(writable, store):
    trace = shop.trace_of(store)
    assert f'name="form_token" value="{writable.form_token}"' in writable.ask(f"/t/{trace.trace_id}").text
    fields = {
        "trace": trace.trace_id,
        "thumbs": "down",
        "note": "It does not say from when.\r\nSee ticket 7.",
        "label": "Tool Order",
        "expected": '[{"refund": {"order_id": 7}}]',
        "by": "ann",
        "back": f"/t/{trace.trace_id}?q=x",
    }
    answer = writable.say(fields)
    assert (answer.status, answer.headers["location"]) == (303, f"/t/{trace.trace_id}?q=x")
    assert words(store) == [
        {
            "project": "shop",
            "trace_id": trace.trace_id,
            "thumbs": "down",
            "note": "It does not say from when.\nSee ticket 7.",
            "label": "Tool Order",
            "expected": {"expected_tools": [{"refund": {"order_id": 7}}]},
            "by": "ann",
        }
    ]
    assert "Human: Tool Order" in [score.name for _, score in store.scores(trace.trace_id)]
    page = writable.ask(f"/t/{trace.trace_id}").text
    assert "It does not say from when." in page
    assert "agenttrace-" in answer.headers["set-cookie"]
    cookies = f"{writable.cookie}; {answer.headers['set-cookie'].partition(';')[0]}"
    assert 'value="ann"' in writable.ask(f"/t/{trace.trace_id}", Cookie=cookies).text


def test_a_form_keeps_a_word_on_a_result_in_the_project_of_its_run(writable, store):
    run = next(run for run in store.runs() if run.name == "refunds")
    answer = writable.say({"result": f"{run.run_id}:3", "thumbs": "up", "back": f"/r/{run.run_id}"})
    assert answer.status == 303
    (word,) = words(store)
    assert (word["run_id"], word["result"], word["project"]) == (run.run_id, 3, "shop")
    assert "somebody: good" in writable.ask(f"/r/{run.run_id}").text
    single = writable.ask(f"/review?result={run.run_id}:3")
    assert single.status == 200
    assert "Judge one case" in single.text


def test_what_was_judged_leaves_the_queue_and_is_shown_as_kept(writable, store):
    before = writable.ask("/review").text
    assert "new failure" in before
    (trace_id,) = {line["trace_id"] for line in writable.ask("/api/v1/review").json["review"]}
    answer = writable.say({"trace": trace_id, "thumbs": "down", "by": "ann", "back": "/review"})
    assert answer.headers["location"].startswith("/review?kept=")
    after = writable.ask(answer.headers["location"]).text
    assert "Kept of <a" in after
    assert writable.ask("/api/v1/review").json["review"] == []
    assert "Kept of" not in writable.ask("/review?kept=" + "0" * 32).text


def test_a_failure_is_fixed_in_a_revision_and_opened_again(writable, store):
    failure = next(one for one in store.failures() if one.title == "refund amount differs")
    about = {"failure": failure.fingerprint, "project": "shop"}
    answer = writable.say({**about, "state": "fixed", "fixed_in": " 2.6.0 ", "back": "/failures?state=open"})
    assert (answer.status, answer.headers["location"]) == (303, "/failures?state=open")
    (fixed,) = store.failures(state="fixed")
    assert (fixed.fingerprint, fixed.fixed_in) == (failure.fingerprint, "2.6.0")
    page = writable.ask("/failures?state=fixed").text
    assert "fixed in 2.6.0" in page
    assert "notify missing" not in page
    assert writable.say({**about, "state": "open"}).status == 303
    assert store.failures(state="fixed") == []


TRACE = "0" * 32
BAD_FIELDS = [
    ({}, 400, "say something"),
    ({"thumbs": "up"}, 400, "about a trace"),
    ({"trace": TRACE, "thumbs": "up"}, 404, "no trace begins with"),
    ({"trace": "xyz!", "thumbs": "up"}, 404, "no trace begins with"),
    ({"trace": "real", "thumbs": "sideways"}, 400, "thumbs"),
    ({"trace": "real", "by": "ann"}, 400, "say something"),
    ({"trace": "real", "note": " \r\n "}, 400, "say something"),
    ({"trace": "real", "note": "x" * 10_001}, 400, "10000 characters"),
    ({"trace": "real", "label": "x" * 201}, 400, "200 characters"),
    ({"trace": "real", "expected": "[1, 2"}, 400, "no JSON"),
    ({"trace": "real", "expected": '{"never": {"like": 1}, "x": 2}'}, 400, ""),
    ({"trace": "real", "expected": "[" * 15_000}, 400, "no JSON"),
    ({"trace": "real", "thumbs": "up", "span": "12"}, 400, "16 hex digits"),
    ({"trace": "real", "thumbs": "up", "colour": "red"}, 400, "got a field"),
    ({"result": "ffffffff:1", "thumbs": "up"}, 404, "no run"),
    ({"result": "last", "thumbs": "up"}, 400, "RUN:PLACE"),
    ({"result": "last:99", "thumbs": "up"}, 404, "no run"),
    ({"failure": "ffffffffffff", "state": "open"}, 404, "no failure begins with"),
    ({"failure": "", "state": "open"}, 404, "at least 4 digits"),
    ({"failure": "ffffffffffff", "state": "back"}, 400, "open or fixed"),
    ({"failure": "ffffffffffff", "state": "fixed"}, 400, "name the revision"),
    ({"failure": "ffffffffffff", "state": "fixed", "thumbs": "up"}, 400, "got a field"),
]


@pytest.mark.parametrize(("fields", "status", "text"), BAD_FIELDS)
def test_a_form_that_cannot_be_kept_says_why_and_changes_nothing(own_shop, writable, fields, status, text):
    if fields.get("trace") == "real":
        reading = SQLiteStore(own_shop)
        fields = {**fields, "trace": shop.trace_of(reading).trace_id}
        reading.close()
    before = own_shop.read_bytes()
    answer = writable.say(fields)
    assert answer.status == status, answer.text
    assert text in answer.text
    assert "Nothing was changed" in answer.text
    assert own_shop.read_bytes() == before


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b'{"thumbs": "up"}', {"Content_Type": "application/json"}, 415),
        (b"thumbs=up", {"Content_Type": "text/plain"}, 415),
        (b"thumbs=up", {"Content_Type": ""}, 415),
        (b"thumbs=up", {"Content_Type": "multipart/form-data; boundary=x"}, 415),
        (b"thumbs=up", {"Content_Encoding": "gzip"}, 415),
        (b"a=" + b"x" * 65_535, {}, 413),
        (b"thumbs=up", {"Content_Length": "999999999999"}, 413),
        (b"&".join(b"f%d=1" % n for n in range(33)), {}, 400),
        (b"thumbs=up&thumbs=down", {}, 400),
        (b"note=%ff%fe", {}, 400),
        (b"note=\xff", {}, 400),
        (b"", {}, 403),
        (b"thumbs=up", {}, 403),
        (b"form_token=wrong&thumbs=up", {}, 403),
        (b"form_token=%E2%82%AC&thumbs=up", {}, 403),
    ],
)
def test_a_body_that_is_no_form_of_ours_is_refused(own_shop, writable, body, headers, status):
    before = own_shop.read_bytes()
    answer = writable.say(body, **headers)
    assert answer.status == status
    assert "This was not kept" in answer.text
    assert own_shop.read_bytes() == before


CROSS = [
    {"Origin": "http://evil.example", "Sec_Fetch_Site": "cross-site"},
    {"Origin": "http://evil.example", "Sec_Fetch_Site": ""},
    {"Origin": "null"},
    {"Origin": "null", "Sec_Fetch_Site": "", "Content_Type": "text/plain"},
    {"Origin": "", "Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "no-cors"},
    {
        "Origin": "",
        "Sec_Fetch_Site": "cross-site",
        "Sec_Fetch_Mode": "navigate",
        "Sec_Fetch_Dest": "document",
    },
    {"Origin": "", "Sec_Fetch_Site": "same-site"},
    {"Origin": "", "Sec_Fetch_Site": ""},
    {"Origin": "", "Sec_Fetch_Site": "none"},
]


@pytest.mark.parametrize("headers", CROSS)
def test_a_form_of_another_sites_page_is_refused_though_it_knew_the_token(own_shop, writable, headers):
    before = own_shop.read_bytes()
    assert writable.say({"trace": TRACE, "thumbs": "up"}, **headers).status == 403
    assert own_shop.read_bytes() == before


def test_a_form_without_the_readers_cookie_is_not_taken(own_shop, writable):
    before = own_shop.read_bytes()
    for cookie in ("x=1", f"agenttrace-{writable.port}=wrong"):
        answer = writable.say({"trace": TRACE, "thumbs": "up"}, Cookie=cookie)
        assert answer.status == 401
        assert "agenttrace view" in answer.text
    assert own_shop.read_bytes() == before


def test_the_form_token_of_one_viewer_is_none_of_another(own_shop, start_server, writable):
    other = start_server(own_shop, token="another-token-for-tests")
    for strange in (other.form_token, writable.token, ""):
        assert writable.say({"form_token": strange, "trace": TRACE, "thumbs": "up"}).status == 403
    open_to_all = [start_server(own_shop, token=None) for _ in range(2)]
    assert open_to_all[0].form_token != open_to_all[1].form_token


def test_a_viewer_that_only_reads_has_no_forms_and_takes_none(own_shop, start_server, store):
    server = start_server(own_shop, read_only=True)
    trace = shop.trace_of(store)
    run = store.runs()[0].run_id
    before = own_shop.read_bytes()
    for path in ("/failures", "/review", f"/t/{trace.trace_id}", f"/r/{run}", f"/review?result={run}:0"):
        text = server.ask(path).text
        assert 'method="post"' not in text
        assert "form_token" not in text
    body = f"trace={trace.trace_id}&thumbs=up".encode()
    answer = server.say(body)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    assert own_shop.read_bytes() == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_the_address_of_forms_takes_nothing_but_post(writable, method):
    answer = writable.ask("/annotations", method)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert writable.ask("/annotations").headers["location"] == "/review"


@pytest.mark.parametrize(
    "text",
    ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)", "", "/\r\nx: y",
     "/" * 9, "/é", "/" + "x" * 2_000],
)  # fmt: skip
def test_a_form_leads_to_no_other_host(text):
    assert own_address(text, "/review") == "/review"


def test_what_cannot_be_written_now_is_said_to_be_in_memory_is_shown_and_is_stored_later(
    own_shop, start_server, store
):
    trace = shop.trace_of(store)
    patient = SQLiteStore(own_shop, busy_timeout=0.05)
    server = start_server(own_shop, store=patient)
    failure = store.failures()[0].fingerprint
    holder = sqlite3.connect(own_shop, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")  # as long as this lasts, nobody else writes
    answer = server.say({"trace": trace.trace_id, "thumbs": "up", "by": "ann"})
    assert answer.status == 202
    assert "cannot be written now" in answer.text
    assert "<b>ann</b> good" in server.ask(f"/t/{trace.trace_id}").text
    fixing = {"failure": failure, "project": "shop"}
    answer = server.say({**fixing, "state": "fixed", "fixed_in": "2"})
    assert (answer.status, "cannot be written" in answer.text) == (503, True)
    assert words(store) == []
    holder.rollback()
    holder.close()
    assert patient.flush(60)
    assert [word["by"] for word in words(store)] == ["ann"]


def test_a_store_that_is_gone_damaged_or_newer_is_said_by_the_pages_and_by_the_form(tmp_path, start_server):
    path = tmp_path / "traces.db"
    server = start_server(path)
    assert "No store yet" in server.ask("/failures").text
    assert "Nothing to look at" in server.ask("/review").text
    assert server.say({"trace": TRACE, "thumbs": "up"}).status == 404
    assert not path.exists()
    path.write_bytes(b"this is no database at all" * 100)
    for page in ("/failures", "/review", "/metrics", "/api/v1/failures"):
        assert server.ask(page).status == 503, page
    assert server.say({"trace": TRACE, "thumbs": "up"}).status in (404, 503)
    assert path.read_bytes() == b"this is no database at all" * 100


def test_looking_writes_nothing_into_the_store_and_posting_only_what_was_said(own_shop, writable, store):
    before = own_shop.read_bytes()
    trace = shop.trace_of(store)
    paths = ["/traces", "/failures", "/review", f"/review?trace={trace.trace_id}", "/metrics", "/health",
             f"/t/{trace.trace_id}", "/runs", "/scores/Tool%20Order", "/api/v1/failures", "/api/v1/review",
             "/api/v1/annotations"]  # fmt: skip
    for path in paths:
        assert writable.ask(path).status == 200
        assert writable.ask(path, "HEAD").status == 200
    assert own_shop.read_bytes() == before
    spans = len(store.trace(trace.trace_id).spans)
    assert writable.say({"trace": trace.trace_id, "note": "seen"}).status == 303
    assert len(store.trace(trace.trace_id).spans) == spans
    assert [word["note"] for word in words(store)] == ["seen"]
