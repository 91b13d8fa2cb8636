"""What went wrong on one line: the first of a failure's message, which summaries and dashboards show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.text import error_line
from agenttrace.reports.requirements import requirement_text, requirements_of, xfailed
from agenttrace.reports.text import safe_line
from agenttrace.reports.trials import reasons, says_why, share_of_trials, times, trials_together

FAILURE_WIDTH = 300
_SHOWN_NAMES = 3


def failure_line(report: EvaluationReport) -> str:
    """What went wrong on one line, for lists of failed tests.

    A requirement that is not met comes first; then how many failed, which ones, and why. Where they did for
    several reasons, the first one stands with its own.
    """
    rest = _failure_line(report)
    judged = all(result.outcome in ("passed", "failed") for result in report.results)
    unmet = "; ".join(_unmet(requirements_of(report))) if judged else ""
    return safe_line("; ".join(filter(None, (unmet, rest))), FAILURE_WIDTH)


def _unmet(requirements: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """``required pass^3 >= 0.5, got 0.22 (0.13 to 0.35)`` for each requirement that is not met."""
    for one in requirements:
        if one.get("holds") is not False:
            continue
        if "interval" in one:
            low, high = one["interval"]
            yield f"required {one['require']}, got {one['value']:.3g} ({low:.2f} to {high:.2f})"
        else:
            yield f"required {requirement_text(one)}"


def _failure_line(report: EvaluationReport) -> str:
    bad = [result for result in report.results if not result.success]
    if not bad:
        return ""
    if len(report) == 1:
        return f"{label(bad[0])}: {why(bad[0])}"
    if len(list(trials_together(report.results))) == 1:
        group = reasons(report.results)[0]
        share = f"{share_of_trials(report.results)}; {times(len(group))} because"
        return f"{label(bad[0])}: {share}: {why(group[0])}"
    counts = " and ".join(not_passed(report))
    labels = [label(trials[0]) for trials in trials_together(bad)]
    if len({why(result) for result in bad}) > 1:
        return f"{counts} of {len(report)}: {labels[0]}: {why(bad[0])}{_others(labels[1:])}"
    names = ", ".join(labels[:_SHOWN_NAMES])
    more = f", … {len(labels) - _SHOWN_NAMES} more" if len(labels) > _SHOWN_NAMES else ""
    return ": ".join(filter(None, (f"{counts} of {len(report)}", names + more, why(bad[0]))))


def _others(labels: Sequence[str]) -> str:
    """`` (and 2 more: beta, gamma)``: the reason before it is not theirs."""
    if not labels:
        return ""
    names = ", ".join([*labels[:_SHOWN_NAMES], *(["…"] if len(labels) > _SHOWN_NAMES else [])])
    return f" (and {len(labels)} more: {names})"


def label(result: ScoringResult) -> str:
    """The example's name, or its number."""
    return result.name or f"test {result.position + 1}"


def why(result: ScoringResult) -> str:
    """Why a result is no pass, on one line: what was raised, or the first reason and place that differs."""
    ends = [error_line(result.error)] if result.error else []
    bad = [score for score in result.scores if score.gate and not score.passed]
    reason = next((score.reason for score in bad if score.reason), "")
    if bad and not ends and not says_why(bad):
        informing = [score for score in result.scores if not score.gate and score.outcome == "failed"]
        reason = next((f"{score.name}: {score.reason}" for score in informing if score.reason), "")
        reason = "; ".join(filter(None, (_values_of(bad[0]), reason)))
        bad = informing
    places = [line.strip() for score in bad for line in (score.diff or "").splitlines()]
    differences = sorted(filter(_names_a_difference, places), key=_is_extra)  # which may be allowed
    place = differences[0] if differences else ""
    return " ".join("; ".join(filter(None, (ends[0] if ends else reason, place))).split())


def _values_of(score: Score) -> str:
    value = score.outcome if score.value is None else f"{score.value:.4g}"
    return f"{score.name} {value} (threshold {score.threshold:g})"


def _names_a_difference(line: str) -> bool:
    return ": expected " in line or line.startswith(("- ", "+ ", "(the arguments "))


def _is_extra(line: str) -> bool:
    return line.startswith("+ ")


def not_passed(report: EvaluationReport) -> list[str]:
    """How many results failed, failed as expected, errored, were not run: ``2 failed``, each if any did."""
    expected = xfailed(report)
    counts = {"failed": report.counts["failed"] - expected, "xfailed": expected}
    counts.update((word, n) for word, n in report.counts.items() if word not in ("passed", "failed"))
    return [f"{n} {word.replace('_', ' ')}" for word, n in counts.items() if n]
