"""Every extension point on one page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from agenttrace.core.summary import RunSummary, TraceSummary

if TYPE_CHECKING:
    from agenttrace.core.example import Example
    from agenttrace.core.report import EvaluationReport
    from agenttrace.core.score import Score
    from agenttrace.core.span import Span
    from agenttrace.core.tool import ToolDefinition
    from agenttrace.core.trace import Trace


@runtime_checkable
class Scorer(Protocol):
    """Compares what should happen with what did.

    `score` is pure: the same example and trace give the same score, in a test, in production, from the
    store. It may be ``def`` or ``async def``. It raises when it cannot tell; the caller turns that into an
    *errored* score. It may run on any thread, several at once.
    """

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    @property
    def threshold(self) -> float:
        """The least value that passes."""
        ...

    def score(self, example: Example, trace: Trace) -> Score | Awaitable[Score]:
        """Compare. `trace` is None where nothing says what was called: an example with an output but neither
        a recorded run nor `tools_called`."""
        ...


class Exporter(Protocol):
    """Where finished spans go.

    `export` is called by one thread at a time: the pipeline's worker, or, where there is none (the process
    ends, no thread is to be had), the thread that records. `flush` and `close` are called by whoever flushes
    or shuts down, also while an `export` is under way.
    """

    def export(self, spans: Sequence[Span]) -> None:
        """Send or keep the spans. Raise on failure: a store is offered them again (but for a TypeError,
        ValueError and the like, over which single spans are dropped), any other exporter is not; what is
        dropped is counted."""
        ...

    def flush(self, timeout: float) -> bool:
        """Finish what is pending within `timeout` seconds; whether all of it was."""
        ...

    def close(self) -> None:
        """Release everything. Called once, by the tracer's `shutdown`."""
        ...


class BackgroundExporter(ABC):
    """Subclassed by exporters that deliver later, from a thread of their own; the tracer tells them more."""

    @abstractmethod
    def attach(self, store: Any, project: str) -> None:
        """Told once, by the tracer that it belongs to, where what is to be delivered can be kept.

        Raises:
            ConfigError: it belongs to a tracer already.
        """

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """What the tracer's own `stats` say of it."""

    @abstractmethod
    def end(self) -> None:
        """The process ends: let go of what other processes may want. What is exported later is kept."""

    @abstractmethod
    def after_fork(self) -> None:
        """In a forked child: begin anew, leaving what the parent has yet to deliver to the parent."""


class SpanSink(Exporter, Protocol):
    """An exporter that keeps scores too: all that recording needs of a store.

    One that has a ``get_ready()`` is told, on the writer's thread, that the first trace has begun, so that it
    can open what it needs before there is anything to keep.
    """

    def write_scores(self, scores: Sequence[tuple[str, str | None, Score]]) -> None:
        """Keep scores, each with its trace id and span id (None: the whole trace)."""
        ...


class Store(SpanSink, Protocol):
    """An exporter that can be read back. Reading may happen on any thread.

    Raises:
        StoreError: from every reading method, where the store cannot be read; from `save_dataset`,
            `claim_pending_evaluations` and `delete_trace`, where it cannot be written.
    """

    def write_report(self, report: EvaluationReport) -> str:
        """Keep a finished evaluation run, with the scores under their traces; returns the run's id."""
        ...

    def write_tools(self, project: str, tools: Sequence[ToolDefinition]) -> None:
        """Keep the definitions of a project's tools, called or not, so that `trace` can give them."""
        ...

    def trace(self, trace_id: str) -> Trace | None:
        """One trace by its id, or by a prefix of at least four digits that only one trace has.

        Raises:
            StoreError: fewer digits, several traces, or the store cannot be read.
        """
        ...

    def traces(
        self, *, project: str | None = None, limit: int = 50, name: str | None = None
    ) -> list[TraceSummary]:
        """The newest traces first."""
        ...

    def scores(self, trace_id: str) -> list[tuple[str | None, Score]]:
        """The scores of a trace, each with its span id (None: the whole trace), oldest first."""
        ...

    def runs(self, *, project: str | None = None, limit: int = 50) -> list[RunSummary]:
        """The newest evaluation runs first."""
        ...

    def run(self, run_id: str) -> dict[str, Any] | None:
        """A run as `EvaluationReport.to_dict` gives it, with its ``run_id``, by id or unique prefix."""
        ...

    def save_pending_evaluations(self, project: str, requests: Sequence[Mapping[str, Any]]) -> None:
        """Keep what online evaluation has not finished: JSON data, each with its ``key``."""
        ...

    def pending_evaluations(self, project: str) -> list[dict[str, Any]]:
        """What was kept so and not dropped, oldest first."""
        ...

    def claim_pending_evaluations(
        self, keys: Sequence[str], owner: str | None, *, held_by: str | None
    ) -> list[str]:
        """Give those that `held_by` has as their ``owner`` to `owner`, noting the time as ``owned_at``.

        Returns the keys of those given: of several processes that claim one at once, one gets it.
        """
        ...

    def drop_pending_evaluations(self, keys: Sequence[str]) -> None:
        """Forget finished ones by their ``key``."""
        ...

    def save_dataset(self, alias: str, project: str, content: Any) -> int:
        """Keep JSON data as the newest version of a dataset; returns the version's number, from 1.

        Data equal to the newest version makes no new one.

        Raises:
            StoreError: `content` is not JSON data, or `alias` is no name.
        """
        ...

    def load_dataset(self, alias: str, project: str, version: int | None = None) -> Any:
        """The data of a dataset's version (None: the newest), or None where there is no such dataset."""
        ...

    def datasets(self, *, project: str | None = None) -> list[tuple[str, str, int]]:
        """Project, alias and newest version of every dataset, by name."""
        ...

    def delete_trace(self, trace_id: str) -> bool:
        """Delete a trace by its whole id, with its scores; whether it was there."""
        ...

    def after_fork(self) -> None:
        """In a forked child: begin anew, leaving what the parent has yet to store to the parent."""
        ...


@dataclass(frozen=True, slots=True)
class Batch:
    """One request's body, encoded, not compressed.

    `kind` says to which of a collector's addresses it goes, `items` how many spans or scores it holds. `key`
    is its place in an outbox, 0 outside one.
    """

    kind: Literal["traces", "logs"]
    content_type: str
    items: int
    body: bytes
    key: int = 0


class Outbox(Protocol):
    """Where an exporter keeps what it has yet to send to one destination. Any thread may use it.

    A store that has a method ``outbox(destination)`` gives one that outlives the process.
    """

    def put(self, batches: Sequence[Batch]) -> int:
        """Keep batches; returns how many items had to go for them."""
        ...

    def oldest(self, max_bytes: int) -> list[Batch]:
        """The batches that have waited longest, without the refused ones: as many as fit, at least one."""
        ...

    def settle(self, keys: Sequence[int], refused: Sequence[tuple[Batch, str]] = ()) -> int:
        """Forget what was delivered, keep what was refused of it with the reason, in one step.

        Returns how many items were forgotten: fewer where some had to go in the meantime.
        """
        ...

    def retry_refused(self) -> int:
        """Let the refused ones wait again; returns how many items they hold."""
        ...

    def counts(self) -> tuple[int, int]:
        """How many items wait, how many were refused."""
        ...

    def lease(self, holder: str, seconds: float) -> bool:
        """Become, or stay, the only one who sends; whether nobody else is."""
        ...

    def release(self, holder: str) -> None:
        """Let others send."""
        ...


class ChatModel(Protocol):
    """A language model that judges can ask."""

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None
    ) -> Any:
        """One reply to a list of messages; JSON of `schema` where that is given."""
        ...


__all__ = [
    "BackgroundExporter",
    "ChatModel",
    "Exporter",
    "Outbox",
    "RunSummary",
    "Scorer",
    "SpanSink",
    "Store",
    "TraceSummary",
]
