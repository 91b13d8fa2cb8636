"""Runners: threads that carry whole examples, watched by the thread that waits for them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import wait
from contextvars import copy_context
from typing import Any

from agenttrace.process.threads import start_thread
from agenttrace.scoring.isolation import LATE, Call, Job, Outcome, Steps, Wait

NOTICE = 0.1
"""Seconds after which the waiting thread looks at the runners, and handles signals: one that arrives just
before it waits, or on Windows at any time, does not wake it."""

SCORING_OVERLAP = 8
"""Examples whose slow scoring may overlap with the agents of others. Scoring is pure, where agents may not
be."""

Carried = tuple[Steps[None], Any]
"""An example's steps, and the answer that they wait for."""


class Runner:
    """One thread: the steps that it carries, and the call that it makes at the moment.

    `scoring_since`: when the agent of its example was back. `overlaps`: another one has its place meanwhile.
    """

    def __init__(self, *, overlaps: bool = False) -> None:
        self.overlaps = overlaps
        self.steps: Steps[None] | None = None
        self.job: Job | None = None
        self.scoring_since: float | None = None


class Runners:
    """As many threads as there are `places`; each takes an example from `begin` and carries all its steps.

    So nothing is handed over per example. The thread that waits in `run` looks at the calls: a runner whose
    call is overdue is left behind, and a new one goes on with its example. A runner that scores for longer
    than `NOTICE` gives its place to a further one, of which there are `SCORING_OVERLAP`.
    """

    def __init__(self, begin: Callable[[], Steps[None] | None], places: int, timeout: float | None) -> None:
        self._begin = begin
        self._places = places
        self._longest_pause = self._pause = NOTICE if timeout is None else min(NOTICE, timeout)
        self._context = copy_context()
        self._lock = threading.Lock()
        self._runners: set[Runner] = set()
        self._unfinished: deque[Carried] = deque()
        self._ended = threading.Event()
        self._stopping = False
        self._error: BaseException | None = None

    def run(self) -> None:
        """Carry all examples to their ends; what a runner could not deal with is raised here.

        Raises:
            Interrupted: the user's code raised KeyboardInterrupt.
            RuntimeError: no thread can be started.
        """
        try:
            with self._lock:
                for _ in range(self._places):
                    self._start(Runner())
            while not self._ended.wait(self._pause):
                self._look()
        finally:
            self._stopping = True
        if self._error is not None:
            raise self._error

    def _start(self, runner: Runner, carried: Carried | None = None) -> None:
        """Start a runner; where no thread can be started, the others do its work."""
        context = self._context.copy()
        self._runners.add(runner)
        try:
            start_thread(lambda: context.run(self._serve, runner, carried), "eval")
        except RuntimeError as error:
            self._runners.discard(runner)
            if carried is not None:
                self._unfinished.append(carried)
            if not self._runners:
                self._end(error)

    def _end(self, error: BaseException | None) -> None:
        self._error = self._error or error
        self._ended.set()

    def _serve(self, runner: Runner, carried: Carried | None) -> None:
        error: BaseException | None = None
        try:
            while carried := carried or self._next(runner):
                if not self._carry(runner, *carried):
                    return
                carried = None
        except BaseException as raised:  # choke-point: the waiting thread raises it
            error = raised
        with self._lock:
            self._runners.discard(runner)
            if error is not None or not self._runners:
                self._end(error)

    def _next(self, runner: Runner) -> Carried | None:
        with self._lock:
            if self._stopping or (runner.overlaps and self._working() >= self._places):
                self._runners.discard(runner)
                return None
            runner.overlaps, runner.scoring_since = False, None
            if self._unfinished:
                return self._unfinished.popleft()
            steps = self._begin()
            if steps is None:
                self._runners.discard(runner)  # at once: whoever finishes later sees that the place is free
                return None
            return steps, None

    def _working(self) -> int:
        return sum(not runner.overlaps for runner in self._runners)

    def _carry(self, runner: Runner, steps: Steps[None], answer: Any) -> bool:
        """Carry steps to their end. Returns False where the runner was left behind, or all is over."""
        runner.steps = steps
        try:
            while not self._stopping:
                step = steps.send(answer)
                if isinstance(step, Call):
                    answer = self._make(runner, step)
                    if answer is None:
                        return False
                elif isinstance(step, Wait):
                    answer = bool(wait((step.future,), step.timeout).done)
                else:
                    runner.scoring_since, answer = time.perf_counter(), None
        except StopIteration:
            return True
        return False

    def _make(self, runner: Runner, call: Call) -> Outcome | None:
        """Make a call. Returns None where the runner was left behind meanwhile."""
        runner.job = job = Job(call)
        outcome = job.run()
        with self._lock:
            runner.job = None
            return None if job.abandoned else outcome

    def _look(self) -> None:
        """Leave the runners whose call is overdue, give the places of slow scoring to others."""
        now = time.perf_counter()
        with self._lock:
            due = now + self._longest_pause
            for runner in list(self._runners):
                job, since = runner.job, runner.scoring_since
                if job is not None and job.due <= now:
                    self._leave(runner, job)
                    continue
                due = due if job is None else min(due, job.due)
                if since is not None and since + NOTICE <= now and not runner.overlaps:
                    self._overlap(runner)
            self._pause = max(due - now, 0.001)

    def _leave(self, runner: Runner, job: Job) -> None:
        """Another runner goes on with the example, whose call is late."""
        assert runner.steps is not None
        job.abandoned = True
        self._runners.discard(runner)
        follower = Runner(overlaps=runner.overlaps)
        follower.scoring_since = runner.scoring_since
        self._start(follower, (runner.steps, LATE._replace(place=job.place)))

    def _overlap(self, runner: Runner) -> None:
        if len(self._runners) < self._places + SCORING_OVERLAP:
            runner.overlaps = True
            self._start(Runner())
