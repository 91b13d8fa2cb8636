"""What a reader meets beside the usual: broken trees, models' messages, judges, scores of every outcome,
examples that are flaky, matched in every way, or told twice."""

from __future__ import annotations

import html
import json
import re

import pytest
from test_pages import MOST_BYTES, MOST_NODES, Read, big_store, span_of

from agenttrace.core import semconv
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.span import Span, SpanError
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.scorers import ExactMatchScorer
from agenttrace.store import SQLiteStore
from agenttrace.tracer import Tracer
from agenttrace.viewer import api
from agenttrace.viewer.compare_page import compare_page
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.report import trace_report
from agenttrace.viewer.run_page import run_page
from agenttrace.viewer.score_page import score_list
from agenttrace.viewer.session_page import session_page
from agenttrace.viewer.span_page import span_page, value_text
from agenttrace.viewer.trace_list import trace_list
from agenttrace.viewer.trace_page import trace_page
from agenttrace.viewer.two_traces import two_traces


def page_of(answer: tuple[int, str], status: int = 200, *, unfolded: bool = False) -> Read:
    """A page that is within its budget, read; what a reader has unfolded may be larger."""
    assert answer[0] == status
    page = Read(answer[1])
    assert len(page.elements) <= MOST_NODES
    assert len(answer[1].encode()) <= MOST_BYTES * (1.8 if unfolded else 1)
    return page


# --- broken trees -------------------------------------------------------------------------------------------

BROKEN = {
    "missing parents": [span_of(1, None), span_of(2, 77, name="lone"), span_of(3, 2), span_of(4, 78)],
    "only missing parents": [span_of(2, 77), span_of(3, 77)],
    "loops of parents": [span_of(1, None), span_of(5, 6), span_of(6, 5), span_of(8, 8), span_of(9, 8)],
    "nothing but a loop": [span_of(5, 6), span_of(6, 7), span_of(7, 5)],
    "several roots": [span_of(1, None), span_of(2, None, 100), span_of(3, None, 50), span_of(4, 2)],
    "ends before starts": [span_of(1, None, 1_000), span_of(2, 1, -5_000), span_of(3, 1, 900_000)],
    "depth 5,000": [span_of(1, None), *[span_of(key, key - 1, key) for key in range(2, 5_001)]],
}


@pytest.mark.parametrize("kind", BROKEN)
def test_every_call_of_a_broken_tree_can_be_chosen_zoomed_to_found_compared_and_reported(tmp_path, kind):
    spans = BROKEN[kind]
    reads, trace_id = big_store(tmp_path / "broken.db", spans)
    assert trace_id in trace_list(reads, {})[1]
    chosen = spans if len(spans) < 10 else [spans[2_500]]
    for span in chosen:
        key = span.span_id
        page = page_of(trace_page(reads, {"id": trace_id, "s": key, "zoom": key, "all": key}), unfolded=True)
        rows = [attrs for attrs in page.of("tr") if attrs.get("aria-selected")]
        assert [attrs["data-key"] for attrs in rows] == [key]
        page_of(span_page(reads, {"id": trace_id, "span": key}))
        found = page_of(trace_page(reads, {"id": trace_id, "find": span.name}))
        assert key in {attrs.get("data-key") for attrs in found.of("tr")} or len(spans) > 50
    page_of(two_traces(reads, {"id": trace_id, "other": trace_id}))
    report = trace_report(reads.store.trace(trace_id), [])
    assert Read(report)


def test_a_parent_that_arrives_late_takes_the_place_of_its_placeholder(tmp_path):
    reads, trace_id = big_store(tmp_path / "late.db", [span_of(2, 1, name="child")])
    before = trace_page(reads, {"id": trace_id})[1]
    assert "running, or its process ended" in before
    assert "so far" in Read(before).text
    reads.store.export([span_of(1, None, name="parent")])
    after = trace_page(reads, {"id": trace_id})[1]
    assert "running, or its process ended" not in after
    assert "so far" not in Read(after).text
    assert Read(after).text.index("parent") < Read(after).text.index("child")


# --- values -------------------------------------------------------------------------------------------------

ODD_TEXTS = {
    "bidi": ("safe\u202etxt.exe\u2066!\u2069", ["\\u202e", "\\u2066"]),
    "nul": ("be\x00fore", ["\\x00"]),
    "escape": ("\x1b[2Jgone", ["\\x1b"]),
    "lone surrogates": ("a \ud800 b \udfff", []),
}


@pytest.mark.parametrize("kind", ODD_TEXTS)
def test_characters_that_could_deceive_are_shown_as_codes_and_kept_in_the_whole_value(tmp_path, kind):
    text, codes = ODD_TEXTS[kind]
    reads, trace_id = big_store(tmp_path / "odd.db", [span_of(1, None, input={text: text}, output=[text])])
    for answer in (
        trace_page(reads, {"id": trace_id}),
        span_page(reads, {"id": trace_id, "span": f"{1:016x}"}),
        trace_list(reads, {}),
    ):
        page_of(answer)
        assert not re.search(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", answer[1]
        )
        assert all(code in html.unescape(answer[1]) for code in codes)
    status, whole = value_text(reads, {"id": trace_id, "span": f"{1:016x}", "side": "output", "at": "[0]"})
    assert status == 200
    assert whole.encode(errors="backslashreplace")
    assert kind == "lone surrogates" or whole == text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (True, "True"),
        (None, "None"),
        ("", '""'),
        ([], "nothing"),
        (1e300, "1e+300"),
        (2**70, str(2**70)),
    ],
)
def test_a_value_is_shown_as_what_it_is(tmp_path, value, shown):
    reads, trace_id = big_store(tmp_path / "value.db", [span_of(1, None, input={"value": value})])
    _, text = span_page(reads, {"id": trace_id, "span": f"{1:016x}"})
    section = text.partition("<h3>Input</h3>")[2].partition("</section>")[0]
    assert shown in Read(f"<p>{section}</p>").text.lower() or shown in html.unescape(section)
    assert api.body_of(api.span(reads, {"id": trace_id, "span": f"{1:016x}"}))


def test_of_ten_thousand_names_the_first_are_shown_and_it_is_said_how_many_more_there_are(tmp_path):
    value = {f"key {number}": number for number in range(10_000)}
    reads, trace_id = big_store(tmp_path / "wide.db", [span_of(1, None, output=value)])
    page = page_of(span_page(reads, {"id": trace_id, "span": f"{1:016x}"}))
    shown = len(page.of("dt"))
    assert shown > 50
    more = re.search(r"([\d,]+) more names", page.text)[1]
    assert int(more.replace(",", "")) + sum("key " in word for word in page.words) >= 10_000
    asked = {"id": trace_id, "span": f"{1:016x}", "side": "output"}
    assert json.loads(value_text(reads, asked)[1]) == value


# --- messages, judges, outcomes -----------------------------------------------------------------------------


def test_messages_are_shown_by_role_with_tool_calls_as_calls_and_answers_as_answers(tmp_path):
    call = {"id": "c", "type": "function", "function": {"name": "lookup", "arguments": '{"order_id": 7}'}}
    messages = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Where is <b>my</b> order?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": '{"status": "sent"}'},
    ]
    span = span_of(
        1,
        None,
        name="chat",
        span_type="llm",
        input={"model": "m", "messages": messages},
        output={"role": "assistant", "content": "It was **sent**."},
    )
    reads, trace_id = big_store(tmp_path / "chat.db", [span])
    _, text = span_page(reads, {"id": trace_id, "span": f"{1:016x}"})
    page = Read(text)
    sent = text.partition("<h3>Sent</h3>")[2].partition("<h3>Answered</h3>")[0]
    assert re.findall(r'class="role">(\w+)<', sent) == ["system", "user", "assistant", "tool"]
    assert '<details class="message">' in sent  # the system prompt is folded
    assert "calls lookup order_id 7" in page.text
    assert 'answer {"status": "sent"}' in page.text
    answered = text.partition("<h3>Answered</h3>")[2].partition("</section>")[0]
    assert "It was **sent**." in answered  # text stays text
    assert "Where is <b>my</b> order?" in page.text


def scored_store(path, *scores: Score) -> tuple[Reads, str]:
    store = SQLiteStore(path)
    store.write(Batch([span_of(1, None)], scores=[ScoreRow(f"{9:032x}", None, score) for score in scores]))
    return Reads.of(store), f"{9:032x}"


def test_a_judges_score_shows_items_reasons_the_evidence_as_sent_the_votes_and_the_raw_replies(tmp_path):
    score = Score(
        name="Faithfulness",
        value=0.5,
        threshold=0.8,
        outcome="failed",
        reason="1 of 2 claims is contradicted",
        model="judge-1",
        cost=0.0123,
        details={
            "verdicts": [
                {"item": "Returns are free.", "verdict": "no", "reason": "they cost five"},
                {"item": "They take a week.", "verdict": "yes", "reason": "as stated"},
            ],
            "votes": {"values": [0.5, 1.0, 0.5], "unreadable": 2},
            "raw": ['{"verdicts": ["no", "yes"]}'],
        },
        metadata={"prompts": {"claims": 3}},
        evidence={"context": "Returns cost five euros.", "answer": "Returns are free."},
    )
    reads, trace_id = scored_store(tmp_path / "judge.db", score)
    page = page_of(trace_page(reads, {"id": trace_id})).text
    for words in (
        "no Returns are free. they cost five",
        "yes They take a week. as stated",
        "Votes: 0.5 1 0.5 2 unreadable",
        "What the judge saw and said",
        "context Returns cost five euros.",
        '{"verdicts": ["no", "yes"]}',
        "asked judge-1, prompt claims version 3 · $0.0123",
    ):
        assert words in page, words


def test_scores_that_failed_broke_or_were_not_asked_differ_by_shape_word_and_order(tmp_path):
    reads, trace_id = scored_store(
        tmp_path / "outcomes.db",
        Score.skipped("Skipper", 0.5, "no context was given"),
        Score.of("Passer", 1.0, 0.5),
        Score(
            name="Breaker", value=None, threshold=0.5, outcome="errored", reason="503", error="JudgeError: x"
        ),
        Score.of("Failer", 0.2, 0.5),
    )
    _, text = trace_page(reads, {"id": trace_id})
    scores = re.findall(r'<details class="score (\w+)"( open)?>(.*?)</summary>', text, re.S)
    assert [(outcome, bool(is_open)) for outcome, is_open, _ in scores] == [
        ("failed", True),
        ("errored", True),
        ("passed", False),
        ("skipped", False),
    ]
    marks = [re.search(r'aria-label="(\w+)"[^>]*>(.)<', summary).groups() for *_, summary in scores]
    assert len({shape for _, shape in marks}) == 4
    assert [word for word, _ in marks] == ["failed", "errored", "passed", "skipped"]
    values = [re.search(r'class="scalar">([^<]*)<', summary)[1] for *_, summary in scores]
    assert values == ["0.2", "errored", "1", "skipped"]
    assert "JudgeError: x" in text
    row = Read(trace_list(reads, {})[1])
    assert [attrs["aria-label"] for attrs in row.of("span") if "mark" in (attrs.get("class") or "")] == [
        "failed"
    ]
    lines = Read(score_list(reads, {})[1]).text
    assert re.search(r"Breaker 1 – 0 1 0", lines)
    assert re.search(r"Failer 1 0.2 1 0 0", lines)
    assert re.search(r"Skipper 1 – 0 0 1", lines)


# --- runs ---------------------------------------------------------------------------------------------------


class Suite:
    """Runs of one name in one store, with what the agent answers for each trial."""

    def __init__(self, path) -> None:
        self.tracer = Tracer(project_name="shop", store=str(path))

    def run(self, examples: list[Example], answers, trials: int = 1) -> str:
        """Answers are by the example's question, one a trial."""
        left = {question: list(texts) for question, texts in answers.items()}

        @self.tracer.observe(span_type="agent")
        def answer(question: str) -> str:
            return left[question].pop(0)

        report = run_evaluation(
            examples,
            [ExactMatchScorer()],
            function=answer,
            tracer=self.tracer,
            trials=trials,
            eval_run_name="suite",
        )
        assert self.tracer.flush(timeout=60)
        return report.run_id

    def compared(self, before: str, after: str, show: str = "all") -> Read:
        reads = Reads.of(self.tracer.store)
        return page_of(compare_page(reads, {"a": before, "b": after, "show": show}))


@pytest.fixture
def suite(tmp_path):
    suite = Suite(tmp_path / "traces.db")
    yield suite
    suite.tracer.shutdown()


def asks(question: str, expected: str = "yes", **fields) -> Example:
    return Example(input={"question": question}, expected_output=expected, **fields)


def marks_of(page: Read) -> list[str]:
    """What the dots of trials say, in their order."""
    classes = [(attrs.get("class") or "").split() for attrs in page.of("span")]
    return [outcome for first, outcome in (each for each in classes if len(each) == 2) if first == "mark"]


def test_a_flaky_example_has_a_dot_for_each_trial_and_is_told_from_one_that_got_worse(suite):
    examples = [asks("a", name="flaky"), asks("b", name="broken"), asks("c", name="fine")]
    before = suite.run(examples, {"a": ["yes"] * 4, "b": ["yes"] * 4, "c": ["yes"] * 4}, trials=4)
    answers = {"a": ["yes", "no", "yes", "no"], "b": ["no"] * 4, "c": ["yes"] * 4}
    after = suite.run(examples, answers, trials=4)
    status, text = run_page(Reads.of(suite.tracer.store), {"id": after})
    assert status == 200
    assert re.search(r"Flaky 1", Read(text).text)
    flaky = Read(run_page(Reads.of(suite.tracer.store), {"id": after, "show": "flaky"})[1])
    assert "2 of 4" in flaky.text
    dots = marks_of(flaky)
    assert dots[:4] == ["passed", "failed", "passed", "failed"]
    page = suite.compared(before, after)
    kinds = [
        attrs["class"].removeprefix("chip ")
        for attrs in page.of("span")
        if (attrs.get("class") or "").startswith("chip ")
    ]
    assert kinds == ["worse", "less_stable", "same"]
    assert page.text.index("broken") < page.text.index("flaky") < page.text.index("fine")


def test_runs_with_unequal_counts_of_trials_are_compared_by_their_rates(suite):
    examples = [asks("a", name="one")]
    before = suite.run(examples, {"a": ["yes"]})
    after = suite.run(examples, {"a": ["yes", "no", "yes"]}, trials=3)
    page = suite.compared(before, after)
    assert "Passed 2 of 3 results, before 1 of 1" in page.text
    marks = marks_of(page)
    assert marks == ["passed", "passed", "failed", "passed"]
    assert "Exact Match 1 → 0.6667" in page.text


def test_examples_are_matched_by_id_then_by_name_then_by_content_and_the_page_says_by_which(suite):
    def suite_of(words: str) -> list[Example]:
        return [
            asks(f"by id {words}", example_id="the-id", name=f"renamed {words}"),
            asks(f"by name {words}", name="the name"),
            asks("by content"),
        ]

    def answers(words: str, text: str):
        return {f"by id {words}": [text], f"by name {words}": [text], "by content": [text]}

    before = suite.run(suite_of("before"), answers("before", "yes"))
    after = suite.run(suite_of("after"), answers("after", "no"))
    page = suite.compared(before, after)
    matched = re.search(r"Examples matched ([^.]*)\.", page.text)[1]
    assert matched == "1 by id, 1 by name, 1 by input and expectation"
    assert page.text.count("its input or expectation was edited") == 2
    assert "3 of 3 examples got worse" in page.text


def test_examples_of_one_name_are_not_matched_by_it_and_the_page_says_so(suite):
    twice = [asks("a", name="same"), asks("b", name="same")]
    before = suite.run(twice, {"a": ["yes"], "b": ["yes"]})
    after = suite.run(twice, {"a": ["no"], "b": ["yes"]})
    page = suite.compared(before, after)
    assert "2 examples of" in page.text
    assert "have the name 'same'" in page.text
    assert "2 by input and expectation" in page.text
    assert "1 of 2 examples got worse" in page.text


# --- sessions -----------------------------------------------------------------------------------------------


def test_a_session_has_its_turns_in_order_with_what_was_said_and_what_it_cost(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    for number in (3, 1, 2):
        store.export(
            [
                Span(
                    trace_key=number,
                    span_key=1,
                    name=f"turn_{number}",
                    span_type="agent",
                    project="p",
                    start_ns=10**18 + number * 10**9,
                    end_ns=10**18 + number * 10**9 + 500,
                    input={"message": f"question {number}"},
                    output=f"reply {number}",
                    attributes={semconv.SESSION_ID: "a/b ü"},
                    usage={"cost": 0.25},
                    status="error" if number == 2 else "ok",
                    error=SpanError("E", "x") if number == 2 else None,
                )
            ]
        )
    reads = Reads.of(store)
    page = page_of(session_page(reads, {"session": "a/b ü"}))
    said = re.findall(r"(?:question|reply) \d", page.text)
    assert said == [f"{word} {number}" for number in (1, 2, 3) for word in ("question", "reply")]
    assert "3 traces · 1 failed · $0.75" in page.text
    assert page_of(session_page(reads, {"session": "nobody"}), 404)


# --- lists --------------------------------------------------------------------------------------------------


def test_a_list_sorted_by_cost_has_the_dearest_or_the_cheapest_first_and_unknown_costs_last(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    for number, cost in enumerate((0.5, None, 0.0, 2.0, 1e-6), 1):
        usage = {} if cost is None else {"cost": cost}
        store.export(
            [Span(trace_key=number, span_key=1, name="a", project="p", start_ns=number, usage=usage)]
        )
    reads = Reads.of(store)
    for sort, costs in (("-cost", ["$2.00", "$0.50", "&lt;$0.01", "$0", ""]),):
        _, text = trace_list(reads, {"sort": sort})
        assert re.findall(r'<td class="number cost">([^<]*)</td>', text) == costs
        _, text = trace_list(reads, {"sort": sort.removeprefix("-")})
        shown = re.findall(r'<td class="number cost">([^<]*)</td>', text)
        assert shown == [*costs[-2::-1], ""]
