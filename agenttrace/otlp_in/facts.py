"""Fills in what lists show of a span that came by OpenTelemetry: type, name, input, output, status, usage.

What came stays on the span: its attributes as they are, the rest under `semconv.RECEIVED`. So the facts can
be worked out anew, and are, whenever a stored trace is read: a mended table mends what is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.jsonable import clean_text
from agenttrace.core.marks import not_recorded, remedy_in
from agenttrace.core.model_requests import LLM
from agenttrace.core.numbers import is_number
from agenttrace.core.span import Span, SpanError, Status
from agenttrace.core.tool import TOOL
from agenttrace.otlp_in import model_tables, tables
from agenttrace.otlp_in.arrival import ArrivedSpan, Event
from agenttrace.otlp_in.definitions import offered_in, own_schema
from agenttrace.otlp_in.model_facts import answer_in, mark_left_out, model_input, model_output
from agenttrace.otlp_in.numbered import numbered_lists
from agenttrace.otlp_in.own_facts import own_facts, typed_attributes
from agenttrace.otlp_in.present import Present, present_in
from agenttrace.otlp_in.remedies import CUT, NOT_ENDED, remedy_for
from agenttrace.otlp_in.values import (
    BARE,
    TEXT,
    bare_name,
    is_schema,
    marked_value,
    unwrapped_arguments,
    unwrapped_result,
    value_of,
)

_MODELS_ASKED = frozenset(model_tables.MODELS[:3])
_USAGE_WORDS = {key: word for word, keys in model_tables.USAGE.items() for key in keys}
_LONGEST_ERROR = 10_000


def span_of(arrived: ArrivedSpan, index: int) -> Span:
    """The span of one that arrived, with its facts."""
    received: dict[str, Any] = {"name": arrived.name}
    if arrived.status:
        received["status"] = arrived.status
    if arrived.status_message:
        received["message"] = arrived.status_message
    if arrived.events:
        received["events"] = [[e.name, e.time_ns, e.attributes, e.body] for e in arrived.events]
    resource = arrived.resource
    project = next((resource[key] for key in tables.PROJECTS if resource.get(key)), "")
    attributes = {**arrived.attributes, semconv.RECEIVED: received}
    if arrived.scope:
        attributes[semconv.SCOPE_NAME] = arrived.scope
    if not arrived.end_ns:
        attributes[semconv.UNFINISHED] = True
    return with_facts(
        Span(
            trace_key=arrived.trace_key,
            span_key=arrived.span_key,
            parent_key=arrived.parent_key,
            index=index,
            name=arrived.name,
            start_ns=arrived.start_ns,
            end_ns=max(arrived.start_ns, arrived.end_ns),  # clocks that were set back
            attributes=attributes,
            project=project if isinstance(project, str) else str(project),
        )
    )


def with_facts(span: Span) -> Span:
    """A copy of a received span with its facts worked out anew from what was received."""
    attributes = typed_attributes(span.attributes)
    received = attributes[semconv.RECEIVED]
    events = list(_events_in(received))
    fields = _with_events(attributes, events) if events else attributes
    original = received.get("name")
    name = original if isinstance(original, str) else span.name
    scope = str(attributes.get(semconv.SCOPE_NAME, ""))
    has = present_in(fields)
    span_type = _type_of(fields, has, name)
    span_name, arguments, output, failed, remedy = name, None, None, False, None
    if semconv.SPAN_TYPE in attributes:
        span_name, arguments, output = own_facts(span_type, name, attributes)
        remedy = remedy_for(scope) if span_type == TOOL and arguments is None else None
    elif span_type == TOOL:
        span_name = _tool_name(fields, has, name)
        arguments = _arguments(fields, has)
        output, recorded, failed, call_id = _result(fields, has, scope)
        remedy = _remedy(fields, has, scope, arguments is not None and recorded, arguments is None)
        if call_id is not None:
            attributes[semconv.TOOL_CALL_ID] = call_id
    elif span_type == LLM:
        arguments, output = _of_model(fields, has, events, scope)
    else:
        if span_type == tables.AGENT:
            span_name = _agent_name(fields, has, name)
        arguments, output = _plain_input(fields, has, attributes), _plain_output(fields, has)
    status, error = _ending(fields, has, received, attributes, failed, output)
    if semconv.UNFINISHED in attributes and error is None:
        status, output = "abandoned", _output_so_far(span_type, output, attributes)
    _say_what_lacks(attributes, None if error is not None and arguments is not None else remedy)
    _name_people(fields, has, attributes)
    return Span(
        trace_key=span.trace_key,
        span_key=span.span_key,
        parent_key=span.parent_key,
        index=attributes.get(semconv.INDEX, span.index),
        name=span_name if span_name.isascii() else clean_text(span_name),
        span_type=span_type,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        input=arguments,
        output=output,
        status=status,
        error=error,
        attributes=attributes,
        usage=_usage(fields, has, scope) if span_type == LLM or semconv.SPAN_TYPE in attributes else None,
        project=span.project,
    )


def _of_model(
    fields: Mapping[str, Any], has: Present, events: Sequence[Event], scope: str
) -> tuple[dict[str, Any] | None, Any]:
    """What a model was asked, and what it answered."""
    lists = numbered_lists(fields)
    offered = offered_in(fields, has, lists)
    output = model_output(fields, has, events, lists)
    mark_left_out(output or (), remedy_for(scope))
    return model_input(fields, has, events, lists, offered), output


def _remedy(
    fields: Mapping[str, Any], has: Present, scope: str, is_whole: bool, lacks_arguments: bool
) -> str | None:
    """What would have recorded the rest of a tool's call; None where it is whole."""
    if lacks_arguments and any(_is_cut(fields, key) for key in has.arguments):
        return CUT
    return None if is_whole else remedy_for(scope)


def _events_in(received: Mapping[str, Any]) -> Iterator[Event]:
    for entry in received.get("events") or ():
        if isinstance(entry, list | tuple) and len(entry) == 4 and isinstance(entry[2], dict):
            name = entry[0] or entry[2].get("event.name") or entry[3]
            yield Event(str(name), entry[1] if isinstance(entry[1], int) else 0, entry[2], entry[3])


def _with_events(attributes: Mapping[str, Any], events: Sequence[Event]) -> dict[str, Any]:
    """The attributes with those of events, under ``event:attribute``; the first of a name stays."""
    fields: dict[str, Any] = {}
    for event in events:
        details = event.name == tables.DETAILS_EVENT
        name = event.name if event.name.startswith(tables.EVENT_PREFIXES) else ""
        name = name or f"claude_code.{event.name}" if event.name == "tool_result" else name
        for key, value in event.attributes.items():
            fields.setdefault(key if details else f"{name}:{key}", value)
    fields.update(attributes)
    return fields


def _type_of(fields: Mapping[str, Any], has: Present, name: str) -> str:
    own = fields.get(semconv.SPAN_TYPE)
    if isinstance(own, str) and own:
        return own
    for key in has.types:
        word = fields[key]
        if isinstance(word, str):
            span_type = tables.TYPES[key].get(word.strip('"').lower())
            if span_type is not None:
                return _if_executed(span_type, fields, has, name)
    if name in tables.NAMED_TYPES:
        return tables.NAMED_TYPES[name]
    if name.startswith(tables.NO_TOOL_NAMES):
        return tables.FUNCTION
    if fields.get(semconv.MCP_METHOD) == "tools/call" or any(fields[key] for key in has.tool_names):
        return _if_executed(TOOL, fields, has, name)
    if any(fields[key] for key in has.models if key in _MODELS_ASKED) and _usage(fields, has, ""):
        return LLM
    return tables.FUNCTION


def _if_executed(span_type: str, fields: Mapping[str, Any], has: Present, name: str) -> str:
    """The type, or none in particular where a tool's span stands for no call of its own."""
    if span_type == TOOL and (
        _tool_name(fields, has, name) in tables.NO_TOOLS
        or any(str(fields[key]).lower() == "true" for key in has.not_executed)
    ):
        return tables.FUNCTION
    return span_type


def _tool_name(fields: Mapping[str, Any], has: Present, name: str) -> str:
    for key in (*has.tool_names, *has.tool_entities):
        named = fields[key]
        if isinstance(named, str) and named.strip('"'):
            return str(bare_name(named.strip('"')))
    if "{" in name:
        name = tables.NAME_TEMPLATE.sub(lambda field: str(fields.get(field[1], field[0])), name)
    return _bare_tool_name(name)


@lru_cache(maxsize=1_024)
def _bare_tool_name(name: str) -> str:
    """What a span's name says of its tool."""
    prefix = tables.TOOL_PREFIX.match(name)
    bare = tables.TOOL_SUFFIX.sub("", name if prefix is None else name[prefix.end() :])
    return str(bare_name(bare or name))


def _agent_name(fields: Mapping[str, Any], has: Present, name: str) -> str:
    for key in has.agent_names:
        named = fields[key]
        if isinstance(named, str) and named:
            return named
    return tables.AGENT_PREFIX.sub("", name) or name


def _arguments(fields: Mapping[str, Any], has: Present) -> dict[str, Any] | None:
    """The arguments of a tool's span; None where there are none."""
    bare: Any = None
    order: list[str] | None = None
    for key in has.arguments:
        raw = fields[key]
        if raw is None or _is_masked(raw) or _is_cut(fields, key):
            continue
        value = value_of(raw)
        if key != semconv.TOOL_ARGUMENTS and is_schema(value):
            continue
        if order is None:
            order = _parameters_of(fields, has) if has.own_schemas else []
        value = unwrapped_arguments(value, order)
        if isinstance(value, dict):
            return dict(value)
        if bare is None and value not in (None, ""):
            bare = value
    return None if bare is None else {BARE: bare}


def _is_cut(fields: Mapping[str, Any], key: str) -> bool:
    """Whether this begins as a mapping does, and is none: a limit on attributes' lengths cut it."""
    raw = fields[key]
    if type(raw) is not str or not raw.lstrip().startswith(('{"', "{'")):
        return False
    is_text = key == semconv.INPUT_VALUE and fields.get(semconv.INPUT_MIME_TYPE) == TEXT
    return not is_text and value_of(raw) is raw


def _is_masked(raw: Any) -> bool:
    return type(raw) is str and raw in tables.MASKS


def _parameters_of(fields: Mapping[str, Any], has: Present) -> list[str]:
    schema = own_schema(fields, has)
    if schema is None:
        return []
    properties = schema.get("properties", schema if "type" not in schema else {})
    return [str(name) for name in properties] if isinstance(properties, dict) else []


def _result(fields: Mapping[str, Any], has: Present, scope: str) -> tuple[Any, bool, bool, str | None]:
    """What a tool's span returned, whether that was recorded, whether it tells of a failure, its id."""
    output, recorded, failed, inner_id = None, False, False, None
    for key in has.results:
        if fields[key] is not None and not _is_masked(fields[key]):
            marked = key in tables.MARKED_RESULTS
            value = marked_value(fields, fields[key]) if marked else value_of(fields[key])
            wrapped = scope.startswith(tables.WRAPPED_IN_RESULT)
            output, failed, inner_id = unwrapped_result(value, result_wrapped=wrapped)
            recorded = True
            break
    call_id = next((fields[key] for key in has.call_ids if fields[key] is not None), inner_id)
    return output, recorded, failed, None if call_id is None else str(call_id)


def _plain_input(
    fields: Mapping[str, Any], has: Present, attributes: dict[str, Any]
) -> dict[str, Any] | None:
    """The input by name; the attributes say of a text that it had no name."""
    attributes.pop(semconv.TEXT_INPUT, None)
    value = value_of(next((fields[key] for key in has.inputs if fields[key] is not None), None))
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, str):
        attributes[semconv.TEXT_INPUT] = True
    return None if value is None else {"input": value}


def _plain_output(fields: Mapping[str, Any], has: Present) -> Any:
    for key in has.outputs:
        if fields[key] is not None:
            value = value_of(fields[key])
            answers = answer_in(value) if key in tables.ANSWERS else ()
            texts = [message["content"] for message in answers if not message.get("tool_calls")]
            return texts[-1] if texts and texts[-1] else value
    return None


def _ending(
    fields: Mapping[str, Any],
    has: Present,
    received: Mapping[str, Any],
    attributes: Mapping[str, Any],
    failed: bool,
    output: Any,
) -> tuple[Status, SpanError | None]:
    own = attributes.get(semconv.STATUS)
    code = received.get("status")
    if code != 2:
        failed = failed or any(str(fields[key]).lower() in tables.FAILURES[key] for key in has.failures)
    exceptional = code != 1 and fields.get(semconv.ERROR_TYPE) is not None
    if code != 2 and not failed and not exceptional and own is None:
        return "ok", None
    kind = next((fields[key] for key in has.types_of_failure if isinstance(fields[key], str)), "")
    texts = (fields[key] for key in has.messages_of_failure)
    message = next((text for text in texts if isinstance(text, str) and text), received.get("message"))
    message = message if isinstance(message, str) and message != kind else _told_by(output)
    if own in ("cancelled", "abandoned"):
        return own, SpanError(kind, message) if kind else None
    return "error", SpanError(kind or "Error", message[:_LONGEST_ERROR])


def _output_so_far(span_type: str, output: Any, attributes: dict[str, Any]) -> Any:
    """The output of a span that did not end and is not known to have failed; a tool's call says what is known
    of it."""
    is_recorded = output is not None and not remedy_in(output)
    if span_type == TOOL:
        attributes[semconv.CALL_STATUS] = "answered" if is_recorded else "requested"
    return output if is_recorded else not_recorded(NOT_ENDED)


def _told_by(output: Any) -> str:
    """The text of a failure of which only what the model was told of it is known."""
    text = output.get("error") if isinstance(output, dict) else output
    return text if isinstance(text, str) else ""


def _usage(fields: Mapping[str, Any], has: Present, scope: str) -> dict[str, Any] | None:
    usage: dict[str, Any] = {}
    for key in has.usage:
        amount = fields[key]
        if is_number(amount) and amount >= 0:
            usage.setdefault(_USAGE_WORDS[key], amount)
    for key in has.usage_in_json:
        counts = value_of(fields[key])
        if isinstance(counts, dict):
            for word, name in model_tables.USAGE_IN_JSON[key].items():
                if is_number(counts.get(name)):
                    usage.setdefault(word, counts[name])
    for key, amount in fields.items() if semconv.SPAN_TYPE in fields else ():
        if key.startswith(semconv.OTHER_USAGE) and is_number(amount):
            usage[key[len(semconv.OTHER_USAGE) :]] = amount
    if scope.startswith(model_tables.CACHE_APART) and "input_tokens" in usage:
        usage["input_tokens"] += usage.get("cache_read_tokens", 0) + usage.get("cache_write_tokens", 0)
    return usage or None


def _say_what_lacks(attributes: dict[str, Any], remedy: str | None) -> None:
    """Say what would have recorded what lacks; nothing where nothing does."""
    if remedy is None:
        attributes.pop(semconv.NOT_RECORDED, None)
    else:
        attributes[semconv.NOT_RECORDED] = remedy


def _name_people(fields: Mapping[str, Any], has: Present, attributes: dict[str, Any]) -> None:
    """Session, customer and tags under our own names, where another dialect has them."""
    for name, keys in ((semconv.SESSION_ID, has.sessions), (semconv.CUSTOMER_ID, has.customers)):
        if keys and name not in attributes:
            named = next((fields[key] for key in keys if isinstance(fields[key], str) and fields[key]), None)
            if named is not None:
                attributes[name] = named
    if has.tags and semconv.TAGS not in attributes:
        for key in has.tags:
            tags = value_of(fields[key])
            if isinstance(tags, list) and all(isinstance(tag, str) for tag in tags):
                attributes[semconv.TAGS] = tags
                return
