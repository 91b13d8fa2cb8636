"""Reads runs as LangSmith exports them: each run is a span, under the names that LangSmith itself sends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.numbers import is_number
from agenttrace.otlp_in import tables
from agenttrace.otlp_in.arrival import Arrival, ArrivedSpan, Event, key_of, moment_ns

_RUN_SIGNS = frozenset(("inputs", "outputs", "start_time", "dotted_order", "child_runs"))
_SESSIONS = ("thread_id", "session_id", "conversation_id")
"""What names a conversation in a run's metadata; the run's own ``session_id`` is that of its project."""
_SETTINGS = ("ls_", "langgraph_", "LANGSMITH_", "__ray_", "usage_metadata", "checkpoint_ns", "revision_id")
"""How keys of metadata begin that its libraries write themselves."""
_COUNTS: Mapping[str, tuple[str, ...]] = {
    semconv.INPUT_TOKENS: ("input_tokens", "prompt_tokens"),
    semconv.OUTPUT_TOKENS: ("output_tokens", "completion_tokens"),
    tables.LANGSMITH_COST: ("total_cost",),
}
_DETAILS = {
    semconv.CACHE_READ_TOKENS: ("input_token_details", "cache_read"),
    semconv.CACHE_WRITE_TOKENS: ("input_token_details", "cache_creation"),
    semconv.REASONING_TOKENS: ("output_token_details", "reasoning"),
}
_ERROR = re.compile(r"(?P<type>[A-Za-z_][\w.]*)\((?P<quote>['\"])(?P<message>.*)(?P=quote),?\)\Z", re.DOTALL)
_TRACEBACK = "Traceback (most recent call last)"


def is_langsmith(payload: Mapping[str, Any]) -> bool:
    """Whether this is of LangSmith's: a run, with those below it or alone, or a page of runs."""
    runs = payload.get("runs")
    if isinstance(runs, list):
        return bool(runs) and all(isinstance(run, Mapping) and is_langsmith(run) for run in runs)
    has_type = isinstance(payload.get("run_type"), str) and bool(payload.get("id"))
    return has_type and not _RUN_SIGNS.isdisjoint(payload)


def read_langsmith(payload: Mapping[str, Any], arrival: Arrival) -> None:
    """Add a run, with all below it, or a page of runs to the arrival."""
    runs = payload.get("runs")
    for run in runs if isinstance(runs, list) else [payload]:
        for one, parent, trace in _with_those_below(run):
            arrival.check_room()
            if not one.get("id"):
                arrival.note(f"run {one.get('name')!r}: got no id")
            else:
                arrival.spans.append(_span(one, parent, trace))


def _with_those_below(run: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Any, Any]]:
    """A run and all runs below it, each with the ids of its parent and of its trace."""
    waiting: list[tuple[Mapping[str, Any], Any, Any]] = [(run, None, None)]
    while waiting:
        one, above, above_all = waiting.pop()
        order = str(one.get("dotted_order") or "").partition(".")[0].rpartition("Z")[2]
        trace = one.get("trace_id") or above_all or order or one.get("id")
        yield one, one.get("parent_run_id") or above, trace
        below = one.get("child_runs")
        inner = [child for child in below if isinstance(child, Mapping)] if isinstance(below, list) else []
        waiting += [(child, one.get("id"), trace) for child in reversed(inner)]


def _span(run: Mapping[str, Any], parent: Any, trace: Any) -> ArrivedSpan:
    kind = str(run.get("run_type")).lower()
    extra = _mapping(run.get("extra"))
    metadata = _mapping(extra.get("metadata"))
    attributes: dict[str, Any] = {tables.LANGSMITH_KIND: kind}
    for field, key in tables.LANGSMITH_SIDES:
        value = jsonable(run.get(field))
        if isinstance(value, dict) and kind != "llm" and value.keys() == {"output"} and field == "outputs":
            value = value["output"]  # LangSmith puts whatever is no mapping under this name
        if value is not None and value != {}:
            attributes[key] = value if isinstance(value, str) else to_json(value)
    if kind == "llm":
        attributes |= _model(extra, metadata) | _usage(run, metadata)
    attributes |= _people(metadata)
    if not parent:
        attributes |= _said_of_the_trace(run, metadata)
    start = moment_ns(run.get("start_time"))
    end = moment_ns(run.get("end_time"))
    project = run.get("session_name")
    return ArrivedSpan(
        key_of(trace, 32),
        key_of(run["id"], 16),
        key_of(parent, 16) if parent else None,
        str(run.get("name") or ""),
        start,
        end,
        attributes,
        events=[_exception(str(run["error"]), end or start)] if run.get("error") else [],
        status=2 if run.get("error") or run.get("status") == "error" else 0,
        scope="langsmith",
        resource={semconv.PROJECT: project} if isinstance(project, str) and project else {},
    )


def _exception(error: str, end_ns: int) -> Event:
    """The event of an error, whose text is the exception's `repr` with the traceback behind it."""
    first = error.partition(_TRACEBACK)[0].strip() or error
    match = _ERROR.match(first)
    named = {semconv.EXCEPTION_MESSAGE: first}
    if match is not None:
        named = {semconv.EXCEPTION_TYPE: match["type"], semconv.EXCEPTION_MESSAGE: match["message"]}
    stack = {semconv.EXCEPTION_STACKTRACE: error} if _TRACEBACK in error else {}
    return Event("exception", end_ns, {**named, **stack})


def _model(extra: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    options = _mapping(extra.get("invocation_params"))
    named = (metadata.get("ls_model_name"), options.get("model"), options.get("model_name"))
    facts = {
        semconv.REQUEST_MODEL: next((name for name in named if name), None),
        semconv.PROVIDER: metadata.get("ls_provider"),
        semconv.TOOL_DEFINITIONS: to_json(jsonable(options["tools"])) if options.get("tools") else None,
    }
    return {key: value for key, value in facts.items() if isinstance(value, str) and value}


def _usage(run: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The tokens of a model's run, from the first place that has them."""
    outputs = _mapping(run.get("outputs"))
    places = [
        _mapping(outputs.get("usage_metadata")),
        _mapping(metadata.get("usage_metadata")),
        _mapping(_mapping(outputs.get("llm_output")).get("token_usage")),
        _mapping(outputs.get("usage")),
        run,
    ]
    usage: dict[str, Any] = {}
    for place in places:
        for key, names in _COUNTS.items():
            counts = [place[name] for name in names if is_number(place.get(name))]
            if counts:
                usage.setdefault(key, counts[0])
        for key, (name, detail) in _DETAILS.items():
            count = _mapping(place.get(name)).get(detail)
            if is_number(count):
                usage.setdefault(key, count)
    return usage


def _people(metadata: Mapping[str, Any]) -> dict[str, Any]:
    named = {
        semconv.SESSION_ID: next((metadata[key] for key in _SESSIONS if metadata.get(key)), None),
        semconv.CUSTOMER_ID: metadata.get("user_id"),
    }
    return {key: str(jsonable(value)) for key, value in named.items() if value}


def _said_of_the_trace(run: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The tags and the user's own metadata of a root."""
    tags = run.get("tags")
    tags = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    own = {key: value for key, value in metadata.items() if not str(key).startswith(_SETTINGS)}
    facts = {semconv.TAGS: tags, semconv.METADATA: jsonable(own)}
    return {key: value for key, value in facts.items() if value}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
