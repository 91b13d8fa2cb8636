"""Spans without secrets that were not recorded here: read from a file, or received."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from agenttrace.core import semconv
from agenttrace.core.jsonable import clean_text
from agenttrace.core.span import Span, SpanError
from agenttrace.redaction.answers import holds_answers
from agenttrace.redaction.asked import asked_for, may_ask
from agenttrace.redaction.given import returned_secret, taken_secret, without_taken
from agenttrace.redaction.naming import Names
from agenttrace.redaction.repeated import (
    attributes_without,
    taken_out_of,
    without_repeated,
    without_repeated_in,
)
from agenttrace.redaction.result_words import holds_word, may_be_given, without_words
from agenttrace.redaction.selected import selected, without_selected
from agenttrace.redaction.tool_messages import holds_results


class Redacts(Names, Protocol):
    """A redaction, as far as spans need it."""

    call: Any

    def key(self, key: str) -> str:
        """A key or name without secrets in its own text."""
        ...

    def fields(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Each of several named values in its redacted form."""
        ...

    def stream(self, items: list[Any]) -> list[Any]:
        """The items of a stream without secrets."""
        ...

    def value(self, name: str, value: Any) -> Any:
        """The redacted form of one value."""
        ...

    def text(self, name: str, text: str) -> str:
        """The redacted form of a text."""
        ...

    def taken_out(self, value: Any, begin: int = 0) -> Any:
        """What is kept of a secret value: the mark, and a digest that compares it."""
        ...

    def without_counting(self, text: str) -> str:
        """The text without secrets, which are not counted."""
        ...


def without_given(call: str, arguments: Mapping[str, Any] | None, output: Any, redaction: Redacts) -> Any:
    """The result of a call without the secret that its name says it is, or its arguments ask for.

    The arguments may be redacted.
    """
    if redaction.call is not None or not may_be_given(output):
        return output
    name = returned_secret(call, redaction)
    values = arguments.values() if arguments else ()
    if not name and may_ask(values):
        columns = selected(values, redaction)
        if columns is not None:
            output = without_selected(output, columns, redaction, redaction.taken_out)
        name = asked_for(call, values, redaction) if holds_word(output) else ""
    return without_words(output, partial(redaction.value, name)) if name else output


def gives_secret(call: str, arguments: Iterable[Any], output: Any, names: Names) -> bool:
    """Returns True if the arguments of a call ask for a secret, and its result may be one, or have it."""
    return (holds_word(output) and asked_for(call, arguments, names) != "") or (
        selected(arguments, names) is not None
    )


def may_tell(span: Span, names: Names) -> bool:
    """Returns False for most spans of which neither the call nor the messages say that something is a secret:
    told in a few steps."""
    values = span.input.values() if span.input else ()
    if values or span.output is not None:
        if may_ask((span.name,)) or (may_be_given(span.output) and may_ask(values)):
            return True
        lists = [value for value in (*values, span.output) if type(value) is list and len(value) > 1]
        return any(holds_answers(items, names) or holds_results(items, names) for items in lists)
    return False


def redacted_span(span: Span, redaction: Redacts) -> Span:
    """A copy of a span without secrets; the span itself stays as it is."""
    redacted = copy.copy(span)
    redacted.name = redaction.key(clean_text(span.name))
    redacted.input = None if span.input is None else redaction.fields(span.input)
    secret = taken_secret(span.name, redaction) if redacted.input and redaction.call is None else ""
    if secret:
        redacted.input = without_taken(redacted.input or {}, secret, redaction.value)
    is_stream = semconv.ITEMS in span.attributes and type(span.output) is list
    output = redaction.stream(span.output) if is_stream else span.output
    redacted.output = None if output is None else redaction.value("output", output)
    redacted.output = without_given(span.name, redacted.input, redacted.output, redaction)
    attributes = redaction.fields(span.attributes)
    metadata = span.attributes.get(semconv.METADATA)
    if type(metadata) is dict:  # each item by its own name, as live
        attributes[semconv.METADATA] = redaction.fields(metadata)
    has_secrets = span.input is not None and redacted.input != span.input
    secrets = taken_out_of(span.input, redacted.input) if has_secrets else set()
    redacted.output = without_repeated_in(redacted.output, secrets)
    if not is_stream and redacted.output != span.output:
        secrets |= taken_out_of(span.output, redacted.output)
    redacted.attributes = attributes_without(attributes, secrets) if secrets else attributes
    if span.error is not None:
        message = redaction.text("error", without_repeated(clean_text(span.error.message), secrets))
        redacted.error = SpanError(span.error.type, message, span.error.frames)
    return redacted


def span_without_repeated(span: Span, secrets: Collection[str]) -> Span:
    """A span that is redacted without what it repeats of secrets that are made up."""
    if not secrets:
        return span
    copied = copy.copy(span)
    copied.input = without_repeated_in(span.input, secrets)
    copied.output = without_repeated_in(span.output, secrets)
    copied.attributes = attributes_without(span.attributes, secrets)
    copied.name = str(without_repeated_in(span.name, secrets))
    if span.error is not None:
        message = str(without_repeated_in(span.error.message, secrets))
        copied.error = SpanError(span.error.type, message, span.error.frames)
    return copied
