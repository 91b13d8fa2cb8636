"""Values that stand beside their secret's name in data: pairs of headers, arguments of a command, tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from agenttrace.core.marks import REDACTED, bytes_of, spelled
from agenttrace.redaction.answers import without_answers
from agenttrace.redaction.commands import may_be_command, places_in_arguments
from agenttrace.redaction.entries import (
    keys_of_kind,
    keys_of_several,
    may_have_several,
    values_in,
)
from agenttrace.redaction.entry_keys import NAMES_OF_VALUES, VALUES
from agenttrace.redaction.fields import (
    ASKED,
    FIELDS,
    LABELLED,
    REPLIES,
    TYPED,
    is_located,
    labelled_secrets,
    name_of_field,
    typed_secrets,
)
from agenttrace.redaction.lines import may_be_lines
from agenttrace.redaction.names_in_code import is_class
from agenttrace.redaction.naming import Names, hides_all, may_be_word
from agenttrace.redaction.statements import (
    ATTRIBUTES_OF_STATEMENTS,
    BESIDE_STATEMENTS,
    PARAMETERS,
    STATEMENTS,
    may_be_statement,
    without_attributes_of_statement,
    without_of_statement,
    without_parameters,
)
from agenttrace.redaction.tables import (
    COLUMNS,
    ROWS,
    is_list,
    places_below_titles,
    places_beside_head,
    without_columns_beside,
)
from agenttrace.redaction.tool_messages import without_results
from agenttrace.redaction.values import ends_opaque, is_measure, is_name, is_phrase, says_something

_LONGEST_NAME = 64
_OPTION = re.compile(r"--|-[A-Za-z][\w-]{3,}\Z")
"""Longer ones are words also after one hyphen: ``-password``."""
_FIELDS = frozenset((*FIELDS, *REPLIES))
_COMMANDS = frozenset({"command", "cmd", "executable", "program", "file"})
_ARGUMENTS = frozenset({"args", "arguments", "argv"})
"""What a tool that runs programs calls one, and the list of its arguments."""
_LONGEST_BYTES = 4_096
NAMED_BESIDE = frozenset(
    {
        *VALUES[1:],
        "index",
        "loc",
        "netloc",
        "kty",
        "dtype",
        "sql",
        "statement",
        "grant_type",
        "lease_id",
        "key1",
        "rows",
        *COLUMNS,
        *FIELDS,
        *REPLIES,
        *ATTRIBUTES_OF_STATEMENTS,
    }
)
"""Keys beside which a name, or a value, may stand: of entries such as ``{"Name": …, "Value": …}``, of tables,
of an address, of forms, of a JSON Web Key. `value`, which is found in much else, is asked for by itself."""
_OF_JSON_WEB_KEYS = ("d", "p", "q", "dp", "dq", "qi", "k")
"""What is private in a JSON Web Key (RFC 7517, RFC 7518)."""
_ADDRESS = re.compile(r"([^:@/\s]*):[^@/\s]+@")


def text_of(item: Any) -> str | None:
    """A text, or what recorded bytes spell; None for anything else."""
    if type(item) is str:
        return item
    if type(item) is dict and "$bytes" in item and len(str(item["$bytes"])) <= _LONGEST_BYTES:
        content = bytes_of(item)
        return None if content is None else spelled(content)
    return None


def may_be_named(items: Sequence[Any]) -> bool:
    """Returns True for a list that may begin with the name of a value: with a text, or bytes."""
    return bool(items) and (type(items[0]) is str or (type(items[0]) is dict and "$bytes" in items[0]))


def places_of_named(items: Sequence[Any], names: Names) -> dict[int, int]:
    """The places of values after a secret's name: ``["Authorization", …]``, ``["--password", …]``,
    ``["mysql", "-p…"]``; with the place in each text at which the secret begins."""
    if len(items) == 2:
        name, value = map(text_of, items)
        if name is None or value is None:
            return {}
        is_header = type(items[0]) is dict and names.is_secret(name) and names.hides(name, value)
        if is_header or _is_named(name, value, names):
            return {1: 0}
        if value[:1] != "-" and not may_be_command(items):
            return {}
        return _places_in_command(items, names) | _places_of_phrases(items, (0, 1), names)
    if len(items) == 3 and type(items[1]) is str and items[1] in _COMPARE:  # ``["password", "==", "…"]``
        name, value = text_of(items[0]), text_of(items[2])
        return {2: 0} if name is not None and value is not None and _is_named(name, value, names) else {}
    headers = _places_in_headers(items, names) if not len(items) % 2 and len(items) <= _MOST_HEADERS else {}
    if headers:
        return headers
    options = [place for place, item in enumerate(items) if type(item) is str and item[:1] == "-"]
    if not options and not may_be_command(items):
        return {}
    places = _places_in_command(items, names) | _places_of_phrases(items, options, names)
    for place in options:
        value = items[place + 1] if place + 1 < len(items) else None
        if _OPTION.match(items[place]) and type(value) is str and _is_named(items[place], value, names):
            places[place + 1] = 0
    return places


_FEW = 8
_COMPARE = frozenset({"=", "==", "===", "!=", "eq", "is", "equals", "contains"})


def _places_of_phrases(items: Sequence[Any], options: Iterable[int], names: Names) -> dict[int, int]:
    """Where a value with blanks begins in one of the arguments, ``--password=…``."""
    places: dict[int, int] = {}
    for place in options:
        name, sign, value = items[place].partition("=") if type(items[place]) is str else ("", "", "")
        is_secret = sign != "" and name[:2] == "--" and names.is_secret(name.lstrip("-"))
        if is_secret and is_phrase(value) and names.hides(name.lstrip("-"), value):
            places[place] = len(name) + 1
    return places


def _places_in_headers(items: Sequence[Any], names: Names) -> dict[int, int]:
    """The places of secrets in a flat list of headers and their values, as Node's ``rawHeaders`` are."""
    places = [
        place
        for place in range(0, len(items), 2)
        if type(items[place]) is str
        and ("-" in items[place][1:] or items[place].lower() in _HEADERS)
        and _HEADER.fullmatch(items[place]) is not None
        and type(items[place + 1]) is str
        and _is_named(items[place], items[place + 1], names)
    ]
    are_headers = places and all(type(item) is str and _HEADER.fullmatch(item) for item in items[::2])
    return {place + 1: 0 for place in places} if are_headers else {}


_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")
_HEADERS = frozenset({"authorization", "cookie"})
_MOST_HEADERS = 200


def _places_in_command(items: Sequence[Any], names: Names) -> dict[int, int]:
    return places_in_arguments(items) if names.is_secret("password") else {}


def _is_named(name: str, value: str, names: Names) -> bool:
    bare, is_option = name.lstrip("-"), _OPTION.match(name) is not None
    if "*" in name or not (len(name) <= _LONGEST_NAME or is_option) or not names.is_secret(bare):
        return False
    if not names.hides(bare, value) or value[:2] == "--":
        return False
    if is_option and hides_all(bare, names):
        return True
    if is_measure(value) or (is_class(bare) and is_class(value)):
        return False
    if not is_name(value) and ends_opaque(value):
        return True
    # A list of two words may be one of names: ["password", "email"].
    return is_option and may_be_word(bare, names) and not says_something(value)


def _places_in_pairs(rows: Sequence[Any], names: Names) -> list[tuple[int, int]]:
    """Where passwords that are words stand in a list of pairs: ``[["user", "ann"], ["password", "…"]]``."""
    if not all(is_list(row) and len(row) == 2 and type(row[0]) is str for row in rows):
        return []
    return [
        (number, 1)
        for number, (name, value) in enumerate(rows)
        if len(name) <= _LONGEST_NAME
        and names.is_secret(name)
        and type(value) is str
        and names.hides(name, value)
        and may_be_word(name, names)
        and not says_something(value)
    ]


def holds_named(lists: Collection[Sequence[Any]], names: Names) -> bool:
    """Returns True if in one of the lists a value stands after a secret's name, or below it."""
    # Only of plain data, in which there are no recorded bytes.
    are_several = len(lists) > 1
    seen: set[tuple[Any, ...]] = set()  # records have the same tags again and again
    for items in lists:
        if items:
            kind = type(items[0])
            if kind is str:
                if are_several and len(items) <= _FEW and type(items[-1]) is str and _is_among(seen, items):
                    continue
                if places_of_named(items, names) or may_be_lines(items) or may_be_statement(items):
                    return True
            elif kind is list or kind is tuple:
                has_rows = _places_below(items, names) or places_beside_head(items, names)
                if has_rows:
                    return True
    return False


def _is_among(seen: set[tuple[Any, ...]], items: Sequence[Any]) -> bool:
    """Returns True for a list that was seen before; another one is added."""
    several = tuple(items)
    try:
        if several in seen:
            return True
        seen.add(several)
    except TypeError:  # a part has parts of its own
        pass
    return False


def is_named_value(value: Mapping[str, Any], names: Names) -> bool:
    """Returns True if a mapping has a secret's name beside its value, and that is hidden."""
    item = next((value[key] for key in values_in(value) if key in value), None)
    keys: tuple[str, ...] = NAMES_OF_VALUES
    if value.get("type") == "password":  # an input of a form
        keys = (*keys, "type")
    for key in keys if item is not None else ():
        name = value.get(key)
        if name is not None and type(name) is not str:
            name = text_of(name)
        if name is not None and (secret := _secret_name(name, names)) is not None:
            text = text_of(item)
            return names.hides(secret, item if text is None else text)
    return False


def _is_secret_place(place: Any, names: Names) -> bool:
    """Returns True for the place of a secret as errors of pydantic name it: ``["body", "password"]``."""
    named = [step for step in place if type(step) is str] if is_list(place) else []
    return bool(named) and _secret_name(named[-1], names) is not None


def _secret_name(name: str, names: Names) -> str | None:
    if len(name) > _LONGEST_NAME:
        return None
    return name if names.is_secret(name) else name_of_field(name, names)


def keys_beside(value: Mapping[str, Any], names: Names) -> list[str]:
    """The keys of an entry whose values are secrets by a name that stands beside them."""
    is_field = not _FIELDS.isdisjoint(value) or is_located(value)
    keys = typed_secrets(value, names) if is_field else []
    keys += labelled_secrets(value, names) if "label" in value else []
    keys += keys_of_several(value, names) if may_have_several(value) else []
    if "kty" in value and names.is_secret("private_key"):
        keys += [key for key in _OF_JSON_WEB_KEYS if type(value.get(key)) is str]
    if "input" in value and _is_secret_place(value.get("loc"), names):
        keys.append("input")
    keys += keys_of_kind(value, names)
    if is_named_value(value, names):
        keys += [key for key in values_in(value) if value.get(key) is not None and key not in keys]
    return keys


def may_be_entry(keys: Collection[str]) -> bool:
    """Returns True if a mapping with these keys could have a name beside its value."""
    if "value" in keys or not NAMED_BESIDE.isdisjoint(keys):
        return True
    if not _ARGUMENTS.isdisjoint(keys) and not _COMMANDS.isdisjoint(keys):
        return True
    if ("kind" in keys and "data" in keys) or ("payload" in keys and "name" in keys):
        return True
    if "content" in keys and ("path" in keys or "file_path" in keys or values_in(keys) is not VALUES):
        return True
    if may_have_several(keys):
        return True
    return ("query" in keys or "text" in keys) and not BESIDE_STATEMENTS.isdisjoint(keys)


def may_be_named_beside(parameters: Collection[str]) -> bool:
    """Returns True if of these parameters one may name another: ``set_header(name, value)``."""
    keys = frozenset(parameters)
    return (
        not (keys.isdisjoint(values_in(keys)) or keys.isdisjoint(NAMES_OF_VALUES))
        or not (keys.isdisjoint(FIELDS) or keys.isdisjoint(TYPED))
        or ("label" in keys and not keys.isdisjoint(LABELLED))
        or may_have_several(keys)
        or is_located(keys)
        or not (keys.isdisjoint(ASKED) or keys.isdisjoint(REPLIES))
        or not (keys.isdisjoint(COLUMNS) or keys.isdisjoint(ROWS))
        or not (keys.isdisjoint(STATEMENTS) or keys.isdisjoint(PARAMETERS))
        or not (keys.isdisjoint(_COMMANDS) or keys.isdisjoint(_ARGUMENTS))
        or "netloc" in keys
    )


def without_listed(value: list[Any], items: list[Any], names: Names, taken_out: Any) -> None:
    """Put what `taken_out` makes of a value in its place in `items`, where a list has its name before it.

    It takes the value, and where in it the secret begins.
    """
    if may_be_named(value):
        for place, begin in places_of_named(value, names).items():
            items[place] = taken_out(value[place], begin)
        if may_be_statement(value):
            items[1] = without_parameters(value[0], value[1], items[1], names, taken_out)
    elif value and is_list(value[0]):
        below, beside = _places_below(value, names), places_beside_head(value, names)
        for number, place in below:
            row = items[number] = list(items[number])  # a tuple, where the values were not recorded
            row[place] = taken_out(value[number][place])
        for number, place in beside:
            rows = items[1] = list(items[1])
            row = rows[number] = list(rows[number])
            row[place] = taken_out(value[1][number][place])
        if not below and not beside:
            without_answers(value, items, names, taken_out)
    elif value:
        without_answers(value, items, names, taken_out)
        without_results(value, items, names, taken_out)


def _places_below(rows: Sequence[Any], names: Names) -> list[tuple[int, int]]:
    """Where secrets stand below titles; of pairs, ``[["x-api-key", "…"], …]``, the passwords that are words.

    What else is in pairs is found in each by itself.
    """
    titles = rows[0]
    places = places_below_titles(rows, names) if titles and type(titles[0]) is str else []
    if places and not (len(titles) == 2 and places_of_named(titles, names)):
        return places
    return _places_in_pairs(rows, names)


def without_beside(value: dict[str, Any], items: dict[str, Any], names: Names, taken_out: Any) -> None:
    """Put what `taken_out` makes of a value in its place in `items`, where its name stands beside it.

    In an entry, ``{"name": "Authorization", "value": …}``; in a table, ``{"columns": ["user", "password"],
    "data": [["ann", …]]}``; in the parts of an address, ``{"netloc": "ann:…@host"}``.
    """
    for key in keys_beside(value, names):
        if key in items:
            items[key] = taken_out(value[key])
    for key in ROWS:
        if is_list(value.get(key)) and not NAMED_BESIDE.isdisjoint(value):
            items[key] = without_columns_beside(value, items[key], names, taken_out)
    if not STATEMENTS.isdisjoint(value):
        without_of_statement(value, items, names, taken_out)
    if not ATTRIBUTES_OF_STATEMENTS.isdisjoint(value):
        without_attributes_of_statement(value, items, names, taken_out)
    for key in _ARGUMENTS.intersection(value) if not _COMMANDS.isdisjoint(value) else ():
        items[key] = _without_arguments(value, key, items[key], names, taken_out)
    netloc = value.get("netloc")
    if type(netloc) is str and "@" in netloc and names.is_secret("password"):
        items["netloc"] = _ADDRESS.sub(rf"\1:{REDACTED}@", items["netloc"])


def _without_arguments(value: dict[str, Any], key: str, items: Any, names: Names, taken_out: Any) -> Any:
    """What is left of a command's arguments, whose program stands beside them."""
    command = next(value[name] for name in value if name in _COMMANDS)
    if type(command) is not str or not is_list(value[key]) or not is_list(items):
        return items
    places = places_of_named([command, *value[key]], names)
    clean = list(items) if places else items
    for place, begin in places.items():
        if place:
            clean[place - 1] = taken_out(value[key][place - 1], begin)
    return clean


def holds_beside(value: dict[str, Any], names: Names) -> bool:
    """Returns True if `without_beside` takes something out of a mapping."""
    hidden: list[Any] = []
    items = dict(value)
    without_beside(value, items, names, hidden.append)
    netloc = value.get("netloc")
    return bool(hidden) or (type(netloc) is str and items["netloc"] != netloc)
