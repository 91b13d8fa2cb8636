"""`Evaluation`: one that was checked and may begin, with its engine and the store of its results."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, TypedDict, Unpack

from agenttrace.core.errors import ConfigError, ExpectationError, ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_number, is_whole
from agenttrace.core.protocols import ChatModel, ChecksExamples, Scorer, Store, name_of_model, optional
from agenttrace.core.report import EvaluationInterrupted, EvaluationReport
from agenttrace.evaluation.agent_run import Captured, CaptureScope, Target
from agenttrace.evaluation.budget import Budget
from agenttrace.evaluation.engine import Engine, Progress
from agenttrace.evaluation.estimate import estimate_of
from agenttrace.evaluation.schedule import Settled
from agenttrace.evaluation.simulated import Simulate, simulated_runs
from agenttrace.evaluation.trials import (
    MAX_TRIALS,
    Trials,
    TrialsBy,
    as_trials,
    examples_of_trials,
    settled_by,
)
from agenttrace.redaction import Redaction
from agenttrace.runs.metadata import run_metadata
from agenttrace.runs.storage import keep_run, keep_traces, store_of
from agenttrace.scoring.example_scorers import ScorersOf, suite_scorers
from agenttrace.scoring.isolation import Interrupted
from agenttrace.suite.analyses import SuiteAnalyses
from agenttrace.suite.coverage import constant
from agenttrace.tracing.capture import capture
from agenttrace.tracing.decorator import enabled_by_environment
from agenttrace.tracing.default_recorder import default_recorder

TIMEOUT = 300.0
"""Seconds that one run of the agent, and each scorer, may take by default."""


class Recording(Protocol):
    """The part of a tracer that an evaluation uses."""

    @property
    def project_name(self) -> str:
        """The project that results are stored under."""
        ...

    @property
    def store(self) -> Any:
        """The store for results, or None."""
        ...

    @property
    def redaction(self) -> Redaction:
        """The rules by which secrets are removed from stored data."""
        ...

    def capture(self) -> AbstractContextManager[Captured]:
        """Return a scope whose trace holds the calls that were recorded in it."""
        ...


class EvaluationOptions(TypedDict, total=False):
    """The keyword arguments of `run_evaluation`, for functions that pass them on."""

    model: str | ChatModel | None
    project_name: str | None
    eval_run_name: str | None
    function: Callable[..., Any] | None
    tracer: Recording | None
    concurrency: int
    timeout: float | None
    trials: Trials
    executor: Executor | None
    progress: Progress | None
    store: Store | None
    metadata: Mapping[str, Any] | None
    trials_by: TrialsBy | None
    max_trials: int
    settled: Settled | None
    budget: str | None
    stop_after: int | None
    simulate: Simulate | None


def check_option_names(function: str, options: Iterable[str], *more: str) -> None:
    """Raise for an option that there is none of, in the name of the function that was called.

    Raises:
        ConfigError: it is an option of `assert_test`.
        TypeError: any other.
    """
    known = (*EvaluationOptions.__annotations__, *more)
    for name in options:
        if name in ("require", "baseline") and name not in known:
            raise ConfigError(
                f"{name} is an option of assert_test, which raises unless it holds; {function} reports"
            )
        if name not in known:
            choice = "; choose among the examples before" if name in ("only", "tag", "tags", "limit") else ""
            hint = choice or did_you_mean(name, known)
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation that was checked and may begin: its engine, and where its results go."""

    engine: Engine
    header: _RunHeader
    store: Store | None
    redaction: Redaction
    tracer: Recording | None = None

    @classmethod
    def of(
        cls, examples: Iterable[Example], scorers: Iterable[Scorer], **options: Unpack[EvaluationOptions]
    ) -> Evaluation:
        """Check everything that can be checked before any agent is run. Raises as `run_evaluation`."""
        tracer, function = options.get("tracer"), options.get("function")
        simulate = options.get("simulate")
        if simulate is not None and function is None:
            raise ConfigError("simulate answers the tools of a function; pass it too: function=agent.run")
        chosen, model = checked_examples(examples), options.get("model")
        suite, scorers_of = suite_scorers(chosen, scorers, model)
        trials, settled = trials_of(options)
        budget, stop_after = options.get("budget"), options.get("stop_after")
        engine = Engine(
            examples=chosen,
            scorers=suite,
            scorers_of=scorers_of,
            target=None if function is None else Target.of(function),
            capture=_capture_of(tracer),
            concurrency=options.get("concurrency", 1),
            timeout=options.get("timeout", TIMEOUT),
            trials=trials,
            settled=settled,
            budget=None if budget is None else Budget.parse(budget),
            stop_after=stop_after,
            executor=options.get("executor"),
            progress=options.get("progress"),
            simulate=None if function is None else simulated_runs(simulate, chosen, label),
            recording=enabled_by_environment() and getattr(tracer, "enabled", True),
        )
        check_limits(engine.concurrency, engine.timeout, stop_after)
        check_executor(engine.executor)
        check_needs(chosen, scorers_of)
        store, trials_by = store_of(options.get("store"), tracer), options.get("trials_by")
        name, project = options.get("eval_run_name"), options.get("project_name") or project_of(tracer)
        places = None if trials_by is None else examples_of_trials(chosen, trials_by)
        suite_facts = run_metadata(
            chosen, _all_scorers(chosen, scorers_of), function=function, trials=trials, trial_of=places
        )
        estimate = budget and estimate_of(store, project=project, name=name, examples=len(chosen))
        header = _RunHeader(
            name=name,
            project=project,
            model=_name_of(model),
            metadata=options.get("metadata") or {},
            facts={**suite_facts, **({} if estimate is None else {"estimate": estimate})},
            places=places,
        )
        return cls(engine, header, store, redaction_for(tracer), tracer)

    def run(self) -> EvaluationReport:
        """Run it while the calling thread waits, and return the stored report. Raises as `run_evaluation`."""
        with self._interruptible():
            self.engine.run()
        return self.stored_report()

    async def run_async(self) -> EvaluationReport:
        """Run it on the running event loop, and return the stored report. Raises as
        `run_evaluation_async`."""
        with self._interruptible():
            await self.engine.run_async()
        return await asyncio.to_thread(self.stored_report)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Store the results so far, whatever ends the run; an interruption carries them, too."""
        try:
            yield
        except BaseException as error:
            report = self.header.report(self.engine, interrupted=True)
            self._keep(report)
            if isinstance(error, Interrupted | KeyboardInterrupt):
                raise EvaluationInterrupted(report) from None
            raise

    def stored_report(self) -> EvaluationReport:
        """The report of all results, which are stored."""
        report = self.header.report(self.engine)
        self._keep(report)
        return report

    def report(self) -> EvaluationReport:
        """The report of all results, whose traces are stored: the results become part of a larger run."""
        report = self.header.report(self.engine)
        keep_traces(report, self.store, self.redaction, self.tracer)
        return report

    def _keep(self, report: EvaluationReport) -> None:
        facts = {name: fact for name, fact in self.header.facts.items() if name not in self.header.metadata}
        keep_run(report, self.store, self.redaction, self.tracer, facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunHeader:
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

    def report(self, engine: Engine, **more: Any) -> EvaluationReport:
        """Return a report of the results so far."""
        results = engine.results()
        if engine.missing:
            more["not_run"] = engine.missing
        return EvaluationReport(
            results=results if self.places is None else as_trials(results, self.places),
            name=self.name or _run_name(self.started_ns),
            project=self.project,
            model=self.model,
            started_ns=self.started_ns,
            duration=time.perf_counter() - self.start,
            metadata={**self.facts, **self.metadata, **engine.spent(), **more},
            analyses=SuiteAnalyses(engine.scorers_of or constant(engine.scorers)),
        )


def _capture_of(tracer: Any) -> CaptureScope:
    if tracer is None:
        return capture
    if not callable(getattr(tracer, "capture", None)):
        raise ConfigError(
            f"tracer is a Tracer, got {type(tracer).__name__}; make one with Tracer(project_name=…), "
            "or leave it out"
        )
    scope: CaptureScope = tracer.capture
    return scope


def project_of(tracer: Recording | None) -> str:
    """The project of the tracer, or else of the process's first tracer."""
    project = getattr(_recording(tracer), "project_name", None)
    return project if isinstance(project, str) else "default"


def _recording(tracer: Recording | None) -> Any:
    return default_recorder().owner if tracer is None else tracer


def redaction_for(tracer: Recording | None) -> Redaction:
    """The rules of the tracer, or else of the process's first tracer, or else the default ones."""
    redaction = getattr(_recording(tracer), "redaction", None)
    return redaction if isinstance(redaction, Redaction) else Redaction()


def _name_of(model: str | ChatModel | None) -> str | None:
    """Return a model's name for the report."""
    return model if model is None or isinstance(model, str) else name_of_model(model)


def _run_name(started_ns: int) -> str:
    moment = datetime.fromtimestamp(started_ns / 1e9, tz=UTC)
    return f"eval-{moment:%Y%m%d-%H%M%S}-{started_ns // 1000 % 1_000_000:06d}"


_CAUSES = (ConfigError, ExpectationError)
"""The errors of a scorer's check that keep their type; any other becomes a ScorerError."""


def checked_examples(examples: Any) -> tuple[Example, ...]:
    """Return the examples of a list or a dataset.

    Raises:
        ConfigError: there are none, it is a single example, or it holds something that is not an example.
    """
    if isinstance(examples, Example):
        raise ConfigError("examples is a list, got one Example; write examples=[example]")
    if isinstance(examples, str) or not isinstance(examples, Iterable):
        raise ConfigError(
            f"examples is a list of Example, got {type(examples).__name__}; a file goes in test_file="
        )
    items = tuple(examples)
    for position, example in enumerate(items, 1):
        if not isinstance(example, Example):
            hint = "; write Example(**fields)" if isinstance(example, dict) else ""
            raise ConfigError(
                f"examples holds Example values, got {type(example).__name__} at {position}{hint}"
            )
    if not items:
        raise ConfigError("there are no examples: an evaluation of nothing can neither pass nor fail")
    return items


def _all_scorers(examples: Iterable[Example], scorers_of: ScorersOf) -> list[Scorer]:
    """Every scorer of any example, once."""
    return list({id(scorer): scorer for example in examples for scorer in scorers_of(example)}.values())


def check_needs(examples: Iterable[Example], scorers_of: ScorersOf) -> None:
    """Ask each scorer that can tell (see `ChecksExamples`) whether the example states what it needs.

    Raises:
        ConfigError: a scorer has no model to ask, or one that cannot be reached as configured.
        ExpectationError: what an example expects cannot be understood.
        ScorerError: an example lacks a field, or any other error of `check`. Every text names the example.
    """
    hooks: dict[int, ChecksExamples | None] = {}
    for position, example in enumerate(examples, 1):
        for scorer in scorers_of(example):
            if id(scorer) not in hooks:
                hooks[id(scorer)] = optional(scorer, ChecksExamples)
            hook = hooks[id(scorer)]
            if hook is None:
                continue
            try:
                hook.check(example)
            except Exception as error:  # choke-point: every error gets the example's number and place
                text = str(error).removeprefix(f"{example.source}: ")
                who = "" if text.startswith(scorer.name) else f"the scorer {scorer.name!r}: "
                kind = next((cause for cause in _CAUSES if isinstance(error, cause)), ScorerError)
                raise kind(f"{label(position, example)}: {who}{text}") from error


def label(position: int, example: Example) -> str:
    """Return the text that stands for an example in messages: number from 1, ``file:line``, name."""
    place = f"{example.source}: " if example.source else ""
    return f"{place}example {position}" + (f" ({example.name!r})" if example.name else "")


def trials_of(options: EvaluationOptions) -> tuple[int, Settled | None]:
    """Return how many trials of an example there are at most, and what settles its verdict before.

    Raises:
        ConfigError: `trials` is neither a number nor ``"auto"``, or an option needs the other.
    """
    trials, settled = options.get("trials", 1), options.get("settled")
    max_trials = options.get("max_trials", MAX_TRIALS)
    if not is_whole(max_trials, 1):
        raise ConfigError(f"max_trials is a whole number from 1, got {max_trials!r}")
    if trials == "auto":
        return max_trials, settled_by((), max_trials) if settled is None else settled
    if not is_whole(trials, 1):
        raise ConfigError(f"trials is a whole number from 1, or 'auto'; got {trials!r}")
    if settled is not None:
        raise ConfigError(f"settled says when trials='auto' are enough; got trials={trials!r}")
    return trials, None


def check_limits(concurrency: int, timeout: float | None, stop_after: int | None) -> None:
    """Raise ConfigError for a limit that cannot work."""
    for word, value in (("concurrency", concurrency), ("stop_after", stop_after)):
        if not is_whole(value, 1) and not (value is None and word == "stop_after"):
            raise ConfigError(f"{word} is a whole number from 1, got {value!r}")
    if timeout is not None and not (is_number(timeout) and timeout > 0):
        raise ConfigError(f"timeout is a number of seconds above 0, or None for no limit; got {timeout!r}")


def check_executor(executor: Any) -> None:
    """Raise ConfigError for an executor that cannot run an agent here, such as one of processes."""
    if executor is None:
        return
    if not isinstance(executor, Executor):
        raise ConfigError(
            f"executor is an Executor, got {type(executor).__name__}; give a ThreadPoolExecutor, "
            "or leave it out"
        )
    processes = sys.modules.get("concurrent.futures.process")  # not imported: then it is none of those
    if processes is not None and isinstance(executor, processes.ProcessPoolExecutor):
        raise ConfigError(
            "executor is a ProcessPoolExecutor, but agents run in this process, where they are recorded; "
            "give a ThreadPoolExecutor, or leave it out"
        )
    try:
        executor.submit(_nothing)
    except RuntimeError as error:
        raise ConfigError(f"the executor takes no calls: {error}; give one that is not shut down") from error


def _nothing() -> None:
    """Do nothing: the call that an executor is tried with."""
