"""Copies for the agent and for one scorer: what it changes in them reaches nobody else."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any, Final, TypeVar

from agenttrace.core.example import Example
from agenttrace.core.span import Span
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace

T = TypeVar("T")

_VALUES_OF_SPAN: Final = frozenset({"attributes", "input", "output", "usage"})
_VALUES_OF_CALL: Final = frozenset({"arguments", "metadata", "output"})


def copied_input(value: Any) -> Any:
    """Return a deep copy of an input for one run of the agent, but for values that cannot be copied (a lock).

    Where one value of a mapping cannot be copied, the others still are.

    Raises:
        KeyboardInterrupt: a value's own code raised it. Any other exception means that it cannot be copied.
    """
    if value is None or type(value) is str:
        return value
    if type(value) is dict and all(type(item) in _ATOMS for item in value.values()):
        return value.copy()
    try:
        return copy.deepcopy(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # choke-point: whatever the values' own code raises, SystemExit too
        if type(value) is not dict or len(value) < 2:
            return value
    return {key: copied_input({key: item})[key] for key, item in value.items()}


def copied_example(example: Example) -> Example:
    """Return an example for one scorer: the same values in new dicts, lists and sets.

    Other objects are shared, such as matchers and outputs of the user's own types: few of them change, and
    some are large. An example that is nested too deeply to be copied is shared as a whole.
    """
    copies: dict[int, Any] = {}
    fields = example.__dict__.items()
    try:
        return example.changed(
            **{key: _contents(value, copies) for key, value in fields if value is not None}
        )
    except RecursionError:
        return example


class _OwnTrace(Trace):
    """The same run with values of its own, which are copied when they are first looked at."""

    def __init__(self, shared: Trace) -> None:
        self.trace_key = shared.trace_key
        self._known_tools = shared._known_tools
        self._shared = shared
        self._copies: dict[int, Any] = {}

    @cached_property
    def spans(self) -> tuple[Span, ...]:  # type: ignore[override]  # made when it is first read
        """The spans in start order."""
        return tuple([self._own(span, Span.__slots__, _VALUES_OF_SPAN) for span in self._shared.spans])

    @cached_property
    def _output(self) -> Any:
        return _contents_or_itself(self._shared._output, self._copies)

    @cached_property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in order, with the values of the spans."""
        calls = self._shared.tool_calls
        return tuple([self._own(call, ToolCall.__slots__, _VALUES_OF_CALL) for call in calls])

    def _own(self, shared: T, slots: Iterable[str], values: frozenset[str]) -> T:
        """A span or a call with these slots, and containers of its own in those that hold values.

        In half the time of `copy.copy` and `dataclasses.replace`: traces have many of them.
        """
        own: T = object.__new__(type(shared))
        for name in slots:
            value = getattr(shared, name)
            if name in values:
                value = _contents_or_itself(value, self._copies)
            object.__setattr__(own, name, value)
        return own

    def __reduce__(self) -> Any:
        make = partial(Trace, trace_key=self.trace_key, tools=self._known_tools, output=self._output)
        return make, (self.spans,), {"tool_calls": self.tool_calls}


def copied_trace(trace: Trace | None) -> Trace | None:
    """Return a trace for one scorer that may change it: the same run, its dicts, lists and sets copied.

    They are copied when they are first looked at: many scorers look at the answer alone.
    """
    return None if trace is None else _OwnTrace(trace)


def _contents_or_itself(value: Any, copies: dict[int, Any]) -> Any:
    """The value with its containers copied; itself where it is nested too deeply."""
    try:
        return _contents(value, copies)
    except RecursionError:
        return value


def _contents(value: Any, copies: dict[int, Any]) -> Any:
    """Return the value with its containers copied; a container that occurs twice is copied once."""
    kind = type(value)
    if kind not in _COPIES:
        return value
    earlier = copies.get(id(value))
    if earlier is not None:
        return earlier
    if kind is tuple:
        return tuple([_contents(item, copies) for item in value])
    container = copies[id(value)] = value.copy()  # at once, should a thread left behind change it meanwhile
    if kind is not set:
        for place, item in enumerate(container) if kind is list else container.items():
            if type(item) in _COPIES:
                container[place] = _contents(item, copies)
    return container


_ATOMS = frozenset({str, int, float, bool, type(None)})
_COPIES = frozenset({dict, list, tuple, set})
