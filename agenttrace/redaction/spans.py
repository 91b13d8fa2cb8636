"""Spans without secrets that were not recorded here: read from a file, or received."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Protocol

from agenttrace.core import semconv
from agenttrace.core.jsonable import clean_text
from agenttrace.core.span import Span, SpanError
from agenttrace.redaction.asked import asked_for, may_ask, may_be_asked, may_be_given, without_asked
from agenttrace.redaction.given import returned_secret
from agenttrace.redaction.naming import Names
from agenttrace.redaction.repeated import secret_texts, without_repeated, without_repeated_in
from agenttrace.redaction.selected import selected, without_selected
from agenttrace.redaction.values import is_made_up


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


def without_given(span: Span, redaction: Redacts) -> Any:
    """The result of a span without the secret that the arguments, which may be redacted, ask for."""
    output = span.output
    if not span.input or redaction.call is not None or not may_be_given(output):
        return output
    arguments = span.input.values()
    if not may_ask(arguments):
        return output
    columns = selected(arguments, redaction)
    if columns is not None:
        output = without_selected(output, columns, redaction, redaction.taken_out)
    name = asked_for(span.name, arguments, redaction) if may_be_asked(output) else ""
    return without_asked(name, output, redaction.value) if name else output


def redacted_span(span: Span, redaction: Redacts) -> Span:
    """A copy of a span without secrets; the span itself stays as it is."""
    redacted = copy.copy(span)
    redacted.name = redaction.key(clean_text(span.name))
    redacted.input = None if span.input is None else redaction.fields(span.input)
    is_stream = semconv.ITEMS in span.attributes and type(span.output) is list
    output = redaction.stream(span.output) if is_stream else span.output
    is_text = isinstance(output, str) and redaction.call is None and is_made_up(output)
    name = (returned_secret(span.name, redaction) if is_text else "") or "output"
    redacted.output = None if output is None else redaction.value(name, output)
    redacted.output = without_given(redacted, redaction)
    attributes = redaction.fields(span.attributes)
    metadata = span.attributes.get(semconv.METADATA)
    if type(metadata) is dict:  # each item by its own name, as live
        attributes[semconv.METADATA] = redaction.fields(metadata)
    has_secrets = span.input is not None and redacted.input != span.input
    secrets = secret_texts((span.input or {}).items(), redaction) if has_secrets else set()
    redacted.output = without_repeated_in(redacted.output, secrets)
    redacted.attributes = without_repeated_in(attributes, secrets)
    if span.error is not None:
        message = redaction.text("error", without_repeated(clean_text(span.error.message), secrets))
        redacted.error = SpanError(span.error.type, message, span.error.frames)
    return redacted
