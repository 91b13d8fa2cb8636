"""What a metric reads of one scored sample, by the names that a task file uses."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_number
from agenttrace.core.report import ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.text import short_repr


class NoValue(Exception):
    """This sample has no value for a metric; the text says why."""


def sample_of(example: Example) -> dict[str, Any]:
    """What templates and metrics see: the example's fields, with its additional_metadata beside them.

    Its own items go first.
    """
    fields = example.to_dict()
    return {**fields, **(fields.get("additional_metadata") or {})}


@dataclass(frozen=True, slots=True)
class Observation:
    """A score that has a value, with the result that it stands in."""

    result: ScoringResult
    score: Score

    def read(self, path: str) -> Any:
        """What stands at ``value``, ``outcome``, ``output.…``, ``sample.…``, ``details.…``, or at a path in
        the score's details.

        Raises:
            NoValue: there is no such item, with the nearest one.
        """
        first, _, rest = path.partition(".")
        if first in ("value", "outcome") and not rest:
            return getattr(self.score, first)
        if first == "output":
            return _item(self.result.example.actual_output, rest, first)
        if first == "sample" and rest:
            return _item(sample_of(self.result.example), rest, first)
        if first == "details" and rest:
            return _item(self.score.details, rest, first)
        return _item(self.score.details, path, "the score's details")


def _item(data: Any, path: str, place: str) -> Any:
    for name in path.split(".") if path else ():
        if not isinstance(data, Mapping):
            raise NoValue(
                f"{place} is {'nothing' if data is None else type(data).__name__}, without {name!r}"
            )
        if name not in data:
            raise NoValue(f"no {name!r} in {place}{did_you_mean(name, map(str, data))}")
        data, place = data[name], f"{place}.{name}"
    return data


def observed(results: Iterable[ScoringResult], scorer: str) -> tuple[list[Observation], dict[str, int]]:
    """The samples that a scorer gave a value for; of the others how many there are, by the reason.

    Samples whose example was not asked about this scorer are neither.
    """
    observations: list[Observation] = []
    left_out: dict[str, int] = {}
    for result in results:
        score = next((one for one in result.scores if one.name == scorer), None)
        if score is None and result.scores:
            continue
        if score is not None and score.value is not None:
            observations.append(Observation(result, score))
            continue
        reason = score.outcome if score is not None else _why_not_scored(result)
        left_out[reason] = left_out.get(reason, 0) + 1
    return observations, left_out


def _why_not_scored(result: ScoringResult) -> str:
    if result.outcome == "failed":
        return "agent failed"
    return result.outcome.replace("_", " ")


class MetricError(ScorerError):
    """A metric cannot be worked out: a value of the wrong type, a field that no score has."""


class Reader:
    """Reads fields of samples; a sample without a value is left out, with the reason."""

    def __init__(self, observations: Sequence[Observation], left_out: Mapping[str, int]) -> None:
        self.observations = observations
        self.total = len(observations) + sum(left_out.values())
        self.left_out = dict(left_out)
        self.count = 0

    def rows(self, *reads: Callable[[Observation], Any]) -> list[tuple[Any, ...]]:
        """What these functions give for each sample that has all of it.

        Raises:
            MetricError: a value of the wrong type, or no sample has such a field.
        """
        rows: list[tuple[Any, ...]] = []
        reasons: Counter[str] = Counter()
        for observation in self.observations:
            try:
                rows.append(tuple(read(observation) for read in reads))
            except NoValue as without:
                reasons[str(without)] += 1
        if not rows and reasons:
            raise MetricError(f"{reasons.most_common(1)[0][0]}, in {_all(sum(reasons.values()))}")
        for reason, count in reasons.items():
            short = reason.partition(";")[0]
            self.left_out[short] = self.left_out.get(short, 0) + count
        self.count = len(rows)
        return rows

    def numbers(self, path: str) -> list[float]:
        """The numbers of one field."""
        return [number for (number,) in self.rows(lambda one: number_in(one, path))]


def number_in(observation: Observation, path: str) -> float:
    """The number at a path; true and false are 1 and 0."""
    value = observation.read(path)
    if value is None:
        raise NoValue(f"{path} is nothing")
    if isinstance(value, bool):
        return float(value)
    if not is_number(value) or not math.isfinite(value):
        raise MetricError(f"{path} is {short_repr(value)} in {_place(observation)}, wanted a number")
    return value


def count_in(observation: Observation, path: str) -> float:
    """The count at a path: a number that is not negative."""
    number = number_in(observation, path)
    if number < 0:
        raise MetricError(f"{path} is {number:g} in {_place(observation)}, wanted a count")
    return number


def label_in(observation: Observation, path: str) -> str:
    """The label at a path, as text."""
    value = observation.read(path)
    if value is None:
        raise NoValue(f"{path} is nothing")
    label = label_text(value)
    if label is None:
        raise MetricError(
            f"{path} is {short_repr(value)} in {_place(observation)}, wanted a text, a number or a bool"
        )
    return label


def label_text(value: Any) -> str | None:
    """A label as text: ``true``, ``1`` (also for 1.0), a text as it stands; None for what is none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if is_number(value):
        return str(int(value)) if math.isfinite(value) and value == int(value) else str(value)
    return value if isinstance(value, str) else None


def _place(observation: Observation) -> str:
    result = observation.result
    name = f" ({result.name!r})" if result.name else ""
    return result.source or f"example {result.position + 1}{name}"


def _all(count: int) -> str:
    return "the only sample" if count == 1 else f"all {count} samples"
