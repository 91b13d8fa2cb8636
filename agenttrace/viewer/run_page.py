"""The page of one run: counts, scorers, and its examples with their trials, those that failed first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import asked_counts
from agenttrace.reports.metrics import metric_rows
from agenttrace.reports.requirements import why_expected, xfailed
from agenttrace.runs.reference import find_run
from agenttrace.viewer.missing_page import no_run
from agenttrace.viewer.people import words_on_run
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.scores import ScoreView, score_view
from agenttrace.viewer.values import arguments_text, short_value

ROWS = 60
_WORST = ("failed", "errored", "not_run", "passed")
SHOWN = {
    "": "All",
    "failed": "Failed",
    "xfailed": "Xfailed",
    "errored": "Errored",
    "not_run": "Not run",
    "passed": "Passed",
    "flaky": "Flaky",
}


class TrialView(NamedTuple):
    """A trial of an example; `scores` are shown for the first one that did not pass, or the first.

    `place` is that of the result in the run.
    """

    result: ScoringResult
    scores: Sequence[ScoreView]
    place: int


class ExampleView(NamedTuple):
    """An example with its trials; `expected` is why its failure was expected, None where it was not."""

    label: str
    about: str
    outcome: str
    trials: Sequence[TrialView]
    passes: int
    shown: TrialView
    expected: str | None = None


class ScorerRow(NamedTuple):
    """A scorer over the whole run."""

    name: str
    mean: float | None
    scored: int
    total: int
    outcomes: Mapping[str, int]


def run_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The run ``id`` (also *last*, a name); ``show`` keeps the examples of one outcome, ``from`` pages."""
    data = find_run(reads.store, asked["id"])
    if data is None:
        return no_run(reads, asked["id"])
    report = EvaluationReport.from_dict(data)
    start = int(asked["from"]) if asked.get("from", "").isdecimal() and len(asked["from"]) < 9 else 0
    context = run_context(report, asked.get("show", ""), start)
    return 200, render("run_page.html", reads, **{**context, "words": words_on_run(reads, report)})


def run_context(report: EvaluationReport, show: str = "", start: int = 0, rows: int = ROWS) -> dict[str, Any]:
    """What a run's page is drawn from."""
    examples = example_views(report)
    counts = {key: sum(_is_shown(example, key) for example in examples) for key in SHOWN}
    chosen = [example for example in examples if _is_shown(example, show)]
    return {
        "report": report,
        "xfailed": xfailed(report),
        "tabs": [(key, word, counts[key]) for key, word in SHOWN.items() if counts[key] or not key],
        "show": show if show in SHOWN else "",
        "examples": chosen[start : start + rows],
        "count": len(chosen),
        "start": start,
        "after": start + rows if start + rows < len(chosen) else None,
        "scorers": scorer_rows(report),
        "metrics": metric_rows(report),
        "trials": max((result.trials for result in report), default=1),
        "facts": _facts(report.metadata),
        "words": {},
    }


def _is_shown(example: ExampleView, show: str) -> bool:
    if show == "flaky":
        return 0 < example.passes < len(example.trials)
    outcome = example.outcome if example.expected is None else "xfailed"
    return show not in SHOWN or not show or outcome == show


def example_views(report: EvaluationReport) -> list[ExampleView]:
    """The examples of a run, those that failed first, and last of these those that were expected to."""
    by_position: dict[int, list[tuple[int, ScoringResult]]] = {}
    for place, result in enumerate(report):
        by_position.setdefault(result.position, []).append((place, result))
    views = []
    for position, results in sorted(by_position.items()):
        view = _example_view(results)
        why = why_expected(report, position) if view.outcome == "failed" else None
        views.append(view._replace(expected=why))
    return sorted(views, key=_place)


def _place(view: ExampleView) -> tuple[int, bool, float]:
    return _WORST.index(view.outcome), view.expected is not None, view.passes / len(view.trials)


def _example_view(results: Sequence[tuple[int, ScoringResult]]) -> ExampleView:
    trials = [
        TrialView(result, [score_view(score, result.trace) for score in result.scores], place)
        for place, result in results
    ]
    outcomes = [result.outcome for _, result in results]
    outcome = next((word for word in _WORST if word in outcomes), "passed")
    first = trials[0].result
    shown = next((trial for trial in trials if trial.result.outcome == outcome), trials[0])
    example_input = first.example.input
    about = "" if example_input is None else short_value(example_input, 160)
    if isinstance(example_input, Mapping):
        about = arguments_text(example_input)
    label = first.name or f"example {first.position + 1}"
    return ExampleView(label, about, outcome, trials, outcomes.count("passed"), shown)


def scorer_rows(report: EvaluationReport) -> list[ScorerRow]:
    """Each scorer of a run with its mean and its outcomes."""
    outcomes: dict[str, dict[str, int]] = {}
    for result in report:
        for score in result.scores:
            counts = outcomes.setdefault(score.name, {})
            counts[score.outcome] = counts.get(score.outcome, 0) + 1
    means, asked = report.means, asked_counts(result.scores for result in report)
    return [
        ScorerRow(
            name,
            float(means[name]) if name in means else None,
            means[name].count if name in means else 0,
            asked[name],
            counts,
        )
        for name, counts in outcomes.items()
    ]


def _facts(metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is known of how a run came about, in words."""
    git, dataset = metadata.get("git"), metadata.get("dataset")
    facts = []
    if isinstance(git, Mapping):
        dirty = " with changes" if git.get("dirty") else ""
        facts.append(("git", f"{git.get('branch') or ''} {str(git.get('commit') or '')[:8]}{dirty}".strip()))
    if isinstance(dataset, Mapping):
        facts.append(
            ("dataset", str(dataset.get("alias") or dataset.get("file") or dataset.get("fingerprint"))[:40])
        )
    words = [(key, metadata.get(key)) for key in ("function", "requirement")]
    return facts + [(key, text[:120]) for key, text in words if isinstance(text, str)]
