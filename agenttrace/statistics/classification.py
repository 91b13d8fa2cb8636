"""How well labels were predicted: accuracy, precision, recall, F1, by class and over all classes.

A ratio of nothing by nothing is None (a class that was never predicted has no precision), and a mean over
classes leaves it out, as scikit-learn does with ``zero_division=nan``; `zero_division` puts a number in its
place. F1 is 2·tp / (2·tp + fp + fn), of which only the absence of all three is nothing by nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum


def ratio(part: float, whole: float, zero_division: float | None = None) -> float | None:
    """A part of a whole; `zero_division` where both are nothing."""
    return part / whole if whole else zero_division


@dataclass(frozen=True, slots=True)
class Counts:
    """True positives, false positives, false negatives of one class, or of all together."""

    true_positives: float
    false_positives: float
    false_negatives: float

    def precision(self, zero_division: float | None = None) -> float | None:
        """How much of what was predicted is right."""
        return ratio(self.true_positives, self.true_positives + self.false_positives, zero_division)

    def recall(self, zero_division: float | None = None) -> float | None:
        """How much of what is right was predicted."""
        return ratio(self.true_positives, self.true_positives + self.false_negatives, zero_division)

    def f1(self, zero_division: float | None = None) -> float | None:
        """The harmonic mean of the two."""
        twice = 2 * self.true_positives
        return ratio(twice, twice + self.false_positives + self.false_negatives, zero_division)


Confusion = Mapping[tuple[str, str], int]
"""How often each pair of the right label and the predicted one stands there."""


def confusion_of(pairs: Sequence[tuple[str, str]]) -> Confusion:
    """Count pairs of the right label and the predicted one."""
    return Counter(pairs)


def labels_of(confusion: Confusion) -> list[str]:
    """The labels that are right or predicted anywhere, sorted."""
    return sorted({label for pair in confusion for label in pair})


def accuracy(confusion: Confusion) -> float | None:
    """How many predictions are right, of all; None where there are none."""
    return ratio(sum(n for (right, got), n in confusion.items() if right == got), sum(confusion.values()))


def counts_of(confusion: Confusion, label: str) -> Counts:
    """The counts of one class against all others."""
    hits = confusion.get((label, label), 0)
    predicted = sum(n for (_, got), n in confusion.items() if got == label)
    actual = sum(n for (right, _), n in confusion.items() if right == label)
    return Counts(hits, predicted - hits, actual - hits)


def together(counts: Sequence[Counts]) -> Counts:
    """The counts of all classes in one: what *micro* averages are made of."""
    return Counts(
        fsum(one.true_positives for one in counts),
        fsum(one.false_positives for one in counts),
        fsum(one.false_negatives for one in counts),
    )


def mean_of_classes(values: Sequence[float | None]) -> float | None:
    """The mean over the classes that have a value: a *macro* average; None where none has."""
    numbers = [value for value in values if value is not None]
    return ratio(fsum(numbers), len(numbers))
