"""Secrets that a span repeats: those of its own call, of its callers, and of calls of its trace before it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.jsonable import clean
from agenttrace.core.limits import Limits
from agenttrace.core.span import Span, SpanError
from agenttrace.redaction import Redaction
from agenttrace.redaction.given import is_taken
from agenttrace.redaction.pairs import may_be_named_beside
from agenttrace.redaction.repeated import (
    IDS,
    attributes_without,
    secret_texts,
    sought_elsewhere,
    taken_out_of,
    without_repeated,
    without_repeated_in,
)
from agenttrace.redaction.streamed import without_split
from agenttrace.redaction.values import is_made_up
from agenttrace.tracing.freeze import Frozen, thaw
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.record import (
    ARGUMENTS,
    END,
    EXTRA,
    INDEX,
    OBSERVED,
    OUTPUT,
    PARENT,
    SCOPE,
    SECRETS,
    Record,
    Scope,
)

_MAY_HOLD = (str, dict, list, tuple)
_MOST_HIDDEN = 100
"""Secrets of a trace that are looked for in calls that did not have them."""
_MOST_CALLS = 1_000
"""Calls of a trace of which secrets are remembered for the messages of others, and for those they make."""
_NONE: frozenset[str] = frozenset()


def _note_hidden(record: Record, span: Span, secrets: Collection[str]) -> None:
    """Remember what was taken out of a call: later ones of its trace may repeat it."""
    scope: Scope = record[SCOPE]
    hidden = set(secrets)
    if span.output is not None:
        hidden |= taken_out_of(clean(thaw(record[OUTPUT], scope.limits)), span.output)
    hidden.difference_update(_ids_of(scope))
    known = scope.hidden
    for secret in sought_elsewhere(hidden):
        if known is None:
            known = scope.hidden = {}
        if len(known) < _MOST_HIDDEN or secret in known:
            known[secret] = min(known.get(secret, record[END]), record[END])


def _ids_of(scope: Scope) -> list[Any]:
    return [(scope.attributes or {}).get(key) for key in IDS]


def hidden_before(record: Record) -> set[str]:
    """What was taken out of the calls of a trace that had ended when this one did, and of itself."""
    hidden = record[SCOPE].hidden
    return {secret for secret, end in tuple(hidden.items()) if end <= record[END]} if hidden else set()


def secrets_of_trace(scope: Scope) -> set[str]:
    """What was taken out of the calls of a trace that have ended, and what the messages of those that failed
    may repeat: words, too."""
    hidden, in_messages = scope.hidden or {}, scope.secrets or {}
    return set(hidden).union(*in_messages.copy().values()).difference(_ids_of(scope))


def secrets_of_callers(
    record: Record, redaction: Redaction, hold_nothing: Callable[[Record], bool] | None = None
) -> Collection[str]:
    """The made-up secrets among the arguments of the calls within which a call was made.

    `hold_nothing` tells of most calls that there is none, faster.
    """
    scope: Scope = record[SCOPE]
    known = scope.of_callers
    if known is None:
        known = scope.of_callers = {}
    call, waiting = record[PARENT], []
    while call is not None and call[OBSERVED] is not None and call[INDEX] not in known:
        waiting.append(call)
        call = call[PARENT]
    secrets: frozenset[str] = _NONE if call is None else known.get(call[INDEX], _NONE)
    for call in reversed(waiting):
        if len(call) > ARGUMENTS and not (hold_nothing is not None and hold_nothing(call)):
            own = _passed_on(call, redaction)
            secrets = secrets | own if own else secrets
        known[call[INDEX]] = secrets
    if len(known) > _MOST_CALLS:
        scope.of_callers = dict(list(known.items())[-_MOST_CALLS // 2 :])
    return secrets


def _passed_on(call: Record, redaction: Redaction) -> set[str]:
    """The secrets of a call that are looked for in those that it makes."""
    secrets = set(secrets_of(call, redaction)) if call[ARGUMENTS] else set()
    extra = call[EXTRA] if len(call) > EXTRA else None
    if extra and SECRETS in extra:
        secrets |= extra[SECRETS]
    secrets.difference_update(_ids_of(call[SCOPE]))
    return sought_elsewhere(secrets)


def take_out_repeated(
    record: Record,
    span: Span,
    secrets: Collection[str],
    of_callers: Collection[str],
    *,
    is_redacted: bool,
) -> None:
    """Take out of a span what it repeats of the secrets of its call, of its callers, and of the calls of its
    trace before it."""
    if secrets:
        _take_out(secrets, span)
    if is_redacted:
        _note_hidden(record, span, secrets)
    known = hidden_before(record).union(of_callers)
    if known:
        span.input = without_repeated_in(span.input, known)
        _take_out(known, span)
        if span.error is not None:
            message = without_repeated(span.error.message, set(filter(is_made_up, known)))
            span.error = SpanError(span.error.type, message, span.error.frames)


def _take_out(secrets: Collection[str], span: Span) -> None:
    """Take the secrets of a call out of what its span repeats, also in the pieces of a stream."""
    if semconv.ITEMS in span.attributes and type(span.output) is list:
        made_up = set(filter(is_made_up, secrets))
        span.output = without_split(span.output, lambda text: without_repeated(text, made_up))
    span.output = without_repeated_in(span.output, secrets)
    if span.attributes:
        span.attributes = attributes_without(span.attributes, secrets)
    span.name = str(without_repeated_in(span.name, secrets))


def secrets_around(record: Record, redaction: Redaction) -> set[str]:
    """What the message of a call that failed may repeat: the secrets among its arguments, among those of its
    callers, and of the calls of the trace that failed before."""
    scope: Scope = record[SCOPE]
    known = scope.secrets
    if known is None:
        known = scope.secrets = {}
    call: Record | None = record
    while call is not None and call[OBSERVED] is not None and len(known) < _MOST_CALLS:
        if len(call) > ARGUMENTS and call[ARGUMENTS] and call[INDEX] not in known:
            named = _possible_secrets(call[OBSERVED], call[ARGUMENTS], redaction, scope.limits)
            known[call[INDEX]] = secret_texts(named, redaction)
        elif len(call) > EXTRA and call[EXTRA] and SECRETS in call[EXTRA]:
            known[call[INDEX]] = call[EXTRA][SECRETS]
        call = call[PARENT]
    return set().union(*known.values())


def secrets_of(record: Record, redaction: Redaction) -> set[str]:
    """The secrets among the arguments of a call."""
    named = _possible_secrets(record[OBSERVED], record[ARGUMENTS], redaction, record[SCOPE].limits)
    return secret_texts(named, redaction)


def _possible_secrets(
    observed: ObservedFunction, values: tuple[Any, ...], redaction: Redaction, limits: Limits
) -> Iterator[tuple[str, Any]]:
    """The arguments with secret names, and those that may hold some."""
    if observed.rebinding is not None:
        bound = observed.rebinding.bind([thaw(value, limits) for value in values])
        if bound is not None:
            yield from ((name, clean(value)) for name, value in bound.items())
            return
    if may_be_named_beside(observed.names):
        yield "", {name: clean(thaw(v, limits)) for name, v in zip(observed.names, values, strict=False)}
        return
    for name, value in zip(observed.names, values, strict=False):
        if observed.rules[7] and is_taken(name, value, len(values)):
            yield observed.rules[7], value
        elif type(value) is Frozen or type(value) in _MAY_HOLD or redaction.is_secret(name):
            yield name, clean(thaw(value, limits))
