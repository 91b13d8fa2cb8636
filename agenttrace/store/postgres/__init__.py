"""The store on a PostgreSQL server, which any number of machines share."""

from __future__ import annotations

from agenttrace.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
