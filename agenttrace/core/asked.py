"""Where in an answer of a model each tool call was asked for.

A call was asked for in the latest answer before it that asks for its call id; where no id says so, in the
latest answer of its agent that asks for its name and arguments. Answers are the outputs of ``llm`` spans, as
`wrap` and the LangGraph handler record them or in a provider's own form.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenttrace.core.errors import ExpectationError
from agenttrace.core.executions import AGENT, Execution, Nearest
from agenttrace.core.message_parts import Request, arguments_of
from agenttrace.core.model_requests import requests_in
from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.value_key import value_key

Place = tuple[int, int]
"""The number of an answer, and the position of a call in it."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A call that an answer asks for, with its place."""

    answer_span: Span
    answer: int
    position: int
    request: Request


@dataclass(slots=True)
class _Same:
    """The calls of one answer that cannot be told apart: their positions, and how many of them were made."""

    answer: int
    positions: list[int] = field(default_factory=list)
    made: int = 0

    def next(self) -> Place:
        """The place of the next call; a further attempt has the place of the last one."""
        position = self.positions[min(self.made, len(self.positions) - 1)]
        self.made += 1
        return self.answer, position


class _Index:
    """What was asked for under some key, answer by answer."""

    def __init__(self) -> None:
        self._starts: dict[Hashable, list[int]] = {}
        self._same: dict[Hashable, list[_Same]] = {}

    def add(self, key: Hashable, placed: _Placed) -> None:
        answers = self._same.setdefault(key, [])
        if not answers or answers[-1].answer != placed.answer:
            answers.append(_Same(placed.answer))
            self._starts.setdefault(key, []).append(placed.answer_span.start_ns)
        answers[-1].positions.append(placed.position)

    def find(self, key: Hashable, start_ns: int) -> Place | None:
        """The place in the latest answer that began before; None without one."""
        at = bisect_right(self._starts.get(key, ()), start_ns)
        return self._same[key][at - 1].next() if at else None


def asked_places(
    models: Sequence[Span], by_key: Mapping[int, Span], executions: Iterable[Execution]
) -> dict[int, Place]:
    """Where each call was asked for, by the `id` of its execution; without those of which nothing says so.

    `models` are the requests to models, in start order.
    """
    requests = [
        _Placed(span, answer, position, request)
        for answer, span in enumerate(models)
        for position, request in enumerate(requests_in(span.output))
    ]
    if not requests:
        return {}
    in_order = sorted(executions, key=lambda execution: (execution.span.start_ns, execution.span.index))
    by_id = _Index()
    for placed in requests:
        if placed.request.key is not None:
            by_id.add(str(placed.request.key), placed)
    places: dict[int, Place] = {}
    others: list[Execution] = []
    for execution in in_order:
        call_id = execution.call_id
        place = None if call_id is None else by_id.find(str(call_id), execution.span.start_ns)
        if place is None:
            others.append(execution)
        else:
            places[id(execution)] = place
    if others:
        places.update(_by_arguments(others, requests, Nearest(by_key, AGENT)))
    return places


def _by_arguments(
    executions: Sequence[Execution], requests: Iterable[_Placed], agent_above: Nearest
) -> Iterator[tuple[int, Place]]:
    arguments = {id(execution): execution.arguments for execution in executions}
    tools = {execution.span.name: arguments[id(execution)][1] for execution in executions}
    index = _Index()
    for placed in requests:
        name = placed.request.name
        if name in tools:
            asked_arguments, problem = arguments_of(placed.request)
            if problem is None:
                bound = _bound(asked_arguments, tools[name])
                index.add(_key(agent_above(placed.answer_span), name, bound), placed)
    for execution in executions:
        span = execution.span
        key = _key(agent_above(span), span.name, arguments[id(execution)][0])
        place = index.find(key, span.start_ns)
        if place is not None:
            yield id(execution), place


def _key(agent: Span | None, name: Any, arguments: Mapping[str, Any]) -> Hashable:
    return None if agent is None else agent.span_key, name, value_key(arguments)


def _bound(arguments: Mapping[str, Any], tool: ToolDefinition | None) -> Mapping[str, Any]:
    """The arguments as a call of the tool is recorded, where they fit it."""
    try:
        return arguments if tool is None or tool.described else tool.bind(arguments)
    except ExpectationError:
        return arguments
