"""A tracing processor that turns what the OpenAI Agents SDK reports into spans."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import MissingDependency
from agenttrace.core.interruptions import raised_by_signal
from agenttrace.core.json_reader import json_object_in
from agenttrace.integrations.llm_call import LLMCall
from agenttrace.integrations.spans import Tracing, spans_of
from agenttrace.providers.openai import ResponsesReader
from agenttrace.providers.prices import Prices, checked_prices
from agenttrace.providers.usage import read_usage
from agenttrace.tracing.open_span import CurrentCall, OpenSpan

MAX_OPEN = 100_000
"""Open spans that are remembered; beyond it the oldest is ended as abandoned."""

SPAN_TYPES = {
    "agent": "agent",
    "function": "tool",
    "handoff": "tool",
    "generation": "llm",
    "response": "llm",
}
"""Our type for each of the SDK's; guardrails and others are spans of type *chain*."""

PASSED_OVER = frozenset({"task", "turn"})
"""The SDK's own groups of steps: what is inside them stands under the run, or the agent."""

WITH_USER_CODE = frozenset({"function", "guardrail", "custom"})
"""Steps that run the user's code: the spans of that code stand under them."""


class AgentsError(Exception):
    """What the SDK reports as text of a step that failed."""


def _guarded(event: Callable[..., None]) -> Callable[..., None]:
    @wraps(event)
    def guarded(processor: AgentTraceProcessor, *args: Any) -> None:
        try:
            event(processor, *args)
        except Exception as error:  # choke-point: recording an event must not break the run
            if raised_by_signal(error):
                raise
            processor.recording_errors += 1

    return guarded


class _Step:
    """An open span, and the change of the running call that it made."""

    __slots__ = ("current", "span")

    def __init__(self, span: OpenSpan, current: CurrentCall | None) -> None:
        self.span = span
        self.current = current


class AgentTraceProcessor:
    """Records the runs that the OpenAI Agents SDK reports: ``add_trace_processor(AgentTraceProcessor())``.

    A run becomes a span of type *chain*, with the conversation's `group_id` as its session; an agent *agent*,
    a function tool *tool* with its arguments by name, a call to a model *llm* with messages and usage. A
    handoff is a call of the tool ``transfer_to_…``, as the SDK names it for the model, without arguments.
    What is decorated with `observe` and runs inside a tool stands under it. A run inside a traced call stands
    under that; otherwise it is a trace of its own. With ``trace_include_sensitive_data=False`` arguments,
    results and messages are not recorded. Do not `wrap` the client as well: each call to a model would be
    recorded twice.

    It has the methods of the SDK's `TracingProcessor`, without being one: nothing of the SDK is imported.

    Args:
        tracer: Where spans go; the process's first tracer by default.
        prices: What models cost, as in `agenttrace.wrap`.

    Raises:
        ConfigError: `tracer` is not a tracer, or `prices` are not prices.
    """

    def __init__(self, tracer: Tracing | None = None, *, prices: Prices | None = None) -> None:
        self._spans = spans_of(tracer)
        self._prices = checked_prices(prices)
        self._open: dict[str, _Step] = {}
        self._lock = threading.Lock()
        self.recording_errors = 0

    @_guarded
    def on_trace_start(self, trace: Any) -> None:
        """A run begins."""
        step = self._begin(trace.trace_id, None, trace.name, "trace")
        group = (trace.export() or {}).get("group_id")
        if isinstance(group, str) and group:
            step.span.set_attribute(semconv.SESSION_ID, group)

    @_guarded
    def on_trace_end(self, trace: Any) -> None:
        """A run has ended."""
        step = self._pop(trace.trace_id)
        if step is not None:
            step.span.end()

    @_guarded
    def on_span_start(self, span: Any) -> None:
        """A step of a run begins."""
        data = span.span_data
        parent = self._open.get(span.parent_id or "") or self._open.get(span.trace_id)
        if data.type in PASSED_OVER:
            if parent is not None:
                self._open[span.span_id] = parent
            return
        name = getattr(data, "name", None) or data.type
        self._begin(span.span_id, parent, str(name), data.type)

    @_guarded
    def on_span_end(self, span: Any) -> None:
        """A step of a run has ended; only now the SDK knows what went in and what came out."""
        if span.span_data.type in PASSED_OVER:
            self._open.pop(span.span_id, None)
            return
        step = self._pop(span.span_id)
        if step is None:
            return
        failure = _failure_of(span.error)
        try:
            call = self._describe(step.span, span.span_data)
        except BaseException:
            step.span.end(error=failure)
            raise
        if call is not None and failure is None:
            call.finish("ok")
        step.span.end(error=failure)

    def shutdown(self) -> None:
        """The process ends: what is still open is abandoned."""
        for key in tuple(self._open):
            step = self._pop(key)
            if step is not None:
                step.span.end(status="abandoned")

    def force_flush(self) -> None:
        """Nothing waits here: ended spans are the tracer's."""

    def _begin(self, key: str, parent: _Step | None, name: str, kind: str) -> _Step:
        under = None if parent is None or parent.span.is_above_running() else parent.span
        opened = self._spans.span(name, span_type=SPAN_TYPES.get(kind, "chain")).open(under)
        # Not for a whole run: between the items of a stream, its caller's code runs, which is not part of it.
        step = _Step(opened, opened.make_current() if kind in WITH_USER_CODE else None)
        with self._lock:
            self._open[key] = step
            oldest = next(iter(self._open)) if len(self._open) > MAX_OPEN else None
        if oldest is not None and (lost := self._pop(oldest)) is not None:
            lost.span.end(status="abandoned")
        return step

    def _pop(self, key: str) -> _Step | None:
        with self._lock:
            step = self._open.pop(key, None)
        if step is not None and step.current is not None:
            step.current.restore()
        return step

    def _describe(self, span: OpenSpan, data: Any) -> LLMCall | None:
        """Record what a step got, gave and used; returns the call to a model whose answer is still to be."""
        if data.type == "function":
            _describe_tool(span, data)
        elif data.type == "handoff":
            span.set_name(f"transfer_to_{'_'.join(str(data.to_agent or 'nobody').lower().split())}")
            span.set_attribute(semconv.AGENT_NAME, data.from_agent)
        elif data.type == "agent":
            span.set_attribute(semconv.AGENT_NAME, data.name)
        elif data.type == "generation":
            _describe_generation(span, data)
        elif data.type == "response":
            return self._response(span, data)
        elif data.type == "guardrail":
            span.output = {"triggered": data.triggered}
        return None

    def _response(self, span: OpenSpan, data: Any) -> LLMCall | None:
        response = data.response
        model = getattr(response, "model", None)
        if model is not None:
            span.set_name(str(model))
        if data.input is not None:
            span.input = {"model": model, "input": data.input}
        if response is None:
            return None
        call = LLMCall(span, ResponsesReader(), self._prices)
        call.describe("openai", ("", None), {"model": model})
        call.reply(response)
        return call


def _describe_tool(span: OpenSpan, data: Any) -> None:
    if isinstance(data.input, str):
        arguments = json_object_in(data.input or "{}")
        span.input = {"input": data.input} if arguments is None else arguments
    span.set_attribute(semconv.TOOL_TYPE, "extension" if data.mcp_data else "function")
    if data.output is not None:
        span.output = data.output


def _describe_generation(span: OpenSpan, data: Any) -> None:
    span.set_attribute(semconv.OPERATION, "chat")
    if data.model:
        span.set_name(str(data.model))
        span.set_attribute(semconv.REQUEST_MODEL, data.model)
    if data.input is not None:
        span.input = {"model": data.model, "messages": list(data.input)}
    if data.output is not None:
        span.output = list(data.output)
    usage = read_usage(data.usage) if data.usage else {}
    if usage:
        span.set_usage(usage)


def _failure_of(error: Any) -> AgentsError | None:
    """The SDK's error as an exception: with the text of the user's own, where it is reported."""
    if not isinstance(error, Mapping):
        return None
    data = error.get("data")
    text = data.get("error") if isinstance(data, Mapping) else None
    return AgentsError(str(text or error.get("message") or "it failed"))


def instrument(tracer: Tracing | None = None, *, prices: Prices | None = None) -> AgentTraceProcessor:
    """Record all runs of the OpenAI Agents SDK in this process, beside what the SDK does with them already.

    Raises:
        ConfigError: `tracer` is not a tracer, or `prices` are not prices.
        MissingDependency: the SDK is not installed.
    """
    processor = AgentTraceProcessor(tracer, prices=prices)
    try:
        agents = import_module("agents")
        agents.add_trace_processor(processor)
    except (ImportError, AttributeError) as error:  # or a module of the user's own of that name
        text = "instrument needs the OpenAI Agents SDK: pip install openai-agents"
        raise MissingDependency(text) from error
    return processor
