"""What a transcript tells of a run, in one form for all formats, and the trace that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.digests import digest_of
from agenttrace.core.executions import AGENT
from agenttrace.core.jsonable import jsonable
from agenttrace.core.model_requests import LLM
from agenttrace.core.recorded_calls import read_arguments
from agenttrace.core.span import Span, SpanError, Status
from agenttrace.core.tool import TOOL
from agenttrace.core.tool_call import UNRECORDED_STATUSES, CallStatus
from agenttrace.core.trace import Trace

_LOW = (1 << 64) - 1


@dataclass(slots=True, eq=False)
class Call:
    """One tool call. `end_ns` None: nothing tells that it was executed, or how it ended.

    `status` is *answered* where the format has no place to say whether a call failed. `output` is what the
    model was given.
    """

    name: str
    arguments: Any = None
    key: str | None = None
    start_ns: int = 0
    end_ns: int | None = None
    output: Any = None
    error: str | None = None
    status: CallStatus = "ok"
    turn: int | None = None
    hosted: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    agents: list[AgentRun] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class ModelAnswer:
    """One answer of a model: what it said, the calls that it asked for, what it used.

    `messages` are those that are new since the answer before it.
    """

    start_ns: int
    end_ns: int
    model: str | None = None
    provider: str | None = None
    text: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list)
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = None
    messages: list[Mapping[str, Any]] = field(default_factory=list)
    error: str | None = None
    turn: int | None = None
    key: str | None = None
    tools: Sequence[Any] = ()


@dataclass(slots=True, eq=False)
class AgentRun:
    """One agent's part of a session.

    `steps` are the model's answers, and the calls that none of them asked for, in order; `agents` the
    sub-agents whose call is not known.
    """

    name: str
    start_ns: int = 0
    end_ns: int = 0
    prompt: str | None = None
    output: Any = None
    status: Status = "ok"
    steps: list[ModelAnswer | Call] = field(default_factory=list)
    agents: list[AgentRun] = field(default_factory=list)
    session_id: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def last_answer(self) -> ModelAnswer | None:
        """The last answer of the model, or None."""
        return next((step for step in reversed(self.steps) if isinstance(step, ModelAnswer)), None)


def joined(texts: Sequence[str]) -> str:
    """Several texts as one, one a line."""
    return "\n".join(text for text in texts if text)


def trace_of(run: AgentRun) -> Trace:
    """The trace of a session: its agent as the root, answers and calls below it, sub-agents inside the calls
    that started them.

    Ids come of the session: one that is read again, or that has gone on meanwhile, has the same.
    """
    spans = _Spans(int(digest_of(_identity(run)), 16) or 1)
    spans.add_agent(run, None)
    return Trace(spans.spans)


def _identity(run: AgentRun) -> str:
    """What tells a session from others: its id and beginning; without an id all that is in it."""
    if run.session_id is None:
        return repr(run)
    return repr((run.session_id, run.name, run.start_ns, run.prompt))


class _Spans:
    """The spans of one session."""

    def __init__(self, trace_key: int) -> None:
        self.spans: list[Span] = []
        self._trace_key = trace_key
        self._span_key = trace_key & _LOW

    def add_agent(self, run: AgentRun, parent_key: int | None) -> None:
        """Add an agent and all below it."""
        key = self._next_key()
        ends = [end_ns for step in run.steps for end_ns in _ends(step)]
        attributes: dict[str, Any] = {semconv.SESSION_ID: run.session_id} if run.session_id else {}
        if run.metadata:
            attributes[semconv.METADATA] = jsonable(run.metadata)
        if run.prompt is not None:
            attributes[semconv.TEXT_INPUT] = True
        self._add(
            span_key=key,
            parent_key=parent_key,
            name=run.name,
            span_type=AGENT,
            start_ns=run.start_ns,
            end_ns=max(run.start_ns, run.end_ns, *ends),
            input=None if run.prompt is None else {"input": jsonable(run.prompt)},
            output=jsonable(run.output),
            status=run.status,
            attributes=attributes,
        )
        for step in run.steps:
            if isinstance(step, Call):
                self._add_call(step, key)
            else:
                self._add_answer(step, key)
        for agent in run.agents:
            self.add_agent(agent, key)

    def _add_answer(self, answer: ModelAnswer, parent_key: int) -> None:
        facts = {
            semconv.OPERATION: "chat",
            semconv.PROVIDER: answer.provider,
            semconv.REQUEST_MODEL: answer.model,
            semconv.RESPONSE_MODEL: answer.model,
            semconv.RESPONSE_ID: answer.key,
            semconv.FINISH_REASONS: [answer.finish_reason] if answer.finish_reason else None,
            semconv.TURN: answer.turn,
        }
        request: dict[str, Any] = {"messages": jsonable(answer.messages)}
        if answer.tools:
            request["tools"] = jsonable(answer.tools)
        self._add(
            parent_key=parent_key,
            name=f"chat {answer.model}" if answer.model else "chat",
            span_type=LLM,
            start_ns=min(answer.start_ns, answer.end_ns),
            end_ns=answer.end_ns,
            input=request,
            output=jsonable(_output(answer)),
            status="ok" if answer.error is None else "error",
            error=None if answer.error is None else SpanError("ModelError", answer.error),
            attributes={name: value for name, value in facts.items() if value is not None},
            usage=dict(answer.usage) if answer.usage else None,
        )
        for call in answer.calls:
            self._add_call(call, parent_key)

    def _add_call(self, call: Call, parent_key: int) -> None:
        if call.end_ns is None and not call.agents:
            return  # what became of it is not known: the answer alone says that it was asked for
        key = self._next_key()
        arguments, problem = (None, None) if call.arguments is None else read_arguments(call.arguments)
        status: CallStatus = "abandoned" if call.end_ns is None else call.status
        facts = {
            semconv.TOOL_NAME: call.name,
            semconv.TOOL_CALL_ID: call.key,
            semconv.TOOL_TYPE: semconv.HOSTED if call.hosted else None,
            semconv.CALL_STATUS: status if status in UNRECORDED_STATUSES else None,
            semconv.FROM_ANSWER: True if call.end_ns is not None else None,
            semconv.ARGUMENTS_ERROR: problem,
            semconv.TURN: call.turn,
            semconv.CALL_METADATA: jsonable(call.metadata) if call.metadata else None,
        }
        self._add(
            span_key=key,
            parent_key=parent_key,
            name=call.name,
            span_type=TOOL,
            start_ns=call.start_ns,
            end_ns=call.start_ns if call.end_ns is None else max(call.start_ns, call.end_ns),
            input=arguments,
            output=jsonable(call.output),
            status="error" if call.error is not None else "abandoned" if status == "abandoned" else "ok",
            error=None if call.error is None else SpanError("ToolError", call.error),
            attributes={name: value for name, value in facts.items() if value is not None},
        )
        for agent in call.agents:
            self.add_agent(agent, key)

    def _next_key(self) -> int:
        self._span_key = self._span_key % _LOW + 1
        return self._span_key

    def _add(self, **fields: Any) -> None:
        if "span_key" not in fields:
            fields["span_key"] = self._next_key()
        self.spans.append(Span(trace_key=self._trace_key, index=len(self.spans), **fields))


def _ends(step: ModelAnswer | Call) -> list[int]:
    if isinstance(step, Call):
        return [] if step.end_ns is None else [step.end_ns]
    return [step.end_ns, *(end_ns for call in step.calls for end_ns in _ends(call))]


def _output(answer: ModelAnswer) -> dict[str, Any] | None:
    if answer.error is not None:
        return None
    output: dict[str, Any] = {"text": answer.text}
    asked = [call for call in answer.calls if not call.hosted]
    if asked:
        output["tool_calls"] = [
            {"id": call.key, "name": call.name, "arguments": call.arguments} for call in asked
        ]
    if answer.reasoning:
        output["reasoning"] = answer.reasoning
    output["finish_reason"] = answer.finish_reason
    return output
