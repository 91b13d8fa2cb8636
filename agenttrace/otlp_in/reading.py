"""Reads the spans of one trace together: what one says of another, whichever arrived first.

Done whenever a trace is read, not when its spans arrive: a batch may hold children before their parents, log
records before their spans, calls before the messages that asked for them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.marks import cause_of
from agenttrace.core.message_parts import Request, arguments_of
from agenttrace.core.model_requests import LLM, requests_in
from agenttrace.core.span import Span
from agenttrace.core.tool import TOOL, ToolDefinition
from agenttrace.core.tool_schemas import definition_of
from agenttrace.core.tool_text import tool_of_entry
from agenttrace.otlp_in.definitions import offered_in, own_schema
from agenttrace.otlp_in.facts import with_facts
from agenttrace.otlp_in.logged import logged_call
from agenttrace.otlp_in.numbered import numbered_lists
from agenttrace.otlp_in.present import present_in
from agenttrace.otlp_in.recorded_tools import recorded_tools
from agenttrace.otlp_in.tables import CALL_EVENTS, EVENT, LANGSMITH_KIND, LOG_CALL_IDS
from agenttrace.otlp_in.values import BARE, unwrapped_arguments, value_of

Tools = dict[str, ToolDefinition]


def read_anew(spans: Sequence[Span]) -> tuple[Sequence[Span], Tools]:
    """The spans of a stored trace as the tables have them today, read together; the tools found in them.

    Spans that did not come by OpenTelemetry stay as they are.
    """
    if not any(semconv.RECEIVED in span.attributes for span in spans):
        return spans, {}
    return read_together([_anew(span) for span in spans])


def _anew(span: Span) -> Span:
    received = semconv.RECEIVED in span.attributes and span.span_type != EVENT
    return with_facts(span) if received else span


def read_together(spans: Sequence[Span]) -> tuple[list[Span], Tools]:
    """The spans of one trace, each with what the others say of it; the tools that models were offered, and
    those that the recorder knew."""
    whole, waiting = _with_log_records(spans)
    return _joined([*whole, *_calls_of_their_own(waiting, whole)] if waiting else whole)


def to_store(spans: Sequence[Span]) -> list[Span]:
    """The spans of one trace as they are stored: what lists show of each is what all that came so far say.

    Log records whose span has not come yet are among them, and wait for it.
    """
    whole, waiting = _with_log_records(spans)
    joined, _ = _joined(whole)
    for span in joined:
        span.tool = None  # it is found anew whenever the trace is read
    return [*joined, *waiting]


def _joined(whole: Sequence[Span]) -> tuple[list[Span], Tools]:
    recorded = recorded_tools(whole)
    tools = _tools_in(whole) | recorded
    joined = [_copied(span) if _is_received(span) else span for span in whole]
    by_key = {span.span_key: span for span in joined}
    executions = [span for span in joined if span.span_type == TOOL and _is_received(span)]
    _tell_failures(joined, by_key)
    _put_inside(joined, executions)
    asked = _Asked(span for span in joined if span.span_type == LLM) if any(map(_lacks, executions)) else None
    for span in executions:
        span.tool = _own_definition(span) or tools.get(span.name)
        if asked is not None:
            _spell_out(span, asked)
        _name_arguments(span, tools)
        if asked is not None and _lacks(span):
            asked.fill(span)
    _name_session(joined, by_key)
    joined.sort(key=lambda span: (span.start_ns, span.index))
    return joined, {name: tool for name, tool in tools.items() if tool.described or name in recorded}


def _is_received(span: Span) -> bool:
    return semconv.RECEIVED in span.attributes


def _copied(span: Span) -> Span:
    """A copy that may still be changed: nobody else has seen it. Five times as fast as `copy.copy`."""
    return Span(
        trace_key=span.trace_key,
        span_key=span.span_key,
        parent_key=span.parent_key,
        index=span.index,
        name=span.name,
        span_type=span.span_type,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        input=span.input,
        output=span.output,
        status=span.status,
        error=span.error,
        attributes=span.attributes,
        usage=span.usage,
        project=span.project,
        tool=span.tool,
    )


def _with_log_records(spans: Sequence[Span]) -> tuple[list[Span], list[Span]]:
    """The spans with the log records that belong to them; the records whose span is not there.

    A record belongs to the tool's span with its call id, else to the span that it names.
    """
    records = [span for span in spans if span.span_type == EVENT and _is_received(span)]
    if not records:
        return list(spans), []
    waiting: list[Span] = []
    others = [span for span in spans if not (span.span_type == EVENT and _is_received(span))]
    by_key = {span.span_key: span for span in others}
    by_call = {span.attributes[semconv.TOOL_CALL_ID]: span for span in others if _has_call_id(span)}
    events: dict[int, list[Any]] = {}
    for record in sorted(records, key=lambda record: record.start_ns):
        event = record.attributes[semconv.RECEIVED].get("event")
        fields = (
            event[2] if isinstance(event, list) and len(event) == 4 and isinstance(event[2], dict) else {}
        )
        call_id = next((fields[key] for key in LOG_CALL_IDS if key in fields), None)
        target = by_call.get(call_id) if isinstance(call_id, str) else None
        if target is None:
            target = by_key.get(record.parent_key or 0)
            if target is not None and target.span_type != TOOL and record.name in CALL_EVENTS:
                target = None
        if target is None or not _is_received(target):
            waiting.append(record)
        else:
            events.setdefault(target.span_key, []).append(event)
    return [_with_events(span, events.get(span.span_key)) for span in others], waiting


def _calls_of_their_own(waiting: Iterable[Span], spans: Iterable[Span]) -> list[Span]:
    """The calls that only log records tell of.

    Where a span of the same tool is there, the record may tell of that one, unless both have call ids.
    """
    by_name: dict[str, list[Span]] = {}
    for span in spans:
        if span.span_type == TOOL:
            by_name.setdefault(span.name, []).append(span)
    calls = [call for call in map(logged_call, waiting) if call is not None and call.span_type == TOOL]
    return [
        call
        for call in calls
        if call.name not in by_name or all(map(_has_call_id, [call, *by_name[call.name]]))
    ]


def _has_call_id(span: Span) -> bool:
    named = span.attributes.get(semconv.TOOL_CALL_ID)
    return span.span_type == TOOL and _is_received(span) and isinstance(named, str)


def _with_events(span: Span, events: list[Any] | None) -> Span:
    if events is None:
        return span
    received = span.attributes[semconv.RECEIVED]
    earlier = list(received.get("events") or ())
    changed = copy.copy(span)
    more = [event for event in events if event not in earlier]
    changed.attributes = {**span.attributes, semconv.RECEIVED: {**received, "events": [*earlier, *more]}}
    return with_facts(changed)


def _tools_in(spans: Iterable[Span]) -> Tools:
    """The tools whose parameters are known, by name: of what models were offered, then of tools' spans."""
    tools: Tools = {}
    seen: set[Any] = set()
    for span in spans:
        if not _is_received(span):
            continue
        if span.span_type == TOOL:
            definition = _own_definition(span)
            if definition is not None:
                tools.setdefault(span.name, definition)
            continue
        for entry in _offered_on(span):
            tool = entry.get("function", entry) if isinstance(entry, dict) else None
            name = tool.get("name") if isinstance(tool, dict) else None
            if not isinstance(name, str) or not isinstance(tool, dict) or name in seen:
                continue
            seen.add(name)
            schema = tool.get("parameters")
            definition = definition_of(name, schema if isinstance(schema, dict) else None)
            if definition is not None:
                tools[name] = definition
    return tools


def _offered_on(span: Span) -> Sequence[Any]:
    """The tools in a request to a model, read already, or in the attributes of another span."""
    attributes = span.attributes
    if span.span_type == LLM:
        offered = span.input.get("tools") if span.input else None
        if isinstance(offered, list):
            return offered
        if semconv.SPAN_TYPE not in attributes:
            return ()
    return offered_in(attributes, present_in(attributes), numbered_lists(attributes))


def _own_definition(span: Span) -> ToolDefinition | None:
    """The definition that a tool's span has of its tool."""
    own = tool_of_entry(span.name, span.attributes.get(semconv.TOOL_DEFINITION))
    if own is not None:
        return own
    return definition_of(span.name, own_schema(span.attributes, present_in(span.attributes)))


def _lacks(span: Span) -> bool:
    """Whether a tool's span has no arguments of its own, or one without a name."""
    return span.input is None or set(span.input) == {BARE}


def _spell_out(span: Span, asked: _Asked) -> None:
    """Read arguments that LangSmith has as one text under ``input``: LangChain wrote their JSON, or their
    `repr`. A tool whose one parameter is called so, as its definition or the model's call says, keeps it."""
    text = span.input.get(BARE) if span.input is not None else None
    if not isinstance(text, str) or not _lacks(span) or LANGSMITH_KIND not in span.attributes:
        return
    arguments = value_of(text)
    if not isinstance(arguments, dict):
        return
    known = asked.arguments_for(span)
    is_text = any(list(each.values()) == [text] for each in known) or (
        span.tool is not None and any(parameter.name == BARE for parameter in span.tool.parameters)
    )
    if arguments in known or not is_text:
        span.input = arguments


def _name_arguments(span: Span, tools: Tools) -> None:
    """Bring arguments by position to the names of the tool's parameters, where these are known by now."""
    tool = tools.get(span.name)
    if span.input is None or tool is None:
        return
    order = [parameter.name for parameter in tool.parameters]
    if set(span.input) == {BARE} and BARE not in order:
        value = unwrapped_arguments(span.input[BARE], order)
    elif isinstance(span.input.get("args"), list) and "args" not in order:
        rest = {name: value for name, value in span.input.items() if name != "args"}
        value = unwrapped_arguments({"args": span.input["args"], "kwargs": rest}, order)
    else:
        return
    if isinstance(value, dict):
        span.input = dict(value)


class _Asked:
    """What models asked for: where a tool's span has no arguments, or only the value of one."""

    def __init__(self, models: Iterable[Span]) -> None:
        self._by_id: dict[str, Request] = {}
        self._by_name: dict[str, list[tuple[Span, Request]]] = {}
        for model in models:
            for request in requests_in(model.output):
                if request.key is not None:
                    self._by_id.setdefault(str(request.key), request)
                self._by_name.setdefault(request.name, []).append((model, request))

    def fill(self, span: Span) -> None:
        """Fill in the arguments that the model gave: the span has none of its own, or one without a name."""
        bare = span.input is not None
        call_id = span.attributes.get(semconv.TOOL_CALL_ID)
        request = None if call_id is None else self._by_id.get(str(call_id))
        if request is None or request.name != span.name:
            request = self._by_value(span) if bare else self._only_one(span)
        if request is None:
            return
        arguments, problem = arguments_of(request)
        if problem is None and cause_of(arguments) is None:
            span.input = dict(arguments)
            if span.output is not None or span.error is not None:
                span.attributes = {k: v for k, v in span.attributes.items() if k != semconv.NOT_RECORDED}

    def arguments_for(self, span: Span) -> list[Mapping[str, Any]]:
        """The arguments of the call that the model asked for by the span's id, else of all for its tool."""
        request = self._by_id.get(str(span.attributes.get(semconv.TOOL_CALL_ID)))
        named = [one for _, one in self._by_name.get(span.name, ())]
        requests = [request] if request is not None and request.name == span.name else named
        read = map(arguments_of, requests)
        return [arguments for arguments, problem in read if problem is None and cause_of(arguments) is None]

    def _by_value(self, span: Span) -> Request | None:
        value = None if span.input is None else span.input[BARE]
        for _, request in self._by_name.get(span.name, ()):
            arguments, problem = arguments_of(request)
            if problem is None and list(arguments.values()) == [value]:
                return request
        return None

    def _only_one(self, span: Span) -> Request | None:
        """The one call of the name that the latest answer before asks for; None where it asks for several."""
        before = [(m, r) for m, r in self._by_name.get(span.name, ()) if m.start_ns <= span.start_ns]
        if not before:
            return None
        latest = max(model.start_ns for model, _ in before)
        requests = [request for model, request in before if model.start_ns == latest]
        return requests[0] if len(requests) == 1 else None


def _tell_failures(spans: Iterable[Span], by_key: Mapping[int, Span]) -> None:
    """Let a tool's span fail where a part of it did that has the same call id: its execution, as a span."""
    for span in spans:
        parent = by_key.get(span.parent_key or 0)
        if (
            span.status == "error"
            and span.span_type != TOOL
            and _is_received(span)
            and parent is not None
            and parent.span_type == TOOL
            and _is_received(parent)
            and (parent.error is None or not parent.error.message)
            and (parent.attributes.get(semconv.TOOL_CALL_ID) or "") in span.attributes.values()
        ):
            parent.status, parent.error = "error", span.error


def _put_inside(spans: Sequence[Span], executions: Sequence[Span]) -> None:
    """Put what `observe` recorded of a call inside the span that OpenTelemetry has of it.

    The two know nothing of each other: they are one call where the one ran during the other, for the same
    tool. Then they have the same parent, or none.
    """
    ours = [span for span in spans if span.span_type == TOOL and not _is_received(span)]
    by_name: dict[str, list[Span]] = {}
    for span in executions if ours else ():
        by_name.setdefault(span.name, []).append(span)
    used: set[int] = set()
    for position, span in enumerate(spans) if ours else ():
        if span.span_type != TOOL or _is_received(span):
            continue
        for outer in by_name.get(span.name, ()):
            during = outer.start_ns <= span.start_ns and span.end_ns <= outer.end_ns
            if during and outer.span_key not in used:
                used.add(outer.span_key)
                inside = copy.copy(span)
                inside.parent_key = outer.span_key
                spans[position] = inside  # type: ignore[index] # the list that `read_together` made
                break


def _name_session(spans: Sequence[Span], by_key: Mapping[int, Span]) -> None:
    """Give the roots the session and the customer that only spans below them name."""
    for name in (semconv.SESSION_ID, semconv.CUSTOMER_ID):
        roots = [span for span in spans if span.parent_key not in by_key]
        named = next((span.attributes[name] for span in spans if name in span.attributes), None)
        if named is not None and not any(name in span.attributes for span in roots):
            for root in roots:
                if _is_received(root):
                    root.attributes = {**root.attributes, name: named}
