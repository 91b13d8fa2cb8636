"""Scorers of one name are told apart by the options in which they differ: means and reports go by names."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.protocols import Scorer
from agenttrace.core.text import shorten
from agenttrace.scoring.scorer_options import option_value, options_of

_MOST_CHARACTERS = 60


def with_distinct_names(scorers: Sequence[Scorer]) -> tuple[Scorer, ...]:
    """Return the scorers, each under a name of its own.

    The first of a name keeps it. A later one becomes a copy whose name says in which options it differs from
    the first, ``Tool Order (exact_match=True)``, or its number: ``Tool Order 2``. The scorers themselves
    stay as they are.

    Raises:
        ScorerError: a copy takes no other name.
    """
    firsts: dict[str, Scorer] = {}
    names = {scorer.name for scorer in scorers}
    distinct: list[Scorer] = []
    for scorer in scorers:
        first = firsts.get(scorer.name)
        if first is None:
            firsts[scorer.name] = scorer
            distinct.append(scorer)
        else:
            name = next(name for name in _names(scorer, first) if name not in names)
            names.add(name)
            distinct.append(_renamed(scorer, name))
    return tuple(distinct)


def _names(scorer: Scorer, first: Scorer) -> Iterator[str]:
    options = ", ".join(f"{option}={value}" for option, value in _differing(scorer, first))
    if options:
        yield f"{scorer.name} ({shorten(options, _MOST_CHARACTERS)})"
    number = 2
    while True:
        yield f"{scorer.name} {number}"
        number += 1


def _differing(scorer: Scorer, first: Scorer) -> Iterator[tuple[str, str]]:
    """The options of its class that it keeps as plain values, where the first scorer has others."""
    for option, _ in options_of(type(scorer)):
        value = option_value(scorer, option)
        if isinstance(value, bool | int | float | str) and option_value(first, option) != value:
            yield option, str(value)


def _renamed(scorer: Scorer, name: str) -> Scorer:
    twin: Any = copy.copy(scorer)
    try:
        twin.name = name
    except AttributeError:
        raise ScorerError(
            f"two scorers are called {scorer.name!r}, and their scores could not be told apart; give one "
            f"a name of its own, such as {type(scorer).__name__}(…, name={scorer.name + ' 2'!r})"
        ) from None
    renamed: Scorer = twin
    return renamed
