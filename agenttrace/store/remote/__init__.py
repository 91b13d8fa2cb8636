"""The store of a service, used over HTTP: `RemoteStore`. What both sides speak stands here, too."""

from __future__ import annotations

from agenttrace.store.remote.store import RemoteStore

__all__ = ["RemoteStore"]
