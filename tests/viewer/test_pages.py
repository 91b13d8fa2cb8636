"""Pages as functions: what they show of a real store, of hostile text, of broken traces; how large they are."""

# ruff: noqa: E501 - spans on one line each are read more easily
from __future__ import annotations

import html
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
import shop

from agenttrace.core import semconv
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import AmbiguousId
from agenttrace.core.example import Example
from agenttrace.core.query_parsing import parse
from agenttrace.core.score import Score
from agenttrace.core.span import Span, SpanError
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.scorers import ToolOrderScorer
from agenttrace.store import SQLiteStore
from agenttrace.tracer import Tracer
from agenttrace.viewer.api import ROUTES, body_of
from agenttrace.viewer.app import PAGES
from agenttrace.viewer.example_text import example_text
from agenttrace.viewer.loop import loop_of
from agenttrace.viewer.missing_page import trouble
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.score_page import score_page
from agenttrace.viewer.span_page import span_page, value_text
from agenttrace.viewer.trace_list import trace_list
from agenttrace.viewer.trace_page import trace_page
from agenttrace.viewer.two_traces import two_traces

MOST_BYTES = 100_000
MOST_NODES = 2_500
VOID = {"meta", "link", "input", "br", "hr", "img", "rect", "path"}
MAY_STAY_OPEN = {"td", "th", "tr", "li", "dd", "dt"}
"""Elements of files that HTML ends where the next one begins."""


class Read(HTMLParser):
    """Counts elements, collects attributes, checks that they are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        while self.open and self.open[-1] in MAY_STAY_OPEN and self.open[-1] != tag:
            self.open.pop()
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.elements if name == tag]


def asks(reads: Reads) -> dict[str, dict[str, str]]:
    """What each page is asked so that it has something to show."""
    trace = shop.trace_of(reads.store)
    other = next(line for line in reads.store.traces(limit=10) if line.trace_id != trace.trace_id)
    run = next(run for run in reads.store.runs() if run.name == "refunds")
    return {
        "/t/{id}": {"id": trace.trace_id, "q": ""},
        "/t/{id}/s/{span}": {"id": trace.trace_id, "span": trace.spans[1].span_id},
        "/t/{id}/vs/{other}": {"id": trace.trace_id, "other": other.trace_id},
        "/session/{session:path}": {"session": "s-1"},
        "/r/{id}": {"id": run.run_id},
        "/compare": {"a": "baseline", "b": run.run_id, "show": "all"},
        "/scores/{name:path}": {"name": "Tool Order"},
        "/groups/{by:path}": {"by": "customer"},
    }


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_well_formed_and_within_its_budget(reads, path):
    status, text = PAGES[path](reads, asks(reads).get(path, {}))
    assert status == 200
    page = Read(text)
    assert len(text.encode()) <= MOST_BYTES
    assert len(page.elements) <= MOST_NODES
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert not [
        attrs for _, attrs in page.elements if "style" in attrs or any(a.startswith("on") for a in attrs)
    ]
    assert all("src" in attrs for attrs in page.of("script"))
    assert page.of("style") == []


@pytest.mark.parametrize("path", PAGES)
def test_a_page_needs_at_most_five_requests_and_nothing_from_elsewhere(reads, path):
    _, text = PAGES[path](reads, asks(reads).get(path, {}))
    page = Read(text)
    loaded = [attrs["src"] for attrs in page.of("script")]
    loaded += [attrs["href"] for attrs in page.of("link") if attrs["rel"] == "stylesheet"]
    assert 1 + len(loaded) <= 5
    assert all(address.startswith("/static/") for address in loaded)
    addresses = [attrs.get("href") or "" for name, attrs in page.elements if name in ("a", "form", "link")]
    assert not [one for one in addresses if one and not one.startswith(("/", "?", "#", "data:,"))]


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'",
    "javascript:alert(1)",
    "{{ 7*7 }}{% raise %}",
    "</pre></script><svg onload=alert(1)>",
    "\u202etxt.exe\u2066",
    "nul\x00bell\x07esc\x1b[2J",
    "lone \ud800 surrogate",
    "-->]]><!--",
]


def hostile_store(path, text: str) -> SQLiteStore:
    """A store with one text in every field that anybody can write."""
    store = SQLiteStore(path)
    attributes = {
        semconv.TAGS: [text],
        semconv.CUSTOMER_ID: text,
        semconv.SESSION_ID: text,
        "gen_ai.conversation.id": text,
        semconv.METADATA: {text or "k": text, "release": text},
        text: text,
    }
    error = SpanError(text, text)
    message = {"role": text, "content": text, "tool_calls": [{"function": {"name": text, "arguments": text}}]}
    spans = [
        Span(
            trace_key=7,
            span_key=1,
            name=text,
            span_type="agent",
            project=text,
            start_ns=10**18,
            end_ns=10**18 + 9000,
            input={text: text, "list": [text, {text: text}]},
            output=text,
            attributes=attributes,
        ),
        Span(
            trace_key=7,
            span_key=2,
            parent_key=1,
            index=1,
            name=text,
            span_type="tool",
            project=text,
            start_ns=10**18 + 1,
            end_ns=10**18 + 5,
            input={text: text},
            output={text: [text]},
            status="error",
            error=error,
        ),
        Span(
            trace_key=7,
            span_key=3,
            parent_key=1,
            index=2,
            name=text,
            span_type="llm",
            project=text,
            start_ns=10**18 + 6,
            end_ns=10**18 + 8,
            input={"model": text, "messages": [message]},
            output={"role": "assistant", "content": text},
            usage={text: 3, "cost": 0.5},
        ),
        Span(
            trace_key=7,
            span_key=4,
            parent_key=1,
            index=3,
            name=text,
            span_type=text,
            project=text,
            start_ns=10**18 + 6,
            end_ns=10**18 + 8,
        ),
    ]
    row = {
        "kind": text,
        "number": 1,
        "expected": {text: {text: text}},
        "actual": {"name": text, "arguments": {text: text}, "index": 0},
        "differences": [{"path": text, "expected": text, "got": text, "kind": text, "note": text}],
        "note": text,
    }
    details = {
        "rows": [row],
        "verdicts": [{"item": text, "verdict": text, "reason": text}],
        text: text,
        "votes": {"values": [text], "unreadable": text},
        "raw": [text],
    }
    scores = [
        Score(
            name=text,
            value=0.0,
            threshold=1.0,
            outcome="failed",
            reason=text,
            details=details,
            diff=text,
            model=text,
            metadata={"prompts": {text: text}, "evidence": {text: text}},
        ),
        Score(name=text, value=None, threshold=1.0, outcome="errored", reason=text, error=text),
    ]
    key = f"{7:032x}"
    store.write(Batch(spans, scores=[ScoreRow(key, None, score) for score in scores]))
    return store


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_every_field_is_text(tmp_path, text):
    store = hostile_store(tmp_path / "hostile.db", text)
    reads = Reads.of(store)
    trace = f"{7:032x}"
    spans = [span.span_id for span in store.trace(trace).spans]
    pages = [
        trace_list(reads, {}),
        trace_list(reads, {"q": text}),
        trace_page(reads, {"id": trace, "q": text}),
    ]
    pages += [
        trace_page(reads, {"id": trace, "find": text, "s": text, "open": text, "more": text, "zoom": text})
    ]
    pages += [span_page(reads, {"id": trace, "span": span}) for span in spans]
    pages += [
        score_page(reads, {"name": text}),
        PAGES["/tools"](reads, {}),
        PAGES["/scores"](reads, {"q": text}),
    ]
    pages += [PAGES["/session/{session:path}"](reads, {"session": text}), trace_page(reads, {"id": text})]
    pages += [PAGES["/compare"](reads, {"a": text, "b": text}), PAGES["/r/{id}"](reads, {"id": text})]
    known = {name for name, _ in Read(trace_list(reads, {})[1]).elements}
    for _, page_text in pages:
        page = Read(page_text)
        assert not {"img", "iframe", "object", "embed"} & {name for name, _ in page.elements}
        assert not [a for _, attrs in page.elements for a in attrs if a.startswith("on")]
        assert all(attrs.get("src", "").startswith("/static/") for attrs in page.of("script"))
        hrefs = [attrs.get("href") or "" for _, attrs in page.elements]
        assert not [one for one in hrefs if one.strip().lower().startswith(("javascript", "data:t", "//"))]
        assert not re.search(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page_text
        )
        page_text.encode()
    assert known


def test_a_row_of_the_list_shows_the_agent_its_input_its_calls_and_what_failed(reads):
    _, text = trace_list(reads, {"q": "failed:refund customer:acme is:failed"})
    page = Read(text).text
    assert "handle_ticket" in page
    assert "Please refund my order" in page
    assert "search_kb ×6" in page or "search_kb×6" in page.replace(" ×", "×")
    assert "✕ refund" in page


def test_a_term_that_cannot_be_read_is_said_and_nothing_is_shown(reads):
    status, text = trace_list(reads, {"q": "failed:refund custmer:acme dur>>2s"})
    page = Read(text)
    assert status == 400
    assert "This query was not run" in page.text
    assert page.of("table") == []
    assert 'value="failed:refund custmer:acme dur&gt;&gt;2s"' in text


def test_where_nothing_matches_the_page_says_what_matches_without_each_term(reads):
    status, text = trace_list(reads, {"q": "customer:acme customer:nobody"})
    assert status == 200
    words = Read(text).text
    assert "Without customer:nobody : 16 match" in words
    assert "Without customer:acme : none matches either" in words


def test_a_chosen_value_of_a_facet_leaves_its_siblings_there_to_choose(reads):
    _, text = trace_list(reads, {"q": "customer:acme"})
    facets = text.partition('id="facets"')[2].partition("</details>")[0]
    assert all(customer in facets for customer in shop.CUSTOMERS)
    assert 'aria-current="true"' in facets


def test_an_empty_directory_says_how_to_record_and_is_left_as_it_was(tmp_path):
    reads = Reads.of(SQLiteStore(tmp_path / "none" / "traces.db"))
    for path, page in PAGES.items():
        if "{" not in path and path != "/compare":
            assert page(reads, {})[0] == 200
    assert "agenttrace demo" in trace_list(reads, {})[1]
    assert list(tmp_path.iterdir()) == []


def test_the_trace_page_opens_at_the_deepest_failure(reads):
    _, listed = trace_list(reads, {"q": "failed:refund"})
    trace_id = re.search(r'data-id="([0-9a-f]{32})"', listed)[1]
    status, text = trace_page(reads, {"id": trace_id})
    assert status == 200
    selected = re.search(r'aria-selected="true" data-key="([0-9a-f]{16})"', text)[1]
    span = next(span for span in reads.store.trace(trace_id).spans if span.span_id == selected)
    assert (span.name, span.status) == ("refund", "error")
    assert "PaymentError" in text


def test_failed_scores_are_open_with_their_aligned_rows_and_lead_to_spans(reads):
    _, listed = trace_list(reads, {"q": 'score:"Tool Order"<1'})
    trace_id = re.search(r'data-id="([0-9a-f]{32})"', listed)[1]
    _, text = trace_page(reads, {"id": trace_id})
    page = Read(text)
    diff = text.partition('<table class="diff">')[2].partition("</table>")[0]
    assert "notify" in diff
    assert "not made" in diff
    keys = {attrs["data-choose"] for attrs in page.of("a") if attrs.get("data-choose")}
    assert keys
    assert keys <= {span.span_id for span in reads.store.trace(trace_id).spans}
    assert re.search(r"<mark>[^<]+</mark>", diff)


def test_the_judge_s_items_reasons_and_prompt_are_shown(reads):
    _, listed = trace_list(reads, {"q": "scorer:Faithfulness"})
    trace_id = re.search(r'data-id="([0-9a-f]{32})"', listed)[1]
    page = Read(trace_page(reads, {"id": trace_id})[1]).text
    assert all(words in page for words in ("Returns are free.", "cost five", "asked fake", "version"))


def test_a_trace_that_is_gone_is_said_with_those_that_are_near(reads):
    trace_id = shop.trace_of(reads.store).trace_id
    status, text = trace_page(reads, {"id": trace_id[:8] + "f" * 24})
    assert status == 404
    assert trace_id in text


def test_prefixes_of_an_id_lead_to_the_trace(reads):
    trace_id = shop.trace_of(reads.store).trace_id
    assert trace_page(reads, {"id": trace_id[:8]})[0] == 200


def big_store(path, spans) -> tuple[Reads, str]:
    store = SQLiteStore(path)
    store.export(list(spans))
    return Reads.of(store), f"{9:032x}"


def span_of(key, parent, start=0, **more):
    fields = {"name": f"step {key % 7}", "span_type": "tool", "project": "p", "input": {"n": key}, **more}
    return Span(
        trace_key=9,
        span_key=key,
        parent_key=parent,
        index=key,
        start_ns=10**18 + start,
        end_ns=10**18 + start + 50,
        **fields,
    )


def test_5000_spans_are_drawn_within_the_budget_and_the_rest_can_be_reached(tmp_path):
    spans = [span_of(1, None, name="root", span_type="agent")]
    spans += [span_of(k, 1, k, name=f"page {k}", span_type="chain") for k in range(2, 152)]
    spans += [span_of(k, 2 + (k % 150), k) for k in range(152, 5_000)]
    spans[-1] = span_of(4_999, 100, 4_999, name="boom", status="error", error=SpanError("E", "x"))
    reads, trace_id = big_store(tmp_path / "big.db", spans)
    asked = {"id": trace_id}
    for more in (
        {},
        {"all": spans[5].span_id},
        {"more": f"{spans[0].span_id}-20"},
        {"open": ".".join(s.span_id for s in spans[1:60])},
        {"find": "step"},
    ):
        status, text = trace_page(reads, {**asked, **more})
        assert status == 200
        assert len(Read(text).elements) <= MOST_NODES
        assert len(text.encode()) <= (1.1 * MOST_BYTES if more else MOST_BYTES)
    _, text = trace_page(reads, asked)
    assert "boom" in text
    assert "more: page" in text
    _, text = trace_page(reads, {**asked, "all": spans[5].span_id})
    children = [span for span in spans if span.parent_key == spans[5].span_key]
    assert all(f'data-key="{child.span_id}"' in text for child in children[:10])


def test_a_trace_of_100000_spans_is_served_in_parts(tmp_path):
    count = 100_000
    spans = [span_of(1, None, name="root", span_type="agent")]
    spans += [span_of(k, 1 + k % 300 if k > 301 else 1, k) for k in range(2, count + 1)]
    reads, trace_id = big_store(tmp_path / "t.db", spans)
    _, text = trace_page(reads, {"id": trace_id})
    assert len(text.encode()) <= MOST_BYTES
    assert len(Read(text).elements) <= MOST_NODES
    assert "100,000 spans" in text
    _, part = ROUTES["/traces/{id}"](reads, {"id": trace_id, "from": "90000"})
    assert (len(part["spans"]), part["left_out"]) == (5_000, 5_000)
    assert len(body_of(part)[0]) <= 4_000_000


def test_missing_parents_loops_of_parents_and_several_roots_are_all_shown(tmp_path):
    spans = [
        span_of(1, None),
        span_of(2, None),
        span_of(3, 77),
        span_of(4, 77),
        span_of(5, 6),
        span_of(6, 5),
        span_of(8, 8),
    ]
    reads, trace_id = big_store(tmp_path / "odd.db", spans)
    _, text = trace_page(reads, {"id": trace_id})
    assert all(f'data-key="{span.span_id}"' in text for span in spans)
    assert "running, or its process ended" in text
    assert "so far" in text
    assert text.count("its parents form a loop") == 3


def test_a_chain_of_5000_calls_shows_its_ends_and_says_how_many_levels_are_between(tmp_path):
    spans = [span_of(1, None), *[span_of(k, k - 1, k) for k in range(2, 5_000)]]
    spans.append(span_of(5_000, 4_999, 5_000, name="bottom", status="error", error=SpanError("E", "deep")))
    reads, trace_id = big_store(tmp_path / "deep.db", spans)
    _, text = trace_page(reads, {"id": trace_id})
    page = Read(text)
    assert len(page.elements) <= MOST_NODES
    assert "levels between" in page.text
    assert "bottom" in page.text
    assert 'aria-selected="true"' in text


VALUES = {
    "a megabyte": "x" * 1_000_000,
    "ten thousand keys": {f"key {n}": n for n in range(10_000)},
    "deep": {"a": {"b": {"c": {"d": {"e": {"f": {"g": 1}}}}}}},
    "nan": float("nan"),
    "long integer": 10**5_000,
    "surrogates": "\ud800 and \udfff",
    "empty": ["", {}, [], None, False],
    "bytes": {"$bytes": "AAEC", "size": 3},
    "list": [[n] * 50 for n in range(200)],
}


@pytest.mark.parametrize("name", VALUES)
def test_values_of_any_kind_and_size_are_shown_within_the_budget(tmp_path, name):
    value = VALUES[name]
    reads, trace_id = big_store(
        tmp_path / "values.db", [span_of(1, None, input={"value": value}, output=value)]
    )
    status, text = trace_page(reads, {"id": trace_id})
    assert status == 200
    page = Read(text)
    assert len(page.elements) <= MOST_NODES
    assert len(text.encode()) <= MOST_BYTES
    text.encode()


def test_what_another_library_left_out_of_a_call_is_no_none_on_its_page(tmp_path):
    said = {"agenttrace.not_recorded": "set CONTENT=true"}
    for name, attributes, there in (("left", said, True), ("whole", {}, False)):
        spans = [span_of(1, None, attributes=attributes, input=None)]
        reads, trace_id = big_store(tmp_path / f"{name}.db", spans)
        text = Read(trace_page(reads, {"id": trace_id, "s": spans[0].span_id})[1]).text
        assert ("arguments and output not recorded: set CONTENT=true" in text) == there
        assert ("Output None" in text) != there


def test_a_long_text_is_cut_with_a_link_to_the_whole(tmp_path):
    reads, trace_id = big_store(tmp_path / "long.db", [span_of(1, None, output={"answer": "word " * 50_000})])
    _, text = trace_page(reads, {"id": trace_id})
    link = html.unescape(re.search(r'href="([^"]+/value[^"]+)">Show all', text)[1])
    assert "side=output" in link
    status, whole = value_text(
        reads, {"id": trace_id, "span": f"{1:016x}", "side": "output", "at": '["answer"]'}
    )
    assert (status, len(whole)) == (200, 250_000)
    assert value_text(reads, {"id": trace_id, "span": f"{1:016x}", "at": '["nothing"]'})[0] == 404


def test_what_lies_beside_the_store_changes_by_looking_but_not_the_store(tmp_path):
    path = tmp_path / "traces.db"
    shop.fill(path).close()
    before = path.read_bytes()
    reads = Reads.of(SQLiteStore(path))
    for name, page in PAGES.items():
        page(reads, asks(reads).get(name, {}))
    assert path.read_bytes() == before


def test_no_template_lets_text_through_as_markup_and_the_sheet_and_script_are_small():
    import agenttrace.viewer as viewer

    room = Path(viewer.__file__).parent
    texts = {path: path.read_text() for path in (*room.glob("*.py"), *room.glob("templates/*.html"))}
    assert texts
    forbidden = re.compile(r'\|\s*safe\b|\bMarkup\b|autoescape\s+false|\sstyle="|\son[a-z]+="')
    assert {
        path.name: forbidden.findall(text) for path, text in texts.items() if forbidden.search(text)
    } == {}
    sizes = {path.name: path.stat().st_size for path in room.glob("static/*")}
    assert sizes["view.css"] <= 25_000
    assert sizes["view.js"] + sizes["theme.js"] <= 15_000
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|eval\(|https?:", (room / "static/view.js").read_text()
    )


def test_a_run_that_is_not_there_is_said_with_those_of_a_like_name_or_id(reads):
    run = next(run for run in reads.store.runs() if run.name == "refunds")
    for wanted in ("refund", run.run_id[:6] + "ffffff"):
        status, text = PAGES["/r/{id}"](reads, {"id": wanted})
        assert status == 404
        assert run.run_id in text
    assert PAGES["/r/{id}"](reads, {"id": "nothing at all"})[1].count("<li>") == 0


def test_a_trace_is_an_example_on_its_page_and_as_plain_text(reads, tmp_path):
    trace = shop.trace_of(reads.store)
    page = Read(trace_page(reads, {"id": trace.trace_id})[1])
    status, text = example_text(reads, {"id": trace.trace_id})
    assert status == 200
    assert " ".join(text.split()) in page.text
    assert f"agenttrace dataset from-traces {trace.trace_id[:12]} --to examples.yaml" in page.text
    (tmp_path / "examples.yaml").write_text(text)
    (example,) = EvalDataset.from_file(tmp_path / "examples.yaml")
    assert ToolOrderScorer(exact_match=True).score(example, trace).passed
    assert example_text(reads, {"id": "00ff"})[0] == 404


def test_a_trace_names_others_to_compare_with(reads):
    trace = shop.trace_of(reads.store)
    page = Read(trace_page(reads, {"id": trace.trace_id})[1])
    links = [attrs["href"] for _, attrs in page.elements if "/vs/" in (attrs.get("href") or "")]
    assert len(links) == 8
    assert all(link.startswith(f"/t/{trace.trace_id}/vs/") for link in links)
    other = links[0].rpartition("/")[2]
    assert two_traces(reads, {"id": trace.trace_id, "other": f" {other[:8]} "})[0] == 200
    assert two_traces(reads, {"id": trace.trace_id})[0] == 404


def test_a_loop_is_named_with_what_was_spent_meanwhile(reads):
    facts = next(facts for facts in reads.traces.each_match(parse("looped:6")))
    page = Read(trace_page(reads, {"id": facts.trace_id})[1])
    assert "search_kb called the same way 6 times" in page.text


def test_what_is_spent_in_a_loop_is_what_began_between_its_first_and_last_call():
    tracer = Tracer("loop", store="memory")

    @tracer.observe(span_type="tool")
    def search(text):
        return text

    @tracer.observe(span_type="llm")
    def ask():
        tracer.update_current_span(usage={"total_tokens": 10, "cost": 0.5})

    @tracer.observe(span_type="agent")
    def agent(times):
        ask()
        for _ in range(times):
            search("x")
            ask()
        search("y")

    with tracer.capture() as captured:
        agent(4)
    assert loop_of(captured.trace)[:2] == ("search", 4)
    assert loop_of(captured.trace)[3:] == (30.0, 1.5)
    with tracer.capture() as captured:
        agent(2)
    assert loop_of(captured.trace) is None
    tracer.shutdown()


def test_a_score_over_time_has_a_line_where_a_release_begins(reads, tmp_path):
    from agenttrace.cli.demo_history import plant

    plant(str(tmp_path / "demo.db"), time.time_ns(), days=4)
    page = Read(score_page(Reads.of(SQLiteStore(tmp_path / "demo.db")), {"name": "Faithfulness"})[1])
    assert "upright lines: releases 2.5.0" in page.text
    assert len([1 for name, attrs in page.elements if attrs.get("class") == "limit"]) == 2


def test_a_trace_opens_at_the_call_that_nobody_expected(tmp_path):
    tracer = Tracer("extra", store=str(tmp_path / "traces.db"))

    @tracer.observe(span_type="tool")
    def search(text):
        return text

    @tracer.observe(span_type="tool")
    def find(text):
        return text

    @tracer.observe(span_type="agent")
    def agent(text):
        return find(text), search(text)

    example = Example(input="x", expected_tools=["find"])
    scorers = [ToolOrderScorer(exact_match=True)]
    report = run_evaluation([example], scorers, function=agent, tracer=tracer)
    assert tracer.flush(timeout=60)
    page = Read(trace_page(Reads.of(tracer.store), {"id": report[0].trace_id})[1])
    selected = [attrs for name, attrs in page.elements if "selected" in (attrs.get("class") or "").split()]
    assert [attrs["data-key"] for attrs in selected] == [report[0].trace.tool_calls[1].span_id]
    tracer.shutdown()


@pytest.mark.parametrize("name", ["path", "self", "asked", "trace_id", "root", "links", "name_", "from_"])
def test_a_page_that_is_asked_by_a_name_that_we_use_ourselves_is_the_same_page(server, reads, name):
    trace = shop.trace_of(reads.store)
    for page in (f"/t/{trace.trace_id}", "/traces", "/failures", "/review", "/runs", "/scores", "/tools"):
        assert server.ask(f"{page}?{name}=x").status == 200, page


def test_digits_that_several_ids_begin_with_are_not_found_and_the_page_says_so(tmp_path):
    keys = [0xABCDEF << 104 | number for number in (1, 2)]
    spans = [Span(trace_key=key, span_key=1, name="one", project="p") for key in keys]
    reads, _ = big_store(tmp_path / "two.db", spans)
    with pytest.raises(AmbiguousId) as caught:
        trace_page(reads, {"id": "abcdef"})
    status, text = trouble(reads, caught.value)
    assert status == 404
    assert "begins several ids" in Read(text).text
