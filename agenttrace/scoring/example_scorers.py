"""The scorers of each example: those of the suite, with what the example says of its own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from typing import Any

from agenttrace.core.errors import AgentTraceError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.protocols import ChatModel, Scorer, TakesModel, optional
from agenttrace.core.score import checked_threshold
from agenttrace.scorers.registry import known_scorers
from agenttrace.scoring.checks import check_gates, checked_scorers
from agenttrace.scoring.written_scorers import is_known, name_and_options, scorer_maker, written_scorer

ScorersOf = Callable[[Example], tuple[Scorer, ...]]
"""What gives the scorers of one example."""


def suite_scorers(
    examples: Sequence[Example], scorers: Any, model: str | ChatModel | None
) -> tuple[tuple[Scorer, ...], ScorersOf]:
    """Return the scorers of the suite, and the function that gives those of each example.

    The suite may have none where every example has its own.

    Raises:
        ConfigError: an example has no scorer, or none that decides.
        ScorerError: something that is no scorer, or an example's own that cannot be made.
    """
    if not any(example.scorers for example in examples):
        suite = checked_scorers(scorers, model)
        check_gates(suite)
        return suite, lambda _: suite
    some = () if isinstance(scorers, Sequence) and not scorers else checked_scorers(scorers, model)

    def scorers_of(example: Example) -> tuple[Scorer, ...]:
        return scorers_of_example(example, some, model) if example.scorers else some

    for example in examples:
        check_gates(checked_scorers(scorers_of(example)))
    return some, scorers_of


def scorers_of_example(
    example: Example, suite: Sequence[Scorer], model: str | ChatModel | None = None
) -> tuple[Scorer, ...]:
    """Return the scorers of the suite, with the example's own (`Example.scorers`) beside or in place of them.

    An entry that names a scorer of the suite, by its name in reports or as ``--scorer`` names it, and gives
    nothing but a threshold is that scorer with this threshold. With other options it is made anew from them
    alone, in its place; without any option it changes nothing. Any other entry is added (one with the option
    `name` unless a scorer has that name), with `model` set where it takes one. Of two entries for one scorer
    the later one holds.

    Raises:
        ScorerError: no such scorer or option, a value that it refuses; with the example's place.
    """
    scorers = list(suite)
    for index, entry in enumerate(example.scorers or ()):
        with _placed(example, index):
            _apply(scorers, entry, model)
    return tuple(scorers)


def check_example_scorers(examples: Iterable[Example]) -> None:
    """Raise ScorerError, with its place, where an example's own scorers cannot be made.

    An entry with a threshold alone may be about a scorer of the suite, which is not known here; it is checked
    with the suite.
    """
    for example in examples:
        for index, entry in enumerate(example.scorers or ()):
            with _placed(example, index):
                name, options = name_and_options(entry)
                if options.keys() - {"threshold"}:
                    _apply([], {name: options}, None)


def scorer_errors(example: Example, suite: Sequence[Scorer] | None = None) -> Iterator[ScorerError]:
    """All that is wrong with an example's own scorers, each with its place.

    Without the suite, an entry with a threshold alone is an error where it has nearly the name of a scorer
    that is known: others may be about one of the suite.
    """
    for index, entry in enumerate(example.scorers or ()):
        try:
            with _placed(example, index):
                name, options = name_and_options(entry)
                if suite is not None or options.keys() - {"threshold"} or _is_misspelt(name):
                    _apply(list(suite or ()), {name: options}, None)
        except ScorerError as error:
            yield error


def unknown_scorers(example: Example) -> Iterator[ScorerError]:
    """What stands for a scorer of the suite, or for none: entries that `scorer_errors` leaves without it."""
    for index, entry in enumerate(example.scorers or ()):
        with suppress(ScorerError):  # an entry that cannot be read is an error of its own
            name, options = name_and_options(entry)
            if not (is_known(name) or _is_misspelt(name) or options.keys() - {"threshold"}):
                try:
                    with _placed(example, index):
                        scorer_maker(name)
                except ScorerError as error:
                    yield error


_NEAR = 0.8
"""How alike a name and that of a scorer are where one is taken for the other, misspelt: *helpfulness* and
*faithfulness* are less."""


def _is_misspelt(name: str) -> bool:
    """Whether no scorer has this name, and one has nearly the same."""
    names = [_plain(known) for known in known_scorers()]
    return not is_known(name) and bool(get_close_matches(_plain(name), names, n=1, cutoff=_NEAR))


@contextmanager
def _placed(example: Example, index: int) -> Iterator[None]:
    """What is raised inside names the example and the entry."""
    try:
        yield
    except AgentTraceError as error:
        place = f"{example.source}: " if example.source else ""
        raise ScorerError(f"{place}scorers[{index}]: {error}") from error


def _apply(scorers: list[Scorer], entry: Any, model: str | ChatModel | None) -> None:
    """Change a list of scorers as one entry says."""
    name, options = name_and_options(entry)
    at = None if "name" in options else _named(scorers, name)
    own: Scorer | None = None
    if at is None or options.keys() - {"threshold"}:
        own = written_scorer({name: options})
        at = _named(scorers, own.name) if at is None else at
        taking = optional(own, TakesModel)
        if model is not None and taking is not None:
            own = taking.with_model(model)
    if at is None:
        assert own is not None
        scorers.append(own)
    elif options.keys() <= {"threshold"}:
        if options:
            scorers[at] = _with_threshold(scorers[at], options["threshold"])
    else:
        assert own is not None
        scorers[at] = own


def _named(scorers: Sequence[Scorer], name: str) -> int | None:
    """The place of the scorer with this name in reports, or of the only one of the class that is named so."""
    for at, scorer in enumerate(scorers):
        if _plain(scorer.name) == _plain(name):
            return at
    of_class = [at for at, scorer in enumerate(scorers) if _plain(type(scorer).__name__) == _plain(name)]
    return of_class[0] if len(of_class) == 1 else None


def _plain(name: str) -> str:
    return "".join(letter for letter in name if letter.isalnum()).lower().removesuffix("scorer")


def _with_threshold(scorer: Scorer, threshold: Any) -> Scorer:
    changed = copy.copy(scorer)
    try:
        object.__setattr__(changed, "threshold", checked_threshold(threshold, scorer.name))
    except AttributeError as error:
        raise ScorerError(f"{scorer.name!r} cannot be given another threshold: {error}") from error
    return changed
