"""`compared`: which examples of two datasets are the same, changed, added, removed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from agenttrace.core.example import Example
from agenttrace.core.file_form import lossy, to_file_form
from agenttrace.core.jsonable import to_json

_OWN = frozenset({"example_id", "created_at"})
"""Fields that say nothing of the case: where a file does not state them, they are new at each reading."""


@dataclass(frozen=True, slots=True)
class ChangedExample:
    """An example before and after, with the names of the fields that differ."""

    before: Example
    after: Example
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatasetDifferences:
    """What became of the examples of a dataset; `same` counts those that are as they were."""

    added: tuple[Example, ...]
    removed: tuple[Example, ...]
    changed: tuple[ChangedExample, ...]
    same: int

    @property
    def is_empty(self) -> bool:
        """Whether both hold the same examples."""
        return not (self.added or self.removed or self.changed)


def compared(before: Sequence[Example], after: Sequence[Example]) -> DatasetDifferences:
    """Compare two datasets; examples belong together by their id, else their name, else what they hold.

    One that shares neither belongs to one with the same input. An id or a name that several have decides
    nothing. The order is free.
    """
    old, new = dict(enumerate(before)), dict(enumerate(after))
    pairs: list[tuple[Example, Example]] = []
    for key in (_id, _name, _content, _input):
        of_old, of_new = _by(old, key), _by(new, key)
        for value, numbers in of_old.items():
            others = of_new.get(value, [])
            if value is not None and (len(numbers) == len(others) == 1 or key is _content):
                for one, other in zip(numbers, others, strict=False):
                    pairs.append((old.pop(one), new.pop(other)))
    changed = [
        ChangedExample(one, other, fields) for one, other in pairs if (fields := differing(one, other))
    ]
    return DatasetDifferences(
        tuple(new.values()), tuple(old.values()), tuple(changed), len(pairs) - len(changed)
    )


def differing(before: Example, after: Example) -> tuple[str, ...]:
    """The names of the fields in which two examples differ, but for their ids and dates."""
    return tuple(
        field
        for field in Example.model_fields
        if field not in _OWN and _text(before, field) != _text(after, field)
    )


def _by(examples: dict[int, Example], key: Callable[[Example], Hashable]) -> dict[Hashable, list[int]]:
    numbers: dict[Hashable, list[int]] = {}
    for number, example in examples.items():
        numbers.setdefault(key(example), []).append(number)
    return numbers


def _id(example: Example) -> Hashable:
    return example.example_id


def _name(example: Example) -> Hashable:
    return example.name


def _content(example: Example) -> Hashable:
    return tuple(_text(example, field) for field in Example.model_fields if field not in _OWN)


def _input(example: Example) -> Hashable:
    return None if example.input is None else _text(example, "input")


def _text(example: Example, field: str) -> str:
    return to_json(to_file_form(getattr(example, field), lossy, field))
