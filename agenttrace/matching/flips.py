"""Why do trials of one example differ in their verdict: the agent, its tools, or the scorer?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Literal

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import cause_within
from agenttrace.core.report import ScoringResult
from agenttrace.core.text import shorten
from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.expectation import expectation_of
from agenttrace.expectations.parse import parse_expectation
from agenttrace.matching.compare import compare
from agenttrace.matching.rows import Row

Culprit = Literal["agent", "tools", "scorer", "unknown"]
_MOST_PAIRS = 25
_READ_BY_SCORERS = ("input", "expected_output", "context", "retrieval_context", "additional_metadata")
_TEXTS: dict[Culprit, str] = {
    "agent": "the agent did something else",
    "tools": "the tools answered otherwise",
    "scorer": "the scorer, for the same calls and the same output",
    "unknown": "the record does not tell",
}


@dataclass(frozen=True, slots=True)
class Flip:
    """Two trials of one example with different verdicts, and what made the difference.

    *agent*: its calls differ, or its answer, or it failed; *tools*: for the same calls they gave other
    outputs; *scorer*: calls, outputs and answer are the same, so that whoever judged them changed its mind;
    *unknown*: what was cut or redacted may differ, or the examples do in what a scorer may read. `why` names
    the first difference, an expected tool's before others.
    """

    culprit: Culprit
    passed: ScoringResult
    failed: ScoringResult
    why: str

    def __str__(self) -> str:
        trials = f"trial {self.failed.trial} failed and trial {self.passed.trial} passed"
        return f"{trials}: {_TEXTS[self.culprit]}: {self.why}"


def flip_among(trials: Sequence[ScoringResult]) -> Flip | None:
    """Return what made trials of one example pass and fail, or None where they do not do both.

    Trials whose traces are not at hand (a run that was read back without them) are left out. Pairs of a
    passed and a failed trial are compared in their order; one that only a scorer can have caused
    comes before any other, because it says that the verdicts cannot be trusted.
    """
    # A trace with an id that is not at hand says nothing; one that was never made is no call in both.
    known = [trial for trial in trials if trial.trace is not None or trial.trace_id is None]
    passed = [trial for trial in known if trial.outcome == "passed"]
    failed = [trial for trial in known if trial.outcome == "failed"]
    pairs = islice(((one, other) for other, one in product(failed, passed)), _MOST_PAIRS)
    flips = [_flip(one, other) for one, other in pairs]
    return next((flip for flip in flips if flip.culprit == "scorer"), flips[0] if flips else None)


def _flip(passed: ScoringResult, failed: ScoringResult) -> Flip:
    culprit, why = _difference(passed, failed)
    return Flip(culprit, passed, failed, why)


def _difference(passed: ScoringResult, failed: ScoringResult) -> tuple[Culprit, str]:
    if failed.error is not None:
        return "agent", (failed.error.strip().splitlines() or ["it failed"])[-1]
    before, after = _calls(passed), _calls(failed)
    if (before is None) != (after is None):
        return "unknown", "the calls of one trial were not recorded"
    if before is None and (passed.trace_id or failed.trace_id):
        return "unknown", "the calls are in the store, and not in this report"
    try:
        calls = _first_difference(before or (), after or (), _expected_names(failed))
    except AgentTraceError as error:
        return "unknown", str(error)
    if calls is not None:
        return "agent", calls
    untold = None
    for one, other in zip(before or (), after or (), strict=True):
        same = _same(dict(one.arguments), dict(other.arguments))
        untold = untold or (None if same else f"an argument of {_named(one)}")
        same = _same((one.output, _message(one)), (other.output, _message(other)))
        if same is False:
            return "tools", f"{_named(one)} gave {_short(one.output)}, then {_short(other.output)}"
        untold = untold or (None if same else f"the output of {_named(one)}")
    answers = passed.example.actual_output, failed.example.actual_output
    same = _same(*answers)
    if same is False:
        return (
            "agent",
            f"the same calls, another answer: {_short(answers[0])}, then {_short(answers[1])}",
        )
    if untold or same is None:
        return "unknown", f"{untold or 'the answer'} was not recorded whole"
    for field in _READ_BY_SCORERS:
        if _same(getattr(passed.example, field), getattr(failed.example, field)) is not True:
            return "unknown", f"the examples differ in {field}"
    return "scorer", ", ".join(_changed_scorers(passed, failed)) or "no scorer's outcome differs"


def _calls(result: ScoringResult) -> Sequence[ToolCall] | None:
    return None if result.trace is None else result.trace.tool_calls


def _expected_names(result: ScoringResult) -> frozenset[str]:
    """The tools that the example's expectation names, at which its scorers look."""
    try:
        return frozenset(call.name for call in parse_expectation(result.example.expected_tools or []).calls)
    except AgentTraceError:
        return frozenset()


def _first_difference(
    before: Sequence[ToolCall], after: Sequence[ToolCall], expected: frozenset[str]
) -> str | None:
    """The first row in which a run differs from another, as text; None where the calls agree.

    A row of an expected tool comes before the others: of a read or a note, most verdicts know nothing.
    """
    comparison = compare(expectation_of(list(before)), list(after), mode="exact")
    rows = [row for row in comparison.rows if row.kind != "matched"]
    first = next((row for row in rows if _name(row) in expected), rows[0] if rows else None)
    return None if first is None else _row_text(first)


def _name(row: Row) -> str | None:
    call = row.actual or row.expected
    return None if call is None else call.name


def _row_text(row: Row) -> str:
    if row.expected is None and row.actual is not None:
        return f"{_named(row.actual)} was made only where it failed"
    name = row.expected.name if row.expected is not None else "a call"
    if row.actual is None:
        return f"{name} was called only where it passed"
    if not row.differences:
        return f"{_named(row.actual)} differs"
    place = row.differences[0]
    where = place.path or "the arguments"
    if place.kind == "missing":
        return f"{_named(row.actual)}: {where} only where it passed"
    if place.kind == "unexpected":
        return f"{_named(row.actual)}: {where} only where it failed"
    return f"{_named(row.actual)}: {where} {_short(place.expected)}, then {_short(place.got)}"


def _named(call: ToolCall) -> str:
    return f"{call.name} (call {call.index + 1})"


def _message(call: ToolCall) -> str | None:
    return None if call.error is None else str(call.error)


def _same(one: Any, other: Any) -> bool | None:
    """Whether two recorded values are the same; None where what was left out of them may differ."""
    one, other = jsonable(one), jsonable(other)
    if one == other:  # digests of what was left out included
        return True
    return None if cause_within(one) or cause_within(other) else False


def _changed_scorers(passed: ScoringResult, failed: ScoringResult) -> list[str]:
    outcomes = {score.name: score.outcome for score in passed.scores if score.gate}
    return [score.name for score in failed.scores if score.gate and outcomes.get(score.name) != score.outcome]


def _short(value: Any) -> str:
    return shorten(repr(value), 60)
