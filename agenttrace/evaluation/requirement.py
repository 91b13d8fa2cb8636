"""`Requirement`: what a report must reach, read from a line such as ``pass_rate >= 0.8``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.evaluation.bound import SIGN_AND_NUMBER, Bound
from agenttrace.evaluation.measures import Measured, mean_of, pass_power, pass_rate, worst_pass_rate
from agenttrace.reports.requirements import requirement_text

_LINE = re.compile(r"\s*(?P<measure>[\w^@]+)\s*(?:\((?P<scorer>.+)\))?\s*" + SIGN_AND_NUMBER)
_POWER = re.compile(r"(pass[\^@])([1-9]\d*)")
_MEASURES = ("pass_rate", "worst_pass_rate", "pass^3", "pass@3", "mean(Scorer)", "pass_rate(Scorer)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """A measure of a report, a comparison sign, and the bound.

    `measure` is *pass_rate*, *worst_pass_rate*, *mean*, *pass^* or *pass@*; the latter two have a `k`.
    `scorer` is the name of the scorer whose values or passes are measured, None for whole results.
    """

    text: str
    measure: str
    sign: str
    bound: float
    k: int | None = None
    scorer: str | None = None

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read ``MEASURE SIGN NUMBER``, the number from 0 to 1.

        A measure is ``pass_rate`` (the mean over examples of the share of trials that passed),
        ``worst_pass_rate`` (that of the worst example), ``pass^3`` or ``pass@3`` (the mean over examples of
        the chance that all, or one at least, of 3 trials pass), ``mean(Tool Order)``, or ``pass_rate(Tool
        Order)``. A sign is >=, > or ==; of a single scorer, <= and < as well.

        Raises:
            ConfigError: the text cannot be read in this way.
        """
        match = _LINE.fullmatch(text) if isinstance(text, str) else None
        bound = float(match["bound"]) if match else -1.0
        if match is None or not 0 <= bound <= 1:
            raise ConfigError(
                f"require is a line such as 'pass_rate >= 0.8' (a share from 0 to 1), got {text!r}"
            )
        word, scorer, sign = match["measure"], match["scorer"], match["sign"]
        power = _POWER.fullmatch(word)
        if power is None and word not in ("pass_rate", "worst_pass_rate", "mean"):
            raise ConfigError(f"require has no measure {word!r}{did_you_mean(word, _MEASURES)}")
        if word == "mean" and scorer is None:
            raise ConfigError(f"mean is of a scorer, such as 'mean(Tool Order) >= 0.9'; got {text!r}")
        if scorer is not None and word not in ("mean", "pass_rate"):
            raise ConfigError(f"{word} is of whole results; mean and pass_rate take a scorer; got {text!r}")
        if scorer is None and sign in ("<=", "<"):
            raise ConfigError(
                f"require is a line such as 'pass_rate >= 0.8'; {sign} is for single scorers, such as "
                f"'mean(Hallucination) {sign} 0.1'; got {text!r}"
            )
        k = int(power[2]) if power else None
        name = None if scorer is None else scorer.strip()
        return cls(text.strip(), power[1] if power else word, sign, bound, k, name)

    def measured(self, report: EvaluationReport) -> float:
        """Return the measure's value for a report.

        Raises:
            ConfigError: an example has fewer trials than the k of pass^k or pass@k.
        """
        return self._measure(report.results).value

    def holds(self, report: EvaluationReport) -> bool:
        """Return True if the report meets the requirement and every result was judged.

        A result that is errored or was not run says nothing either way, so that no report with one holds.

        Raises:
            ConfigError: as `measured`.
        """
        return self.verdict(report).holds

    def verdict(self, report: EvaluationReport) -> Verdict:
        """Return whether the report meets the requirement, with what was measured and how sure it is.

        Raises:
            ConfigError: as `measured`.
        """
        measured = self._measure(report.results)
        judged = all(result.outcome in ("passed", "failed") for result in report.results)
        # Of all and none, no number of trials could be sure.
        unsure = 0 < self.bound < 1 and measured.interval.contains(self.bound)
        return Verdict(self, measured, judged and self.accepts(measured.value), unsure)

    def accepts(self, value: float) -> bool:
        """Return True if this value of the measure meets the bound."""
        return Bound(self.sign, self.bound).accepts(value)

    def _measure(self, results: Sequence[ScoringResult]) -> Measured:
        if self.k is not None:
            return pass_power(results, self.measure, self.k)
        if self.measure == "worst_pass_rate":
            return worst_pass_rate(results)
        if self.measure == "mean" and self.scorer is not None:
            return mean_of(results, self.scorer)
        return pass_rate(results, self.scorer)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a report meets a requirement; `unsure` where the interval of what was measured has the
    bound."""

    requirement: Requirement
    measured: Measured
    holds: bool
    unsure: bool

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "require": self.requirement.text,
            "value": self.measured.value,
            "counts": self.measured.counts,
            "interval": list(self.measured.interval),
            "holds": self.holds,
            "unsure": self.unsure,
        }

    def __str__(self) -> str:
        return requirement_text(self.to_dict())


Require = str | Requirement | Sequence[str | Requirement] | None
"""The type of `require`: one line, several, or none."""


def parsed_requirements(require: Require) -> tuple[Requirement, ...]:
    """Return the requirements of one line, of a list of lines, or of None.

    Raises:
        ConfigError: a line that cannot be read, or an empty list.
    """
    if require is None:
        return ()
    lines = [require] if isinstance(require, str | Requirement) else require
    if not isinstance(lines, Iterable) or not (lines := list(lines)):
        raise ConfigError(f"require is a line such as 'pass_rate >= 0.8', or a list of them; got {require!r}")
    return tuple(line if isinstance(line, Requirement) else Requirement.parse(line) for line in lines)


def check_requirements(
    requirements: Sequence[Requirement], scorers: Iterable[str], trials: int | None = None
) -> None:
    """Check what needs to be known of the evaluation: the names of its scorers, the trials of an example.

    Raises:
        ConfigError: a scorer that there is none of, or fewer trials than the k of pass^k or pass@k.
    """
    names = list(scorers)
    for requirement in requirements:
        if requirement.scorer is not None and requirement.scorer not in names:
            raise ConfigError(
                f"{requirement.text!r}: there is no scorer {requirement.scorer!r}"
                f"{did_you_mean(requirement.scorer, names)}"
            )
        if requirement.k is not None and trials is not None and trials < requirement.k:
            raise ConfigError(
                f"{requirement.text!r} needs {requirement.k} trials of each example, got {trials}; give "
                "trials= (--trials), or, where several examples are trials of one, trials_by='name' "
                "(--trials-by name)"
            )
