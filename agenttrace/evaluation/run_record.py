"""`RunRecord`s of a report, and of a run as a store returns it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import clean_text
from agenttrace.core.report import EvaluationReport
from agenttrace.core.run_comparison import ExampleRecord, RunRecord
from agenttrace.evaluation.fingerprints import dataset_fingerprint, fingerprint_of
from agenttrace.tracing.redaction import Redaction

_SHOWN_ID = 8


@dataclass(frozen=True, slots=True)
class _Score:
    """What a record needs of a score."""

    name: str
    value: float | None
    outcome: str
    reason: str
    diff: str | None
    lower_is_better: bool


@dataclass(frozen=True, slots=True)
class _Trial:
    """What a record needs of one trial of one example."""

    example: ExampleRecord
    outcome: str
    error: str | None
    scores: Sequence[_Score]


def record_of_report(report: EvaluationReport, *, redaction: Redaction | None = None) -> RunRecord:
    """Return what a comparison needs of a report; names are redacted, as they are in the store."""
    rules = redaction or Redaction()
    trials = [
        _Trial(
            ExampleRecord(
                fingerprint=fingerprint_of(result.example),
                example_id=result.example.example_id
                if "example_id" in result.example.model_fields_set
                else None,
                name=None if result.name is None else str(rules.inside(clean_text(result.name))),
                position=result.position,
            ),
            result.outcome,
            result.error,
            [_Score(s.name, s.value, s.outcome, s.reason, s.diff, s.lower_is_better) for s in result.scores],
        )
        for result in report.results
    ]
    record = _record(trials, report.metadata, report.run_id)
    return replace(
        record,
        name=report.name,
        project=report.project,
        model=report.model,
        started_ns=report.started_ns,
    )


def record_of_run(run: Mapping[str, Any], label: str | None = None) -> RunRecord:
    """Return what a comparison needs of a run that `Store.run` returned; `label` is how messages call it."""
    trials = [
        _Trial(
            _stored_example(entry, run["metadata"]),
            entry["outcome"],
            entry["error"],
            [
                _Score(
                    score["name"],
                    score["value"],
                    score["outcome"],
                    score["reason"],
                    score.get("diff"),
                    bool(score.get("lower_is_better")),
                )
                for score in entry["scores"]
            ],
        )
        for entry in run["results"]
    ]
    record = _record(trials, run["metadata"], run["run_id"])
    return replace(
        record,
        label=label or record.label,
        name=run["name"],
        project=run["project"],
        model=run["model"],
        started_ns=run["started_ns"],
    )


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


def _stored_example(entry: Mapping[str, Any], metadata: Mapping[str, Any]) -> ExampleRecord:
    position, prints = entry["position"], prints_of(metadata)
    if position < len(prints):
        fingerprint, example_id = prints[position]["fingerprint"], prints[position].get("id")
    else:
        fingerprint, example_id = _fingerprint_of(entry["example"]), entry["example"].get("example_id")
    return ExampleRecord(
        fingerprint=fingerprint, example_id=example_id, name=entry["name"], position=position
    )


def _fingerprint_of(fields: Mapping[str, Any]) -> str:
    """The fingerprint of a stored example, whose other fields may be redacted into what no example has."""
    names = ("input", "expected_output", "expected_tools", "context")
    try:
        return fingerprint_of(Example.from_dict({name: fields.get(name) for name in names}))
    except AgentTraceError:
        return fingerprint_of(Example(expected_output={name: fields.get(name) for name in names}))


def _record(trials: Iterable[_Trial], metadata: Mapping[str, Any], run_id: str) -> RunRecord:
    by_position: dict[int, list[_Trial]] = {}
    lower: set[str] = set()
    scorers: dict[str, None] = {}
    for trial in trials:
        by_position.setdefault(trial.example.position, []).append(trial)
        scorers.update(dict.fromkeys(score.name for score in trial.scores))
        lower.update(score.name for score in trial.scores if score.lower_is_better)
    examples = [_example(some) for some in by_position.values()]
    git, dataset = metadata.get("git"), metadata.get("dataset")
    fingerprint = dataset.get("fingerprint") if isinstance(dataset, Mapping) else None
    return RunRecord(
        label=f"run {run_id[:_SHOWN_ID]}",
        run_id=run_id,
        examples=tuple(examples),
        scorers=tuple(scorers),
        lower_is_better=frozenset(lower),
        git=git if isinstance(git, Mapping) else {},
        dataset=fingerprint or dataset_fingerprint(example.fingerprint for example in examples),
        is_complete=not metadata.get("interrupted"),
    )


def _example(trials: Sequence[_Trial]) -> ExampleRecord:
    """One example's trials together."""
    names = dict.fromkeys(score.name for trial in trials for score in trial.scores)
    values = {
        name: tuple(
            next((score.value for score in trial.scores if score.name == name), None) for trial in trials
        )
        for name in names
    }
    bad = next((trial for trial in trials if trial.outcome != "passed"), None)
    failed = [score for score in bad.scores if score.outcome in ("failed", "errored")] if bad else []
    error = ((bad.error if bad else None) or "").strip().splitlines()[-1:]
    return replace(
        trials[0].example,
        outcomes=tuple(trial.outcome for trial in trials),
        values=values,
        why=error[0] if error else next((score.reason for score in failed), None),
        diffs={score.name: score.diff for score in failed if score.diff},
    )
