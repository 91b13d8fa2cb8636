"""Secrets that a database's error repeats: the parameters of a statement, the key that stands already."""

from __future__ import annotations

import re
from typing import Any

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.naming import Names
from agenttrace.redaction.values import is_opaque, is_placeholder

SIGNS = (
    ")=(",
    "[parameters:",
    "[generated in",
    "[cached since",
    "[no key",
    "duplicate entry ",
    "parameters: $1",
)
"""One of these stands in each such text, in lower case, but for what code and statements say themselves."""
OF_STATEMENTS = ("execute(", "executemany(", ".query(", " in (", " in(", " like ")
_STATEMENT = re.compile(
    r"\[SQL:(?P<sql>[^\[\]]{1,20000})\](?:\s|\\[nrt]){0,20}\[parameters: ?(?P<values>[(\[].*)"
)
_ECHO = re.compile(
    r"(?im)(?P<sql>\b(?:insert|update|select|delete|merge|replace|alter|create)\s[^\[\]]{1,4000}?)\n[^\n\[\]]{0,200}"
    r"\[(?:generated in|cached since|no key|raw sql|caching disabled)[^\]\n]{0,80}\] ?(?P<values>[(\[].*)"
)
"""A statement and its parameters as SQLAlchemy logs them."""
_EXECUTED = re.compile(
    r"""(?i)(?:\bexecute(?:many)?|\.query)\(\s{0,200}(?:\w+,\s?)?(?:text\(\s{0,9})?[rbuf]{0,2}(?P<quote>"{3}|'{3}|["'`])"""
    r"""(?P<sql>\s{0,200}(?:insert|update|select|delete|merge|replace|alter|create)\s(?:(?!(?P=quote))[^\[\]]){1,4000})"""
    r"""(?P=quote)\)?\s{0,200},\s{0,200}"""
    r"""(?P<values>\[\s{0,99}(?:\((?:[^()'"]|\\?'[^'\n]*+'|\\?"[^"\n]*+")*+\),?\s{0,99}){1,100}+"""
    r"""|[(\[](?:[^()\[\]'"]|\\?'[^'\n]*+'|\\?"[^"\n]*+")*+[)\]])"""
)
"""A statement and its parameters in code."""
_PLACEHOLDER = (
    r"(?:\?|(?<![:\w]):)(?P<numbered>\d{1,4})\b|\?|%s|%\((?P<pyformat>\w+)\)s|\$(?P<number>\d{1,4})"
    r"|(?<![:\w])[:@](?P<named>[A-Za-z_]\w*)"
)
_TOKEN = re.compile(
    r"""(?i)'(?:[^']|'')*'|(?P<into>\b(?:into|replace)\s[^()'?%$]{1,300}\((?P<columns>[^()]{1,4000})\)[^()'?%$]{0,200}?\bvalues\b)"""
    r"""|(?P<set>\((?P<list>[\w\s,."`]{1,4000})\)\s*=\s*(?=\())"""
    r"""|(?P<column>\w+)["`\]]?\s*(?:=|<>|!=|[<>]=?|\b(?:not\s+)?(?:i?like|in|between)\b)"""
    rf"""|\b(?:with|encrypted|(?:user|role)\s+\S{{1,80}})\s+(?P<keyword>password)\b|(?P<placeholder>{_PLACEHOLDER})|(?P<mark>[(),])|\w+"""
)
"""What tells of a placeholder which column it stands for."""
_OF_GRAPHQL = re.compile(r"\s{0,20}(?:mutation|query|subscription)\b")
_VARIABLE = re.compile(r"(?P<field>\w{1,60})\s{0,9}:\s{0,9}\$(?P<key>\w{1,60})")
"""A variable of GraphQL and the field that it is for: ``login(password: $p)``."""
_TEXTS = r"""\\?'(?P<one>(?:[^'\\\n]|\\[^'\n])*+)(?:\\?'|\Z)|\\?"(?P<two>(?:[^"\\\n]|\\[^"\n])*+)\\?\""""
_ROW = re.compile(
    r"""\((?P<row>(?:[^()'"\n]|\\?'[^'\n]*+'|\\?"[^"\n]*+"|\\?['"][^\n]*\Z){1,20000}+)(?:\)|\Z)"""
)
_ROW_IN_CODE = re.compile(r"""[(\[](?P<row>(?:[^()\[\]'"]|\\?'[^'\n]*+'|\\?"[^"\n]*+"){1,20000}+)[)\]]""")
"""The same in code, also in brackets, and on several lines."""
_VALUE = re.compile(rf"""(?:(?<!\s)\s*+(?:{_TEXTS})\s*+|(?<![^,'"()])[^,'"()]++)(?:,|\Z)""")
_LONGEST = 20_000
_ESCAPED_SPACE = re.compile(r"\\[nrt]")
"""As JSON has one within a text."""
_DUPLICATE = re.compile(
    r"""Duplicate entry \\?'(?P<value>(?:(?!\\?' for key)[^\n]){1,1000})"""
    r"""\\?' for key \\?'(?P<key>[\w.$]{1,200})"""
)
"""The key that stands already, as MySQL says."""
_OF_INDEX = re.compile(r"(?i)\A(?:uq|uk|ux|idx|unique|key)_|_(?:uq|uk|ux|idx|unique|key)\Z")
_LOGGED = re.compile(
    r"(?i)(?P<sql>\b(?:insert|update|select|delete|merge)\s[^\n]{1,4000})\n[^\n]{0,200}?parameters: "
    r"(?P<values>\$1 = [^\n]*)"
)
_NUMBERED = re.compile(r"\$(?P<number>\d{1,4}) = '(?P<value>(?:[^'\n]|'')*)")
"""A statement and its parameters as PostgreSQL logs them."""
_KEY = re.compile(r"""\((?P<columns>[\w", ]{1,400})\)=\((?P<values>[^()\n]{1,1000})(?:\)|\Z)""")

_COMPARED = re.compile(
    r"""(?i)(?<!\w)(?P<column>\w{2,60})["`\]]?\s{1,9}(?:not\s{1,9})?(?:(?P<list>in\s?\(\s{0,99})|i?like\s{1,9})"""
    r"""(?=[nbe]?\\?['"])"""
)
_COMPARED_TO = re.compile(rf"""[NnBbEe]?(?:{_TEXTS})\s{{0,99}}(?P<more>,\s{{0,99}})?""")
"""What a column of a statement is compared to: ``password IN ('…', '…')``, ``token LIKE '…%'``."""

_ONE_KEY = re.compile(
    r"""\((?P<columns>"?\w{1,63}"?)\)=\((?P<values>[^\n]{1,300}?)\) """
    r"""(?:already exists|is not present|is still)"""
)
"""The value of one column may have any sign in it."""


def without_sql_parameters(text: str, names: Names) -> tuple[str, int]:
    """The text without secret parameters and keys, and how many were found."""
    places: list[tuple[int, int]] = []
    for pattern in (_STATEMENT, _ECHO, _EXECUTED):
        for statement in pattern.finditer(text):
            places += _parameters(text, statement, names, _ROW_IN_CODE if pattern is _EXECUTED else _ROW)
    for key in _ONE_KEY.finditer(text):
        if _is_secret(key["columns"].strip('"'), key["values"], names):
            places.append(key.span("values"))
    for key in _KEY.finditer(text):
        columns = [column.strip(' "') for column in key["columns"].split(",")]
        begin = key.start("values")
        for column, value in zip(columns, key["values"].split(","), strict=False):
            if _is_secret(column, value.strip(), names):
                first = text.index(value.strip(), begin)
                places.append((first, first + len(value.strip())))
            begin += len(value) + 1
    places += _compared(text, names)
    places += _repeated(text, names)
    pieces: list[str] = []
    done = 0
    for first, last in sorted(places, key=lambda place: (place[0], -place[1])):
        if first >= done:
            pieces += (text[done:first], REDACTED)
            done = last
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _compared(text: str, names: Names) -> list[tuple[int, int]]:
    """Where secrets stand to which a column is compared."""
    places: list[tuple[int, int]] = []
    for column in _COMPARED.finditer(text):
        if not names.is_secret(column["column"]):
            continue
        place = column.end()
        while (value := _COMPARED_TO.match(text, place)) is not None:
            kind = "one" if value["one"] is not None else "two"
            if _is_secret(column["column"], value[kind].strip("%"), names):
                places.append(value.span(kind))
            if value["more"] is None or column["list"] is None:
                break
            place = value.end()
    return places


def _repeated(text: str, names: Names) -> list[tuple[int, int]]:
    """Where secrets stand that MySQL and PostgreSQL repeat."""
    places = [
        entry.span("value")
        for entry in _DUPLICATE.finditer(text)
        for key in (entry["key"].rpartition(".")[2],)
        if any(_is_secret(column, entry["value"], names) for column in (key, _OF_INDEX.sub("", key)))
    ]
    for statement in _LOGGED.finditer(text):
        columns_of = dict(_columns_of(statement["sql"]))
        places += [
            value.span("value")
            for value in _NUMBERED.finditer(text, *statement.span("values"))
            if _is_secret(columns_of.get(int(value["number"]) - 1, ""), value["value"], names)
        ]
    return places


def secret_parameters(sql: str, values: Any, names: Names) -> list[Any]:
    """The places, or the keys, of secrets among the values that a statement is given for its placeholders."""
    if len(sql) > _LONGEST:
        return []
    secrets: list[Any] = []
    columns = _columns_of(sql)
    if not isinstance(values, dict):  # ``@p1`` by its place: the first of each name is that of a value
        named = list(dict.fromkeys(key for key, _ in columns if type(key) is str))
        columns = [(named.index(key) if type(key) is str else key, column) for key, column in columns]
    else:
        columns = [(_key_in(values, key), column) for key, column in columns]
    for key, column in columns:
        there = key in values if isinstance(values, dict) else type(key) is int and key < len(values)
        is_secret = there and column != "" and names.is_secret(column) and names.hides(column, values[key])
        if is_secret and values[key] is not None and key not in secrets:
            secrets.append(key)
    return secrets


def _key_in(values: dict[Any, Any], key: int | str) -> int | str:
    """The key of a placeholder's value, which may have its sign: ``{"@password": …}``."""
    named = (key, f"@{key}", f":{key}", f"${key}") if type(key) is str else (key,)
    return next((one for one in named if one in values), key)


def _columns_of(sql: str) -> list[tuple[int | str, str]]:
    """Each placeholder by its place, or its name, with the column that it stands for."""
    if _OF_GRAPHQL.match(sql) is not None:
        return [(variable["key"], variable["field"]) for variable in _VARIABLE.finditer(sql)]
    placeholders: list[tuple[int | str, str]] = []
    column, listed, depth, place, count = "", [], 0, 0, 0
    for token in _TOKEN.finditer(sql):
        if token["into"] or token["set"]:
            columns = _ESCAPED_SPACE.sub(" ", token["columns"] or token["list"])
            listed = [one.strip(" \t\r\n\"'`[]").rpartition(".")[2] for one in columns.split(",")]
            depth = place = 0
        elif token["mark"] and listed:
            depth += {"(": 1, ")": -1}.get(token[0], 0)
            if token[0] == "," and depth == 1:
                place += 1
            elif token[0] == ")" and depth == 0:
                place = 0
        elif token["column"] or token["keyword"]:
            column = token["column"] or token["keyword"]
            listed = listed if depth > 0 else []
        elif token["placeholder"]:
            inside = listed and depth > 0
            of_column = (listed[place] if place < len(listed) else "") if inside else column
            number, name = token["number"] or token["numbered"], token["pyformat"] or token["named"]
            key: int | str = name if name else int(number) - 1 if number else count
            count += not (name or number)
            placeholders.append((key, of_column))
        elif depth == 0 and listed and token[0][0] != "'":
            listed = []  # the rows are over
    return placeholders


def _parameters(
    text: str, statement: re.Match[str], names: Names, rows: re.Pattern[str]
) -> list[tuple[int, int]]:
    by_place = {key: column for key, column in _columns_of(statement["sql"]) if type(key) is int}
    columns = [by_place.get(place, "") for place in range(max(by_place, default=-1) + 1)]
    if not any(map(names.is_secret, columns)):
        return []
    places: list[tuple[int, int]] = []
    for row in rows.finditer(text, *statement.span("values")):
        for column, value in zip(columns, _VALUE.finditer(text, *row.span("row")), strict=False):
            kind = "one" if value["one"] is not None else "two"
            if value[kind] and _is_secret(column, value[kind], names):
                places.append(value.span(kind))
    return places


def _is_secret(column: str, value: str, names: Names) -> bool:
    if not column or not names.is_secret(column) or is_placeholder(value) or value.startswith(REDACTED):
        return False
    return names.hides(column, value) and is_opaque(value)
