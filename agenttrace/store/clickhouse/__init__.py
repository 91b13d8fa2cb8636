"""Traces that OpenTelemetry's collector keeps in ClickHouse, read where they are."""

from __future__ import annotations

from agenttrace.store.clickhouse.address import Address
from agenttrace.store.clickhouse.store import ClickHouseStore

__all__ = ["Address", "ClickHouseStore"]
