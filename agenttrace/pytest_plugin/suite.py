"""`Suite`: what the command line says of all marked tests together: a baseline, a budget."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Store
from agenttrace.core.report import EvaluationReport
from agenttrace.core.run_comparison import RunRecord
from agenttrace.evaluation.budget import Budget, Spending
from agenttrace.evaluation.run import project_of
from agenttrace.pytest_plugin import SPENT
from agenttrace.pytest_plugin.examples import options_of
from agenttrace.pytest_plugin.html_report import check_report_path
from agenttrace.runs.baseline import baseline_of, is_baseline_path
from agenttrace.runs.storage import store_of
from agenttrace.store import open_store

_SUITE = pytest.StashKey["Suite"]()


@dataclass(frozen=True, slots=True)
class Suite:
    """What holds for all marked tests of this process."""

    baseline: RunRecord | None = None
    spending: SharedSpending | None = None

    def baseline_reference(self, config: pytest.Config) -> tuple[str | None, str | None]:
        """A path or a run's id, by which another process finds the same baseline, and what it is called."""
        if self.baseline is None:
            return None, None
        reference = str(config.getoption("agenttrace_baseline"))
        return reference if is_baseline_path(reference) else self.baseline.run_id, self.baseline.label


def run_name(config: pytest.Config) -> str:
    """The name of the run that all tests of this project make."""
    return f"pytest {config.rootpath.name}"


def project_name(projects: set[str], config: pytest.Config) -> str:
    """The project of a run: the one that all tests are of, else that of the directory."""
    return next(iter(projects)) if len(projects) == 1 else config.rootpath.name


def suite_of(config: pytest.Config) -> Suite:
    """The suite that `read_suite` made; without marked tests an empty one."""
    return config.stash.get(_SUITE, Suite())


def read_suite(config: pytest.Config, items: Sequence[tuple[pytest.Item, Example]]) -> None:
    """Read the baseline and the budget, before any test runs.

    Raises:
        pytest.UsageError: there is no such baseline, the budget cannot be read, the store is no file, the
            report cannot be written.
    """
    check_report_path(config)
    reference, budget = config.getoption("agenttrace_baseline"), config.getoption("agenttrace_budget")
    try:
        store_named(config)
        baseline = None if reference is None else _baseline(reference, config, items)
        spending = None if budget is None else SharedSpending(Budget.parse(budget), config.stash[SPENT])
    except AgentTraceError as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[_SUITE] = Suite(baseline, spending)


def _baseline(
    reference: str, config: pytest.Config, items: Sequence[tuple[pytest.Item, Example]]
) -> RunRecord:
    tracers = [options_of(item).get("tracer") for item, _ in items]
    return baseline_of(
        reference,
        store_named(config) or store_of(None, tracers[0]),
        [example for _, example in items],
        project=project_name({project_of(tracer) for tracer in tracers}, config),
        name=run_name(config),
    )


def store_named(config: pytest.Config) -> Store | None:
    """The store that the command line names."""
    path = config.getoption("agenttrace_store")
    return None if path is None else open_store(path)


def named_as(item: pytest.Item, report: EvaluationReport) -> EvaluationReport:
    """The report with each example named as its test is, so that names in the whole run differ."""
    results = tuple(
        replace(result, example=result.example.model_copy(update={"name": item.nodeid}))
        for result in report.results
    )
    return replace(report, results=results)


class SharedSpending:
    """What all workers together have spent of a budget: a file with a line for each trial."""

    def __init__(self, budget: Budget, path: Path) -> None:
        self._budget = budget
        self._total = Spending(budget)
        self._path = path

    def add(self, report: EvaluationReport) -> None:
        """Add what the agent and the judges of one trial spent."""
        spent = Spending(self._budget)
        for result in report.results:
            spent.add_run(result.trace)
            for score in result.scores:
                spent.add_score(score)
        line = f"{spent.usd!r} {spent.tokens!r} {spent.unpriced}\n".encode()
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line)  # one write: lines of two workers do not mix
        finally:
            os.close(file)

    def why_spent(self) -> str | None:
        """Which limit is reached; None where there is something left."""
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        rows = [line.split() for line in lines]
        self._total.usd = sum(float(row[0]) for row in rows)
        self._total.tokens = sum(float(row[1]) for row in rows)
        self._total.unpriced = sum(int(row[2]) for row in rows)
        return self._total.why_spent(len(rows))
