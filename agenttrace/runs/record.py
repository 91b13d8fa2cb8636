"""`RunRecord`s of a report, and of a run as a store returns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agenttrace.core.aggregates import trials_by_example
from agenttrace.core.jsonable import clean_text
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.run_comparison import ExampleRecord, RunRecord
from agenttrace.redaction import Redaction
from agenttrace.runs.fingerprints import dataset_fingerprint, fingerprint_of

_SHOWN_ID = 8


def record_of_report(report: EvaluationReport, *, label: str | None = None) -> RunRecord:
    """Return what a comparison needs of a report; `label` is how messages call the run.

    Fingerprints and ids of the examples are those in the report's metadata, which were taken before anything
    was redacted; a report without them has those of its examples. Names are redacted, as they are in the
    store.
    """
    prints = prints_of(report.metadata)
    examples = [_example(trials, prints) for trials in trials_by_example(report.results)]
    scores = [score for result in report.results for score in result.scores]
    git, dataset = report.metadata.get("git"), report.metadata.get("dataset")
    fingerprint = dataset.get("fingerprint") if isinstance(dataset, Mapping) else None
    return RunRecord(
        label=label or f"run {report.run_id[:_SHOWN_ID]}",
        run_id=report.run_id,
        name=report.name,
        project=report.project,
        model=report.model,
        started_ns=report.started_ns,
        examples=tuple(examples),
        scorers=tuple(dict.fromkeys(score.name for score in scores)),
        lower_is_better=frozenset(score.name for score in scores if score.lower_is_better),
        informing=frozenset(score.name for score in scores) - {score.name for score in scores if score.gate},
        git=git if isinstance(git, Mapping) else {},
        dataset=fingerprint or dataset_fingerprint(example.fingerprint for example in examples),
        is_complete=not report.metadata.get("interrupted"),
    )


def record_of_run(run: Mapping[str, Any], label: str | None = None) -> RunRecord:
    """Return what a comparison needs of a run that `Store.run` returned; `label` is how messages call it."""
    return record_of_report(EvaluationReport.from_dict(run), label=label)


def without_diffs(record: RunRecord) -> RunRecord:
    """The run without aligned diffs, for a comparison beside a report that has them."""
    return replace(record, examples=tuple(replace(example, diffs={}) for example in record.examples))


def prints_of(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The fingerprints, and ids, of a run's examples by their position; none in runs of earlier versions."""
    examples = metadata.get("examples")
    is_ours = isinstance(examples, list) and all(
        isinstance(entry, Mapping)
        and isinstance(entry.get("fingerprint"), str)
        and isinstance(entry.get("id"), str | None)
        for entry in examples
    )
    return list(examples) if is_ours and examples is not None else []


def shown_name(name: str) -> str:
    """An example's name as it is stored, without secrets."""
    return str(Redaction().inside(clean_text(name)))


def _example(trials: Sequence[ScoringResult], prints: Sequence[Mapping[str, Any]]) -> ExampleRecord:
    """One example's trials together."""
    first = trials[0]
    if first.position < len(prints):
        fingerprint, example_id = prints[first.position]["fingerprint"], prints[first.position].get("id")
    else:
        own_id = "example_id" in first.example.model_fields_set
        fingerprint, example_id = fingerprint_of(first.example), first.example.example_id if own_id else None
    names = dict.fromkeys(score.name for trial in trials for score in trial.scores)
    values = {
        name: tuple(
            next((score.value for score in trial.scores if score.name == name), None) for trial in trials
        )
        for name in names
    }
    bad = next((trial for trial in trials if not trial.success), None)
    failed = [s for s in bad.scores if s.gate and s.outcome in ("failed", "errored")] if bad else []
    error = ((bad.error if bad else None) or "").strip().splitlines()[-1:]
    return ExampleRecord(
        fingerprint=fingerprint,
        example_id=example_id,
        name=None if first.name is None else shown_name(first.name),
        position=first.position,
        outcomes=tuple(trial.outcome for trial in trials),
        values=values,
        why=error[0] if error else next((score.reason for score in failed), None),
        diffs={score.name: score.diff for score in failed if score.diff},
    )
