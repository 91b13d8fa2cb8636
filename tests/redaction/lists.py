"""The lists that redaction is measured with: names, shapes and harmless values, each with its source."""

from __future__ import annotations

import random
import re
import string
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).parent
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "upper": string.ascii_uppercase,
    "low": string.ascii_lowercase + string.digits,
    "caps": string.ascii_uppercase + string.digits,
    "digit": string.digits,
    "hex": "0123456789abcdef",
    "b32": string.ascii_uppercase + "234567",
    "b64": string.ascii_letters + string.digits + "+/",
    "word": string.ascii_letters + string.digits + "-_",
    "bech": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
}
LONG_ENOUGH = 6
"""Shorter parts of a shape say nothing alone, and may stand in a text by chance."""


class Shape(NamedTuple):
    """A value with the shape of a secret, and the parts of it that have to be gone."""

    source: str
    recipe: str
    value: str
    parts: tuple[str, ...]


def names() -> list[tuple[str, str]]:
    """Pairs of source and name."""
    rows = _read("names.yaml")
    return [(source, str(name)) for source, row in rows.items() for name in row]


def shapes() -> list[Shape]:
    return [shape_of(source, recipe) for source, row in _read("shapes.yaml").items() for recipe in row]


def harmless() -> list[tuple[str, str, Any]]:
    """Triples of source, name and value."""
    return [(source, *pair) for source, row in _read("harmless.yaml").items() for pair in row]


def shape_of(source: str, recipe: str) -> Shape:
    """The value of a recipe: each part is random, and for one recipe always the same."""
    chance = random.Random(recipe)
    parts: list[str] = []

    def part(match: re.Match[str]) -> str:
        if match[1] == "join":
            return ""
        size = int(match[2])
        text = "".join(chance.choices(ALPHABETS[match[1]], k=size))
        if size >= LONG_ENOUGH and match[1] not in ("alpha", "upper", "b32"):
            text = f"{text[: size // 2]}7{text[size // 2 + 1 :]}"  # none is a word by chance
        if text[-1] in "-_":
            text = f"{text[:-1]}x"
        parts.append(text)
        return text

    value = re.sub(r"\{(\w+)(?::(\d+))?\}", part, recipe)
    return Shape(source, recipe, value, tuple(p for p in parts if len(p) >= LONG_ENOUGH))


def _read(name: str) -> dict[str, Any]:
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
