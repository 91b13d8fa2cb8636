"""Secrets of Kubernetes as YAML has them: each value of one is secret, whatever its key is named."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.values import is_opaque, is_placeholder

SIGN = "kind: secret"
_KIND = re.compile(r"(?m)^(?P<indent>[ \t]{0,20}(?:- )?)kind: Secret[ \t]*\r?$")
_DATA = re.compile(r"(?m)^(?P<indent>[ \t]{0,20}(?:- )?)(?:data|stringData):[ \t]*\r?\n")
_ENTRY = re.compile(
    r"(?P<indent>[ \t]+)[\w.-]{1,253}:[ \t]+(?P<quote>[\"']?)(?P<value>\S+)(?P=quote)[ \t]*\r?\n?"
)
_LINE = re.compile(r"[^\n]*\n?")


def without_manifests(text: str) -> tuple[str, int]:
    """The text without the values of secrets of Kubernetes, and how many were found."""
    pieces: list[str] = []
    done = 0
    for document in _documents(text):
        kind = _KIND.search(text, *document)
        if kind is None:
            continue
        column = len(kind["indent"])
        for data in _DATA.finditer(text, *document):
            if len(data["indent"]) == column:
                for begin, end in _values_below(text, data.end(), document[1], column):
                    pieces += (text[done:begin], REDACTED)
                    done = end
    return ("".join((*pieces, text[done:])), len(pieces) // 2) if pieces else (text, 0)


def _documents(text: str) -> list[tuple[int, int]]:
    ends = [match.start() for match in re.finditer(r"(?m)^(?:---|- apiVersion:)", text)]
    return list(zip([0, *ends], [*ends, len(text)], strict=True))


def _values_below(text: str, place: int, stop: int, column: int) -> list[tuple[int, int]]:
    values: list[tuple[int, int]] = []
    while place < stop:
        entry = _ENTRY.match(text, place, stop)
        line = _LINE.match(text, place, stop)
        if line is None or (entry is None and line[0].strip() and not line[0][: column + 1].isspace()):
            break
        if entry is not None:
            if len(entry["indent"]) <= column:
                break
            if is_opaque(entry["value"]) and not is_placeholder(entry["value"]):
                values.append(entry.span("value"))
        place = line.end()
    return values
