"""`Evaluation`: one that was checked and may begin, with its engine and the store of its results."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, TypedDict, Unpack

from agenttrace.core.errors import ConfigError, ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_number, is_whole
from agenttrace.core.protocols import ChatModel, ChecksExamples, Scorer, Store, name_of_model, optional
from agenttrace.core.report import EvaluationReport
from agenttrace.evaluation.agent_run import Captured, CaptureScope, Target
from agenttrace.evaluation.engine import Engine, Progress
from agenttrace.evaluation.trials import TrialsBy, as_trials, examples_of_trials
from agenttrace.scoring.checks import check_gates, checked_scorers
from agenttrace.scoring.isolation import Interrupted
from agenttrace.scoring.redacted import redacted_report
from agenttrace.tracing.capture import capture
from agenttrace.tracing.decorator import enabled_by_environment
from agenttrace.tracing.redaction import Redaction

logger = logging.getLogger("agenttrace")

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
    trials: int
    executor: Executor | None
    progress: Progress | None
    store: Store | None
    metadata: Mapping[str, Any] | None
    trials_by: TrialsBy | None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation that was checked and may begin: its engine, and where its results go."""

    engine: Engine
    header: _RunHeader
    store: Store | None
    redaction: Redaction

    @classmethod
    def of(
        cls, examples: Iterable[Example], scorers: Iterable[Scorer], **options: Unpack[EvaluationOptions]
    ) -> Evaluation:
        """Check everything that can be checked before any agent is run. Raises as `run_evaluation`."""
        tracer, function = options.get("tracer"), options.get("function")
        engine = Engine(
            examples=checked_examples(examples),
            scorers=checked_scorers(scorers, options.get("model")),
            target=None if function is None else Target.of(function),
            capture=_capture_of(tracer),
            concurrency=options.get("concurrency", 1),
            timeout=options.get("timeout", TIMEOUT),
            trials=options.get("trials", 1),
            executor=options.get("executor"),
            progress=options.get("progress"),
            recording=enabled_by_environment() and getattr(tracer, "enabled", True),
        )
        check_limits(engine.concurrency, engine.timeout, engine.trials)
        check_executor(engine.executor)
        check_gates(engine.scorers)
        check_needs(engine.scorers, engine.examples)
        store, trials_by = options.get("store"), options.get("trials_by")
        header = _RunHeader(
            name=options.get("eval_run_name"),
            project=options.get("project_name") or getattr(tracer, "project_name", None) or "default",
            model=_name_of(options.get("model")),
            metadata=options.get("metadata") or {},
            places=None if trials_by is None else examples_of_trials(engine.examples, trials_by),
        )
        store = getattr(tracer, "store", None) if store is None else store
        return cls(engine, header, store, _redaction_of(tracer))

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Store the results so far, whatever ends the run."""
        try:
            yield
        except BaseException as error:
            _store_report(self.header.report(self.engine, interrupted=True), self.store, self.redaction)
            if isinstance(error, Interrupted):
                raise KeyboardInterrupt from None
            raise

    def stored_report(self) -> EvaluationReport:
        """The report of all results, which are stored."""
        report = self.header.report(self.engine)
        _store_report(report, self.store, self.redaction)
        return report


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunHeader:
    """The part of a report that is about the run as a whole, with the time when it began."""

    name: str | None
    project: str
    model: str | None
    metadata: Mapping[str, Any]
    places: tuple[int, ...] | None
    """Of which example each one is a trial, where several are."""
    started_ns: int = field(default_factory=time.time_ns)
    start: float = field(default_factory=time.perf_counter)

    def report(self, engine: Engine, **more: Any) -> EvaluationReport:
        """Return a report of the results so far."""
        results = tuple(result for result in engine.results if result is not None)
        return EvaluationReport(
            results=results if self.places is None else as_trials(results, self.places),
            name=self.name or _run_name(self.started_ns),
            project=self.project,
            model=self.model,
            started_ns=self.started_ns,
            duration=time.perf_counter() - self.start,
            metadata={**self.metadata, **more},
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


def _redaction_of(tracer: Recording | None) -> Redaction:
    """Return the tracer's own rules, or the default ones."""
    redaction = getattr(tracer, "redaction", None)
    return redaction if isinstance(redaction, Redaction) else Redaction()


def _name_of(model: str | ChatModel | None) -> str | None:
    """Return a model's name for the report."""
    return model if model is None or isinstance(model, str) else name_of_model(model)


def _run_name(started_ns: int) -> str:
    moment = datetime.fromtimestamp(started_ns / 1e9, tz=UTC)
    return f"eval-{moment:%Y%m%d-%H%M%S}-{started_ns // 1000 % 1_000_000:06d}"


def _store_report(report: EvaluationReport, store: Store | None, redaction: Redaction) -> None:
    """Store the run and its scores, redacted; the caller gets the results even if the store fails."""
    if store is None:
        return
    try:
        store.write_report(redacted_report(report, redaction))
    except Exception:  # choke-point: the caller still gets the report
        logger.warning("the evaluation %s could not be stored", report.name, exc_info=True)


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


def check_needs(scorers: Iterable[Scorer], examples: Iterable[Example]) -> None:
    """Ask each scorer that can tell (see `ChecksExamples`) whether the example states what it needs.

    Raises:
        ConfigError: a scorer has no model to ask, or one that cannot be reached as configured.
        ExpectationError: what an example expects cannot be understood.
        ScorerError: an example lacks a field, or any other error of `check`. Every text names the example.
    """
    checking = [
        (scorer, hook) for scorer in scorers if (hook := optional(scorer, ChecksExamples)) is not None
    ]
    for position, example in enumerate(examples, 1):
        for scorer, hook in checking:
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


def check_limits(concurrency: int, timeout: float | None, trials: int) -> None:
    """Raise ConfigError for a limit that cannot work."""
    for word, value in (("concurrency", concurrency), ("trials", trials)):
        if not is_whole(value, 1):
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
