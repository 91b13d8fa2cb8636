"""Keepers that put the spans which arrive into a store, each in a process of its own."""

from __future__ import annotations

from functools import partial

from agenttrace.receiver import Keeper, KeepingProcess, StoreSink
from agenttrace.store import open_store
from agenttrace.work import Observing, read_rules


def keeping_processes(count: int, store: str | None, rules: str | None) -> list[KeepingProcess]:
    """So many processes which each open the store of a name, and queue what arrives for a file of rules.

    They are started, and not waited for.
    """
    keepers = [KeepingProcess(partial(_open_keeper, store, rules)) for _ in range(count)]
    for keeper in keepers:
        keeper.start()
    return keepers


def _open_keeper(name: str | None, rules: str | None) -> Keeper:
    store = open_store(name)
    stored = None if rules is None else Observing(store, read_rules(rules)).arrived
    return Keeper(StoreSink(store, stored=stored), close=store.close)
