"""From ``ToolOrder:exact_match=true`` to the scorer."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

import click

import agenttrace.scorers as room
from agenttrace.core.errors import AgentTraceError, did_you_mean
from agenttrace.core.protocols import Scorer


def load_scorer(text: str) -> Scorer:
    """Make the scorer that ``Name`` or ``Name:option=value,option=value`` names.

    Names are those of the classes in `agenttrace.scorers`, with or without ``Scorer``, in any case. Values
    are JSON where they read as JSON, else text.

    Raises:
        click.BadParameter: no such scorer or option, or a value that the scorer refuses.
    """
    name, _, rest = text.partition(":")
    kinds = known_scorers()
    kind = kinds.get(_plain(name))
    if kind is None:
        hint = did_you_mean(name, [kind.__name__ for kind in kinds.values()])
        raise click.BadParameter(f"there is no scorer {name!r}{hint}")
    options = dict(_option(part, text) for part in _split(rest))
    known = inspect.signature(kind).parameters
    for option in options:
        if option not in known:
            raise click.BadParameter(f"{kind.__name__} has no option {option!r}{did_you_mean(option, known)}")
    try:
        scorer: Scorer = kind(**options)
    except (AgentTraceError, TypeError, ValueError) as error:
        raise click.BadParameter(f"{kind.__name__}: {error}") from None
    return scorer


def known_scorers() -> dict[str, type]:
    """The scorer classes by their name in lower case without ``Scorer``."""
    found = {name: getattr(room, name) for name in getattr(room, "__all__", ())}
    return {
        _plain(n): k for n, k in found.items() if inspect.isclass(k) and callable(getattr(k, "score", None))
    }


def _plain(name: str) -> str:
    return re.sub(r"scorer$", "", re.sub(r"[\W_]+", "", name).lower())


def _split(rest: str) -> list[str]:
    """The options between commas; commas inside brackets, braces or quotes do not count."""
    return [part for part in re.findall(r'(?:\[[^\]]*\]|\{[^}]*\}|"[^"]*"|[^,])+', rest) if part.strip()]


def _option(part: str, text: str) -> tuple[str, Any]:
    name, equals, value = part.partition("=")
    if not equals:
        raise click.BadParameter(f"got {part!r} in {text!r}, wanted option=value")
    try:
        return name.strip(), json.loads(value)
    except json.JSONDecodeError:
        return name.strip(), value.strip()
