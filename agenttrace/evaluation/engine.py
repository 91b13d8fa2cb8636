"""The engine of an evaluation: many examples at once, results in the order of the examples."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.report import ScoringResult, outcome_of
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.evaluation.agent_run import CaptureScope, Run, Target, run_example
from agenttrace.process.loop_thread import LoopKeeper
from agenttrace.scoring.apply import apply_scorer, users_traceback
from agenttrace.scoring.isolation import Interrupted, Isolation

logger = logging.getLogger("agenttrace")

SCORING_CONCURRENCY = 8
"""Examples scored at a time. Scoring is pure, so it may overlap where agents may not."""

Progress = Callable[[int, int, ScoringResult], None]
"""Called with the number of results so far, the number of all, and the newest result, on the engine's thread.

What it raises is logged once, and it is not called again: a broken display must not lose results. This holds
for SystemExit too, which could not end the process from this thread. KeyboardInterrupt ends the run as
Control-C does.
"""


def _recorded_run(example: Example) -> Run:
    """Return the run that an example itself holds; without `tools_called` its trace is None."""
    try:
        trace = None if example.tools_called is None else Trace.from_calls(example.tools_called)
        return Run(example, trace)
    except AgentTraceError as error:
        return Run(example, None, why_not_comparable=f"tools_called cannot be read: {error}")


@dataclass
class Engine:
    """One running evaluation: its examples and settings, and its results so far by their place.

    Coroutines of the user's run on the loop that runs the engine where `on_callers_loop` says so, else on the
    loop of `keeper`. `advice` is what to do where an agent does not return in time. Without a `target`,
    `run_of` gives the run of an example: by default the one that the example holds.
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
    on_callers_loop: bool = False
    keeper: LoopKeeper | None = None
    advice: str = ""
    run_of: Callable[[Example], Run] = _recorded_run
    results: list[ScoringResult | None] = field(default_factory=list)
    done: int = 0

    async def run(self) -> None:
        """Fill `results`: trials of one example together, examples in their order."""
        places = [(position, trial) for position in range(len(self.examples)) for trial in range(self.trials)]
        self.results = [None] * len(places)
        pending = iter(enumerate(places))
        agents = asyncio.Semaphore(self.concurrency)
        isolation = Isolation(self.executor, on_this_loop=self.on_callers_loop, keeper=self.keeper)

        async def work() -> None:
            for place, (position, trial) in pending:
                self.results[place] = await self._one(position, trial, isolation, agents)
                self._report_progress(place)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency + SCORING_CONCURRENCY, len(places))):
                    group.create_task(work())
        except* Interrupted:
            raise Interrupted from None
        finally:
            isolation.close()

    async def _one(
        self, position: int, trial: int, isolation: Isolation, agents: asyncio.Semaphore
    ) -> ScoringResult:
        """Run one trial of one example; where its values break the engine, only this trial is errored."""
        example = self.examples[position]
        run = Run(example, None)
        try:
            run = await self._agent(example, isolation, agents)
            return await self._result(run, position, trial, isolation)
        except KeyboardInterrupt:
            raise Interrupted from None
        except (Interrupted, GeneratorExit):
            raise
        except BaseException as error:  # choke-point: the user's values run code of their own on this thread
            if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
                raise
            unusable = replace(run, why_not_comparable=users_traceback(error))
        return await self._result(unusable, position, trial, isolation)

    async def _agent(self, example: Example, isolation: Isolation, agents: asyncio.Semaphore) -> Run:
        if self.target is None:
            return self.run_of(example)
        async with agents:
            run = await run_example(self.target, example, self.capture, isolation, self.timeout, self.advice)
        if self.recording or run.trace is None or run.trace.spans:
            return run
        return replace(run, trace=None)  # an empty trace would say that nothing was called

    async def _result(self, run: Run, position: int, trial: int, isolation: Isolation) -> ScoringResult:
        why_not = run.why_not_comparable
        name = "the test" if self.target is None else self.target.name
        if (self.target or run.ran) and run.failure is None and why_not is None:
            why_not = why_not_comparable(run.example, run.trace, name)
        scores: list[Score] = []
        if run.failure is None and why_not is None:
            scores = [
                await apply_scorer(scorer, run.example, run.trace, isolation, self.timeout)
                for scorer in self.scorers
            ]
        outcome, error = outcome_of(run.failure, why_not, scores)
        return ScoringResult(
            example=run.example,
            scores=tuple(scores),
            trace=run.trace,
            error=error,
            outcome=outcome,
            trial=trial + 1,
            trials=self.trials,
            run_duration=run.duration if self.target is not None else None,
            position=position,
            source=run.example.source,
        )

    def _report_progress(self, place: int) -> None:
        self.done += 1
        result = self.results[place]
        if self.progress is None or result is None:
            return
        try:
            self.progress(self.done, len(self.results), result)
        except KeyboardInterrupt:
            raise Interrupted from None
        except BaseException:  # choke-point: a broken display must not lose results
            logger.warning("the progress callback raised and is not called again", exc_info=True)
            self.progress = None


def _is_being_cancelled() -> bool:
    """Return True if the engine cancelled this task; the user's values may raise CancelledError, too."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def why_not_comparable(example: Example, trace: Trace | None, function_name: str) -> str | None:
    """Return why the trace of a run cannot be compared with what the example expects, or None if it can.

    Without a trace recording is switched off: then this is so whatever tools are expected, also none.
    """
    if trace is None and example.expected_tools is not None:
        return (
            f"expected_tools says which tools {function_name} should call, and recording is switched off, so "
            "nothing says which it did; remove Tracer(enabled=False) or AGENTTRACE_ENABLED=0"
        )
    if trace is None or not example.expected_tools or trace.spans:
        return None
    return (
        f"tools are expected, but nothing was recorded while {function_name} ran; decorate the tools "
        'with @tracer.observe(span_type="tool") and the function itself with @tracer.observe, and check '
        "that AGENTTRACE_ENABLED is not 0"
    )
