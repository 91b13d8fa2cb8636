"""Scorers as the command line and files write them: a name with its options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agenttrace.core.dotted_name import imported
from agenttrace.core.errors import AgentTraceError, ScorerError
from agenttrace.core.json_reader import InvalidJSON, decode_at
from agenttrace.core.protocols import Scorer
from agenttrace.scorers import register_scorer, scorer_named
from agenttrace.scorers.registry import is_registered, maker_named, maker_of, option_names, scorer_made


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


_OF_ONES_OWN = re.compile(r"(?P<target>[\w.]+:[A-Za-z_][\w.]*)(?::(?P<options>.*))?", re.S)


def type_and_options(text: str) -> tuple[str, dict[str, Any]]:
    """Read ``Name:option=value`` as `name_and_options` does, or ``pkg.mod:name:option=value``.

    Raises:
        ScorerError: an option without a value.
    """
    match = _OF_ONES_OWN.fullmatch(text)
    if match is None or is_known(text.partition(":")[0]):
        return name_and_options(text)
    return match["target"], written_options(match["options"] or "")


def scorer_of(kind: str, options: Mapping[str, Any], *directories: Path) -> Scorer:
    """Make the scorer of a name that is known, or of ``pkg.mod:name``: one of the user's own.

    That is a scorer, such as a function with `@scorer`, a class of scorers, or a function that returns one;
    its module is searched for as by `imported`.

    Raises:
        ScorerError: there is no such scorer or option, or the scorer refuses a value.
        ConfigError: there is no such module or name.
    """
    if ":" not in kind:
        return written_scorer({kind: options})
    maker = scorer_maker(kind, *directories)
    try:
        return scorer_made(kind, maker, options)
    except ScorerError:
        raise
    except (AgentTraceError, TypeError, ValueError) as error:
        raise ScorerError(f"{kind}: {error}") from error


def scorer_maker(kind: str, *directories: Path) -> Callable[..., Any]:
    """What makes the scorers of a name. Raises as `scorer_of`."""
    if ":" not in kind:
        _register_judges()
        return maker_named(kind)
    _, target = imported(kind, *directories)
    if inspect.isfunction(target) and any(option_names(target).values()):
        raise ScorerError(f"{kind} is a plain function; put @scorer before it")
    return maker_of(target)


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
