"""Results and arguments of tools in messages of a conversation, where their calls say they are secrets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.marks import REDACTED
from agenttrace.redaction.asked import asked_for, may_ask
from agenttrace.redaction.given import returned_secret, taken_secret, without_taken
from agenttrace.redaction.json_text import without_secrets_of_data
from agenttrace.redaction.naming import Names
from agenttrace.redaction.result_words import without_words
from agenttrace.redaction.selected import selected, without_selected
from agenttrace.redaction.tables import is_list

_IDS = ("tool_call_id", "tool_use_id", "call_id", "toolUseId", "toolCallId", "id")
TOOL_KEYS = frozenset({*_IDS[:-1], "functionResponse", "function_response", "arguments", "args", "input"})
"""One of these is in each result, and each call, that is looked for."""
_NAMES = ("name", "tool_name", "toolName")
_ARGUMENTS = ("arguments", "args", "input", "parameters")
_CONTENTS = ("content", "output", "response", "result")
_CALL_KEYS = frozenset({*_NAMES, *_ARGUMENTS})
_PARTS = (
    "content",
    "parts",
    "tool_calls",
    "function",
    "functionCall",
    "function_call",
    "toolUse",
    "additional_kwargs",
)
_RESPONSES = ("functionResponse", "function_response", "toolResult")
_DEEPEST, _MOST_MESSAGES, _LONGEST_ARGUMENTS = 5, 10_000, 4_000
_Path = tuple[Any, ...]


def may_have_results(keys: Collection[str], mappings: Iterable[Mapping[str, Any]]) -> bool:
    """Returns False only if among mappings, which have these keys, no result of a tool is a secret: told in a
    few steps."""
    if TOOL_KEYS.isdisjoint(keys):
        return False
    return any(may_ask((part[key],)) for part in mappings for key in _CALL_KEYS.intersection(part))


def holds_results(messages: Sequence[Any], names: Names) -> bool:
    """Returns True if one of the messages has a result of a tool, or an argument, that is a secret."""
    return any(True for _ in _secret_parts(messages, names, lambda _: REDACTED))


def without_results(messages: list[Any], items: list[Any], names: Names, taken_out: Any) -> None:
    """Put what `taken_out` makes of tools' secrets in their place in `items`, the messages' clean copies."""
    for (number, *path), clean in list(_secret_parts(messages, names, taken_out)):
        items[number] = _changed(items[number], path, clean)


def _hidden(name: str, names: Names, taken_out: Any, word: str) -> Any:
    return taken_out(word) if names.hides(name, word) else word


def _changed(item: Any, path: Sequence[Any], clean: Any) -> Any:
    """A copy of a message with what `clean` makes of the value at the end of a way through it."""
    if not path:
        return clean(item)
    if not isinstance(item, (dict, list, tuple)):
        return item
    copy: Any = dict(item) if isinstance(item, dict) else list(item)
    copy[path[0]] = _changed(item[path[0]], path[1:], clean)
    return copy


def _secret_parts(
    messages: Sequence[Any], names: Names, taken_out: Any
) -> Iterator[tuple[_Path, Callable[[Any], Any]]]:
    """The ways to results that have what their call asks for, and to the arguments of calls that are given a
    secret, each with what takes it out."""
    if not any(type(one) is dict for one in messages[:_MOST_MESSAGES]):
        return
    called: dict[str, tuple[str, Any]] = {}
    for place, message in enumerate(messages[:_MOST_MESSAGES]):
        for path, part in _parts(message, (place,), _DEEPEST):
            name, arguments = _name_of(part), _first(part, _ARGUMENTS)
            ids = [part[key] for key in _IDS if type(part.get(key)) is str]
            if name and arguments is not None:
                called.update(dict.fromkeys((*ids, name), (name, arguments)))
                secret = taken_secret(name, names)
                place_of = next((key for key in _ARGUMENTS if part.get(key) is not None), "")
                hide = partial(_without_arguments, secret=secret, names=names, taken_out=taken_out)
                if secret and hide(arguments) != arguments:
                    yield (*path, place_of), hide
            call = next((called[one] for one in (*ids, name) if one in called), (name, None))
            key = next((key for key in _CONTENTS if key in part), None)
            is_result = ids or path[-1] in _RESPONSES or (name and arguments is not None)
            if key is not None and call[0] and is_result:  # also of a call with its result beside it
                clean = _cleaner(call[0], _values(call[1]), names, taken_out)
                if clean is not None and clean(part[key]) != part[key]:
                    yield (*path, key), clean


def _without_arguments(arguments: Any, secret: str, names: Names, taken_out: Any) -> Any:
    """The arguments of a call that is given a secret, without it, also where they are JSON as text."""
    if isinstance(arguments, str):
        if len(arguments) > _LONGEST_ARGUMENTS:
            return arguments
        hide = partial(_without_arguments, secret=secret, names=names, taken_out=taken_out)
        return without_secrets_of_data(arguments, hide)[0]
    if not isinstance(arguments, dict):
        return arguments
    return without_taken(arguments, secret, lambda name, word: _hidden(name, names, taken_out, word))


def _cleaner(call: str, arguments: list[Any], names: Names, taken_out: Any) -> Callable[[Any], Any] | None:
    """What takes the secret out of a result that a call asks for; None where it asks for none."""
    columns = selected(arguments, names)
    if columns is not None:
        return partial(without_selected, columns=columns, names=names, taken_out=taken_out)
    secret = returned_secret(call, names) or asked_for(call, arguments, names)
    return partial(without_words, clean=partial(_hidden, secret, names, taken_out)) if secret else None


def _parts(message: Any, path: _Path, levels: int) -> Iterator[tuple[_Path, dict[str, Any]]]:
    """A message and the parts of it that may be calls and results, each with the way to it."""
    if is_list(message) and levels:
        for place, part in enumerate(message):
            yield from _parts(part, (*path, place), levels - 1)
    elif type(message) is dict and levels:
        yield path, message
        for key in (*_PARTS, *_RESPONSES):
            if isinstance(message.get(key), (dict, list)):
                yield from _parts(_with_id(message, message[key]), (*path, key), levels - 1)


def _with_id(message: Mapping[str, Any], part: Any) -> Any:
    """The function of a call, which has its id beside it."""
    is_named = type(part) is dict and _name_of(part) and type(message.get("id")) is str and "id" not in part
    return {**part, "id": message["id"]} if is_named else part


def _name_of(part: Mapping[str, Any]) -> str:
    name = _first(part, _NAMES)
    return name if type(name) is str else ""


def _first(part: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((part[key] for key in keys if part.get(key) is not None), None)


def _values(arguments: Any) -> list[Any]:
    if isinstance(arguments, str) and len(arguments) <= _LONGEST_ARGUMENTS:
        try:
            arguments = lenient_json(arguments)
        except InvalidJSON:
            return [arguments]
    return list(arguments.values()) if isinstance(arguments, dict) else [arguments]
