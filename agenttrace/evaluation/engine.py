"""The engine of an evaluation: many examples at once, each from its agent to its last score."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from agenttrace.core.aggregates import tags_of
from agenttrace.core.errors import AgentTraceError
from agenttrace.core.example import Example
from agenttrace.core.identity import monotonic_ns
from agenttrace.core.protocols import Scorer
from agenttrace.core.report import EvaluationReport, ScoringResult, outcome_of
from agenttrace.core.score import Score
from agenttrace.core.state import only_states
from agenttrace.core.trace import Trace
from agenttrace.evaluation.agent_run import CaptureScope, Run, Target, run_example
from agenttrace.evaluation.budget import Budget, Spending
from agenttrace.evaluation.late_calls import LateCalls
from agenttrace.evaluation.runners import NOTICE, SCORING_OVERLAP, Runners
from agenttrace.evaluation.schedule import Place, Schedule, Settled
from agenttrace.evaluation.simulated import SimulatedRunsOf
from agenttrace.evaluation.worker_pool import PoolLost, WorkerPool
from agenttrace.process.loop_thread import EventLoop, loop_keeper
from agenttrace.process.threads import DaemonExecutor
from agenttrace.scoring.apply import apply_scorer, users_traceback
from agenttrace.scoring.example_scorers import ScorersOf
from agenttrace.scoring.isolation import AGENT_IS_BACK, Interrupted, Isolation, Steps, carried
from agenttrace.scoring.redacted import repeated_secrets
from agenttrace.suite.stated import stated_by

if TYPE_CHECKING:
    from agenttrace.remote_agents import OTLPEndpoint

logger = logging.getLogger("agenttrace")

Measure = Callable[[EvaluationReport], Mapping[str, Any]]
"""Works out metadata of a whole report, such as metrics over its results."""

Progress = Callable[[int, int, ScoringResult], None]
"""Called with the number of results so far, the number of all there will be at most, and the newest result.

One call at a time, on a thread of ours, or on the caller's event loop. What it raises is logged once, and it
is not called again: a broken display must not lose results. This holds
for SystemExit too, which could not end the process from this thread. KeyboardInterrupt ends the run as
Control-C does.
"""


def _recorded_run(example: Example) -> Run:
    """Return the run that an example itself holds; without `tools_called` its trace is None."""
    try:
        return Run(example, None if example.tools_called is None else _trace_of(example))
    except AgentTraceError as error:
        return Run(example, None, why_not_comparable=f"tools_called cannot be read: {error}")


def _trace_of(example: Example) -> Trace:
    """The trace of an example's recorded calls, which says what the example says of the run as a whole."""
    tags, metadata = tags_of(example), dict(example.additional_metadata or {})
    if not example.tags:
        metadata.pop("tags", None)  # they are the tags then
    return Trace.from_calls(
        example.tools_called or (),
        name=example.name,
        input=example.input,
        output=example.actual_output,
        tags=tags,
        metadata=metadata,
    )


@dataclass
class Engine:
    """One evaluation: its examples and settings, and its results so far.

    It is run by `run` or by `run_async`, once. Both carry the same steps: on runner threads while the caller
    waits, or as tasks of the caller's event loop. `advice` is what to do where an agent does not return in
    time. Without a `target`, `run_of` gives the run of an example: by default the one that the example holds.
    `scorers_of` gives the scorers of one example, by default all of `scorers`. See `Schedule` for `settled`
    and `stop_after`.
    """

    examples: tuple[Example, ...]
    scorers: tuple[Scorer, ...]
    target: Target | None
    capture: CaptureScope
    concurrency: int
    timeout: float | None
    trials: int
    executor: Executor | None
    progress: Progress | None
    recording: bool = True
    advice: str = ""
    run_of: Callable[[Example], Run] = _recorded_run
    scorers_of: ScorersOf | None = None
    settled: Settled | None = None
    budget: Budget | None = None
    stop_after: int | None = None
    pool: WorkerPool | None = None
    """Where the agents run, if not in this process."""
    earlier: Mapping[Place, ScoringResult] = field(default_factory=dict)
    """Results that are there already, of a run that this one goes on with."""
    on_result: Callable[[Place, ScoringResult], None] | None = None
    simulate: SimulatedRunsOf | None = None
    endpoint: OTLPEndpoint | None = None
    """Where agents send what they record elsewhere."""
    closes_endpoint: bool = False
    spending: Spending | None = field(default=None, init=False)
    _late_calls: LateCalls = field(default_factory=LateCalls, init=False)
    _schedule: Schedule | None = field(default=None, init=False)
    _display: threading.Lock = field(default_factory=threading.Lock, init=False)
    _results_shown: int = field(default=0, init=False)

    def run(self) -> None:
        """Run all examples on threads of ours, and coroutines on the kept loop of the calling thread.

        Raises:
            Interrupted: the user's code raised KeyboardInterrupt.
        """
        isolation = Isolation(self.executor if self.pool is None else None, loop_keeper().loop)
        try:
            Runners(self._steps_in(isolation), self._places(), self.timeout).run()
        finally:
            self._close(isolation)

    async def run_async(self) -> None:
        """Run all examples as tasks of the running event loop; plain functions on threads.

        Raises:
            Interrupted: the user's code raised KeyboardInterrupt.
        """
        threads = DaemonExecutor(math.inf, name="eval")
        isolation = Isolation((self.pool is None and self.executor) or threads, EventLoop.running)
        begin = self._steps_in(isolation)
        places = self._places()
        agents, loop = asyncio.Semaphore(places), asyncio.get_running_loop()

        async def work() -> None:
            while True:
                await agents.acquire()
                with ExitStack() as place:  # given back once: when scoring is slow, or at the end
                    place.callback(agents.release)
                    steps = begin()
                    if steps is None:
                        return
                    await carried(steps, partial(loop.call_later, NOTICE, place.close))

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(places + SCORING_OVERLAP):
                    group.create_task(work())
        except* Interrupted:
            raise Interrupted from None
        finally:
            self._close(isolation)
            threads.shutdown()

    def _close(self, isolation: Isolation) -> None:
        late = self._late_calls.warning()
        if late is not None:
            logger.warning(late)
        isolation.close()
        if self.pool is not None:
            self.pool.close()
        if self.endpoint is not None and self.closes_endpoint:
            self.endpoint.close()

    def _places(self) -> int:
        return min(self.concurrency, len(self.examples) * self.trials)

    def _steps_in(self, isolation: Isolation) -> Callable[[], Steps[None] | None]:
        """Begin the schedule; returns what begins the next trial, and returns its steps."""
        self.spending = None if self.budget is None else Spending(self.budget)
        self._schedule = schedule = Schedule(
            len(self.examples),
            self.trials,
            settled=self.settled,
            spending=self.spending,
            stop_after=self.stop_after,
            earlier=self.earlier,
        )

        def begin() -> Steps[None] | None:
            place = schedule.next()
            return None if place is None else self._one(place, schedule, isolation)

        return begin

    def _one(self, place: Place, schedule: Schedule, isolation: Isolation) -> Steps[None]:
        """Run one trial of one example; where its values break the engine, only this trial is errored."""
        example = self.examples[place[0]]
        run = Run(example, None)
        try:
            run = yield from self._agent(example, isolation)
            yield AGENT_IS_BACK
            result = yield from self._result(run, place, isolation)
        except KeyboardInterrupt:
            raise Interrupted from None
        except (Interrupted, GeneratorExit):
            raise
        except PoolLost as lost:
            schedule.end(str(lost))
            return
        except BaseException as error:  # choke-point: the user's values run code of their own here
            unusable = run._replace(why_not_comparable=users_traceback(error))
            result = yield from self._result(unusable, place, isolation)
        schedule.add(place, result)
        if self.on_result is not None:
            self.on_result(place, result)
        if self.progress is not None:
            self._report_progress(result, schedule)

    def _agent(self, example: Example, isolation: Isolation) -> Steps[Run]:
        if self.target is None:
            return self.run_of(example)
        capture, timeout, advice = self.capture, self.timeout, self.advice
        if self.pool is None:
            began, followed = monotonic_ns(), self._late_calls.followed(capture)
            run = yield from run_example(
                self.target, example, followed, isolation, timeout, advice, self.simulate, self.endpoint
            )
            run = self._with_late_calls(run, example, began)
        else:
            run = yield from self.pool.run(self.target, example, capture, timeout, advice)
        if self.spending is not None:
            self.spending.add_run(run.trace)
        if self.recording or run.trace is None or not only_states(run.trace.spans):
            return run
        return run._replace(trace=None)  # an empty trace would say that nothing was called

    def _with_late_calls(self, run: Run, example: Example, began: int) -> Run:
        """The run; it cannot be compared where calls that may be its own are in another's trace."""
        if run.failure is not None and run.trace is not None:
            self._late_calls.leave_out(run.trace.trace_key)
        if run.failure is not None or run.why_not_comparable is not None:
            return run
        scorers = self.scorers if self.scorers_of is None else self.scorers_of(example)
        why_not = self._late_calls.why_not_comparable(
            began, monotonic_ns(), partial(stated_by, example, scorers)
        )
        return run if why_not is None else run._replace(why_not_comparable=why_not)

    def _result(self, run: Run, place: Place, isolation: Isolation) -> Steps[ScoringResult]:
        why_not = run.why_not_comparable
        name = "the test" if self.target is None else self.target.name
        if (self.target or run.ran) and run.failure is None and why_not is None:
            why_not = why_not_comparable(run.example, run.trace, name)
        scores: list[Score] = []
        if run.failure is None and why_not is None:
            scorers = self.scorers if self.scorers_of is None else self.scorers_of(self.examples[place[0]])
            for scorer in scorers:
                score = yield from apply_scorer(scorer, run.example, run.trace, isolation, self.timeout)
                scores.append(score)
                if self.spending is not None:
                    self.spending.add_score(score)
        outcome, error = outcome_of(run.failure, why_not, scores)
        repeated = repeated_secrets(run.secrets, run.example, scores, error) if run.secrets else frozenset()
        return ScoringResult(
            example=run.example,
            scores=tuple(scores),
            trace=run.trace,
            error=error,
            outcome=outcome,
            trial=place[1] + 1,
            trials=self.trials,
            run_duration=run.duration if self.target is not None else None,
            position=place[0],
            source=run.example.source,
            repeated_secrets=repeated,
        )

    def _report_progress(self, result: ScoringResult, schedule: Schedule) -> None:
        with self._display:
            if self.progress is None:
                return
            self._results_shown += 1
            try:
                self.progress(self._results_shown, schedule.at_most, result)
            except KeyboardInterrupt:
                raise Interrupted from None
            except BaseException:  # choke-point: a broken display must not lose results
                logger.warning("the progress callback raised and is not called again", exc_info=True)
                self.progress = None

    def results(self) -> tuple[ScoringResult, ...]:
        """The results so far in the order of the examples, and those that a limit kept from being run."""
        if self._schedule is None:
            return ()
        results = self._schedule.results.copy()
        why = self._schedule.why_ended
        if why is not None:
            results.update((place, self._not_run(place, why)) for place in self._schedule.missing())
        ordered = [results[place] for place in sorted(results)]
        if self.settled is None:
            return tuple(ordered)
        trials = Counter(result.position for result in ordered)
        return tuple(replace(result, trials=trials[result.position]) for result in ordered)

    def _not_run(self, place: Place, why: str) -> ScoringResult:
        example = self.examples[place[0]]
        return ScoringResult(
            example=example,
            outcome="not_run",
            error=why,
            trial=place[1] + 1,
            trials=self.trials,
            position=place[0],
            source=example.source,
        )

    def spent(self) -> dict[str, Any]:
        """What was spent of the budget, for the report's metadata; empty without one."""
        return {} if self.spending is None else self.spending.about()

    def missing(self, stored: Collection[Place] | None = None) -> int:
        """How many results there are not, of those that were asked for; see `Schedule.missing`."""
        if self._schedule is None:
            return len(self.examples) * self.trials
        return len(self._schedule.missing(stored))


def why_not_comparable(example: Example, trace: Trace | None, function_name: str) -> str | None:
    """Return why the trace of a run cannot be compared with what the example expects, or None if it can.

    Without a trace recording is switched off: then this is so whatever tools are expected, also none.
    """
    if trace is None and example.expected_tools is not None:
        return (
            f"expected_tools says which tools {function_name} should call, and recording is switched off, so "
            "nothing says which it did; remove Tracer(enabled=False) or AGENTTRACE_ENABLED=0"
        )
    if trace is None or not example.expected_tools or not only_states(trace.spans):
        return None
    return (
        f"tools are expected, but nothing was recorded while {function_name} ran; decorate the tools "
        'with @tracer.observe(span_type="tool") and the function itself with @tracer.observe, and check '
        "that AGENTTRACE_ENABLED is not 0"
    )
