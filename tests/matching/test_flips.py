"""Whose fault it is that trials of one example differ in their verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agenttrace.core.example import Example
from agenttrace.core.marks import cut
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.matching.flips import flip_among

LOOKUP: dict[str, Any] = {"name": "lookup", "arguments": {"id": 7}, "output": {"paid": 12}}
REFUND: dict[str, Any] = {"name": "refund", "arguments": {"id": 7, "amount": 12}, "output": "ok"}


def trial(
    number: int, passed: bool, calls: list[Any] | None, answer: Any = "done", error: str | None = None
) -> ScoringResult:
    score = Score.of("Judge", float(passed), 0.5)
    return ScoringResult(
        example=Example(name="refund-7", actual_output=answer),
        outcome="passed" if passed else "failed",
        trace=None if calls is None else Trace.from_calls(calls),
        scores=() if error else (score, Score.of("Other", 1.0, 0.5)),
        error=error,
        trial=number,
        trials=2,
    )


def culprit(*trials: ScoringResult) -> tuple[str, str]:
    flip = flip_among(trials)
    assert flip is not None
    return flip.culprit, flip.why


def test_the_same_calls_and_the_same_output_with_another_verdict_is_the_scorer() -> None:
    same = [LOOKUP, REFUND]
    assert culprit(trial(1, True, same), trial(2, False, same)) == ("scorer", "Judge")
    assert culprit(trial(1, True, None), trial(2, False, None)) == ("scorer", "Judge")


@pytest.mark.parametrize(
    ("calls", "why"),
    [
        (
            [LOOKUP, {**REFUND, "arguments": {"id": 7, "amount": 12.5}}],
            "refund (call 2): amount 12, then 12.5",
        ),
        ([LOOKUP], "refund was called only where it passed"),
        ([LOOKUP, REFUND, "delete_order"], "delete_order (call 3) was made only where it failed"),
        ([LOOKUP, {**REFUND, "arguments": {"id": 7}}], "refund (call 2): amount only where it passed"),
        (
            [{**LOOKUP, "arguments": {"id": 7, "deep": True}}, REFUND],
            "lookup (call 1): deep only where it failed",
        ),
    ],
)
def test_other_calls_are_the_agent_and_the_first_row_that_differs_is_named(
    calls: list[Any], why: str
) -> None:
    assert culprit(trial(1, True, [LOOKUP, REFUND]), trial(2, False, calls)) == ("agent", why)


def test_the_same_calls_and_another_answer_are_the_agent() -> None:
    passed, failed = trial(1, True, [LOOKUP], "12"), trial(2, False, [LOOKUP], "13")
    assert culprit(passed, failed) == ("agent", "the same calls, another answer: '12', then '13'")


def test_an_agent_that_raised_is_the_agent() -> None:
    failed = trial(2, False, [], error="Traceback\nValueError: no order 7")
    assert culprit(trial(1, True, [LOOKUP]), failed) == ("agent", "ValueError: no order 7")


def test_the_same_calls_that_were_answered_otherwise_are_the_tools() -> None:
    failed = trial(2, False, [{**LOOKUP, "output": {"paid": 13}}], "13")
    assert culprit(trial(1, True, [LOOKUP], "12"), failed) == (
        "tools",
        "lookup (call 1) gave {'paid': 12}, then {'paid': 13}",
    )


def test_what_was_cut_is_not_known_to_be_the_same() -> None:
    def run(text: str) -> list[Any]:
        return [{**LOOKUP, "output": cut(text, 4)}]

    assert culprit(trial(1, True, run("abcdefgh")), trial(2, False, run("abcdefghi"))) == (
        "unknown",
        "the output of lookup (call 1) was not recorded whole",
    )
    assert culprit(trial(1, True, run("abcdefgh")), trial(2, False, run("abcdefgh")))[0] == "scorer"


def test_calls_of_one_trial_alone_tell_nothing() -> None:
    assert culprit(trial(1, True, [LOOKUP]), trial(2, False, None))[0] == "unknown"


def test_examples_that_differ_are_no_fault_of_the_scorer() -> None:
    one, other = trial(1, True, [LOOKUP]), trial(2, False, [LOOKUP])
    other = replace(other, example=other.example.changed(additional_metadata={"reward": 0}))
    assert culprit(one, other) == ("unknown", "the examples differ in additional_metadata")


def test_a_call_that_is_expected_is_named_before_those_that_are_not() -> None:
    passed, failed = trial(1, True, [LOOKUP, REFUND]), trial(2, False, ["think"])
    assert culprit(passed, failed)[1].startswith(("lookup", "think"))
    for one in (passed, failed):
        one.example.expected_tools = ["refund"]
    assert culprit(passed, failed) == ("agent", "refund was called only where it passed")


def test_of_trials_whose_traces_are_not_at_hand_nothing_is_said() -> None:
    passed, failed = (replace(trial(n, n == 1, None), stored_trace_id=f"{n:032x}") for n in (1, 2))
    assert flip_among([passed, failed]) is None


def test_a_pair_that_only_a_scorer_can_have_split_comes_first() -> None:
    other = trial(2, False, [REFUND])
    assert culprit(trial(1, True, [LOOKUP]), other, trial(3, False, [LOOKUP]))[0] == "scorer"


def test_trials_that_agree_do_not_flip() -> None:
    assert flip_among([trial(1, True, [LOOKUP]), trial(2, True, [REFUND])]) is None
    assert flip_among([trial(1, False, [LOOKUP]), trial(2, False, [REFUND])]) is None


def test_the_text_names_the_trials() -> None:
    flip = flip_among([trial(1, True, [LOOKUP]), trial(2, False, [LOOKUP])])
    assert str(flip) == (
        "trial 2 failed and trial 1 passed: the scorer, for the same calls and the same output: Judge"
    )


def test_trials_that_were_read_back_without_their_traces_do_not_blame_the_scorer() -> None:
    same = [LOOKUP, REFUND]
    results = (trial(1, True, same), trial(2, False, same))
    stored = EvaluationReport.from_dict(EvaluationReport(results=results).to_dict())
    assert flip_among(stored.results) is None
