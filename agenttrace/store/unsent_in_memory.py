"""What is still to be sent from a store in memory, within a bound of its own."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenttrace.core.batch import Destination, Refusal, Unsent, UnsentCounts
from agenttrace.core.tool import ToolDefinition

MAX_BYTES = 64 * 1024 * 1024

_numbers = itertools.count(1)
"""Of the whole process: what was read before a memory was emptied settles nothing of what came later."""


@dataclass(slots=True)
class _Queue:
    waiting: dict[int, tuple[Any, int, int]] = field(default_factory=dict)
    """Items by their number, each with the time at which it was stored and its size."""
    refused: list[tuple[list[tuple[int, Any, int, int]], int]] = field(default_factory=list)
    """Refused items, as they waited, with how many of them were refused."""
    dropped: int = 0


class UnsentInMemory:
    """The items that wait for each destination. Not safe for several threads: the store holds its lock."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._queues: dict[Destination, _Queue] = {}
        self._leases: dict[str, tuple[str, float]] = {}

    def add(self, destination: Destination, items: Iterable[Any], sizes: Iterable[int]) -> None:
        """Let items wait; where there is no room for all, what was refused goes first, then the oldest."""
        queue = self._queues.setdefault(destination, _Queue())
        now = time.time_ns()
        for item, size in zip(items, sizes, strict=False):
            queue.waiting[next(_numbers)] = (item, now, size)
            self._bytes += size
        while self._bytes > self._max_bytes and (queue.refused or queue.waiting):
            if queue.refused:
                entries, count = queue.refused.pop(0)
                self._bytes -= sum(size for *_, size in entries)
            else:
                number = next(iter(queue.waiting))
                self._bytes -= queue.waiting.pop(number)[2]
                count = 1
            queue.dropped += count

    def next_unsent(
        self,
        destination: Destination,
        most: int,
        max_bytes: int,
        known_tools: Mapping[str, Mapping[str, ToolDefinition]],
    ) -> Unsent | None:
        """See `KeepsUnsent.unsent`; the known tools are those of each project, by name."""
        queue = self._queues.get(destination)
        if queue is None or not queue.waiting:
            return None
        numbers: list[int] = []
        for number, (_, _, size) in itertools.islice(queue.waiting.items(), most):
            if numbers and max_bytes < size:
                break
            max_bytes -= size
            numbers.append(number)
        entries = [queue.waiting[number] for number in numbers]
        return Unsent(
            destination=destination,
            ranges=[(numbers[0], numbers[-1])],
            numbers=numbers,
            items=[item for item, _, _ in entries],
            times=[stored_ns for _, stored_ns, _ in entries],
            tools={project: list(tools.values()) for project, tools in known_tools.items()}
            if destination.kind == "spans"
            else {},
        )

    def settle(self, unsent: Unsent, refused: Sequence[Refusal]) -> None:
        """See `KeepsUnsent.settle`."""
        queue = self._queues.setdefault(unsent.destination, _Queue())
        still_here = {number: queue.waiting.pop(number, None) for number in unsent.numbers}
        for start, stop, count, _ in refused:
            numbers = unsent.numbers[start:stop]
            entries = [(number, *entry) for number in numbers if (entry := still_here.pop(number, None))]
            if entries:
                queue.refused.append((entries, count))
        self._bytes -= sum(entry[2] for entry in still_here.values() if entry is not None)

    def retry_refused(self, destination: Destination) -> int:
        """See `KeepsUnsent.retry_refused`."""
        queue = self._queues.setdefault(destination, _Queue())
        refused, queue.refused = queue.refused, []
        for entries, _ in refused:
            queue.waiting.update(
                {number: (item, stored_ns, size) for number, item, stored_ns, size in entries}
            )
        return sum(count for _, count in refused)

    def counts(self, destination: Destination) -> UnsentCounts:
        """See `KeepsUnsent.count_unsent`."""
        queue = self._queues.get(destination, _Queue())
        refused = sum(count for _, count in queue.refused)
        return UnsentCounts(len(queue.waiting), refused, queue.dropped)

    def destinations_of_items(self) -> dict[int, tuple[Destination, ...]]:
        """Where each item is to be sent, by the `id` of the item; what was refused is tried once more."""
        destinations: dict[int, tuple[Destination, ...]] = {}
        for destination, queue in self._queues.items():
            refused = (item for entries, _ in queue.refused for _, item, _, _ in entries)
            for item in (*refused, *(item for item, _, _ in queue.waiting.values())):
                destinations[id(item)] = (*destinations.get(id(item), ()), destination)
        return destinations

    def forget(self, is_deleted: Callable[[Any], bool]) -> None:
        """Let items that were deleted wait no more, nor again."""
        for queue in self._queues.values():
            for number in [number for number, (item, *_) in queue.waiting.items() if is_deleted(item)]:
                self._bytes -= queue.waiting.pop(number)[2]
            for place, (entries, count) in enumerate(queue.refused):
                left = [entry for entry in entries if not is_deleted(entry[1])]
                self._bytes -= sum(entry[3] for entry in entries) - sum(entry[3] for entry in left)
                queue.refused[place] = (left, min(count, len(left)))

    def lease(self, name: str, holder: str, seconds: float) -> bool:
        """See `KeepsUnsent.lease`."""
        now = time.monotonic()
        other, until = self._leases.get(name, (holder, now))
        if other != holder and until > now:
            return False
        self._leases[name] = (holder, now + seconds)
        return True

    def release(self, name: str, holder: str) -> None:
        """See `KeepsUnsent.release`."""
        if self._leases.get(name, ("", 0.0))[0] == holder:
            del self._leases[name]
