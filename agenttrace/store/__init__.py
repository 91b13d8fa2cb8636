"""Spans that stay."""

from agenttrace.core.summary import RunSummary, TraceSummary
from agenttrace.store.health import StoreHealth
from agenttrace.store.memory import MemoryStore
from agenttrace.store.opening import default_store, open_store
from agenttrace.store.sqlite import SQLiteStore

__all__ = [
    "MemoryStore",
    "RunSummary",
    "SQLiteStore",
    "StoreHealth",
    "TraceSummary",
    "default_store",
    "open_store",
]
