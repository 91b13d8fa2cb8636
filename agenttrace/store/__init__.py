"""Spans that stay."""

from agenttrace.core.summary import RunSummary, TraceSummary
from agenttrace.store.health import StoreHealth
from agenttrace.store.memory import MemoryStore
from agenttrace.store.opening import open_store
from agenttrace.store.sqlite import SQLiteStore

__all__ = ["MemoryStore", "RunSummary", "SQLiteStore", "StoreHealth", "TraceSummary", "open_store"]
