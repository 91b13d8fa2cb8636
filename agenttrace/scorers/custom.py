"""A plain function becomes a scorer: the decorator `scorer`."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, overload

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.numbers import plain_number
from agenttrace.core.score import Score, checked_gate, checked_threshold
from agenttrace.core.text import shorten
from agenttrace.core.trace import Trace
from agenttrace.matching.selection import actual_calls
from agenttrace.scorers.not_whole import (
    NotWhole,
    Shown,
    not_whole,
    shown_of_calls,
    shown_of_example,
    shown_of_trace,
)


def _output(example: Example, trace: Trace | None) -> Any:
    if example.actual_output is not None or trace is None:
        return example.actual_output
    return trace.output


_ARGUMENTS: Mapping[str, Callable[[Example, Trace | None], Any]] = {
    "example": lambda example, _: example,
    "trace": actual_calls,
    "input": lambda example, _: example.input,
    "actual_output": _output,
    "output": _output,
    "expected_output": lambda example, _: example.expected_output,
    "expected": lambda example, _: example.expected_output,
    "context": lambda example, _: example.context,
    "retrieval_context": lambda example, _: example.retrieval_context,
    "expected_tools": lambda example, _: example.expected_tools,
    "tool_calls": lambda example, trace: actual_calls(example, trace).tool_calls,
    "metadata": lambda example, _: example.additional_metadata or {},
}


_FIELDS = {"output": "actual_output", "expected": "expected_output", "metadata": "additional_metadata"}
"""The fields of an example that parameters of another name are about."""

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class FunctionScorer:
    """A scorer that is one function; made by `scorer`."""

    def __init__(self, function: Callable[..., Any], name: str, threshold: float, gate: bool = True) -> None:
        self.name = name
        self.gate = checked_gate(gate, name)
        self.threshold = checked_threshold(threshold, name)
        self.function = function
        self._parameters = _parameters(function)

    def score(self, example: Example, trace: Trace | None = None) -> Score | Awaitable[Score]:
        """Call the function with the arguments that its parameters name.

        The score says what of them was not recorded whole, in its reason and its details.

        Raises:
            ScorerError: it has a parameter for the trace or its calls and nothing says what was called, or it
                returned something that is not a score, such as a number that is not from 0 to 1.
        """
        arguments = {name: _ARGUMENTS[name](example, trace) for name in self._parameters}
        missing = not_whole(_shown(arguments))  # before the call, which may change them
        value = self.function(**arguments)
        return self._awaited(value, missing) if inspect.isawaitable(value) else self._score(value, missing)

    async def _awaited(self, value: Awaitable[Any], missing: NotWhole) -> Score:
        return self._score(await value, missing)

    def _score(self, value: Any, missing: NotWhole) -> Score:
        if isinstance(value, Score):
            score = value if value.name == self.name else replace(value, name=self.name)
            # What else it may hold, whoever applies the scorer checks.
            is_readable = isinstance(score.reason, str) and isinstance(score.details, Mapping)
            return missing.said_by(score) if is_readable else score
        reason = ""
        if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], str):
            value, reason = value
        value = plain_number(value)
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ScorerError(
                f"the scorer {self.name!r} returned {type(value).__name__} {shorten(repr(value), 100)};"
                " wanted a number from 0 to 1, a bool, (number, reason), or a Score"
                + ("; of a mapping return its number and its comment" if isinstance(value, Mapping) else "")
            )
        return missing.said_by(Score.of(self.name, value, self.threshold, reason=reason))

    def changed(
        self, *, name: str | None = None, threshold: float | None = None, gate: bool | None = None
    ) -> FunctionScorer:
        """The same function as a scorer with another name, threshold or gate.

        Raises:
            ScorerError: a threshold that is no number from 0 to 1, a gate that is neither True nor False.
        """
        return FunctionScorer(
            self.function,
            self.name if name is None else name,
            self.threshold if threshold is None else threshold,
            self.gate if gate is None else gate,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself."""
        return self.function(*args, **kwargs)


@overload
def scorer(function: Callable[..., Any]) -> FunctionScorer: ...
@overload
def scorer(
    function: None = None, *, name: str | None = None, threshold: float = 0.5, gate: bool = True
) -> Callable[[Callable[..., Any]], FunctionScorer]: ...
def scorer(
    function: Any = None, *, name: str | None = None, threshold: float = 0.5, gate: bool = True
) -> Any:
    """Make a scorer of a function, ``def`` or ``async def``.

    Its parameters say what it is called with: `example`, `trace`, `input`, `actual_output` (or `output`),
    `expected_output` (or `expected`), `context`, `retrieval_context`, `expected_tools`, `tool_calls`,
    `metadata`. `trace` and `tool_calls` are made of the example's `tools_called` where nothing was recorded;
    `actual_output` is the trace's output where the example has none. A parameter of another name keeps its
    default. It returns a number from 0 to 1, a bool, a pair of either with a reason, or a `Score`. With
    `gate=False` its score informs: it is shown and stored, and fails nothing.

    Raises:
        ScorerError: a parameter is none of these and has no default.
    """

    def make(target: Callable[..., Any]) -> FunctionScorer:
        label = name or str(getattr(target, "__name__", type(target).__name__))
        return FunctionScorer(target, label, threshold, gate)

    return make if function is None else make(function)


def _shown(arguments: Mapping[str, Any]) -> Iterator[Shown]:
    """What a function is shown by its arguments."""
    for name, value in arguments.items():
        if name == "example":
            yield from shown_of_example(value)
        elif name == "trace":
            yield from shown_of_trace(value)
        elif name == "tool_calls":
            yield from shown_of_calls(value)
        else:
            field = _FIELDS.get(name, name)
            yield Shown(field, field, value)


def _parameters(function: Callable[..., Any]) -> list[str]:
    names = []
    for parameter in inspect.signature(function).parameters.values():
        is_needed = parameter.default is parameter.empty or parameter.name in _ARGUMENTS
        if parameter.kind is parameter.POSITIONAL_ONLY and is_needed:
            raise ScorerError(
                f"the scorer function {function!r} takes {parameter.name!r} by position only, and is called "
                "with names; leave out the /"
            )
        if parameter.name in _ARGUMENTS and parameter.kind not in _VARIADIC:
            names.append(parameter.name)
        elif parameter.default is parameter.empty and parameter.kind not in _VARIADIC:
            raise ScorerError(
                f"the scorer function {function!r} asks for {parameter.name!r}"
                + did_you_mean(parameter.name, _ARGUMENTS)
            )
    return names
