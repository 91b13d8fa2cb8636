"""Apply a scorer to its own copy of an example and its trace: whatever goes wrong is an errored score.

A scorer gets a copy of the example, one of the user's also of the trace, so that its changes reach nobody
else. Tracebacks are shown without the frames of agenttrace itself.
"""

from __future__ import annotations

import math
import traceback
from contextvars import copy_context
from itertools import chain
from typing import Any

from agenttrace.core.changed import changed
from agenttrace.core.errors import AgentTraceError, ExpectationError, with_article
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_number
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.core.text import described
from agenttrace.core.trace import Trace
from agenttrace.scorers.not_whole import not_whole, shown_of_example, shown_of_trace
from agenttrace.scoring.checks import gates, unfit_field
from agenttrace.scoring.copies import copied_example, copied_trace
from agenttrace.scoring.hanging import is_ours
from agenttrace.scoring.house_scorers import changes_nothing, says_what_is_missing
from agenttrace.scoring.isolation import Call, Isolation, Outcome, Steps

OUTCOMES = ("passed", "failed", "skipped", "errored")


def apply_scorer(
    scorer: Scorer, example: Example, trace: Trace | None, isolation: Isolation, timeout: float | None
) -> Steps[Score]:
    """The steps to one scorer's score; an errored one where the scorer returned none.

    `trace` is None where nothing says what was called. The scorer gets copies, which it may change.
    `timeout` is in seconds.
    """
    outcome = yield from _scored(scorer, example, trace, isolation, timeout)
    if outcome.blocked_by_other:  # not this scorer's fault, and scorers are pure: once more
        outcome = yield from _scored(scorer, example, trace, isolation, timeout)
    score = _score_of(scorer, example, outcome, timeout)
    if score.value is not None and not says_what_is_missing(scorer, example):
        score = not_whole(chain(shown_of_example(example), shown_of_trace(trace))).said_by(score)
    score = score.with_duration(outcome.duration)
    return score if gates(scorer) else score.informing()


def _scored(
    scorer: Scorer, example: Example, trace: Trace | None, isolation: Isolation, timeout: float | None
) -> Steps[Outcome]:
    arguments = own_arguments(scorer, example, trace)
    return isolation.run(Call(scorer.score, arguments, {}, copy_context(), timeout))


def own_arguments(scorer: Scorer, example: Example, trace: Trace | None) -> tuple[Example, Trace | None]:
    """Return what one scorer is called with; ours change no trace, and are spared the copy of it."""
    own = trace if changes_nothing(scorer, example) else copied_trace(trace)
    return copied_example(example), own


def _score_of(scorer: Scorer, example: Example, outcome: Outcome, timeout: float | None) -> Score:
    name, threshold = scorer.name, scorer.threshold
    if outcome.blocked_by_other:
        text = f"the scorer {name!r} gave no score within {timeout:g} s: other async code blocked its loop"
        return Score.errored(name, threshold, text)
    if outcome.timed_out:
        return Score.errored(name, threshold, f"the scorer {name!r} gave no score within {timeout:g} s")
    if outcome.error is not None:
        return _errored_score(name, threshold, example, outcome.error)
    fault = why_not_a_score(outcome.value)
    if fault is not None:
        return Score.errored(name, threshold, f"the scorer {name!r} {fault}")
    score: Score = outcome.value
    # Its own name: no two scorers of an evaluation share one, and means go by it.
    return score if score.name == name else changed(score, name=name)


def _errored_score(name: str, threshold: float, example: Example, error: BaseException) -> Score:
    """Return an exception's errored score; errors of agenttrace itself need no traceback."""
    if isinstance(error, ExpectationError):
        return Score.errored(
            name, threshold, f"the expectation cannot be used: {_with_source(error, example)}"
        )
    if isinstance(error, AgentTraceError):
        return Score.errored(name, threshold, str(error))
    return Score.errored(name, threshold, users_traceback(error), last_line(error))


def _with_source(error: ExpectationError, example: Example) -> str:
    """Return the error's text, after the ``file:line`` of the example where it has one."""
    text, source = str(error), example.source
    return text if source is None or text.startswith(source) else f"{source}: {text}"


def why_not_a_score(value: Any) -> str | None:
    """Return what is wrong with a scorer's return value, or None if it is a usable score."""
    if not isinstance(value, Score):
        return (
            f"returned {described(value)}; a scorer returns a Score, such as Score.of(name, value, threshold)"
        )
    if value.outcome not in OUTCOMES:
        return f"returned a Score with the outcome {value.outcome!r}; known: {', '.join(OUTCOMES)}"
    unfit = unfit_field(value)
    if unfit is not None:
        field, content, kind = unfit
        return f"returned a Score whose {field} is {described(content)}; wanted {kind}"
    if value.outcome in ("skipped", "errored"):
        return (
            None
            if value.value is None
            else f"returned {with_article(value.outcome)} Score with the value {value.value!r}"
        )
    number = value.value
    if not is_number(number) or (isinstance(number, float) and math.isnan(number)):
        return f"returned a {value.outcome} Score with the value {number!r}; a value is a number from 0 to 1"
    if not 0 <= number <= 1:
        return f"returned the value {number!r}; a value is a number from 0 to 1"
    holds = number <= value.threshold if value.lower_is_better else number >= value.threshold
    if holds != value.passed:
        return (
            f"returned a {value.outcome} Score with the value {number!r} and threshold {value.threshold!r}; "
            "the three agree where Score.of(name, value, threshold) makes it"
        )
    return None


def users_traceback(error: BaseException) -> str:
    """Return the traceback without frames of agenttrace, in causes, contexts and groups, too."""
    outermost = traceback.TracebackException.from_exception(error)
    part_ids: set[int] = set()
    pending = [outermost]
    while pending:
        part = pending.pop()
        if id(part) in part_ids:
            continue
        part_ids.add(id(part))
        part.stack = traceback.StackSummary.from_list(
            [(f.filename, f.lineno or 0, f.name, f.line) for f in part.stack if not is_ours(f.filename)]
        )
        pending += [p for p in (part.__cause__, part.__context__, *(part.exceptions or ())) if p is not None]
    return "".join(outermost.format()).rstrip("\n")


def last_line(error: BaseException) -> str:
    """Return the error's type and text, also where its own ``__str__`` fails."""
    return traceback.format_exception_only(error)[-1].strip()
