"""Choose examples of a file by name, tag and number; find two that have one name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from agenttrace.core.aggregates import tags_of
from agenttrace.core.errors import ConfigError, DatasetError, did_you_mean
from agenttrace.core.example import Example


def selected(
    examples: Sequence[Example],
    *,
    only: Sequence[str] = (),
    tags: Sequence[str] = (),
    limit: int | None = None,
) -> list[Example]:
    """Return the examples with one of the names and one of the tags, at most `limit`, in their order.

    `only` takes names and globs (``refund*``); an example without a name is ``example 3``, by its number in
    the list from 1. Tags are those of `tags_of`. Several names, and several tags, are alternatives; an
    example must have one of each.

    Raises:
        ConfigError: a name that no example has, a tag that none has (with the nearest one), or nothing left.
    """
    names = [example.name or f"example {position}" for position, example in enumerate(examples, 1)]
    for wanted in only:
        if not any(_fits(name, wanted) for name in names):
            raise ConfigError(f"no example is called {wanted!r}{did_you_mean(wanted, names)}")
    known = {tag for example in examples for tag in tags_of(example)}
    for tag in tags:
        if tag not in known:
            raise ConfigError(
                f"no example has the tag {tag!r}{did_you_mean(tag, known) or '; none has tags'}"
            )
    chosen = [
        example
        for name, example in zip(names, examples, strict=True)
        if (not only or any(_fits(name, wanted) for wanted in only))
        and (not tags or not set(tags).isdisjoint(tags_of(example)))
    ]
    if not chosen and examples:
        raise ConfigError(f"no example has both: a name of {', '.join(only)}, a tag of {', '.join(tags)}")
    return chosen[:limit]


def _fits(name: str, wanted: str) -> bool:
    return name == wanted or fnmatchcase(name, wanted)


def check_names(examples: Sequence[Example]) -> None:
    """Raise DatasetError, with both places, where two examples that are to be run have one name.

    Names are what tests are called, and by which runs are compared. Recorded runs may share one: they are
    trials of one example.
    """
    error = next(same_names(examples), None)
    if error is not None:
        raise error


def same_names(examples: Sequence[Example]) -> Iterator[DatasetError]:
    """An error for each example that has the name of an earlier one, unless both hold a recorded run."""
    first_of: dict[str, tuple[int, Example]] = {}
    for position, example in enumerate(examples, 1):
        if example.name is None:
            continue
        number, first = first_of.setdefault(example.name, (position, example))
        if first is example or (_is_recorded(first) and _is_recorded(example)):
            continue
        path, _, line = (example.source or "").rpartition(":")
        first_line = (first.source or "").rpartition(":")[2]
        where = f"line {first_line}" if first_line.isdigit() else f"example {number}"
        yield DatasetError(
            f"the name {example.name!r} is that of the example in {where}, too; names are what tests are "
            "called, and by which runs are compared: give each its own",
            path=path or None,
            line=int(line) if line.isdigit() else None,
            field=f"examples[{position - 1}].name",
        )


def _is_recorded(example: Example) -> bool:
    return example.tools_called is not None or example.actual_output is not None
