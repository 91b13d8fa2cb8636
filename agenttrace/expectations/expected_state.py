"""`parse_expected_state`: read what an example expects of a state from plain data.

::

    db:
      changed: {orders.7.status: refunded}           # a path to a value or matcher; paths may be nested
      added: {refunds.*: {order: 7, amount: 12.5}}   # `*` stands for any one key or position
      removed: [carts.7]
      end: {orders.8.status: open}                   # how it is at the end, changed or not
      only: true                                     # nothing else may change
      ignore: ["**.updated_at"]                      # `**` stands for any number of keys

or, in place of the first four, ``state_from: [{refund: {id: 7}}]``: the calls that would have led to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal, cast

from agenttrace.core.errors import AgentTraceError, DatasetError, ExpectationError
from agenttrace.core.marks import cause_within
from agenttrace.core.state import CHANGES, Path, check_expected_state
from agenttrace.core.text import short_repr
from agenttrace.core.tool_call import ANY, ExpectedToolCall
from agenttrace.expectations.matcher import Matcher, read_value

Word = Literal["changed", "added", "removed", "end"]

EXPECTED_TOOLS = "expected_tools"
"""In place of a list of calls: those of the example's `expected_tools`."""

_STEPS = re.compile(r"\.|\[(\d+)\](?:\.|(?=\[|$))")


@dataclass(frozen=True, slots=True)
class ExpectedPlace:
    """One place that is expected to be so: its path as it is written, and the value or matcher."""

    word: Word
    path: str
    value: Any


@dataclass(frozen=True, slots=True)
class ExpectedState:
    """What is expected of one state. `calls` are those of ``state_from``; None without it."""

    name: str
    places: tuple[ExpectedPlace, ...] = ()
    only: bool | None = None
    ignore: tuple[str, ...] = ()
    calls: tuple[ExpectedToolCall, ...] | Literal["expected_tools"] | None = None
    source: str | None = field(default=None, compare=False)


def parse_expected_state(raw: Any, source: str | None = None) -> tuple[ExpectedState, ...]:
    """Read `Example.expected_state`; `source` (``file:line``) begins the text of errors.

    Raises:
        ExpectationError: it cannot be understood; the text names the state and the word.
    """
    try:
        check_expected_state(raw)
        return tuple(_state(str(name), expected, source) for name, expected in raw.items())
    except (DatasetError, ExpectationError) as error:
        raise ExpectationError(f"{source}: {error}" if source else str(error)) from None


def _state(name: str, raw: Mapping[str, Any], source: str | None) -> ExpectedState:
    where = f"expected_state.{name}"
    places = tuple(
        place
        for word in CHANGES
        if raw.get(word) is not None
        for place in _places(cast(Word, word), raw[word], f"{where}.{word}")
    )
    only, calls = raw.get("only"), raw.get("state_from")
    if only is not None and not isinstance(only, bool):
        raise ExpectationError(f"{where}.only: got {short_repr(only)}, wanted true or false")
    if calls is not None and (places or only is False):
        raise ExpectationError(
            f"{where}: state_from says what the whole state is at the end; beside it stands only ignore"
        )
    if calls is None and not places and only is not True:
        raise ExpectationError(f"{where}: says nothing that could fail; only: true lets nothing change")
    ignore = _texts(raw.get("ignore"), f"{where}.ignore")
    return ExpectedState(name, places, only, ignore, _calls(calls, f"{where}.state_from"), source)


def _places(word: Word, raw: Any, where: str) -> Iterator[ExpectedPlace]:
    if isinstance(raw, list | tuple):
        for item in raw:
            yield from _places(word, item, where)
    elif isinstance(raw, str) and word == "removed":
        yield ExpectedPlace(word, _checked_path(raw, where), ANY)
    elif isinstance(raw, Mapping) and raw:
        for path, value in raw.items():
            try:
                read = read_value(value)
            except ExpectationError as error:
                raise ExpectationError(f"{where}.{path}: {error}") from None
            yield ExpectedPlace(word, _checked_path(path, where), read)
    else:
        forms = "a path, or a list of paths" if word == "removed" else "a mapping of paths to values"
        raise ExpectationError(f"{where}: got {short_repr(raw)}, wanted {forms}")


def _checked_path(path: Any, where: str) -> str:
    text = str(path)
    if not isinstance(path, str | int) or not text.strip("."):
        raise ExpectationError(f"{where}: got the path {short_repr(path)}, wanted a text such as orders.7")
    return text


def _texts(raw: Any, where: str) -> tuple[str, ...]:
    each = [] if raw is None else [raw] if isinstance(raw, str) else raw
    if not isinstance(each, list | tuple) or not all(isinstance(text, str) and text for text in each):
        raise ExpectationError(f"{where}: got {short_repr(raw)}, wanted a path, or a list of paths")
    return tuple(each)


def _calls(raw: Any, where: str) -> tuple[ExpectedToolCall, ...] | Literal["expected_tools"] | None:
    if raw is None or raw == EXPECTED_TOOLS:
        return cast("Literal['expected_tools'] | None", raw)
    if not isinstance(raw, list | tuple):
        raise ExpectationError(
            f"{where}: got {short_repr(raw)}, wanted a list of calls, or the word {EXPECTED_TOOLS}"
        )
    return concrete_calls(raw, where)


def concrete_calls(raw: Sequence[Any], where: str) -> tuple[ExpectedToolCall, ...]:
    """Calls that can be made: names with values, in one order.

    Raises:
        ExpectationError: an alternative, a matcher, a call of which the arguments are not said.
    """
    from agenttrace.expectations.parse import parse_pattern
    from agenttrace.expectations.pattern import Call

    calls = []
    for number, item in enumerate(raw):
        try:
            one = parse_pattern(item)
        except AgentTraceError as error:
            raise ExpectationError(f"{where}[{number}]: {error}") from None
        if not isinstance(one, Call):
            raise ExpectationError(f"{where}[{number}]: got {one!r:.100}, wanted one call, which can be made")
        if one.arguments is not ANY and _has_matcher(one.arguments):
            raise ExpectationError(
                f"{where}[{number}]: {one.name} is to be made, so its arguments are values"
            )
        calls.append(one)
    return tuple(calls)


def _has_matcher(value: Any) -> bool:
    if isinstance(value, Mapping):
        return cause_within(value) is not None or any(map(_has_matcher, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_matcher, value))
    return value is ANY or isinstance(value, Matcher) or callable(value)


def steps_of(text: str) -> list[str]:
    """The keys of a path as it is written: ``orders.7.items[0]`` has four."""
    return [
        step for step in _STEPS.sub(lambda m: "\0" + (f"{m[1]}\0" if m[1] else ""), text).split("\0") if step
    ]


def is_glob(step: str) -> bool:
    """Whether a key stands for several."""
    return "*" in step


def places_at(text: str, *states: Any) -> Iterator[Path]:
    """The places in any of the states that a path names, and always one where it has no ``*``.

    A key that is there is taken as it is, also with dots or a ``*`` in it.
    """
    places: dict[Path, None] = {}
    for state in states:
        for path in _places_in(text, state):
            places[path] = None
    if not places and not is_glob(text):
        longest = max((_known(text, state) for state in states), key=len)
        places[longest] = None
    yield from places


def _places_in(text: str, state: Any) -> Iterator[Path]:
    if not text:
        yield ()
        return
    for step, rest in _splits(text):
        for key in _keys(step, state):
            yield from ((key, *path) for path in _places_in(rest, state[key]))
            if not is_glob(step):
                return


def _known(text: str, state: Any) -> Path:
    """A path that leads to a place that is not there: as far as it goes, then the keys as written."""
    for step, rest in _splits(text):
        for key in _keys(step, state):
            return (key, *_known(rest, state[key])) if rest else (key,)
    return tuple(steps_of(text))


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """A path's first key and the rest, in every way to read it, the longest key first."""
    if text:
        yield text, ""
    for match in reversed(list(re.finditer(r"\.|(?=\[)", text))):
        if match.start() > 0:
            yield text[: match.start()], text[match.end() :]
    if (index := re.match(r"\[(\d+|\*)\]\.?", text)) is not None:
        yield index[1], text[index.end() :]


def _keys(step: str, state: Any) -> list[Any]:
    """The keys of a container that a step names."""
    if isinstance(state, Mapping):
        if step in state:
            return [step]
        return [key for key in state if fnmatchcase(str(key), step)] if _is_one_glob(step) else []
    if isinstance(state, list):
        if step.isdigit():
            return [int(step)] if int(step) < len(state) else []
        return list(range(len(state))) if step == "*" else []
    return []


def _is_one_glob(step: str) -> bool:
    return "*" in step and not re.search(r"[.\[]", step)


_ANY_DEPTH = re.compile(r"\*\*(?:\.|(?=\[)|$)")


def without(state: Any, ignore: Sequence[str]) -> Any:
    """A copy of a state without the places that the paths name; ``**`` stands for any number of keys.

    A key that is there is taken as it is, also with dots in it, as everywhere in expected states.
    """
    for text in ignore:
        state = _without(state, text)
    return state


def _without(state: Any, text: str) -> Any:
    if not isinstance(state, dict | list):
        return state
    anywhere = _ANY_DEPTH.match(text)
    if anywhere is not None:
        rest = text[anywhere.end() :]
        if rest:
            return _each(_without(state, rest), text, None)
        text = "*"  # all that is below
    for step, rest in _splits(text):
        named = set(_keys(step, state))  # there may be many
        if named and rest:
            state = _each(state, rest, named)
        elif isinstance(state, dict) and named:
            state = {key: item for key, item in state.items() if key not in named}
        elif named:
            state = [item for at, item in enumerate(state) if at not in named]
        if named and not is_glob(step):
            break
    return state


def _each(state: Any, text: str, named: set[Any] | None) -> Any:
    """The container, with what the path names left out of its items: of those that are named, or of all."""
    if isinstance(state, dict):
        return {k: _without(v, text) if named is None or k in named else v for k, v in state.items()}
    return [_without(v, text) if named is None or at in named else v for at, v in enumerate(state)]
