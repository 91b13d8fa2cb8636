"""Make the finished, redacted span of a record, on the worker."""

from __future__ import annotations

from typing import Any, cast

from agenttrace.core import semconv
from agenttrace.core.changed import changed
from agenttrace.core.identity import SPAN_KEY_MASK
from agenttrace.core.jsonable import clean, clean_text
from agenttrace.core.limits import Limits
from agenttrace.core.score import Score
from agenttrace.core.snapshot import EXACT_INT
from agenttrace.core.span import EMPTY, Span, SpanError
from agenttrace.redaction import Redaction
from agenttrace.redaction.given import returned_secret, taken_secret, without_taken
from agenttrace.redaction.pairs import may_be_named_beside
from agenttrace.redaction.repeated import IDS, without_repeated
from agenttrace.redaction.result_words import may_be_given
from agenttrace.redaction.spans import without_given
from agenttrace.tracing.freeze import Frozen, thaw
from agenttrace.tracing.observed_function import ObservedFunction, RedactedNames
from agenttrace.tracing.record import (
    ARGUMENTS,
    END,
    EXTRA,
    FAILURE,
    INDEX,
    OBSERVED,
    PARENT,
    SCOPE,
    ReceivedSpan,
    Record,
    Scope,
    parent_key_of,
)
from agenttrace.tracing.repeated_secrets import (
    hidden_before,
    secrets_around,
    secrets_of,
    secrets_of_callers,
    take_out_repeated,
)


def finish(record: Record, redaction: Redaction) -> Span:
    """Make the finished span of a record whose call has ended: thawed, strict JSON, redacted."""
    if type(record) is not list:
        return cast(ReceivedSpan, record).make(redaction)
    observed: ObservedFunction
    scope: Scope
    parent, scope, observed, index, start, arguments, end, output, failure, extra = record
    rules = observed.rules
    if rules[0] is not redaction:
        rules = observed.rules = rules_for(observed, redaction)
    has_parent = parent[OBSERVED] is not None
    span = _new(Span)  # field by field: half the time of seventeen keyword arguments
    span.trace_key = scope.trace_key
    span.span_key = (scope.base + index) & SPAN_KEY_MASK or 1
    span.parent_key = (
        (scope.base + parent[INDEX]) & SPAN_KEY_MASK or 1 if has_parent else parent_key_of(record)
    )
    span.index = index
    span.name = rules[2]
    span.span_type = rules[5]
    span.start_ns = scope.anchor + start
    span.end_ns = scope.anchor + (end or start)
    limits = scope.limits
    redacted = redaction.redacted
    span.input = None if arguments is None else _inputs(observed, arguments, redaction, rules, limits)
    # What an argument hides, the call's own result and log may repeat.
    secrets = secrets_of(record, redaction) if redaction.redacted != redacted else ()
    if output is not None and is_stream(extra):
        output = _redacted_stream(output, redaction, limits)
    span.output = output if output is None else _value("output", output, redaction, limits)
    span.status = "ok"
    span.error = None
    span.attributes = EMPTY if observed.metadata is None else redaction.fields(observed.metadata)
    span.usage = None
    span.project = scope.project
    span.tool = rules[3]
    if failure is not None:
        span.status, error = failure
        span.error = None if error is None else _redacted_error(error, record, redaction)
    if extra is not None or scope.attributes is not None:
        _add_extra(span, extra or {}, _of_trace(scope, has_parent), redaction, limits)
    if rules[6] or (span.input and may_be_given(span.output)):
        span.output = without_given(span.name, span.input, span.output, redaction)
    is_redacted = redaction.redacted != redacted
    of_callers = secrets_of_callers(record, redaction) if has_parent else ()
    if secrets or is_redacted or scope.hidden or of_callers:
        take_out_repeated(record, span, secrets, of_callers, is_redacted=is_redacted)
    return span


def _of_trace(scope: Scope, has_parent: bool) -> dict[str, Any]:
    """What is recorded of the trace with one of its spans: back ends that look for a session's spans look at
    each."""
    attributes = scope.attributes or {}
    return {key: attributes[key] for key in IDS if key in attributes} if has_parent else attributes


def _redacted_stream(output: Any, redaction: Redaction, limits: Limits) -> Frozen:
    pieces = clean(thaw(output, limits, redaction.digest))
    # First joined: of a secret in two pieces, what is redacted in the first one leaves the second.
    return Frozen(redaction.stream(pieces) if type(pieces) is list else pieces, 0)


def _redacted_error(error: SpanError, record: Record, redaction: Redaction) -> SpanError:
    message = clean_text(error.message)
    if message and (secrets := secrets_around(record, redaction)):
        message = without_repeated(message, secrets)
    return SpanError(clean_text(error.type), redaction.text("error", message), error.frames)


def is_stream(extra: dict[str, Any] | None) -> bool:
    """Whether a record with this extra is of a generator, whose output is what it yielded."""
    return extra is not None and semconv.ITEMS in extra.get("attributes", ())


_new = object.__new__


def rules_for(observed: ObservedFunction, redaction: Redaction) -> RedactedNames:
    """An observed function's names in their redacted form."""
    names = tuple(map(redaction.key, observed.names))
    by_name = (
        redaction.call is not None
        or any(map(redaction.is_secret, observed.names))
        or may_be_named_beside(observed.names)
    )
    returned = returned_secret(observed.name, redaction)
    set_secret = taken_secret(observed.name, redaction) if redaction.call is None else ""
    definition = None if observed.definition is None else redaction.tool(observed.definition)
    kind = redaction.key(observed.span_type)
    name = redaction.key(observed.name)
    by_name = by_name or returned != "" or set_secret != ""
    return redaction, by_name, name, definition, names, kind, returned, set_secret


def _inputs(
    observed: ObservedFunction,
    values: tuple[Any, ...],
    redaction: Redaction,
    rules: RedactedNames,
    limits: Limits,
) -> dict[str, Any]:
    if observed.rebinding is not None:
        arguments = observed.rebinding.bind([thaw(value, limits, redaction.digest) for value in values])
        if arguments is not None:
            inputs = {name: _value(name, _thawed(v), redaction, limits) for name, v in arguments.items()}
            return _without_beside(inputs, rules, redaction)
    pairs = zip(rules[4], values, strict=False)
    if rules[1]:
        inputs = {name: _value(name, value, redaction, limits) for name, value in pairs}
        return _without_beside(inputs, rules, redaction)
    inputs = {}
    for name, value in pairs:
        kind = type(value)
        if kind is str:
            if len(value) >= redaction.shortest or not value.isascii():
                value = redaction.inside(clean(value))
        elif kind is int:
            if not -EXACT_INT < value < redaction.largest_number:
                value = redaction.inside(clean(value))
        elif value is not None and kind is not bool:
            value = redaction.inside(clean(thaw(value, limits, redaction.digest)))
        inputs[name] = value
    return inputs


def _without_beside(inputs: dict[str, Any], rules: RedactedNames, redaction: Redaction) -> dict[str, Any]:
    inputs = redaction.without_beside(inputs)
    return without_taken(inputs, rules[7], redaction.value) if rules[7] else inputs


def _value(name: str, value: Any, redaction: Redaction, limits: Limits) -> Any:
    kind = type(value)
    small = (
        (kind is str and len(value) < redaction.shortest and value.isascii())
        or value is None
        or kind is bool
        or (kind is int and -EXACT_INT < value < redaction.largest_number)
    )
    # A small value is too short for a secret's shape: only its name can make it a secret.
    if small and redaction.call is None and (value is None or not redaction.is_secret(name)):
        return value
    return redaction.value(name, clean(thaw(value, limits, redaction.digest)))


def _add_extra(
    span: Span,
    extra: dict[str, Any],
    trace_attributes: dict[str, Any],
    redaction: Redaction,
    limits: Limits,
) -> None:
    """Add what the running call's own code set on the span. The values of `extra` are snapshots."""
    if "name" in extra:
        span.name = redaction.key(clean_text(extra["name"]))
    if "input" in extra:
        value = _value("input", _thawed(extra["input"]), redaction, limits)
        span.input = value if isinstance(value, dict) else {"input": value}
    if "output" in extra:
        span.output = _value("output", _thawed(extra["output"]), redaction, limits)
    if "usage" in extra:
        span.usage = redaction.inside(clean(extra["usage"]))
    attributes = dict(span.attributes)
    for source in (extra.get("attributes"), trace_attributes):
        for key, value in (source or {}).copy().items():  # it may still be written to on another thread,
            kind = type(value)
            if kind is dict or kind is list:  # and so may tags and metadata
                value = value.copy()
            name = redaction.key(clean_text(key))
            if key == semconv.METADATA and kind is dict:
                attributes[name] = redaction.fields(clean(value))
            else:
                attributes[name] = _value(key, _thawed(value), redaction, limits)
    if "logs" in extra:
        attributes[semconv.LOGS] = [_log(entry, redaction) for entry in tuple(extra["logs"])]
    span.attributes = attributes


def _thawed(snapshot: Any) -> Any:
    """A snapshot, so that it is not taken for a mapping as it was passed."""
    return Frozen(snapshot, 0) if type(snapshot) is dict else snapshot


def _log(entry: Any, redaction: Redaction) -> Any:
    entry = clean(entry)
    fields = redaction.inside(entry)
    return {**fields, "message": redaction.value("log", fields["message"])} if "message" in entry else fields


def scores_of(record: Record, redaction: Redaction) -> list[Score]:
    """The scores that were put on the span while it ran, redacted."""
    extra = record[EXTRA]
    if not extra:
        return []
    scores = [redaction.score(score) for score in tuple(extra.get("scores", ()))]
    secrets = hidden_before(record).union(secrets_of_callers(record, redaction)) if scores else set()
    if scores and record[ARGUMENTS]:
        secrets |= secrets_of(record, redaction)
    if secrets:
        return [changed(score, reason=without_repeated(score.reason, secrets)) for score in scores]
    return scores


def forget_ancestors(record: Record) -> None:
    """Shorten the parent's record, if that call has ended, to what its children's spans need.

    Tasks that start the next one without end make an endless chain of calls, each of which would keep all
    before it in memory.
    """
    parent = record[PARENT]
    if len(parent) > FAILURE and parent[END]:
        record[PARENT] = [None, parent[SCOPE], parent[OBSERVED], parent[INDEX]]
