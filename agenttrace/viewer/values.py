"""Recorded values as they are shown: names with values, messages by role, text as text; cut, and said so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agenttrace.core.digests import digest_of
from agenttrace.core.json_reader import InvalidJSON, strict_json
from agenttrace.core.jsonable import jsonable, readable_json, to_json
from agenttrace.core.marks import bytes_of, cause_of, without_digests
from agenttrace.core.span import Span
from agenttrace.exporters.otlp_messages import read_answer, read_request
from agenttrace.viewer.words import bytes_text

LONGEST_TEXT = 20_000
MOST_TEXT = 24_000
"""Characters of all texts of one value; later ones are cut to `SHORT`."""
SHORT = 300
MOST_PARTS = 120
DEEPEST = 5

Kind = Literal["text", "scalar", "null", "names", "items", "bytes", "mark", "json"]


@dataclass(slots=True)
class ValueView:
    """A value, or a part of one. `more` counts the parts, or characters, that are left out; `place` leads to
    the whole of it."""

    kind: Kind
    text: str = ""
    parts: list[tuple[str, ValueView]] = field(default_factory=list)
    more: int = 0
    place: str = ""
    is_long: bool = False


class _Budget:
    def __init__(self) -> None:
        self.parts = MOST_PARTS
        self.characters = MOST_TEXT

    def text(self, text: str) -> tuple[str, int]:
        """As much of a text as is shown, and how many characters more there are."""
        most = min(LONGEST_TEXT, max(self.characters, SHORT))
        self.characters -= min(len(text), most)
        return text[:most], max(len(text) - most, 0)


def view_of(value: Any) -> ValueView:
    """A recorded value as it is shown."""
    return _view(without_digests(value), (), _Budget(), 0)


def _view(value: Any, place: tuple[str | int, ...], budget: _Budget, depth: int) -> ValueView:
    budget.parts -= 1
    if value is None:
        return ValueView("null", "None")
    if isinstance(value, str):
        text, more = budget.text(value)
        is_long = len(text) > 80 or "\n" in text
        return ValueView("text", text, more=more, place=_written(place), is_long=is_long)
    if isinstance(value, bool | int | float):
        text, more = budget.text(_scalar(value))
        return ValueView("scalar", text, more=more, place=_written(place))
    if isinstance(value, Mapping):
        return _mapping(value, place, budget, depth)
    if isinstance(value, list | tuple):
        if depth >= DEEPEST:
            return _as_json(value, place, budget)
        return _container("items", enumerate(value), len(value), place, budget, depth)
    return _as_json(value, place, budget)


def _mapping(
    value: Mapping[Any, Any], place: tuple[str | int, ...], budget: _Budget, depth: int
) -> ValueView:
    content = bytes_of(value)
    if content is not None:
        size, digest = bytes_text(value["size"]), digest_of(content)
        return ValueView("bytes", f"{size} of binary data, digest {digest[:12]}")
    if len(value) == 1 and cause_of(value) is not None:
        ((name, what),) = value.items()
        return ValueView("mark", f"{str(name).removeprefix('$')}: {what}")
    if depth >= DEEPEST:
        return _as_json(value, place, budget)
    return _container("names", value.items(), len(value), place, budget, depth)


def _container(
    kind: Kind,
    parts: Any,
    count: int,
    place: tuple[str | int, ...],
    budget: _Budget,
    depth: int,
) -> ValueView:
    view = ValueView(kind, place=_written(place))
    for name, part in parts:
        if budget.parts <= 0:
            view.more = count - len(view.parts)
            break
        shown = str(name)[:200] if isinstance(name, str) else str(name + 1)
        view.parts.append((shown, _view(part, (*place, name), budget, depth + 1)))
    return view


def _as_json(value: Any, place: tuple[str | int, ...], budget: _Budget) -> ValueView:
    text, more = budget.text(json_text(value))
    return ValueView("json", text, more=more, place=_written(place))


def _scalar(value: float) -> str:
    if isinstance(value, bool):
        return "True" if value else "False"
    try:
        return str(value)
    except ValueError:  # more digits than Python writes
        return hex(int(value))


def _written(place: tuple[str | int, ...]) -> str:
    return to_json(list(place)) if place else ""


def part_at(value: Any, place: str) -> Any:
    """The part of a value at a place that a view named.

    Raises:
        LookupError: there is no such part.
    """
    if not place:
        return value
    try:
        steps = strict_json(place)
    except (InvalidJSON, ValueError):
        raise LookupError(place) from None
    for step in steps if isinstance(steps, list) else ():
        is_name = isinstance(value, Mapping) and isinstance(step, str) and step in value
        is_place = isinstance(value, list | tuple) and type(step) is int and 0 <= step < len(value)
        if not (is_name or is_place):
            raise LookupError(place)
        container: Any = value
        value = container[step]
    return value


def whole_text(value: Any) -> str:
    """A value as plain text: a text as it is, anything else as JSON."""
    value = without_digests(value)
    return value if isinstance(value, str) else json_text(value)


def json_text(value: Any) -> str:
    """A value as JSON that people read."""
    return readable_json(jsonable(value), indent=2)


@dataclass(frozen=True)
class MessageView:
    """A chat message: its role, its texts, the calls that it asks for and the answers that it gives."""

    role: str
    parts: Sequence[MessagePart]
    is_folded: bool = False


@dataclass(frozen=True)
class MessagePart:
    """A part of a message; `name` is the tool's where it is a call."""

    kind: Literal["text", "reasoning", "call", "answer", "other"]
    value: ValueView
    name: str = ""


def messages_of(span: Span) -> tuple[list[MessageView], list[MessageView]]:
    """The messages that a model was sent and those that it answered; empty where the span holds none."""
    if span.span_type != "llm":
        return [], []
    budget = _Budget()
    request = read_request(span.input) if span.input else None
    sent: list[MessageView] = []
    if request is not None:
        system = [{"role": "system", "parts": request.instructions}] if request.instructions else []
        sent = [_message(message, budget) for message in (*system, *request.messages)]
    answers = read_answer(span.output)
    return sent, [_message(message, budget) for message in answers or ()]


def _message(message: Mapping[str, Any], budget: _Budget) -> MessageView:
    role = str(message.get("role", "unknown"))
    parts = tuple(_message_parts(message.get("parts") or (), budget))
    return MessageView(role, parts, is_folded=role in ("system", "developer"))


def _message_parts(parts: Sequence[Any], budget: _Budget) -> Iterator[MessagePart]:
    for part in parts:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "text":
            yield MessagePart("text", _view(part.get("content"), (), budget, 0))
        elif kind == "reasoning":
            yield MessagePart("reasoning", _view(part.get("content"), (), budget, 0))
        elif kind == "tool_call":
            yield MessagePart("call", _view(part.get("arguments"), (), budget, 0), str(part.get("name")))
        elif kind == "tool_call_response":
            answer = part.get("response", part.get("result"))
            yield MessagePart("answer", _view(answer, (), budget, 0))
        else:
            yield MessagePart("other", _view(part, (), budget, 0))


def summary_of(span_type: str, arguments: Mapping[str, Any] | None, output: Any, most: int = 160) -> str:
    """What a row says of a span beside its name: its arguments; of a model call what it answered, else the
    newest words that it was sent."""
    if span_type == "llm":
        request = read_request(arguments) if arguments else None
        answers = read_answer(output) or ()
        for message in (*answers, *reversed(request.messages if request is not None else ())):
            words = _newest_words(message, most)
            if words:
                return f"{message.get('role')}: {words}"[:most]
    return arguments_text(arguments, most) if arguments else ""


def _newest_words(message: Mapping[str, Any], most: int) -> str:
    """The last text of a message on one line; without one, the last call that it asks for."""
    parts = [part for part in message.get("parts") or () if isinstance(part, Mapping)]
    texts = [part.get("content") for part in parts if part.get("type") != "reasoning"]
    for text in reversed(texts):
        if isinstance(text, str) and text.strip():
            return " ".join(text[: 4 * most].split())
    for part in reversed(parts):
        if part.get("type") == "tool_call":
            arguments = part.get("arguments")
            return (
                f"{part.get('name')}({arguments_text(arguments) if isinstance(arguments, Mapping) else ''})"
            )
    return ""


def about_text(arguments: Mapping[str, Any], most: int = 160) -> str:
    """Arguments on one line, where there is little room: a text that comes first stands for itself."""
    first = next(iter(arguments.values()), None)
    if not isinstance(first, str) or not first.strip():
        return arguments_text(arguments, most)
    words = short_value(first, most)[1:-1]
    rest = arguments_text(dict(list(arguments.items())[1:]), most)
    return f"{words}, {rest}"[:most] if rest else words


def arguments_text(arguments: Mapping[str, Any], most: int = 160) -> str:
    """Arguments on one line: ``order_id=7, amount=12.5``."""
    parts: list[str] = []
    room = most
    for name, value in arguments.items():
        part = f"{name}={short_value(value, room)}"
        parts.append(part)
        room -= len(part) + 2
        if room <= 0:
            break
    return ", ".join(parts)[:most]


def short_value(value: Any, most: int) -> str:
    """A value on one line."""
    value = without_digests(value)
    if isinstance(value, str):
        text = " ".join(value[: 4 * most].split())
        return f'"{text[:most]}{"…" if len(text) > most else ""}"'
    if value is None or isinstance(value, bool):
        return str(value)
    text = readable_json(jsonable(value, limit=4 * most + 200))
    return text if len(text) <= most else text[:most] + "…"
