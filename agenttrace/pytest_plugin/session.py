"""The results of all marked tests of one run of pytest, over all workers, as one evaluation run."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from agenttrace.core.errors import error_text
from agenttrace.core.jsonable import to_json
from agenttrace.core.protocols import HasPath, Store, optional
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.evaluation.fingerprints import dataset_fingerprint
from agenttrace.evaluation.run import Evaluation
from agenttrace.pytest_plugin import RESULTS
from agenttrace.reports.markdown import scorer_rows
from agenttrace.reports.terminal import relative_source
from agenttrace.reports.text import safe_line
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store import open_store

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
    rows = json.loads(item.stash.get(RESULTS, "[]"))
    for result in redacted_report(report, evaluation.redaction).results:
        row = result.to_dict()
        row["example"]["name"] = item.nodeid
        path = None if has_path is None else str(has_path.path)
        rows.append(
            {
                "result": row,
                "project": report.project,
                "path": path,
                "store": id(store),
                "facts": evaluation.header.facts,
            }
        )
    item.stash[RESULTS] = to_json(rows)


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The run of all tests, and the lines to print of it."""

    report: EvaluationReport
    lines: Sequence[str]


def finished(texts: Iterable[str], config: pytest.Config, began: float) -> FinishedRun:
    """Keep what all tests scored as one run in the store of their traces."""
    rows = [row for text in texts for row in json.loads(text)]
    rows.sort(key=lambda row: (row["result"]["example"]["name"], row["result"]["trial"]))
    report = _report_of(rows, config, began)
    return FinishedRun(report, [*_scorer_lines(report), *_keep(report, rows)])


def _report_of(rows: Iterable[Mapping[str, Any]], config: pytest.Config, began: float) -> EvaluationReport:
    """One report of the results of all tests, in the order of the tests' names."""
    results: list[ScoringResult] = []
    positions: dict[str | None, int] = {}
    for row in rows:
        result = ScoringResult.from_dict(row["result"])
        results.append(replace(result, position=positions.setdefault(result.name, len(positions))))
    projects = {row["project"] for row in rows}
    return EvaluationReport(
        results=tuple(results),
        name=f"pytest {config.rootpath.name}",
        project=projects.pop() if len(projects) == 1 else config.rootpath.name,
        model=config.getoption("agenttrace_model"),
        started_ns=int(began * 1e9),
        duration=time.time() - began,
        metadata=_metadata_of(rows, config),
    )


def _metadata_of(rows: Iterable[Mapping[str, Any]], config: pytest.Config) -> dict[str, Any]:
    """The metadata of one run, from those of its tests; `rows` are in the order of the results."""
    facts = {row["result"]["example"]["name"]: row["facts"] for row in rows}
    examples = [one for fact in facts.values() for one in fact["examples"]]
    scorers = {json.dumps(one, sort_keys=True): one for fact in facts.values() for one in fact["scorers"]}
    first = next(iter(facts.values()))
    prints = [one["fingerprint"] for one in examples]
    return {
        **{name: first[name] for name in ("git", "versions") if name in first},
        "dataset": {"fingerprint": dataset_fingerprint(prints), "examples": len(prints)},
        "examples": examples,
        "scorers": list(scorers.values()),
        "pytest": [str(argument) for argument in config.invocation_params.args],
    }


def _keep(report: EvaluationReport, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Store the run where the traces of the first test that has a store are; say where."""
    for row in rows:
        store = open_store(row["path"]) if row["path"] else _MEMORY_STORES.get(row["store"])
        if store is None:
            continue
        try:
            store.write_report(report)
        except Exception as error:  # choke-point: the tests have their outcomes, whatever the store says
            yield f"the run could not be stored: {error_text(error)}"
        else:
            if row["path"]:
                yield f"run {report.run_id[:8]} in {relative_source(row['path'])}"
        return


def _scorer_lines(report: EvaluationReport) -> Iterator[str]:
    """For each scorer its name, its mean over how many of how many, how many passed, failed, errored."""
    scores = [
        (score.name, score.value, score.outcome) for result in report.results for score in result.scores
    ]
    rows = scorer_rows(scores)
    width = max((len(name) for name, _, _ in rows), default=0)
    for name, mean, counts in rows:
        yield f"{safe_line(name):<{width}}  {mean}  {counts}"
