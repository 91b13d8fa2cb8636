"""Apply scorers to one example, so that one that breaks spoils nothing else.

A scorer that raises, returns something that is not a usable `Score`, or does not return in time, gives an
*errored* score that says so. It is never a 0, never a pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextvars import copy_context
from typing import Any

from agenttrace.core.errors import AgentTraceError, ExpectationError, with_article
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.evaluation.copies import own_example
from agenttrace.evaluation.lanes import Call, Lanes, Outcome
from agenttrace.evaluation.score_fields import unfit_field
from agenttrace.evaluation.tracebacks import last_line, users_traceback

OUTCOMES = ("passed", "failed", "skipped", "errored")


async def apply_scorers(
    scorers: Sequence[Scorer], example: Example, trace: Trace | None, lanes: Lanes, timeout: float | None
) -> tuple[Score, ...]:
    """One score for each scorer, in their order. `timeout` is in seconds, for each scorer."""
    return tuple([await apply_scorer(scorer, example, trace, lanes, timeout) for scorer in scorers])


async def apply_scorer(
    scorer: Scorer, example: Example, trace: Trace | None, lanes: Lanes, timeout: float | None
) -> Score:
    """One scorer's score, errored where it gave none; `trace` is None where nothing says what was called.

    The scorer gets an example of its own, so that it may change it.
    """
    given = own_example(example)
    outcome = await lanes.run(Call(scorer.score, (given, trace), {}, copy_context()), timeout)
    if outcome.held_up:  # a scorer is pure: what other code has cost it is made good, once
        given = own_example(example)
        outcome = await lanes.run(Call(scorer.score, (given, trace), {}, copy_context()), timeout)
    return _score_of(scorer, example, outcome, timeout).with_duration(outcome.duration)


def _score_of(scorer: Scorer, example: Example, outcome: Outcome, timeout: float | None) -> Score:
    name, threshold = scorer.name, scorer.threshold
    if outcome.held_up:
        text = f"the scorer {name!r} gave no score within {timeout:g} s: other async code blocked its loop"
        return Score.errored(name, threshold, text)
    if outcome.timed_out:
        return Score.errored(name, threshold, f"the scorer {name!r} gave no score within {timeout:g} s")
    if outcome.error is not None:
        return _broken(name, threshold, example, outcome.error)
    fault = nonsense(outcome.value)
    if fault is not None:
        return Score.errored(name, threshold, f"the scorer {name!r} {fault}")
    score: Score = outcome.value
    return score


def _broken(name: str, threshold: float, example: Example, error: BaseException) -> Score:
    """What we raise on purpose says all in its text; anything else keeps its traceback."""
    if isinstance(error, ExpectationError):
        return Score.errored(name, threshold, f"the expectation cannot be used: {_placed(error, example)}")
    if isinstance(error, AgentTraceError):
        return Score.errored(name, threshold, str(error))
    return Score.errored(name, threshold, users_traceback(error), last_line(error))


def _placed(error: ExpectationError, example: Example) -> str:
    """What the error says, after the ``file:line`` of the example where it has one."""
    text, source = str(error), example.source
    return text if source is None or text.startswith(source) else f"{source}: {text}"


def nonsense(value: Any) -> str | None:
    """What is wrong with a scorer's return value, or None: it is a usable score."""
    if not isinstance(value, Score):
        return (
            f"returned {type(value).__name__} {_brief(value)}; a scorer returns a Score, "
            "such as Score.of(name, value, threshold)"
        )
    if value.outcome not in OUTCOMES:
        return f"returned a Score with the outcome {value.outcome!r}; known: {', '.join(OUTCOMES)}"
    unfit = unfit_field(value)
    if unfit is not None:
        field, held, wanted = unfit
        text = f"returned a Score whose {field} is {type(held).__name__} {_brief(held)}"
        return f"{text.rstrip()}; wanted {wanted}"
    if value.outcome in ("skipped", "errored"):
        return (
            None
            if value.value is None
            else f"returned {with_article(value.outcome)} Score with the value {value.value!r}"
        )
    number = value.value
    if isinstance(number, bool) or not isinstance(number, int | float) or math.isnan(number):
        return f"returned a {value.outcome} Score with the value {number!r}; a value is a number from 0 to 1"
    if not 0 <= number <= 1:
        return f"returned the value {number!r}; a value is a number from 0 to 1"
    return None


def _brief(value: Any) -> str:
    """A scalar's text; other values' own code is left alone."""
    return repr(value)[:80] if isinstance(value, str | int | float | bool | None) else ""
