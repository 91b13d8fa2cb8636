"""Run the agent on one example: its output, its trace, or why there is none."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Protocol

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.trace import Trace
from agenttrace.scoring.apply import copied_input, users_traceback
from agenttrace.scoring.isolation import Call, Isolation, Outcome, Refused


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
    failed (it raised, or was not in time), `why_not_comparable` why
    nothing can be said of it (it could not be called).
    """

    example: Example
    trace: Trace | None
    failure: str | None = None
    why_not_comparable: str | None = None
    duration: float = 0.0


async def run_example(
    target: Target, example: Example, capture: CaptureScope, isolation: Isolation, timeout: float | None
) -> Run:
    """Run the agent on a copy of the input; never raises what the agent raises.

    On a timeout the spans that had ended by then are kept. SystemExit fails the example; KeyboardInterrupt
    stops the whole run.
    """
    misfit = target.misfit(example)
    if misfit is not None:
        return Run(example, None, why_not_comparable=misfit)
    args, kwargs = arguments(copied_input(example.input))
    with capture() as captured:
        outcome = await isolation.run(Call(target.function, args, kwargs, copy_context()), timeout)
    if isinstance(outcome.error, Refused):
        return Run(example, None, why_not_comparable=str(outcome.error))
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


@dataclass(frozen=True, slots=True)
class Target:
    """The function under test, with its signature where Python knows it."""

    function: Callable[..., Any]
    name: str
    signature: inspect.Signature | None

    @classmethod
    def of(cls, function: Any) -> Target:
        """Check that it can be called, once, before anything runs.

        Raises:
            ConfigError: a class, or something that is not callable.
        """
        if inspect.isclass(function):
            raise ConfigError(
                f"function is the class {function.__name__}; pass what runs the agent, such as the method "
                f"of an instance: function={function.__name__}().run"
            )
        if not callable(function):
            raise ConfigError(
                f"function must be callable, got {type(function).__name__}; pass the function itself, "
                "without calling it: function=agent.run"
            )
        name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # some builtins have none
            signature = None
        said = str(name or type(function).__name__).rpartition("<locals>.")[2]
        return cls(function, said, signature)

    def misfit(self, example: Example) -> str | None:
        """Why the example's input does not fit the signature, or None: it does."""
        if self.signature is None:
            return None
        args, kwargs = arguments(example.input)
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return f"the input does not fit {self.name}{_bare(self.signature)}: {error}{self._hint(example)}"
        return None

    def _hint(self, example: Example) -> str:
        assert self.signature is not None
        if example.input is None:
            return "; this example has no input"
        if isinstance(example.input, str):
            return "; a text input is passed as the one argument, a mapping as keyword arguments"
        unknown = [key for key in example.input if key not in self.signature.parameters]
        if not unknown:
            return ""
        return (
            f"; the input has {str(unknown[0])!r}{did_you_mean(str(unknown[0]), self.signature.parameters)}"
        )


def _bare(signature: inspect.Signature) -> inspect.Signature:
    """The signature without its annotations."""
    return signature.replace(
        parameters=[p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()],
        return_annotation=inspect.Signature.empty,
    )


def arguments(given: str | Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A mapping becomes keyword arguments, a text the one argument, None no argument."""
    if isinstance(given, Mapping):
        return (), dict(given)
    return ((), {}) if given is None else ((given,), {})
