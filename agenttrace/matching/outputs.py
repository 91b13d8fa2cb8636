"""Agreement of an expected output with what a call gave, or with the answer that a model was given for it.

An answer is text as a rule, where the tool gave data. So of a call that is known from its answer, the text
also stands for the value that it spells: ``{"id": 7}`` agrees with ``'{"id": 7}'``, 7 with ``'7'``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agenttrace.core.json_reader import json_or_literal
from agenttrace.core.marks import cause_of
from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.matcher import Context, Matcher, Unordered
from agenttrace.expectations.reading import cannot_tell
from agenttrace.expectations.values import Difference, agree


def agree_with_output(
    expected: Any, call: ToolCall, context: Context, into: list[Difference] | None = None
) -> float:
    """Agreement of a prepared expected output with that of a call; the differences go to `into`, if given.

    Of an answer, the text and the value that it spells are compared, and the better agreement counts; with
    `not_` the value's. What a function says of the two may differ: then it cannot be told.
    """
    output = call.known_output
    value = spelled_value(output) if call.from_answer else output
    if value is output:
        return agree(expected, output, context, "output", into)
    of_text: list[Difference] = []
    of_value: list[Difference] = []
    agreement = agree(expected, output, context, "output", of_text)
    other = agree(expected, value, context, "output", of_value)
    matchers = list(matchers_in(expected))
    if any(matcher.is_opaque for matcher in matchers) and (agreement == 1.0) != (other == 1.0):
        agreement = cannot_tell("not recorded", "output")
    elif other > agreement or any(matcher.operator == "$not" for matcher in matchers):
        agreement, of_text = other, of_value
    if into is not None and agreement < 1.0:
        into.extend(of_text or of_value)
    return agreement


def spelled_value(value: Any) -> Any:
    """The value that a text spells as JSON or as a Python literal; other texts and values as they are."""
    if type(value) is not str or cause_of(value) is not None:
        return value
    spelled = json_or_literal(value)
    return value if isinstance(spelled, str) else spelled


def matchers_in(value: Any) -> Iterator[Matcher]:
    """Every matcher in an expected value, nested ones too."""
    if isinstance(value, Matcher):
        yield value
        value = value.values
    elif isinstance(value, Unordered):
        value = value.members
    elif isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, list | tuple | set | frozenset):
        return
    for part in value:
        yield from matchers_in(part)
