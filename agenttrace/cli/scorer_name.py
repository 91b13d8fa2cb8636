"""From ``ToolOrder:exact_match=true`` to the scorer."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

import click

import agenttrace.judges as judges
from agenttrace.core.errors import AgentTraceError
from agenttrace.core.protocols import Scorer
from agenttrace.scorers import register_scorer, scorer_named


def load_scorer(text: str) -> Scorer:
    """Make the scorer that ``Name`` or ``Name:option=value,option=value`` names.

    Names are those of the classes in `agenttrace.scorers` and `agenttrace.judges`, and of what was registered
    with `register_scorer`, with or without ``Scorer``, in any case. Values are JSON where they read as JSON
    up to the next comma, else text up to there.

    Raises:
        click.BadParameter: no such scorer or option, or a value that the scorer refuses.
    """
    name, _, rest = text.partition(":")
    _register_judges()
    try:
        return scorer_named(name, dict(_options(rest, text)))
    except (AgentTraceError, TypeError, ValueError) as error:
        raise click.BadParameter(str(error)) from None


def _register_judges() -> None:
    """Make judges known by name too. Doing it again changes nothing."""
    for name in judges.__all__:
        kind = getattr(judges, name)
        if inspect.isclass(kind) and issubclass(kind, judges.JudgeScorer) and not inspect.isabstract(kind):
            register_scorer(kind)


def _options(rest: str, text: str) -> Iterator[tuple[str, Any]]:
    while rest.strip():
        name, equals, rest = rest.partition("=")
        if not equals or "," in name:
            raise click.BadParameter(f"got {name!r} in {text!r}, wanted option=value")
        value, rest = _value(rest.lstrip())
        yield name.strip(), value


def _value(rest: str) -> tuple[Any, str]:
    """The value that a text begins with, and what follows after its comma."""
    try:
        value, end = json.JSONDecoder().raw_decode(rest)
    except json.JSONDecodeError:
        pass
    else:
        after = rest[end:].lstrip()
        if not after or after.startswith(","):
            return value, after[1:]
    word, _, after = rest.partition(",")
    return word.strip(), after
