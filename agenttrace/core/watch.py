"""What a store keeps for those who watch production: failures, people's word, its writers, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from agenttrace.core.annotation import Annotation
    from agenttrace.core.failure import Failure, Fingerprint, State
    from agenttrace.core.people import StoredScore


class CountsRecording(Protocol):
    """Counts what became of the spans of one tracer, since it was made in this process."""

    def counts(self) -> Mapping[str, int]:
        """The counts by name; see `Pipeline.counts`. Cheap, on any thread."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterState:
    """One process that writes, or wrote, to a store's file; times are nanoseconds since 1970.

    `counts` are those of its tracers and of its store, since it began; they are noted every few seconds
    while spans are stored, and at its end. `ended_ns` is None while it runs, and where it was killed.
    """

    writer_id: str
    machine: str
    pid: int
    program: str
    started_ns: int
    seen_ns: int
    ended_ns: int | None
    counts: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name, as JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreCounts:
    """How often each outcome of a scorer was stored; `cost` in US dollars, `total` the sum of the values."""

    project: str
    name: str
    passed: int = 0
    failed: int = 0
    errored: int = 0
    skipped: int = 0
    cost: float = 0.0
    total: float = 0.0

    @property
    def judged(self) -> int:
        """How many passed or failed."""
        return self.passed + self.failed


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCounts:
    """How many traces of a project began."""

    project: str
    traces: int = 0


class KeepsWatch(Protocol):
    """Optional hook of a store: what those who watch production ask it.

    Raises:
        StoreError: from every method, where the store cannot be used.
    """

    def failures(
        self, *, project: str | None = None, state: State | None = None, limit: int = 100
    ) -> list[Failure]:
        """The failures: first those that are back, then the open ones, then the fixed; the newest first."""
        ...

    def set_failure_state(
        self, fingerprint: str, state: State, *, fixed_in: str | None = None, project: str | None = None
    ) -> Failure:
        """Give the failure whose fingerprint begins so a state; returns it as it is now.

        Raises:
            StoreError: none begins so, or several do.
        """
        ...

    def first_tellings(self, project: str, fingerprints: Sequence[Fingerprint]) -> dict[str, str]:
        """Of these failures those that nobody was alerted of, by key: *new*, or *back again* since then.

        Whoever asks is expected to alert: of several processes that ask at once, one is told.
        """
        ...

    def annotations(
        self, *, trace_id: str | None = None, project: str | None = None, limit: int = 1_000
    ) -> list[Annotation]:
        """What people said, the newest first."""
        ...

    def stored_scores(
        self,
        *,
        name: str | None = None,
        project: str | None = None,
        annotated: bool = False,
        limit: int = 5_000,
    ) -> list[StoredScore]:
        """Scores without their texts, the newest first; `annotated`: only of what people spoke about."""
        ...

    def score_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[ScoreCounts]:
        """How often each outcome of each scorer was stored since a moment, by project and name."""
        ...

    def trace_counts(self, *, since_ns: int = 0, project: str | None = None) -> list[TraceCounts]:
        """How many traces began since a moment, by project."""
        ...

    def trace_cost(self, *, since_ns: int, project: str | None = None) -> float:
        """What the traces that began since a moment cost, in US dollars. Reads each of them."""
        ...

    def failure_counts(self) -> Mapping[tuple[str, State], int]:
        """How many failures there are, by project and state."""
        ...

    def writers(self) -> list[WriterState]:
        """The processes that write to the store's file, and those that did lately; the newest first."""
        ...
