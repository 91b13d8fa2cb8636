"""`trace_to_atif`: a trace in the Agent Trajectory Interchange Format, so that others can read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.executions import AGENT
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.marks import cause_of, without_digests
from agenttrace.core.message_parts import text_in
from agenttrace.core.model_requests import LLM, requests_in
from agenttrace.core.span import Span
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.transcripts.atif import OWN
from agenttrace.version import __version__

VERSION = "ATIF-v1.7"


def trace_to_atif(trace: Trace) -> dict[str, Any]:
    """A trace as an ATIF trajectory (version 1.7): JSON-safe data for a file.

    Each answer of a model is a step, with the calls that it asked for and what they gave; a call that no
    recorded answer asked for is a step without a model. Agents inside the run are embedded as trajectories
    of their own. The format has no place for a call's status, its error or an output that is no text: these
    stand under ``extra.agenttrace``, and `traces_from_transcript` reads them back. Functions, chains
    and retrievers are left out, and of a model's request all but the texts of users and systems.
    """
    return _Writer(trace).trajectory(None)


class _Writer:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._calls: dict[int | None, list[tuple[int, ToolCall]]] = {}
        self._models: dict[int | None, list[Span]] = {}
        self._agents: dict[int | None, list[Span]] = {}
        self._key_of: dict[int, str] = {}
        root = trace.root
        self._root_agent = root if len(trace.roots) == 1 and root and root.span_type == AGENT else None
        for span in trace.spans:
            if span is not self._root_agent:
                for span_type, under in ((LLM, self._models), (AGENT, self._agents)):
                    if span.span_type == span_type:
                        under.setdefault(self._agent_of(span), []).append(span)
        for call in trace.tool_calls:
            key = int(call.span_id, 16)
            self._calls.setdefault(self._agent_of(trace.by_key[key]), []).append((key, call))

    def trajectory(self, agent: Span | None) -> dict[str, Any]:
        """The trajectory of an agent inside the run; for None of the run itself."""
        top = agent if agent is not None else self._root_agent or self._trace.root
        key = None if agent is None else agent.span_key
        models, calls = self._models.get(key, []), self._calls.get(key, [])
        steps = self._steps(models, calls, top)
        agents = self._agents.get(key, [])
        first_model = next((_model_of(span) for span in models if _model_of(span)), None)
        described: dict[str, Any] = {"name": (top.name if top else "") or "agent", "version": __version__}
        if first_model:
            described["model_name"] = first_model
        tools = next((tools for span in models if (tools := _tools_of(span))), None)
        if tools:
            described["tool_definitions"] = tools
        trajectory: dict[str, Any] = {
            "schema_version": VERSION,
            "session_id": self._trace.session_id or self._trace.trace_id,
            "trajectory_id": self._trace.trace_id if agent is None else agent.span_id,
            "agent": described,
            "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        }
        if metrics := _final_metrics(models, len(steps)):
            trajectory["final_metrics"] = metrics
        if agents:
            trajectory["subagent_trajectories"] = [self.trajectory(one) for one in agents]
        return trajectory

    def _agent_of(self, span: Span) -> int | None:
        """The id of the nearest agent above a span; None for the run's own."""
        seen = {span.span_key}
        above = self._trace.by_key.get(span.parent_key) if span.parent_key is not None else None
        while above is not None and above.span_key not in seen:
            if above.span_type == AGENT:
                return None if above is self._root_agent else above.span_key
            seen.add(above.span_key)
            above = self._trace.by_key.get(above.parent_key) if above.parent_key is not None else None
        return None

    def _steps(
        self, models: list[Span], calls: list[tuple[int, ToolCall]], top: Span | None
    ) -> list[dict[str, Any]]:
        asked = self._asked(models, calls)
        events: list[tuple[int, int, dict[str, Any]]] = []
        has_messages = False
        for number, span in enumerate(models):
            messages = list(_texts_in(span.input))
            has_messages = has_messages or bool(messages)
            events += [(span.start_ns, 0, step) for step in messages]
            events.append((span.end_ns, 1, self._answer(span, asked.get(number, []))))
        for key, call in asked.get(None, []):
            events.append((call.start_ns, 1, self._own_step(key, call)))
        prompt = None if has_messages or top is None else _prompt(top)
        steps = [step for _, _, step in sorted(events, key=lambda event: event[:2])]
        if prompt:
            steps.insert(0, {"source": "user", "message": prompt})
        has_text = any(step.get("message") for step in steps if step["source"] == "agent")
        if top is not None and not has_text and isinstance(top.output, str) and top.output:
            steps.append({"source": "agent", "message": top.output, "llm_call_count": 0})
        return steps

    def _asked(
        self, models: list[Span], calls: list[tuple[int, ToolCall]]
    ) -> dict[int | None, list[tuple[int, ToolCall]]]:
        """The calls by the number of the answer that asked for them; None: no recorded answer did."""
        by_key: dict[Any, int] = {}
        by_name: dict[Any, list[int]] = {}
        for number, span in enumerate(models):
            for request in requests_in(span.output):
                if request.key is not None:
                    by_key[str(request.key)] = number
                else:
                    by_name.setdefault(request.name, []).append(number)
        place = {span.span_key: number for number, span in enumerate(models)}
        asked: dict[int | None, list[tuple[int, ToolCall]]] = {}
        for key, call in calls:
            parent = self._trace.by_key[key].parent_key
            answer = place.get(key, place.get(parent or 0))  # of an answer itself, or hosted below one
            answer = by_key.get(self._call_id(key, call)) if answer is None else answer
            if answer is None and by_name.get(call.name):
                answer = by_name[call.name].pop(0)
            asked.setdefault(answer, []).append((key, call))
        return asked

    def _call_id(self, key: int, call: ToolCall) -> str:
        recorded = self._trace.by_key[key].attributes.get(semconv.TOOL_CALL_ID)
        return str(recorded or call.metadata.get("id") or f"call_{call.index + 1}")

    def _answer(self, span: Span, calls: list[tuple[int, ToolCall]]) -> dict[str, Any]:
        output = span.output if isinstance(span.output, Mapping) else {"text": span.output}
        text = output.get("text", output.get("content"))
        step: dict[str, Any] = {
            "source": "agent",
            "message": text if isinstance(text, str) else text_in(text),
            **_timestamp(span.end_ns),
        }
        if model := _model_of(span):
            step["model_name"] = model
        if isinstance(output.get("reasoning"), str):
            step["reasoning_content"] = output["reasoning"]
        step.update(self._called(calls))
        if metrics := _metrics(span.usage):
            step["metrics"] = metrics
        return step

    def _own_step(self, key: int, call: ToolCall) -> dict[str, Any]:
        called = self._called([(key, call)])
        return {"source": "agent", "message": "", **_timestamp(call.end_ns), **called, "llm_call_count": 0}

    def _called(self, calls: list[tuple[int, ToolCall]]) -> dict[str, Any]:
        if not calls:
            return {}
        entries, results = [], []
        for key, call in calls:
            call_id = self._call_id(key, call)
            entry: dict[str, Any] = {
                "tool_call_id": call_id,
                "function_name": call.name,
                "arguments": without_digests(dict(call.arguments)),
            }
            if call.metadata:
                entry["extra"] = jsonable({k: v for k, v in call.metadata.items() if k != "id"})
            if self._trace.by_key[key].attributes.get(semconv.TOOL_TYPE) == semconv.HOSTED:
                entry.setdefault("extra", {})[OWN] = {"hosted": True}
            if call.status == "attempted":
                summary = {
                    "status": "attempted",
                    "error": call.error.message if call.error else call.arguments_error,
                }
                entry.setdefault("extra", {})[OWN] = {k: v for k, v in summary.items() if v is not None}
            entries.append(entry)
            if call.status != "requested":
                results.append(_result(call_id, call, self._refs(key)))
        called: dict[str, Any] = {"tool_calls": entries}
        if results:
            called["observation"] = {"results": results}
        return called

    def _refs(self, key: int) -> list[dict[str, str]]:
        """The agents that ran inside a call."""
        refs, stack = [], list(self._trace.children.get(key, ()))
        while stack:
            span = stack.pop(0)
            if span.span_type == AGENT:
                refs.append({"trajectory_id": span.span_id})
            else:
                stack += self._trace.children.get(span.span_key, ())
        return refs


def _result(call_id: str, call: ToolCall, refs: list[dict[str, str]]) -> dict[str, Any]:
    own: dict[str, Any] = {"status": call.status}
    result: dict[str, Any] = {"source_call_id": call_id}
    output = without_digests(call.output)
    if isinstance(output, str):
        result["content"] = output
    elif cause_of(output) == "not recorded":
        own["output_recorded"] = False
    elif output is not None:
        result["content"] = to_json(output)
        own["output"] = output
    elif call.error is None:
        own["output"] = None
    if call.error is not None:
        own["error"] = call.error.message
        result.setdefault("content", str(call.error))
        own.setdefault("output", output)
    if refs:
        result["subagent_trajectory_ref"] = refs
    return {**result, "extra": {OWN: own}}


def _texts_in(request: Mapping[str, Any] | None) -> Iterable[dict[str, Any]]:
    """The messages of users and systems in a request, as steps."""
    messages = (request or {}).get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, Mapping) and message.get("role") in ("user", "system"):
            text = text_in(message.get("content"))
            if text:
                yield {"source": message["role"], "message": text}


def _prompt(top: Span) -> str | None:
    value = None if top.input is None else top.input.get("input", dict(top.input) or None)
    if value is None:
        return None
    return value if isinstance(value, str) else to_json(without_digests(value))


def _model_of(span: Span) -> str | None:
    names = (span.attributes.get(name) for name in (semconv.RESPONSE_MODEL, semconv.REQUEST_MODEL))
    return next((name for name in names if isinstance(name, str)), None)


def _tools_of(span: Span) -> list[dict[str, Any]]:
    tools = (span.input or {}).get("tools")
    return [dict(tool) for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []


def _timestamp(time_ns: int) -> dict[str, str]:
    """The time of a step; none for the artificial clock of a recorded run."""
    if time_ns < 10**15:
        return {}
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_ns // 1_000)
    return {"timestamp": moment.isoformat().replace("+00:00", "Z")}


def _metrics(usage: Mapping[str, Any] | None) -> dict[str, Any]:
    usage = usage or {}
    words = {
        "prompt_tokens": "input_tokens",
        "completion_tokens": "output_tokens",
        "cached_tokens": "cache_read_tokens",
        "cost_usd": "cost",
    }
    metrics: dict[str, Any] = {name: usage[word] for name, word in words.items() if word in usage}
    others = ("reasoning_tokens", "cache_write_tokens", "cache_write_1h_tokens")
    extra = {word: usage[word] for word in others if word in usage}
    return {**metrics, "extra": extra} if extra else metrics


def _final_metrics(models: Iterable[Span], steps: int) -> dict[str, Any]:
    totals: dict[str, Any] = {}
    for span in models:
        for name, value in _metrics(span.usage).items():
            if name != "extra":
                total = f"total_{name}"
                totals[total] = totals.get(total, 0) + value
    return {**totals, "total_steps": steps} if totals else {}
