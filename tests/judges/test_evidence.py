"""What a judge is shown."""

from __future__ import annotations

import asyncio

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.span import Span, SpanError
from agenttrace.core.trace import Trace
from agenttrace.judges.evidence import MAX_FIELD, Evidence, as_text, trajectory
from agenttrace.judges.models.fake import FakeChatModel
from agenttrace.judges.prompt_scorer import PromptScorer


def span(name: str, key: int, parent: int | None = None, **fields: object) -> Span:
    return Span(trace_key=1, span_key=key, parent_key=parent, index=key, start_ns=key, name=name, **fields)  # type: ignore[arg-type]


def run() -> Trace:
    return Trace(
        [
            span("agent", 1, span_type="agent", input={"prompt": "hi"}, output="done"),
            span("find", 2, 1, span_type="tool", input={"city": "Paris", "days": 2}, output={"ids": [1, 2]}),
            span(
                "pay",
                3,
                1,
                span_type="tool",
                input={},
                status="error",
                error=SpanError("ValueError", "no\ncard"),
            ),
            span("stream", 4, 3, span_type="llm", status="cancelled"),
        ]
    )


def test_a_trajectory_is_one_line_a_span() -> None:
    assert trajectory(run()).splitlines() == [
        '1. agent agent(prompt="hi") returned "done"',
        '2.   tool find(city="Paris", days=2) returned {"ids":[1,2]}',
        "3.   tool pay() raised ValueError: no\\ncard",
        "4.     llm stream() was cancelled",
    ]


def test_a_long_trajectory_is_cut_in_the_middle_and_the_cut_is_remembered() -> None:
    trace = Trace([span(f"tool_{n}", n + 1, span_type="tool", input={"x": "y" * 5000}) for n in range(200)])
    evidence = Evidence(Example(), trace, "Own")
    text = evidence.text("trajectory")
    assert len(text) < MAX_FIELD + 100
    assert text.startswith("1. tool tool_0(")
    assert "tool_199(" in text
    assert "characters left out" in text
    assert evidence.cut == ["trajectory"]


def test_input_and_output_come_from_the_trace_where_the_example_has_none() -> None:
    evidence = Evidence(Example(), run(), "Own")
    assert evidence.text("actual_output") == "done"
    assert evidence.text("input") == '{\n "prompt": "hi"\n}'
    assert Evidence(Example(actual_output="mine"), run(), "Own").text("actual_output") == "mine"


@pytest.mark.parametrize(
    ("field", "example", "message"),
    [
        (
            "actual_output",
            {},
            "Own needs 'actual_output', which is missing; set actual_output= on the Example",
        ),
        ("retrieval_context", {"retrieval_context": []}, "Own needs 'retrieval_context', which is empty"),
        ("trajectory", {}, "Own needs 'trajectory', which is missing; run the agent under a tracer"),
    ],
)
def test_a_missing_field_is_an_error_that_names_it(
    field: str, example: dict[str, object], message: str
) -> None:
    with pytest.raises(ScorerError, match=message):
        Evidence(Example(**example), None, "Own").require(field)  # type: ignore[arg-type]


def test_an_empty_text_is_there_and_an_empty_trace_is_not() -> None:
    assert Evidence(Example(actual_output=""), None, "Own").has("actual_output")
    assert not Evidence(Example(), Trace(), "Own").has("trajectory")


def test_a_required_list_may_be_empty_but_not_absent() -> None:
    Evidence(Example(retrieval_context=[]), None, "Own").require_list("retrieval_context")
    with pytest.raises(ScorerError, match="'retrieval_context', which is missing"):
        Evidence(Example(), None, "Own").require_list("retrieval_context")


def test_nodes_are_bounded_together() -> None:
    evidence = Evidence(Example(context=["a" * MAX_FIELD, "short"]), None, "Own")
    nodes = evidence.nodes("context")
    assert sum(map(len, nodes)) < MAX_FIELD
    assert nodes[1] == "short"
    assert evidence.cut == ["context[0]"]


def test_values_are_shown_as_text_lists_numbered_and_the_rest_as_json() -> None:
    assert as_text("x") == "x"
    assert as_text(["a", "b"]) == "1. a\n2. b"
    assert as_text([]) == "[]"
    assert (
        as_text({"a": [1, None], "b": {1, 2}}) == '{\n "a": [\n  1,\n  null\n ],\n "b": [\n  1,\n  2\n ]\n}'
    )
    assert as_text(object()) == '{\n "$type": "object"\n}'


DIGEST = "0123456789abcdef" * 2


class TestWhatWasNotRecordedWhole:
    def test_is_written_in_words_and_named(self) -> None:
        value = {
            "text": f"abc…[+1234 chars #{DIGEST}]",
            "rows": [1, {"$truncated": 9}],
            "cart": {"$type": "shop.Cart"},
            "token": "[redacted]",
        }
        evidence = Evidence(Example(actual_output=value), None, "Judge")
        text = evidence.text("actual_output")
        assert "abc… (1,234 more characters were not recorded)" in text
        assert "(9 more items were not recorded)" in text
        assert "(not opened)" in text
        assert "[redacted]" in text
        assert "$" not in text
        assert DIGEST not in text
        assert evidence.not_whole == {"actual_output": "cut"}

    def test_is_named_for_a_trajectory_too(self) -> None:
        trace = Trace([span("find", 1, input={"q": f"abc…[+9 chars #{DIGEST}]"}, output="[redacted]")])
        evidence = Evidence(Example(), trace, "Judge")
        text = evidence.text("trajectory")
        assert "9 more characters were not recorded" in text
        assert DIGEST not in text
        assert evidence.not_whole == {"trajectory": "cut"}

    def test_is_named_in_the_score(self) -> None:
        scorer = PromptScorer(
            "Quality", "Is {{actual_output}} good?", model=FakeChatModel([{"reason": "fine", "score": 1}])
        )
        score = asyncio.run(scorer.score(Example(actual_output="abc…[+9 chars]")))
        assert score.details["not_recorded_whole"] == {"actual_output": "cut"}
        assert "The judge did not see everything: actual_output was cut when it was recorded" in score.reason

    @pytest.mark.parametrize(
        ("value", "why"),
        [
            ("[redacted]", "was redacted"),
            ({"$type": "shop.Cart"}, "was not opened"),
            ({"$truncated": "memory"}, "was not recorded"),
        ],
    )
    def test_is_an_error_where_nothing_of_it_is_known(self, value: object, why: str) -> None:
        evidence = Evidence(Example(actual_output=value), None, "Judge")
        with pytest.raises(
            ScorerError, match=f"'actual_output', which {why}, so that nothing of it is known"
        ):
            evidence.require("actual_output")
