"""The other agent of the planted demo: 2,000 spans in one trace, of which two fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agenttrace.tracer import Tracer

_BATCHES = 37
_FAILS = "SKU-22-25"


def reconciliation(tracer: Tracer) -> Callable[[int], dict[str, int]]:
    """An agent that compares a shop's stock with its warehouse, one article after the other."""

    @tracer.observe(span_type="tool")
    def check_inventory(sku: str) -> dict[str, Any]:
        if sku == _FAILS:
            raise TimeoutError("the warehouse did not answer within 5 s")
        return {"sku": sku, "in_stock": len(sku) * 7 % 40}

    @tracer.observe(span_type="tool")
    def compare_prices(sku: str) -> dict[str, Any]:
        return {"sku": sku, "differs": False}

    @tracer.observe(span_type="tool")
    def commit(batch: int) -> str:
        return f"batch {batch} is written"

    @tracer.observe(span_type="chain")
    def reconcile_batch(batch: int) -> int:
        for item in range(26):
            check_inventory(f"SKU-{batch}-{item}")
            compare_prices(f"SKU-{batch}-{item}")
        commit(batch)
        return 26

    return _night_of(tracer, reconcile_batch)


def _night_of(tracer: Tracer, reconcile_batch: Callable[[int], int]) -> Callable[[int], dict[str, int]]:
    @tracer.observe(span_type="tool")
    def load_orders(day: int) -> dict[str, int]:
        return {"day": day, "batches": _BATCHES}

    @tracer.observe(span_type="tool")
    def send_summary(to: str) -> str:
        return f"sent to {to}"

    @tracer.observe(span_type="agent")
    def reconcile_orders(day: int) -> dict[str, int]:
        checked = failed = 0
        for batch in range(load_orders(day)["batches"]):
            try:
                checked += reconcile_batch(batch)
            except TimeoutError:
                failed += 1
        for team in ("warehouse", "payments"):
            send_summary(team)
        return {"checked": checked, "failed": failed}

    return reconcile_orders
