"""What a metric reads of one scored sample, by the names that a task file uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.report import ScoringResult
from agenttrace.core.score import Score


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
