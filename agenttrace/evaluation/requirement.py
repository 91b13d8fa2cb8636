"""`Requirement`: what a report must reach, read from a line such as ``pass_rate >= 0.8``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.report import EvaluationReport, ScoringResult

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
}


def pass_rate(report: EvaluationReport) -> float:
    """Return the share of all results that passed."""
    return report.counts["passed"] / len(report)


def worst_pass_rate(report: EvaluationReport) -> float:
    """Return the lowest share of passed trials that any example has."""
    trials: dict[int, list[ScoringResult]] = {}
    for result in report.results:
        trials.setdefault(result.position, []).append(result)
    return min(sum(r.success for r in results) / len(results) for results in trials.values())


MEASURES = {"pass_rate": pass_rate, "worst_pass_rate": worst_pass_rate}


@dataclass(frozen=True, slots=True)
class Requirement:
    """A measure of a report, a comparison sign, and the bound."""

    text: str
    measure: str
    sign: str
    bound: float

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read ``MEASURE SIGN NUMBER``: pass_rate or worst_pass_rate, >= or > or ==, 0 to 1.

        Raises:
            ConfigError: the text cannot be read in this way.
        """
        match = re.fullmatch(r"\s*(\w+)\s*(>=|==|>)\s*([\d.]+)\s*", text) if isinstance(text, str) else None
        try:
            bound = float(match[3]) if match else -1.0
        except ValueError:
            bound = -1.0
        if match is None or not 0 <= bound <= 1:
            raise ConfigError(
                f"require is a line such as 'pass_rate >= 0.8' (a share from 0 to 1), got {text!r}"
            )
        if match[1] not in MEASURES:
            raise ConfigError(f"require has no measure {match[1]!r}{did_you_mean(match[1], MEASURES)}")
        return cls(text.strip(), match[1], match[2], bound)

    def measured(self, report: EvaluationReport) -> float:
        """Return the measure's value for a report."""
        return MEASURES[self.measure](report)

    def holds(self, report: EvaluationReport) -> bool:
        """Return True if the report meets the requirement. Errored results count as not passed."""
        return _OPERATORS[self.sign](self.measured(report), self.bound)
