"""Run the function under test on one example, in its own capture scope."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Protocol

from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.trace import Trace
from agenttrace.evaluation.copies import own_input
from agenttrace.evaluation.invocation import Target, arguments
from agenttrace.evaluation.lanes import Call, Lanes, Outcome, Refused
from agenttrace.evaluation.tracebacks import users_traceback


class Captured(Protocol):
    """What was recorded inside a capture scope; complete when its block has ended."""

    @property
    def trace(self) -> Trace:
        """The trace."""
        ...


CaptureScope = Callable[[], AbstractContextManager[Captured]]


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of the agent left behind.

    `example` has the actual output and the names of the tools called filled in. `failure` is why the agent
    failed (it raised, or was not in time), `obstacle` why nothing can be said of it (it could not be called).
    """

    example: Example
    trace: Trace | None
    failure: str | None = None
    obstacle: str | None = None
    duration: float = 0.0


async def run_example(
    target: Target, example: Example, capture: CaptureScope, lanes: Lanes, timeout: float | None
) -> Run:
    """Run the agent on a copy of the input; never raises what the agent raises.

    On a timeout the spans that had ended by then are kept. SystemExit fails the example; KeyboardInterrupt
    stops the whole run.
    """
    misfit = target.misfit(example)
    if misfit is not None:
        return Run(example, None, obstacle=misfit)
    args, kwargs = arguments(own_input(example.input))
    with capture() as captured:
        outcome = await lanes.run(Call(target.function, args, kwargs, copy_context()), timeout)
    if isinstance(outcome.error, Refused):
        return Run(example, None, obstacle=str(outcome.error))
    failure = _failure(target, outcome, timeout)
    trace = captured.trace
    happened: dict[str, Any] = {
        "tools_called": [call.name for call in trace.tool_calls] if trace.spans else None
    }
    if failure is None:
        happened["actual_output"] = _recorded(outcome.value)
    return Run(example.model_copy(update=happened), trace, failure=failure, duration=outcome.duration)


def _failure(target: Target, outcome: Outcome, timeout: float | None) -> str | None:
    if outcome.timed_out:
        return f"{target.name} did not return within its timeout of {timeout:g} s"
    if outcome.error is None:
        return None
    return users_traceback(outcome.error)


def _recorded(output: Any) -> Any:
    """The output as data, as the store keeps it, so that a score is the same from the store.

    A list keeps all its items, however many; deeper ones are bounded like every snapshot.
    """
    if output is None or type(output) in (str, bool, int, float):
        return output
    if type(output) in (list, tuple):
        return [jsonable(item) for item in output]
    return jsonable(output)
