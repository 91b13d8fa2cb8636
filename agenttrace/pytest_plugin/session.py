"""The results of all marked tests of one run of pytest, over all workers, as one evaluation run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import pytest

from agenttrace.core.errors import AgentTraceError, error_text
from agenttrace.core.json_reader import strict_json
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.protocols import HasPath, Store, optional
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.run_comparison import ExampleRecord, RunRecord
from agenttrace.core.suite_coverage import merged_coverage
from agenttrace.core.trace import Trace
from agenttrace.evaluation.run import Evaluation
from agenttrace.pytest_plugin import RESULTS
from agenttrace.pytest_plugin.html_report import write_report
from agenttrace.pytest_plugin.suite import named_as, project_name, run_name, store_named, suite_of
from agenttrace.redaction import Redaction
from agenttrace.reports.first_line import label
from agenttrace.reports.markdown import scorer_rows
from agenttrace.reports.requirements import expected_failure
from agenttrace.reports.run_comparison import comparison_lines
from agenttrace.reports.terminal import relative_source
from agenttrace.reports.text import safe_line
from agenttrace.runs.baseline import baseline_of
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.fingerprints import dataset_fingerprint
from agenttrace.runs.record import record_of_report, without_diffs
from agenttrace.runs.saved_baseline import LeftOut, narrowed, save_baseline
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store import open_store
from agenttrace.store.kept import check_kept
from agenttrace.updates.update import ExampleChange, change_of, updated

_MEMORY_STORES: dict[int, Store] = {}
"""The stores of this process that have no path, by their `id`: only this process can write to them."""


def hand_over(item: pytest.Item, report: EvaluationReport, evaluation: Evaluation) -> None:
    """Give a test's results to its report, without secrets; each is named as its test is, so that names in
    the run differ.
    """
    store = evaluation.store
    has_path = None if store is None else optional(store, HasPath)
    if store is not None and has_path is None:
        _MEMORY_STORES[id(store)] = store
    rows = strict_json(item.stash.get(RESULTS, "[]"))
    analyses: dict[str, Any] = {}
    if _wants_coverage(item.config):
        analyses["coverage"] = report.coverage().to_dict()
    if item.config.getoption("agenttrace_update"):
        change = change_of(report.results, evaluation.engine.scorers)
        analyses["change"] = None if change is None else change.to_dict()
    facts = evaluation.redaction.inside(jsonable(dict(evaluation.header.facts)))
    for result in redacted_report(named_as(item, report), evaluation.redaction).results:
        row = result.to_dict()
        path = None if has_path is None else str(has_path.path)
        rows.append(
            {
                "result": row,
                "project": report.project,
                "path": path,
                "store": id(store),
                "facts": facts,
                "baseline": suite_of(item.config).baseline_reference(item.config),
                **analyses,
            }
        )
        analyses = {}
    item.stash[RESULTS] = to_json(rows)


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The run of all tests, and the lines to print of it."""

    report: EvaluationReport
    lines: Sequence[str]
    comparison: Sequence[str] = ()
    failed: bool = False


Extent = Literal["whole", "part", "interrupted"]
"""How much was run of the files that were collected."""


def finished(
    collected: Iterable[tuple[str, str | None]], config: pytest.Config, began: float, extent: Extent
) -> FinishedRun:
    """Keep what all tests scored as one run in the store of their traces.

    `collected` are the results of each test as text, and why its failure was expected. What a run lacks that
    Control-C or ``-x`` ended was not run, and it is no baseline.
    """
    rows = [{**row, "expected": why} for text, why in collected for row in strict_json(text)]
    rows.sort(key=lambda row: (row["result"]["example"]["name"], row["result"]["trial"]))
    report = _with_expected_failures(_report_of(rows, config, began), rows)
    if extent == "interrupted":
        report = replace(report, metadata={**report.metadata, "interrupted": True})
    vacuous = [safe_line(line, 400) for line in report.vacuous_lines]
    is_kept, kept_lines = _keep(report, rows, config)
    lines = [*_scorer_lines(report), *vacuous, *kept_lines, *_update(rows)]
    not_run = report.counts.get("not_run", 0)
    if not_run:
        lines.append(f"{not_run} of {len(report)} not run: {_first_reason(report)}")
    shortfall = None
    if _wants_coverage(config):
        coverage = merged_coverage(row["coverage"] for row in rows if "coverage" in row)
        lines += map(safe_line, coverage.lines)
        least = config.getoption("agenttrace_coverage_fail_under")
        shortfall = None if least is None else coverage.shortfall(least)
        lines += [] if shortfall is None else [shortfall]
    record = record_of_report(report)
    baseline, is_left_out = _baseline(rows, config), _left_out(record, config, extent)
    comparison = (
        None if baseline is None else compare_runs(narrowed(baseline, is_left_out), without_diffs(record))
    )
    is_saved, saved_lines = _save_baseline(record, config, is_left_out)
    is_written, written_lines = write_report(config, report, _trace_in(rows))
    lines += [*saved_lines, *written_lines]
    # What is worse in single examples has failed their tests, or is in quarantine.
    lost = comparison is not None and bool(comparison.losses)
    return FinishedRun(
        report,
        lines,
        () if comparison is None else [line.text for line in comparison_lines(comparison)],
        failed=not_run > 0 or shortfall is not None or lost or not (is_kept and is_saved and is_written),
    )


def _wants_coverage(config: pytest.Config) -> bool:
    least = config.getoption("agenttrace_coverage_fail_under")
    return bool(config.getoption("agenttrace_coverage")) or least is not None


def _first_reason(report: EvaluationReport) -> str:
    return next(result.error or "" for result in report.results if result.outcome == "not_run")


def _baseline(rows: Sequence[Mapping[str, Any]], config: pytest.Config) -> RunRecord | None:
    """The baseline of this process, or the one that the workers of xdist found, read again."""
    reference, label = rows[0]["baseline"]
    if reference is None or suite_of(config).baseline is not None:
        return suite_of(config).baseline
    path = rows[0]["path"]
    store = store_named(config) or (open_store(path) if path else None)
    return replace(baseline_of(reference, store, (), project=rows[0]["project"]), label=label)


def _save_baseline(
    record: RunRecord, config: pytest.Config, is_left_out: LeftOut
) -> tuple[bool, Sequence[str]]:
    """Save this run as a baseline where that is asked for; whether that went well, and lines about it."""
    path = config.getoption("agenttrace_save_baseline")
    if path is None:
        return True, ()
    if not record.is_complete:
        return True, [f"no baseline was written to {path}: the run was interrupted"]
    try:
        with chdir(config.invocation_params.dir):  # a test may have changed the directory
            return True, save_baseline(record, path, is_left_out)
    except AgentTraceError as error:
        return False, [f"the baseline could not be written: {error}"]


def _left_out(record: RunRecord, config: pytest.Config, extent: Extent) -> LeftOut:
    """Tells the tests that were not to be run: in a part of a suite every other one, else those of other
    files, as long as there are such files.
    """
    names = {example.name for example in record.examples}
    files = {name.partition("::")[0] for name in names if name is not None}

    def is_left_out(example: ExampleRecord) -> bool:
        file = (example.name or "").partition("::")[0]
        is_elsewhere = file not in files and (config.rootpath / file).is_file()
        return example.name not in names and (extent == "part" or is_elsewhere)

    return is_left_out


def _update(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Write what ran into the files of the examples that failed by it; say what changed and what did not."""
    changes = [ExampleChange.from_dict(row["change"]) for row in rows if row.get("change")]
    of_file: dict[str, list[ExampleChange]] = {}
    for change in changes:
        path = change.source.rpartition(":")[0]
        if path:
            of_file.setdefault(path, []).append(change)
    for path, some in of_file.items():
        try:
            update = updated(path, some)
            yield from update.diff.splitlines()
            for example in update.examples:
                yield from (f"{example.title}: {text}" for text in (*example.notes, example.why_not) if text)
            update.write()
        except AgentTraceError as error:
            yield f"not updated: {error}"
        else:
            if update.changed:
                yield f"updated {relative_source(path)}: run again to see it pass"


def _report_of(rows: Iterable[Mapping[str, Any]], config: pytest.Config, began: float) -> EvaluationReport:
    """One report of the results of all tests, in the order of the tests' names."""
    results: list[ScoringResult] = []
    positions: dict[str | None, int] = {}
    for row in rows:
        result = ScoringResult.from_dict(row["result"])
        if "id" not in row["facts"]["examples"][0]:  # nobody gave it one, so that it is another in each run
            result.example.model_fields_set.discard("example_id")
        results.append(replace(result, position=positions.setdefault(result.name, len(positions))))
    projects = {row["project"] for row in rows}
    return EvaluationReport(
        results=tuple(results),
        name=run_name(config),
        project=project_name(projects, config),
        model=Redaction().inside(config.getoption("agenttrace_model")),
        started_ns=int(began * 1e9),
        duration=time.time() - began,
        metadata=_metadata_of(rows, config),
    )


def _with_expected_failures(report: EvaluationReport, rows: Sequence[Mapping[str, Any]]) -> EvaluationReport:
    """The report whose metadata say which failures pytest counts as expected ones."""
    expected: dict[int, dict[str, Any]] = {}
    for result, row in zip(report.results, rows, strict=True):
        if row["expected"] is not None and result.outcome == "failed":
            why = Redaction().inside(row["expected"].removeprefix("reason: ")) or "xfail"
            expected[result.position] = expected_failure(report, result.position, label(result), why)
    if not expected:
        return report
    return replace(report, metadata={**report.metadata, "expected_failures": list(expected.values())})


def _metadata_of(rows: Iterable[Mapping[str, Any]], config: pytest.Config) -> dict[str, Any]:
    """The metadata of one run, from those of its tests; `rows` are in the order of the results."""
    facts = {row["result"]["example"]["name"]: row["facts"] for row in rows}
    examples = [one for fact in facts.values() for one in fact["examples"]]
    scorers = {to_json(one): one for fact in facts.values() for one in fact["scorers"]}
    first = next(iter(facts.values()))
    prints = [one["fingerprint"] for one in examples]
    not_run = sum(row["result"]["outcome"] == "not_run" for row in rows)
    return {
        **{name: first[name] for name in ("git", "versions") if name in first},
        "dataset": {"fingerprint": dataset_fingerprint(prints), "examples": len(prints)},
        "examples": examples,
        "scorers": list(scorers.values()),
        "pytest": Redaction().inside([str(argument) for argument in config.invocation_params.args]),
        **({"not_run": not_run} if not_run else {}),
    }


def _keep(
    report: EvaluationReport, rows: Sequence[Mapping[str, Any]], config: pytest.Config
) -> tuple[bool, Sequence[str]]:
    """Store the run where the traces of the first test that has a store are, and say where; False where that
    went wrong in a store that the command names."""
    for row in rows:
        store = open_store(row["path"]) if row["path"] else _MEMORY_STORES.get(row["store"])
        if store is None:
            continue
        try:
            store.write_report(report)
            check_kept(store)
        except Exception as error:  # choke-point: the tests have their outcomes, whatever the store says
            is_named = config.getoption("agenttrace_store") is not None
            return not is_named, [f"the run could not be stored: {error_text(error)}"]
        path = row["path"]
        return True, [f"run {report.run_id[:8]} in {relative_source(path)}"] if path else []
    return True, ()


def _trace_in(rows: Sequence[Mapping[str, Any]]) -> Callable[[str], Trace | None]:
    """Reads a trace from the stores of the tests; a store that cannot be read has none."""
    paths = dict.fromkeys(row["path"] for row in rows if row["path"])
    stores = [*map(open_store, paths), *_MEMORY_STORES.values()]

    def trace_of(trace_id: str) -> Trace | None:
        for store in stores:
            with suppress(AgentTraceError):
                trace = store.trace(trace_id)
                if trace is not None:
                    return trace
        return None

    return trace_of


def _scorer_lines(report: EvaluationReport) -> Iterator[str]:
    """For each scorer its name, its mean over how many of how many, how many passed, failed, errored."""
    rows = scorer_rows(report)
    width = max((len(name) for name, _, _ in rows), default=0)
    for name, mean, counts in rows:
        yield f"{safe_line(name):<{width}}  {mean}  {counts}"
