"""What a record weighs: its heavy values, in bytes."""

from __future__ import annotations

from typing import Any

from agenttrace.tracing.freeze import Frozen
from agenttrace.tracing.record import ARGUMENTS, EXTRA, OUTPUT, Record

OUT_OF_MEMORY = {"$truncated": "memory"}
"""Stands in the place of a heavy value for which there was no room."""


def weight_of(record: Record) -> int:
    """The size of all heavy values of a record."""
    weight = 0
    for value in record[ARGUMENTS] or ():
        if type(value) is Frozen:
            weight += value.size
    if type(record[OUTPUT]) is Frozen:
        weight += record[OUTPUT].size
    extra = record[EXTRA]
    if extra is not None:
        for value in (extra.get("input"), extra.get("output"), *extra.get("attributes", {}).copy().values()):
            if type(value) is Frozen:
                weight += value.size
    return weight


def lightened(record: Record) -> Record:
    """A copy of an ended record with marks in place of its heavy values."""
    light = record.copy()
    if record[ARGUMENTS] is not None:
        light[ARGUMENTS] = tuple(map(_mark, record[ARGUMENTS]))
    light[OUTPUT] = _mark(record[OUTPUT])
    extra = record[EXTRA]
    if extra is not None:
        light[EXTRA] = {name: _mark(value) for name, value in extra.copy().items()}
        attributes = extra.get("attributes", {}).copy()
        light[EXTRA]["attributes"] = {name: _mark(value) for name, value in attributes.items()}
    return light


def _mark(value: Any) -> Any:
    return dict(OUT_OF_MEMORY) if type(value) is Frozen else value
