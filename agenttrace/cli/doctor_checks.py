"""What `agenttrace doctor` looks at: packages and their switches, settings, the store's file, disk, clock."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, NamedTuple

from agenttrace.core.errors import MissingDependency, StoreError
from agenttrace.core.protocols import HasPath, Store, optional
from agenttrace.otlp_in.remedies import SWITCHES
from agenttrace.store.damage import damage_of
from agenttrace.tracing.decorator import enabled_by_environment
from agenttrace.version import __version__

State = Literal["ok", "note", "problem"]

LEAST_FREE = 500 * 1024 * 1024
"""Bytes that a disk should have free."""

_TIMEOUT = 5.0

AHEAD_SECONDS = 60
"""How far the newest trace may lie in the future before clocks are said to differ."""


class Check(NamedTuple):
    """One thing that was looked at: how it is, and what to do where it is no *ok*."""

    name: str
    state: State
    text: str


_EXTRAS = ("pytest", "httpx", "genai-prices", "rich", "jinja2")


def all_checks(store: Store, environment: Mapping[str, str] = os.environ) -> Iterator[Check]:
    """Look at everything. Changes nothing, and asks nothing of the network."""
    yield Check("versions", "ok", _versions())
    yield from library_checks(environment)
    yield from setting_checks(environment)
    yield from store_checks(store)


def _versions() -> str:
    parts = [
        f"agenttrace {__version__}",
        f"Python {platform.python_version()}",
        f"SQLite {sqlite3.sqlite_version}",
    ]
    parts += [f"{name} {number}" for name in _EXTRAS if (number := installed(name)) is not None]
    return ", ".join(parts)


def installed(package: str) -> str | None:
    """The version of an installed package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def library_checks(environment: Mapping[str, str]) -> Iterator[Check]:
    """The installed libraries that can record themselves: whether their spans hold arguments."""
    for switch in SWITCHES:
        number = None if switch.package is None else installed(switch.package)
        if number is None:
            continue
        name = f"{switch.package} {number}"
        text = f"to have its arguments and outputs: {switch.remedy}"
        if switch.variable is None:
            yield Check(name, "ok", text)
            continue
        value = environment.get(switch.variable)
        setting = f"{switch.variable} is {'not set' if value is None else repr(value)}"
        yield Check(name, "ok" if switch.is_on(value) else "note", f"{text}; {setting}")


def setting_checks(environment: Mapping[str, str]) -> Iterator[Check]:
    """The environment variables of agenttrace that change what is recorded; no value of a key is shown."""
    if not enabled_by_environment(environment):
        yield Check("recording", "problem", "AGENTTRACE_ENABLED switches recording off in this environment")
    else:
        yield Check("recording", "ok", "on")
    judge = environment.get("AGENTTRACE_JUDGE_MODEL")
    keys = [name for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY") if environment.get(name)]
    text = f"AGENTTRACE_JUDGE_MODEL is {judge or 'not set'}; keys: {', '.join(keys) or 'none'}"
    yield Check("judges", "ok" if judge else "note", text)


def _server_check(store: Store, address: str) -> Check:
    try:
        newest = store.traces(limit=1)
    except (StoreError, MissingDependency) as error:
        return Check("store", "problem", str(error))
    return Check("store", "ok", f"{address} can be read; it has {'traces' if newest else 'no trace yet'}")


def store_checks(store: Store) -> Iterator[Check]:
    """The store's file: whether it can be read and written, who may, the room on its disk, the clock."""
    has_path = optional(store, HasPath)
    path = None if has_path is None else has_path.path
    if path is None and isinstance(address := getattr(store, "address", None), str):
        yield _server_check(store, address)
        return
    if path is None:
        yield Check("store", "note", "in memory: nothing stays when the process ends")
        return
    try:
        newest = store.traces(limit=1)
        damage = damage_of(path, _TIMEOUT)
    except StoreError as error:
        yield Check("store", "problem", str(error))
        newest = []
    else:
        if damage:
            yield Check("store", "problem", f"{path} is damaged: {damage}")
        there = os.path.exists(path)
        yield Check(
            "store", "ok", f"{path}, {os.path.getsize(path)} bytes" if there else f"{path}, not made yet"
        )
    yield from _permissions(path)
    yield _disk(path)
    ahead = max((line.start_ns / 1e9 - time.time() for line in newest), default=0.0)
    if ahead > AHEAD_SECONDS:
        text = f"the newest trace began {ahead:.0f} s in the future: the clocks of machines differ"
        yield Check("clock", "problem", text)
    else:
        yield Check("clock", "ok", time.strftime("%Y-%m-%d %H:%M:%S %z"))


def _permissions(path: str) -> Iterator[Check]:
    directory = _first_directory(path)
    if not os.access(directory, os.W_OK):
        yield Check("permissions", "problem", f"{directory} cannot be written: traces stay in memory")
    elif os.path.exists(path) and not os.access(path, os.W_OK):
        yield Check("permissions", "problem", f"{path} cannot be written: traces stay in memory")
    elif os.path.exists(path) and os.name == "posix" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        yield Check("permissions", "note", f"{path} has mode {mode:o}: others may read it; chmod 600 {path}")
    else:
        yield Check("permissions", "ok", "readable by their owner only")


def _first_directory(path: str) -> str:
    """The nearest directory above a path that exists."""
    directory = os.path.dirname(os.path.abspath(path))
    while not os.path.isdir(directory) and os.path.dirname(directory) != directory:
        directory = os.path.dirname(directory)
    return directory


def _disk(path: str) -> Check:
    try:
        free = shutil.disk_usage(_first_directory(path)).free
    except OSError as error:
        return Check("disk", "problem", f"its room cannot be told: {error.strerror or error}")
    state: State = "ok" if free >= LEAST_FREE else "problem"
    return Check("disk", state, f"{free / 1e9:.1f} GB free")


def as_data(check: Check) -> dict[str, Any]:
    """A check as JSON data."""
    return check._asdict()
