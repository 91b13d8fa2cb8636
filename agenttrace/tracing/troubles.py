"""What keeps this process's recording from being sound at the moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.losses import LOSSES, Trouble, trouble_of_loss
from agenttrace.core.protocols import TellsHealth, optional
from agenttrace.tracing.pipeline import Pipeline

_ANOTHER_SENDS = "another process is sending"
"""What a sender says while it has nothing to do: no trouble."""


def recording_troubles(pipeline: Pipeline) -> Iterator[Trouble]:
    """Yield each trouble, under a cause of its own: a store in memory, spans that were lost, collectors that
    take nothing, or refused some of it. Never raises."""
    yield from _of_the_store(pipeline)
    stats = pipeline.stats()
    lost = {**stats["dropped"], **stats}
    yield from (trouble_of_loss(name, lost[name]) for name in LOSSES if lost.get(name))
    for sender in pipeline.senders:
        try:
            counts = sender.stats()
            yield from _of_a_sender(counts)
        except BaseException as error:  # choke-point: a sender of the user's own making
            pass_on_interruption(error)


def _of_the_store(pipeline: Pipeline) -> Iterator[Trouble]:
    reporting = optional(pipeline.store, TellsHealth)
    try:
        health = None if reporting is None else reporting.health()
        mode, trouble = getattr(health, "mode", None), getattr(health, "trouble", None)
        waiting = getattr(health, "waiting", 0)
    except BaseException as error:  # choke-point: a store of the user's own making
        pass_on_interruption(error)
        return
    if mode == "memory" and trouble:  # a store that is meant to be in memory has none
        yield Trouble(
            "memory",
            f"the store cannot be written ({trouble}); {waiting} spans are kept in memory",
            "mend that before the process ends: they are stored as soon as the file can be written; "
            "`agenttrace doctor` looks at file and disk",
        )


def _of_a_sender(stats: Mapping[str, Any]) -> Iterator[Trouble]:
    endpoint = stats.get("endpoint", "an exporter")
    for kind, signal in stats.items():
        if not isinstance(signal, Mapping):
            continue
        trouble = signal.get("trouble")
        if trouble and trouble != _ANOTHER_SENDS:
            yield Trouble(
                f"not_sent {endpoint} {kind}",
                f"{endpoint} takes no {kind}: {trouble}; {signal.get('waiting', 0)} wait in the store",
                "is the collector up at this address, with the right key? What waits is sent when it is",
            )
        if signal.get("refused"):
            yield Trouble(
                f"refused {endpoint} {kind}",
                f"{signal['refused']} {kind} were refused by {endpoint}",
                "`agenttrace health` has the reason; mend it, then `exporter.resend()` tries them again",
            )
