"""`RunHeader`: the part of a report that is about the run as a whole."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Store
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.evaluation.engine import Engine
from agenttrace.evaluation.resume import earlier_run
from agenttrace.evaluation.schedule import Place
from agenttrace.evaluation.trials import as_trials
from agenttrace.redaction import Redaction
from agenttrace.suite.analyses import SuiteAnalyses
from agenttrace.suite.coverage import constant

FLUSH_SECONDS = 5.0


def wait_for_traces(tracer: Any) -> None:
    """Wait until the traces of this process are stored, that a run which is gone on with may have."""
    flush = getattr(tracer, "flush", None)
    if callable(flush):
        flush(FLUSH_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeader:
    """The part of a report that is about the run as a whole, with the time when it began."""

    name: str | None
    project: str
    model: str | None
    metadata: Mapping[str, Any]
    facts: Mapping[str, Any]
    places: tuple[int, ...] | None = None
    """Of which example each one is a trial, where several are."""
    started_ns: int = field(default_factory=time.time_ns)
    start: float = field(default_factory=time.perf_counter)
    run_id: str = field(default_factory=lambda: uuid4().hex)
    before: float = 0.0
    """Seconds that the run took before it was resumed."""

    def resumed(
        self,
        reference: str,
        store: Store | None,
        examples: tuple[Example, ...],
        engine: Engine,
        redaction: Redaction,
    ) -> tuple[RunHeader, Mapping[Place, ScoringResult]]:
        """That of the run that is gone on with, and the results that it has. See `earlier_run`."""
        if self.places is not None:
            raise ConfigError(
                "resume cannot be used with trials_by: a stored run has lost which example was which"
            )
        earlier = earlier_run(
            store,
            reference,
            examples,
            self.facts,
            project=self.project,
            model=self.model,
            trials=engine.trials,
            redaction=redaction,
            one_by_one=engine.settled is not None,
        )
        header = replace(
            self,
            run_id=earlier.run_id,
            name=earlier.name,
            started_ns=earlier.started_ns,
            before=earlier.duration,
            facts={**self.facts, "resumed": f"with {len(earlier.results)} results"},
        )
        return header, earlier.results

    def report(
        self, engine: Engine, stored: Collection[Place] | None = None, **more: Any
    ) -> EvaluationReport:
        """Return a report of the results so far.

        With `stored` it is that of a run which lasts and of which these results are in the store, without
        results: whenever the process dies, what is not among them counts as not run.
        """
        results = engine.results() if stored is None else ()
        if missing := engine.missing(stored):
            more["not_run"] = missing
        return EvaluationReport(
            results=results if self.places is None else as_trials(results, self.places),
            name=self.name or _run_name(self.started_ns),
            project=self.project,
            model=self.model,
            started_ns=self.started_ns,
            duration=self.before + time.perf_counter() - self.start,
            run_id=self.run_id,
            metadata={**self.facts, **self.metadata, **engine.spent(), **more},
            analyses=SuiteAnalyses(engine.scorers_of or constant(engine.scorers)),
        )


def _run_name(started_ns: int) -> str:
    moment = datetime.fromtimestamp(started_ns / 1e9, tz=UTC)
    return f"eval-{moment:%Y%m%d-%H%M%S}-{started_ns // 1000 % 1_000_000:06d}"
