"""The pages of failures and of what to look at, people's words on others: right, bounded, hostile text."""

from __future__ import annotations

import re
import sqlite3

import pytest
import shop
from test_pages import HOSTILE, MOST_BYTES, MOST_NODES, Read, span_of

from agenttrace.core.annotation import Annotation
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import ConfigError
from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score
from agenttrace.redaction import Redaction
from agenttrace.reports.agreement import agreement_of
from agenttrace.scoring.annotating import annotate
from agenttrace.store import MemoryStore, SQLiteStore
from agenttrace.viewer.api import ROUTES
from agenttrace.viewer.failure_page import ROWS, failure_page
from agenttrace.viewer.people import words_by_place
from agenttrace.viewer.reads import Forms, Reads
from agenttrace.viewer.review_page import CASES, review_page
from agenttrace.viewer.run_page import run_page
from agenttrace.viewer.score_page import score_page
from agenttrace.viewer.trace_page import trace_page

FORMS = Forms("a-form-token", "ann")


def say(store, trace_id=None, result=None, **word):
    return annotate(store, "shop", Redaction(), trace_id, None, result, {"by": "ann", **word})


@pytest.fixture
def store(own_shop):
    store = SQLiteStore(own_shop)
    yield store
    store.close()


def test_failures_are_listed_as_sql_counts_them_with_links_to_their_traces(reads, shop_path):
    status, text = failure_page(reads, {})
    assert status == 200
    with sqlite3.connect(f"file:{shop_path}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT fingerprint, scorer, title, count FROM failures").fetchall()
    page = Read(text).text
    for fingerprint, scorer, title, count in rows:
        assert fingerprint in page
        assert f"{scorer}: {title} {count} case" in page
    links = {attrs["href"] for attrs in Read(text).of("a")}
    for failure in reads.watch.failures():
        assert f"/t/{failure.traces[0]}" in links
    assert "/traces?q=customer%3Aacme" in links


def test_failures_are_parted_by_state_and_a_state_that_there_is_not_is_an_error(store):
    failure = store.failures()[0]
    store.set_failure_state(failure.fingerprint, "fixed", fixed_in="2.5.0")
    reads = Reads.of(store, forms=FORMS)
    _, fixed = failure_page(reads, {"state": "fixed"})
    _, opened = failure_page(reads, {"state": "open"})
    assert failure.fingerprint in fixed
    assert "fixed in 2.5.0" in fixed
    assert "open it again" in fixed
    assert failure.fingerprint not in opened
    assert "No such failure" in failure_page(reads, {"state": "back"})[1]
    assert re.findall(r">(All \d|Open \d|Fixed \d|Back again \d)<", fixed) == [
        "All 4",
        "Back again 0",
        "Open 3",
        "Fixed 1",
    ]
    with pytest.raises(ConfigError, match="wanted one of open, fixed, back"):
        failure_page(reads, {"state": "mended"})


def crowded(path, text="x"):
    """Many failures, each in many traces of many customers; everything is called after a text."""
    store = SQLiteStore(path)
    for number in range(ROWS + 15):
        spans = [span_of(100 * number + n, None, 100 * number + n + 1) for n in range(6)]
        for n, span in enumerate(spans):
            span.trace_key = 1_000 * (number + 1) + n
            span.attributes = {
                "agenttrace.customer_id": f"{text} customer {n}",
                "agenttrace.metadata": {"release": f"{text}{n}"},
            }
        store.write(Batch(spans=spans))
        scorer = f"{text} {number}"
        rows = [ScoreRow(span.trace_id, None, Score.of(scorer, 0.45, 0.5, reason=text)) for span in spans]
        store.write(Batch(scores=rows))
    return store


def test_a_store_full_of_failures_is_shown_in_pages_within_the_budget(tmp_path):
    store = crowded(tmp_path / "t.db")
    reads = Reads.of(store, forms=FORMS)
    seen = []
    for start in ("0", str(ROWS)):
        _, text = failure_page(reads, {"from": start})
        page = Read(text)
        assert len(text.encode()) <= MOST_BYTES
        assert len(page.elements) <= MOST_NODES
        seen += re.findall(r"<dt>Id</dt><dd><code>(\w+)", text)
    assert len(seen) == len(set(seen)) == ROWS + 15
    cases = []
    for start in ("0", str(CASES)):
        _, text = review_page(reads, {"from": start})
        page = Read(text)
        assert len(text.encode()) <= MOST_BYTES
        assert len(page.elements) <= MOST_NODES
        cases += [attrs["value"] for attrs in page.of("input") if attrs["name"] == "trace"]
    assert len(cases) == len(set(cases)) == 2 * CASES
    store.close()


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_what_people_say_and_in_failures_is_text(tmp_path, text):
    store = SQLiteStore(tmp_path / "t.db")
    store.export([span_of(1, None)])
    trace_id = store.traces()[0].trace_id
    say(store, trace_id, thumbs="down", note=text + " ", label=text, expected=f" {text}", by=text)
    store.write(Batch(scores=[ScoreRow(trace_id, None, Score.of(text, 0.0, 0.5, reason=text))]))
    failure = store.failures()[0]
    store.set_failure_state(failure.fingerprint, "fixed", fixed_in=text)
    reads = Reads.of(store, forms=Forms("token", text))
    pages = [
        failure_page(reads, {"project": "", "open": text}),
        failure_page(reads, {"project": text}),
        review_page(reads, {"kept": text, "back": text, "project": ""}),
        review_page(reads, {"trace": trace_id, "back": text}),
        trace_page(reads, {"id": trace_id}),
        score_page(reads, {"name": text}),
    ]
    for _, html in pages:
        page = Read(html)
        html.encode()
        assert not [name for name, _ in page.elements if name in ("img", "iframe")]
        assert all("src" in attrs for attrs in page.of("script"))
        assert "\u202e" not in html
        assert "\x1b" not in html
        addresses = [attrs.get("href") or attrs.get("action") or "" for _, attrs in page.elements]
        assert not [one for one in addresses if one and not one.startswith(("/", "#", "?", "data:,"))]
    store.close()


def test_the_queue_of_the_page_is_that_of_the_command_and_of_the_api(store):
    for trace_id in [line.trace_id for line in store.traces(limit=3)]:
        store.write(Batch(scores=[ScoreRow(trace_id, None, Score.of("Judge", 0.55, 0.5))]))
    reads = Reads.of(store, forms=FORMS)
    _, data = ROUTES["/review"](reads, {})
    _, text = review_page(reads, {})
    assert [attrs["value"] for attrs in Read(text).of("input") if attrs["name"] == "trace"] == [
        case["trace_id"] for case in data["review"]
    ]
    assert len(data["review"]) == 4
    assert "near the threshold" in text


def test_a_case_that_was_deleted_meanwhile_is_left_out_or_said(store):
    reads = Reads.of(store, forms=FORMS)
    status, text = review_page(reads, {"trace": "f" * 32})
    assert (status, "There is no such case" in text) == (404, True)
    status, _ = review_page(reads, {"result": f"{store.runs()[0].run_id}:99"})
    assert status == 404
    for wrong in ("last", ":1", "x:", "x:-1", "x:" + "9" * 9):
        with pytest.raises(ConfigError, match="RUN:PLACE"):
            review_page(reads, {"result": wrong})


def test_words_on_a_result_and_on_its_trace_stand_on_the_page_of_the_run(store):
    run = next(run for run in store.runs() if run.name == "refunds")
    report = EvaluationReport.from_dict(store.run(run.run_id))
    say(store, result=(run.run_id, 2), thumbs="up", note="as it should be")
    say(store, report[5].trace_id, thumbs="down", note="said of the trace")
    say(store, next(line.trace_id for line in store.traces()), note="of another trace")
    _, text = run_page(Reads.of(store, forms=FORMS), {"id": run.run_id})
    assert "as it should be" in text
    assert "said of the trace" in text
    assert "of another trace" not in text
    words = words_by_place(store.annotations(), report)
    assert {place: [view.annotation.note for view in views] for place, views in words.items()} == {
        2: ["as it should be"],
        5: ["said of the trace"],
    }


def test_a_word_of_another_run_or_of_no_place_is_on_no_result():
    report = EvaluationReport(name="r", results=())
    word = Annotation(annotation_id="1", project="p", run_id="f" * 32, result=0, created_ns=1)
    assert words_by_place([word], report) == {}


def test_the_agreement_on_a_scorers_page_is_that_of_the_command(store):
    name = "Tool Order"
    traces = [trace_id for one in store.failures() if one.scorer == name for trace_id in one.traces]
    assert "Nobody has judged what it scored" in score_page(Reads.of(store), {"name": name})[1]
    say(store, traces[0], thumbs="down")
    say(store, traces[1], thumbs="up")
    data = agreement_of(store, name)
    assert (data["cases"], data["table"]["only_people_pass"], data["table"]["both_fail"]) == (2, 1, 1)
    text = Read(score_page(Reads.of(store), {"name": name})[1]).text
    assert "It says the same as people on 50% of 2 cases" in text
    assert "Scorer: failed 1 1" in text
    assert f"{data['kappa_low']:.2f} to {data['kappa_high']:.2f}" in text
    _, api = ROUTES["/scores/{name:path}/agreement"](Reads.of(store), {"name": name})
    assert api == data
    assert "Agreement with people" not in score_page(Reads.of(store), {"name": "Human"})[1]


def test_a_store_in_memory_has_the_same_pages():
    store = MemoryStore()
    store.export([span_of(1, None)])
    trace_id = store.traces()[0].trace_id
    store.write(Batch(scores=[ScoreRow(trace_id, None, Score.of("Judge", 0.0, 0.5))]))
    reads = Reads.of(store, forms=FORMS)
    assert "below its threshold" in failure_page(reads, {})[1]
    assert trace_id[:8] in review_page(reads, {})[1]


def test_the_pages_of_the_shop_have_forms_that_say_what_they_are_about(reads):
    trace = shop.trace_of(reads.store)
    _, text = trace_page(reads, {"id": trace.trace_id})
    hidden = {
        attrs["name"]: attrs["value"] for attrs in Read(text).of("input") if attrs.get("type") == "hidden"
    }
    assert hidden["form_token"] == "a-form-token"
    assert hidden["trace"] == trace.trace_id
    assert hidden["back"] == f"/t/{trace.trace_id}"
    buttons = Read(text).of("button")
    first = next(attrs for attrs in buttons if attrs.get("type") == "submit")
    assert "disabled" in first  # so that Enter in a line judges nothing


def test_a_verdict_that_its_person_gave_anew_is_shown_as_history_and_what_was_kept_names_its_case(store):
    reads = Reads.of(store)
    trace_id = store.traces(limit=1)[0].trace_id
    say(store, trace_id, thumbs="down")
    number = say(store, trace_id, thumbs="up")
    assert store.flush(60)
    _, text = trace_page(reads, {"id": trace_id})
    assert text.count("replaced since") == 1
    _, text = review_page(reads, {"kept": number})
    kept = text.partition('class="kept"')[2].partition("</div>")[0]
    assert f'href="/t/{trace_id[:8]}' in kept
