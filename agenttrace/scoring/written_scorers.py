"""Scorers as the command line and files write them: a name with its options."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from agenttrace.core.errors import AgentTraceError, ScorerError
from agenttrace.core.json_reader import InvalidJSON, decode_at
from agenttrace.core.protocols import Scorer
from agenttrace.scorers import register_scorer, scorer_named
from agenttrace.scorers.registry import is_registered


def written_scorer(entry: str | Mapping[str, Any]) -> Scorer:
    """Make the scorer that a name with options stands for.

    Names are those of the classes in `agenttrace.scorers` and `agenttrace.judges`, and of what was registered
    with `register_scorer`, with or without ``Scorer``, in any case.

    Raises:
        ScorerError: there is no such scorer or option, or the scorer refuses a value.
    """
    name, options = name_and_options(entry)
    _register_judges()
    try:
        return scorer_named(name, options)
    except ScorerError:
        raise
    except (AgentTraceError, TypeError, ValueError) as error:
        raise ScorerError(f"{name}: {error}") from error


def is_known(name: str) -> bool:
    """Whether a scorer goes by this name."""
    _register_judges()
    return is_registered(name)


def name_and_options(entry: str | Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Read ``Name``, ``Name:option=value,option=value`` or ``{Name: {option: value}}``.

    In a text, values are JSON where they read as JSON up to the next comma, else text up to there.

    Raises:
        ScorerError: an option without a value, or a mapping of more than one name.
    """
    if isinstance(entry, str):
        name, _, rest = entry.partition(":")
        return name.strip(), written_options(rest)
    if len(entry) != 1:
        raise ScorerError(f"wanted one scorer's name with its options, got {dict(entry)!r}")
    ((name, options),) = entry.items()
    return name, dict(options or {})


def _register_judges() -> None:
    """Register the judges by name, too. Doing it again changes nothing."""
    import agenttrace.judges as judges  # on use: most suites name none

    for name in judges.__all__:
        kind = getattr(judges, name)
        if inspect.isclass(kind) and issubclass(kind, judges.JudgeScorer) and not inspect.isabstract(kind):
            register_scorer(kind)


def written_options(text: str) -> dict[str, Any]:
    """Read ``option=value,option=value``, as `name_and_options` does.

    Raises:
        ScorerError: an option without a value.
    """
    return dict(_options(text))


def _options(text: str) -> Iterator[tuple[str, Any]]:
    rest = text
    while rest.strip():
        name, equals, rest = rest.partition("=")
        if not equals or "," in name:
            raise ScorerError(f"got {name!r} in {text!r}, wanted option=value")
        value, rest = _value(rest.lstrip())
        yield name.strip(), value


def _value(rest: str) -> tuple[Any, str]:
    """Return the value that a text begins with, and the text after its comma."""
    try:
        value, end = decode_at(rest, 0)
    except InvalidJSON:
        pass
    else:
        after = rest[end:].lstrip()
        if not after or after.startswith(","):
            return value, after[1:]
    word, _, after = rest.partition(",")
    return word.strip(), after
