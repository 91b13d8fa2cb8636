"""`LeftBehind`: online evaluations that agents' processes did not finish, resumed by a worker."""

from __future__ import annotations

import time
from collections.abc import Sequence

from agenttrace.core.protocols import KeepsWatch, Scorer, Store, optional
from agenttrace.online.evaluator import OnlineEvaluator
from agenttrace.online.resume import resume

LOOK_SECONDS = 5.0
"""Seconds between two looks at what was left behind."""

PROJECTS_SECONDS = 60.0
DRAIN_SECONDS = 2.0


class LeftBehind:
    """Resumes what `Tracer.async_evaluate` was asked for in processes that ended before it was done.

    `projects` are where it looks; without any, in all those that have traces in the store. An evaluation is
    resumed where all its scorers are among `scorers`, by name, and where the process that owns it has ended.
    Of one on another machine that is not known: it counts as ended ten minutes after it took the evaluation.
    """

    def __init__(
        self, store: Store, scorers: Sequence[Scorer], projects: Sequence[str], concurrency: int
    ) -> None:
        self._store = store
        self._scorers = list(scorers)
        self._projects = list(projects)
        self._finds_projects = not projects
        self._concurrency = concurrency
        self._evaluators: dict[str, OnlineEvaluator] = {}
        self._look_at = self._projects_at = 0.0

    @property
    def busy(self) -> bool:
        """Whether what was resumed is still being done."""
        return any(evaluator.busy for evaluator in self._evaluators.values())

    def resume(self, *, at_once: bool = False) -> int:
        """Resume what was left behind, if it is time to look; returns how much.

        Raises:
            StoreError: the store cannot be read.
        """
        now = time.monotonic()
        if not at_once and now < self._look_at:
            return 0
        self._look_at = now + LOOK_SECONDS
        self._find_projects(now)
        return sum(self._resume(project) for project in self._projects)

    def _find_projects(self, now: float) -> None:
        watch = optional(self._store, KeepsWatch)
        if self._finds_projects and watch is not None and now >= self._projects_at:
            self._projects_at = now + PROJECTS_SECONDS
            self._projects = [one.project for one in watch.trace_counts()]

    def _resume(self, project: str) -> int:
        if not self._store.pending_evaluations(project):
            return 0
        evaluator = self._evaluators.get(project)
        if evaluator is None:
            evaluator = self._evaluators[project] = OnlineEvaluator(
                self._store,
                project,
                flush_spans=lambda _: None,
                concurrency=self._concurrency,
                drain_seconds=DRAIN_SECONDS,
            )
        return len(resume(evaluator, self._scorers))

    def close(self) -> None:
        """Wait a moment for what is being done; the rest stays pending for others."""
        for evaluator in self._evaluators.values():
            evaluator.close()
