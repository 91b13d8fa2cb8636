"""The extension points: protocols for scorers, stores, exporters, judge models, with their optional hooks.

A class of one's own need not inherit from anything here: having the methods is enough. What must be there
stands in `Scorer`, `Exporter`, `Store`, `ChatModel`. What may be there, and is then used, is an *optional
hook*: a small protocol, near what it belongs to. `optional` tells whether something has one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, runtime_checkable

from agenttrace.core.batch import Batch, Destination, Refusal, ScoreRow, Unsent, UnsentCounts
from agenttrace.core.pending import QueuesWork
from agenttrace.core.summary import KeepsResults, RunSummary, TraceSummary
from agenttrace.core.trace_outline import ReadsOutlines
from agenttrace.core.watch import KeepsWatch

if TYPE_CHECKING:
    from agenttrace.core.example import Example
    from agenttrace.core.query import Query
    from agenttrace.core.report import EvaluationReport
    from agenttrace.core.score import Score
    from agenttrace.core.span import Span
    from agenttrace.core.trace import Trace
    from agenttrace.core.trace_reads import TraceReads


@runtime_checkable
class Scorer(Protocol):
    """Compares what should happen with what did.

    `score` is pure: the same example and trace give the same score, in a test, in production, from the
    store. It may be ``def`` or ``async def``. It raises when it cannot give a value; the caller turns that
    into an *errored* score. It may run on any thread, several at once.
    """

    @property
    def name(self) -> str:
        """The name in reports."""
        ...

    @property
    def threshold(self) -> float:
        """The least value that passes."""
        ...

    def score(self, example: Example, trace: Trace) -> Score | Awaitable[Score]:
        """Score one example.

        `trace` is None where the calls are unknown: the example has an output, but neither a recorded run nor
        `tools_called`.
        """
        ...


class ChecksExamples(Protocol):
    """Optional hook of a scorer: looks at what the user wrote before any agent is run."""

    def check(self, example: Example) -> None:
        """Raise where the example lacks an expectation that the scorer needs. What a run fills in
        (`actual_output`, `tools_called`) is not there yet."""
        ...


class Gates(Protocol):
    """Optional hook of a scorer: whether its scores decide the outcome of a result."""

    @property
    def gate(self) -> bool:
        """False for a scorer that informs: its scores are shown and stored, and fail nothing."""
        ...


class TakesModel(Protocol):
    """Optional hook of a scorer that asks a model: takes the one that the evaluation was given."""

    def with_model(self, model: str | ChatModel) -> Scorer:
        """The scorer to ask instead; itself where it has a model of its own, which is the nearer wish.

        Raises:
            ConfigError: the model cannot be reached as configured.
        """
        ...


class ChecksModel(Protocol):
    """Optional hook of a scorer that asks a model: asked by `async_evaluate`, on the agent's thread."""

    def check_model(self) -> None:
        """Raise ConfigError where there is no model to ask, or it cannot be reached as configured. Quick: no
        request is made."""
        ...


class Exporter(Protocol):
    """Where else finished spans go, once the store has them.

    `export` is called by one thread at a time: the pipeline's worker, or the recording thread where there is
    no worker (the process ends, no thread can be started). `flush` and `close` may be called from any thread,
    also during an `export`.
    """

    def export(self, spans: Sequence[Span]) -> None:
        """Send or keep the spans. Raise on failure: they are counted as not exported, and not given again."""
        ...

    def flush(self, timeout: float) -> bool:
        """Finish what is pending within `timeout` seconds. Returns True if all of it was finished."""
        ...

    def close(self) -> None:
        """Release everything. Called once, by the tracer's `shutdown`."""
        ...


class TakesScores(Protocol):
    """Optional hook of an exporter, part of every `Store`: scores go there, too."""

    def write_scores(self, scores: Sequence[ScoreRow]) -> None:
        """Send, or keep, scores, each with its trace id and span id (None: the whole trace)."""
        ...


class SpanSink(Protocol):
    """All that recording needs of a store. `write` is called as `Exporter.export` is."""

    def write(self, batch: Batch) -> None:
        """Keep a batch; a span that is there already is replaced.

        Raise on failure: the batch comes again, except that after a TypeError, ValueError and the like its
        parts come one by one, and the bad ones are dropped and counted.
        """
        ...

    def flush(self, timeout: float) -> bool:
        """Finish what is pending within `timeout` seconds. Returns True if all of it was finished."""
        ...

    def close(self) -> None:
        """Release everything. Called once, by the tracer's `shutdown`."""
        ...


class Sender(Protocol):
    """Optional kind of exporter: sends what the tracer's store keeps for it, on a thread of its own.

    It reads, the tracer writes. What it could not send stays in the store, for another process.
    """

    def attach(self, store: KeepsUnsent, project: str) -> Sequence[Destination]:
        """Take the store to read from; returns what the tracer is to keep there. Called once, by the tracer.

        Raises:
            ConfigError: the sender belongs to a tracer already, or another one sends there otherwise.
        """
        ...

    def notice(self) -> None:
        """Told after each batch that is stored. Quick, never raises, on any thread."""
        ...

    def flush(self, timeout: float) -> bool:
        """Send what waits, for at most `timeout` seconds. Returns True if all of it was sent."""
        ...

    def stats(self) -> dict[str, Any]:
        """The sender's part of the tracer's own `stats`."""
        ...

    def end(self) -> None:
        """Release what other processes may need, because the process ends."""
        ...

    def close(self) -> None:
        """Stop sending for good."""
        ...

    def after_fork(self) -> None:
        """Start afresh in a forked child."""
        ...


class KeepsUnsent(Protocol):
    """Optional hook of a store: what senders have yet to send outlives the process there.

    Raises:
        StoreError: from every method, where the store cannot be used.
    """

    def unsent(self, destination: Destination, *, most: int, max_bytes: int) -> Unsent | None:
        """What has waited longest, without what was refused: up to `most` items, and about `max_bytes` of
        their texts, at least one item. None where nothing waits."""
        ...

    def settle(self, unsent: Unsent, refused: Sequence[Refusal] = ()) -> None:
        """Forget what was delivered, keep what was refused of it, in one step."""
        ...

    def retry_refused(self, destination: Destination) -> int:
        """Let refused items wait again. Returns how many."""
        ...

    def count_unsent(self, destination: Destination) -> UnsentCounts:
        """How many items wait, and how many were refused."""
        ...

    def lease(self, name: str, holder: str, seconds: float) -> bool:
        """Become, or stay, the only holder of a name. Returns False if another one holds it."""
        ...

    def release(self, name: str, holder: str) -> None:
        """Let others hold the name."""
        ...


class GetsReady(Protocol):
    """Optional hook of a store: opens what it needs before there is anything to keep."""

    def get_ready(self) -> None:
        """Told, on the writer's thread, that the first trace has begun. What it raises is logged."""
        ...


class TakesRows(Protocol):
    """Optional attribute of a store: it writes JSON text as it is, and wants no spans made of it.

    Then `spans` of a batch is often a `core.span_rows.SpanRows`: still a sequence of spans, whose `items` are
    rows with ready texts.
    """

    @property
    def takes_rows(self) -> bool:
        """True."""
        ...


class EndsWriting(Protocol):
    """Optional hook of a store: it is told that this process writes no more."""

    def end(self, losses: Mapping[str, int]) -> None:
        """Told at the end of the process, with the spans that were not stored: how many, by reason, as in
        `core.losses`. Quick; what it raises is logged."""
        ...


class BeginsAnew(Protocol):
    """Optional hook of a `SpanSink`, part of every `Store`: it is told of forks."""

    def after_fork(self) -> None:
        """In a forked child: begin anew, leaving what the parent has yet to store to the parent."""
        ...


class OnlyRead(Protocol):
    """Optional attribute of a store: it takes no spans, which others write."""

    @property
    def only_read(self) -> bool:
        """True."""
        ...


class HasPath(Protocol):
    """Optional attribute of a store, and of its health: the file that two of them may share."""

    @property
    def path(self) -> str | None:
        """Where the file is; None, or no such attribute, where there is none."""
        ...


class Health(HasPath, Protocol):
    """What recording wants to know of a store that has a file: counts of spans since the store was made."""

    @property
    def mode(self) -> str:
        """``"memory"`` while the file cannot be written; any other word where all is well."""
        ...

    @property
    def waiting(self) -> int:
        """Spans that are kept in memory until the file can be written again."""
        ...

    @property
    def quarantined(self) -> int:
        """Spans that could not be stored as they are."""
        ...

    @property
    def dropped(self) -> int:
        """Spans for which memory had no room."""
        ...


class TellsHealth(Protocol):
    """Optional hook of a store: `flush` and `stats` then know what is not in its file."""

    def health(self) -> Health:
        """How the store is now. One that has no hook is believed what its `flush` returns."""
        ...


class StreamsTraces(Protocol):
    """Optional hook of what traces are read from, part of every `Store`: gives many of them quickly."""

    def iter_traces(
        self, query: Query | str = "", *, project: str | None = None, limit: int | None = None
    ) -> Iterator[Trace]:
        """The traces that match a query, one after the other, the newest first, as `Store.trace` gives them.

        However many there are, little is held in memory, and nothing is locked or open between two of them.
        Traces that begin after the first one was taken may be missing; those that are deleted before their
        turn are. `limit` is how many there are at most.

        Raises:
            QueryError: the query cannot be read, or an answer takes too long.
            StoreError: `limit` is no number of traces; or, at any trace, the store cannot be read.
        """
        # What inherits this goes one by one. The room of stores stands above this one.
        one_by_one: Any = import_module("agenttrace.store.trace_stream").one_by_one
        traces: Iterator[Trace] = one_by_one(self, query, project=project, limit=limit)
        return traces


class Store(SpanSink, TakesScores, BeginsAnew, TellsHealth, StreamsTraces, Protocol):
    """Keeps what is recorded, and can be read back. Reading may happen on any thread.

    Raises:
        StoreError: from every reading method, where the store cannot be read; from `save_dataset`,
            `claim_pending_evaluations`, `delete_trace` and `delete_run`, where it cannot be written.
    """

    def write_report(self, report: EvaluationReport) -> str:
        """Keep a finished evaluation run, with the scores under their traces; returns the run's id."""
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
        """A run as `EvaluationReport.to_dict` returns it, with its ``run_id``, by id or unique prefix."""
        ...

    def save_pending_evaluations(self, project: str, requests: Sequence[Mapping[str, Any]]) -> None:
        """Keep online evaluations that are not finished: JSON data, each with its ``key``."""
        ...

    def pending_evaluations(self, project: str) -> list[dict[str, Any]]:
        """The pending evaluations that were saved and not dropped, oldest first."""
        ...

    def claim_pending_evaluations(
        self, keys: Sequence[str], owner: str | None, *, held_by: str | None
    ) -> list[str]:
        """Make `owner` the owner of those whose ``owner`` is `held_by`, with the time as ``owned_at``.

        Returns the keys that changed hands: of several processes that claim one at once, only one gets it.
        """
        ...

    def drop_pending_evaluations(self, keys: Sequence[str]) -> None:
        """Forget finished evaluations by their ``key``."""
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
        """Delete a trace by its whole id, with its scores. Returns True if there was one."""
        ...

    def delete_run(self, run_id: str) -> bool:
        """Delete a run by its whole id, its results and scores, not its traces; True if there was one."""
        ...


class ReadsTraces(Protocol):
    """Optional hook of a store: it answers queries for traces itself. Without it, all its traces are read."""

    def trace_reads(self) -> TraceReads:
        """What answers them, as quickly as the store can."""
        ...


class ReadsRootInputs(Protocol):
    """Optional hook of a store: gives what a list of traces shows at once. Else each trace is read."""

    def root_inputs(self, trace_ids: Sequence[str], longest: int) -> Mapping[str, Mapping[str, Any]]:
        """The input of the first root of each of these traces, without those of more characters."""
        ...


class ReplacesScores(Protocol):
    """Optional hook of a store: puts scores in the place of earlier ones. Else they come beside them."""

    def replace_scores(self, rows: Sequence[ScoreRow], same: Callable[[ScoreRow], Any]) -> None:
        """Store scores of whole traces; of those for which `same` is equal only the newest stay.

        Those of runs are left alone.

        Raises:
            StoreError: the store cannot be written.
        """
        ...


class ChatModel(Protocol):
    """A language model that judges can ask."""

    async def complete(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None
    ) -> Any:
        """One reply to a list of messages; JSON of `schema` where that is given."""
        ...


class Named(Protocol):
    """Optional attribute of a chat model: without it, reports call the model by its class."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...


class Identified(Protocol):
    """Optional attribute of a chat model, needed for its replies to be cached."""

    @property
    def identity(self) -> str:
        """A text that no other model has, nor the same one with other settings."""
        ...


class FencesAlike(Protocol):
    """Optional attribute of a chat model whose replies are cached: equal questions must be equal requests."""

    @property
    def fence_secret(self) -> bytes | None:
        """What the marks round the text under judgement are derived from; None, or no such attribute, makes
        them new for each question."""
        ...


class KeepsReplies(Protocol):
    """Optional hook of a chat model: it learns which of its replies could be used."""

    def keep(
        self, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None, reply: Any
    ) -> None:
        """Told of each reply that the judge has read and accepted, with the request it answers."""
        ...


OPTIONAL_HOOKS: Mapping[type, str] = {
    ChecksExamples: "check",
    Gates: "gate",
    TakesModel: "with_model",
    ChecksModel: "check_model",
    TakesScores: "write_scores",
    Sender: "attach",
    GetsReady: "get_ready",
    BeginsAnew: "after_fork",
    HasPath: "path",
    OnlyRead: "only_read",
    TellsHealth: "health",
    KeepsUnsent: "unsent",
    ReadsTraces: "trace_reads",
    ReadsRootInputs: "root_inputs",
    ReadsOutlines: "outline",
    ReplacesScores: "replace_scores",
    StreamsTraces: "iter_traces",
    KeepsResults: "add_results",
    EndsWriting: "end",
    TakesRows: "takes_rows",
    KeepsWatch: "first_tellings",
    QueuesWork: "work_queue",
    Named: "name",
    Identified: "identity",
    FencesAlike: "fence_secret",
    KeepsReplies: "keep",
}
"""Each optional hook with the method or attribute by which it is known."""

_METHODS = frozenset(hook for hook, member in OPTIONAL_HOOKS.items() if callable(getattr(hook, member)))

Hook = TypeVar("Hook")


def optional(thing: object, hook: type[Hook]) -> Hook | None:
    """`thing` itself, typed as one that has an optional hook; None where it has not.

    Unlike `isinstance` this sees what a wrapper passes on through ``__getattr__``, on every Python, and takes
    no attribute for a method that happens to have its name.
    """
    member = getattr(thing, OPTIONAL_HOOKS[hook], None)
    if member is None or (hook in _METHODS and not callable(member)):
        return None
    return cast(Hook, thing)


def name_of_model(model: ChatModel) -> str:
    """What reports call a model: its name, or the name of its class."""
    named = optional(model, Named)
    return type(model).__name__ if named is None else str(named.name)


__all__ = [
    "OPTIONAL_HOOKS",
    "Batch",
    "BeginsAnew",
    "ChatModel",
    "ChecksExamples",
    "ChecksModel",
    "Destination",
    "EndsWriting",
    "Exporter",
    "FencesAlike",
    "Gates",
    "GetsReady",
    "HasPath",
    "Health",
    "Identified",
    "KeepsReplies",
    "KeepsUnsent",
    "KeepsWatch",
    "Named",
    "QueuesWork",
    "ReadsOutlines",
    "Refusal",
    "RunSummary",
    "ScoreRow",
    "Scorer",
    "Sender",
    "SpanSink",
    "Store",
    "StreamsTraces",
    "TakesModel",
    "TakesRows",
    "TakesScores",
    "TellsHealth",
    "TraceSummary",
    "Unsent",
    "UnsentCounts",
    "name_of_model",
    "optional",
]
