"""Ask one scorer about one example and its trace: what goes wrong becomes an errored score.

A scorer gets copies, so that what it changes in them reaches nobody else. A traceback is shown as the user
knows the code: without our own frames.
"""

from __future__ import annotations

import copy
import math
import os
import traceback
from collections.abc import Sequence
from contextvars import copy_context
from pathlib import Path
from typing import Any

from agenttrace.core.errors import AgentTraceError, ExpectationError, with_article
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.scoring.checks import unfit_field
from agenttrace.scoring.isolation import Call, Isolation, Outcome

OUTCOMES = ("passed", "failed", "skipped", "errored")


async def apply_scorers(
    scorers: Sequence[Scorer],
    example: Example,
    trace: Trace | None,
    isolation: Isolation,
    timeout: float | None,
) -> tuple[Score, ...]:
    """One score for each scorer, in their order. `timeout` is in seconds, for each scorer."""
    return tuple([await apply_scorer(scorer, example, trace, isolation, timeout) for scorer in scorers])


async def apply_scorer(
    scorer: Scorer, example: Example, trace: Trace | None, isolation: Isolation, timeout: float | None
) -> Score:
    """One scorer's score, errored where it gave none; `trace` is None where nothing says what was called.

    The scorer gets an example of its own, so that it may change it.
    """
    given = copied_example(example)
    outcome = await isolation.run(Call(scorer.score, (given, trace), {}, copy_context()), timeout)
    if outcome.blocked_by_other:  # a scorer is pure: what other code has cost it is made good, once
        given = copied_example(example)
        outcome = await isolation.run(Call(scorer.score, (given, trace), {}, copy_context()), timeout)
    return _score_of(scorer, example, outcome, timeout).with_duration(outcome.duration)


def _score_of(scorer: Scorer, example: Example, outcome: Outcome, timeout: float | None) -> Score:
    name, threshold = scorer.name, scorer.threshold
    if outcome.blocked_by_other:
        text = f"the scorer {name!r} gave no score within {timeout:g} s: other async code blocked its loop"
        return Score.errored(name, threshold, text)
    if outcome.timed_out:
        return Score.errored(name, threshold, f"the scorer {name!r} gave no score within {timeout:g} s")
    if outcome.error is not None:
        return _broken(name, threshold, example, outcome.error)
    fault = why_not_a_score(outcome.value)
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


def why_not_a_score(value: Any) -> str | None:
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


_ROOMS = ("tracing", "scoring", "evaluation", "online", "process")
_OURS = tuple(str(Path(__file__).parents[1] / room) + os.sep for room in _ROOMS)


def users_traceback(error: BaseException) -> str:
    """The traceback without our own frames; causes, contexts and the parts of groups included."""
    told = traceback.TracebackException.from_exception(error)
    shown: set[int] = set()
    pending = [told]
    while pending:
        part = pending.pop()
        if id(part) in shown:
            continue
        shown.add(id(part))
        part.stack = traceback.StackSummary.from_list(
            [(f.filename, f.lineno or 0, f.name, f.line) for f in part.stack if not _is_ours(f.filename)]
        )
        pending += [p for p in (part.__cause__, part.__context__, *(part.exceptions or ())) if p is not None]
    return "".join(told.format()).rstrip("\n")


def _is_ours(filename: str) -> bool:
    return filename.startswith(("<agenttrace", *_OURS))


def last_line(error: BaseException) -> str:
    """The error's type and text, also where its own ``__str__`` fails."""
    return traceback.format_exception_only(error)[-1].strip()


def copied_input(value: Any) -> Any:
    """An input for one run of the agent: a deep copy, but for what cannot be copied (a client, a lock).

    Where one value of a mapping cannot be copied, the others still are.

    Raises:
        KeyboardInterrupt: a value's own code raised it; anything else means that it cannot be copied.
    """
    if value is None or type(value) is str:
        return value
    try:
        return copy.deepcopy(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # choke-point: whatever the values' own code raises, SystemExit too
        if type(value) is not dict or len(value) < 2:
            return value
    return {key: copied_input({key: item})[key] for key, item in value.items()}


def copied_example(example: Example) -> Example:
    """An example for one scorer: the same values in dicts, lists and sets of its own.

    Other objects are shared, matchers and outputs of the user's own types among them: they are few that
    change, and some are large. What is nested too deep to be copied is shared whole.
    """
    fields = {key: value for key, value in example.__dict__.items() if type(value) in _COPIES}
    copies: dict[int, Any] = {}
    try:
        return example.model_copy(update={key: _contents(value, copies) for key, value in fields.items()})
    except RuntimeError:  # a RecursionError, or a thread left behind changes a dict meanwhile
        return example


def _contents(value: Any, copies: dict[int, Any]) -> Any:
    """The value with its containers copied; one that stands twice is copied once, also within itself."""
    kind = type(value)
    if kind not in _COPIES:
        return value
    known = copies.get(id(value))
    if known is not None:
        return known
    if kind is tuple:
        return tuple([_contents(item, copies) for item in value])
    found: Any = kind()
    copies[id(value)] = found
    if kind is dict:
        for key, item in value.items():
            found[key] = _contents(item, copies) if type(item) in _COPIES else item
    elif kind is list:
        found.extend([_contents(item, copies) if type(item) in _COPIES else item for item in value])
    else:
        found.update(value)
    return found


_COPIES = frozenset({dict, list, tuple, set})
