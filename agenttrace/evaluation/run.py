"""`Evaluation`: one that was checked and may begin, with its engine and the store of its results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, Unpack

from agenttrace.core.errors import ConfigError, ExpectationError, ScorerError, did_you_mean
from agenttrace.core.example import Example, label_of
from agenttrace.core.numbers import is_number, is_whole
from agenttrace.core.protocols import (
    ChatModel,
    ChecksExamples,
    Scorer,
    Store,
    name_of_model,
    optional,
)
from agenttrace.core.report import EvaluationInterrupted, EvaluationReport, ScoringResult
from agenttrace.core.summary import KeepsResults
from agenttrace.evaluation.agent_run import Captured, CaptureScope, Target
from agenttrace.evaluation.budget import Budget
from agenttrace.evaluation.engine import Engine, Measure, Progress
from agenttrace.evaluation.estimate import estimate_of
from agenttrace.evaluation.remote import endpoint_of
from agenttrace.evaluation.run_header import RunHeader, wait_for_traces
from agenttrace.evaluation.schedule import Place, Settled
from agenttrace.evaluation.simulated import Simulate, refuse_elsewhere, simulated_runs
from agenttrace.evaluation.streaming import ResultStream
from agenttrace.evaluation.trials import (
    MAX_TRIALS,
    Trials,
    TrialsBy,
    examples_of_trials,
    trials_of,
)
from agenttrace.evaluation.worker_pool import pool_of
from agenttrace.redaction import Redaction
from agenttrace.runs.metadata import run_metadata
from agenttrace.runs.storage import keep_results, keep_run, keep_traces, store_of
from agenttrace.scoring.example_scorers import ScorersOf, suite_scorers
from agenttrace.scoring.isolation import Interrupted
from agenttrace.tracing.capture import capture
from agenttrace.tracing.decorator import enabled_by_environment
from agenttrace.tracing.default_recorder import default_recorder

if TYPE_CHECKING:
    from agenttrace.remote_agents import OTLPEndpoint

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
    store: str | Path | Store | None
    metadata: Mapping[str, Any] | None
    trials_by: TrialsBy | None
    max_trials: int
    settled: Settled | None
    budget: str | None
    stop_after: int | None
    measure: Measure | None
    resume: str | None
    simulate: Simulate | None
    otlp: bool | OTLPEndpoint | None


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
    header: RunHeader
    store: Store | None
    redaction: Redaction
    tracer: Recording | None = None
    measure: Measure | None = None

    @classmethod
    def of(
        cls, examples: Iterable[Example], scorers: Iterable[Scorer], **options: Unpack[EvaluationOptions]
    ) -> Evaluation:
        """Check everything that can be checked before any agent is run. Raises as `run_evaluation`."""
        tracer, function = options.get("tracer"), options.get("function")
        chosen, model = checked_examples(examples), options.get("model")
        suite, scorers_of = suite_scorers(chosen, scorers, model)
        engine = _engine_of(options, chosen, suite, scorers_of)
        check_needs(chosen, scorers_of)
        store = store_of(options.get("store"), tracer)
        header = _header_of(options, chosen, _all_scorers(chosen, scorers_of), engine.trials, store)
        redaction = redaction_for(tracer)
        if (resume := options.get("resume")) is not None:
            wait_for_traces(_recording(tracer))
            header, engine.earlier = header.resumed(resume, store, chosen, engine, redaction)
        engine.pool = pool_of(engine.executor, function)
        if engine.pool is not None:
            refuse_elsewhere(engine.simulate)
        return cls(engine, header, store, redaction, tracer, options.get("measure"))

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
        """Store the results as they come, and those so far, whatever ends the run; an interruption carries
        them, too."""
        try:
            with self._streaming():
                yield
        except BaseException as error:
            report = self._stored(self.header.report(self.engine, interrupted=True))
            if isinstance(error, Interrupted | KeyboardInterrupt):
                raise EvaluationInterrupted(report) from None
            raise

    def _streaming(self) -> AbstractContextManager[object]:
        """A scope in which results go to a store that takes them while the run lasts."""
        store = self.store
        if store is None or optional(store, KeepsResults) is None:
            return nullcontext()
        written: set[Place] = set()

        def write(results: Mapping[Place, ScoringResult]) -> None:
            anew = not written
            everything = {**self.engine.earlier, **results} if anew else results
            written.update(everything)
            report = self.header.report(self.engine, stored=written, interrupted=True)
            places = {at[0] * self.engine.trials + at[1]: result for at, result in everything.items()}
            keep_results(report, places, store, self.redaction, self.tracer, self._facts(), anew=anew)

        stream = ResultStream(write)
        self.engine.on_result = stream.add
        return stream

    def stored_report(self) -> EvaluationReport:
        """The report of all results, which are stored."""
        return self._stored(self.header.report(self.engine))

    def _stored(self, report: EvaluationReport) -> EvaluationReport:
        """The report with what is measured of it. It is stored in any case."""
        try:
            return (report := replace(report, metadata={**report.metadata, **self._measured(report)}))
        finally:
            self._keep(report)

    def _measured(self, report: EvaluationReport) -> Mapping[str, Any]:
        """What is measured of a report. Its author's own errors say where the report is, in a note."""
        try:
            more: Any = {} if self.measure is None else self.measure(report)
            if not isinstance(more, Mapping):
                raise ConfigError(f"measure returns a mapping, more metadata of the report, got {more!r}")
            return more
        except Exception as error:
            error.add_note(f"the agent has run, and the report is kept without it: run {report.run_id[:12]}")
            raise

    def report(self) -> EvaluationReport:
        """The report of all results, whose traces are stored: the results become part of a larger run."""
        report = self.header.report(self.engine)
        keep_traces(report, self.store, self.redaction, self.tracer)
        return report

    def _keep(self, report: EvaluationReport) -> None:
        keep_run(report, self.store, self.redaction, self.tracer, self._facts())

    def _facts(self) -> dict[str, Any]:
        """The metadata that agenttrace itself added."""
        return {name: fact for name, fact in self.header.facts.items() if name not in self.header.metadata}


def _header_of(
    options: EvaluationOptions,
    examples: tuple[Example, ...],
    scorers: list[Scorer],
    trials: int,
    store: Store | None,
) -> RunHeader:
    """The header of a run that begins."""
    trials_by, budget = options.get("trials_by"), options.get("budget")
    name, function = options.get("eval_run_name"), options.get("function")
    project = options.get("project_name") or project_of(options.get("tracer"))
    places = None if trials_by is None else examples_of_trials(examples, trials_by)
    facts = run_metadata(examples, scorers, function=function, trials=trials, trial_of=places)
    estimate = budget and estimate_of(store, project=project, name=name, examples=len(examples))
    return RunHeader(
        name=name,
        project=project,
        model=_name_of(options.get("model")),
        metadata=options.get("metadata") or {},
        facts={**facts, **({} if estimate is None else {"estimate": estimate})},
        places=places,
    )


def _engine_of(
    options: EvaluationOptions,
    examples: tuple[Example, ...],
    suite: tuple[Scorer, ...],
    scorers_of: ScorersOf,
) -> Engine:
    """The engine as the options say. Raises ConfigError where they cannot be used."""
    tracer, function = options.get("tracer"), options.get("function")
    trials, settled = trials_of(
        options.get("trials", 1), options.get("max_trials", MAX_TRIALS), options.get("settled")
    )
    budget, stop_after = options.get("budget"), options.get("stop_after")
    endpoint = endpoint_of(options.get("otlp"), function, options.get("executor"))
    engine = Engine(
        examples=examples,
        scorers=suite,
        scorers_of=scorers_of,
        target=None if function is None else Target.of(function, otlp=endpoint is not None),
        capture=_capture_of(tracer),
        concurrency=options.get("concurrency", 1),
        timeout=options.get("timeout", TIMEOUT),
        trials=trials,
        settled=settled,
        budget=None if budget is None else Budget.parse(budget),
        stop_after=stop_after,
        executor=options.get("executor"),
        progress=options.get("progress"),
        simulate=simulated_runs(options.get("simulate"), examples, function),
        endpoint=endpoint,
        closes_endpoint=options.get("otlp") is True,
        recording=enabled_by_environment() and getattr(tracer, "enabled", True),
    )
    check_limits(engine.concurrency, engine.timeout, stop_after)
    metadata = options.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise ConfigError(f"metadata is a mapping of names to values, got {metadata!r}")
    return engine


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
                raise kind(f"{label_of(position, example)}: {who}{text}") from error


def check_limits(concurrency: int, timeout: float | None, stop_after: int | None) -> None:
    """Raise ConfigError for a limit that cannot work."""
    for word, value in (("concurrency", concurrency), ("stop_after", stop_after)):
        if not is_whole(value, 1) and not (value is None and word == "stop_after"):
            raise ConfigError(f"{word} is a whole number from 1, got {value!r}")
    if timeout is not None and not (is_number(timeout) and timeout > 0):
        raise ConfigError(f"timeout is a number of seconds above 0, or None for no limit; got {timeout!r}")
