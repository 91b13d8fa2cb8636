"""`open_store`: from a setting to its store (a file, or memory), to which senders are then attached.

`default_store` is the one that all who name none share.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from agenttrace.core import semconv
from agenttrace.core.batch import Destination
from agenttrace.core.errors import ConfigError
from agenttrace.core.protocols import Exporter, KeepsUnsent, OnlyRead, Sender, Store, optional
from agenttrace.core.span import Span
from agenttrace.core.tool import ToolDefinition
from agenttrace.store.files import absolute
from agenttrace.store.memory import MemoryStore
from agenttrace.store.retention import Keep
from agenttrace.store.sqlite import SQLiteStore

ENVIRONMENT = "AGENTTRACE_STORE"
DEFAULT_PATH = "./.agenttrace/traces.db"
MEMORY = "memory"
SQLITE_MEMORY = ":memory:"

_FORMS = (
    "the path of a local file, sqlite:///relative.db, sqlite:////absolute.db, "
    "postgresql://user@host/database, clickhouse://user@host/database (to read), "
    "https://host of a service (agenttrace serve) "
    f"or {MEMORY!r}"
)
_SERVERS = ("postgresql://", "postgres://")
_READ_ONLY = "clickhouse://"
_SERVICES = ("https://", "http://")


def open_store(
    where: str | Path | None = None, *, keep: str | None = None, token: str | None = None
) -> Store:
    """The store for a path, for ``"memory"``, or for None: what ``AGENTTRACE_STORE`` says, else the default.

    A path may be written as an address, ``sqlite:///traces.db``. No file is opened or made before the store
    is used. `keep` says how long traces stay in the file, how large it may grow, or both: ``"30d 5GB"``.
    ``https://host`` is the store of a service, and `token` the token of its pages (None: what
    ``AGENTTRACE_TOKEN`` says).

    Raises:
        ConfigError: the path is empty, an address of another kind, or a directory; `keep` cannot be read, or
            is for a service's store; `token` is for another one.
    """
    if keep is not None:
        Keep.of(keep)
    if where is None:
        where = _default_setting()
    if isinstance(where, str) and where.lower().startswith(_SERVICES):
        return _of_service(where, keep, token)
    if token is not None:
        raise ConfigError("token= is for the store of a service: https://host")
    if where == MEMORY:
        return _reading(MemoryStore())
    if isinstance(where, str) and where.lower().startswith(_SERVERS):
        from agenttrace.store.postgres import PostgresStore  # on use: its driver is an extra

        return _reading(PostgresStore(where, keep=keep))
    if isinstance(where, str) and where.lower().startswith(_READ_ONLY):
        return _over_clickhouse(where)
    return _in_file(os.fspath(where), keep)


def _in_file(where: str, keep: str | None) -> Store:
    text = _path_of(where)
    if text == SQLITE_MEMORY:
        return _reading(MemoryStore())
    if not text.strip() or "\0" in text:
        raise ConfigError(f"a store is {_FORMS}, got {text!r}")
    try:
        path = Path(text).expanduser()
        is_directory = path.is_dir()
    except RuntimeError as error:  # ``~nobody/traces.db``, or a process without a home
        raise ConfigError(f"a store is {_FORMS}; there is no home directory for {text!r}") from error
    except OSError as error:  # a name that is too long, for one
        raise ConfigError(f"a store is {_FORMS}; this path cannot be used: {error.strerror}") from error
    if is_directory:
        raise ConfigError(f"{text} is a directory; give the path of a file in it, as {path / 'traces.db'}")
    return _reading(SQLiteStore(path, keep=keep))


def _over_clickhouse(where: str) -> Store:
    """Traces in ClickHouse, with the store beside them that the address names, or the default file."""
    from agenttrace.store.clickhouse import Address, ClickHouseStore  # on use: its driver is an extra

    beside = Address.of(where).beside or DEFAULT_PATH
    if beside.lower().startswith(_READ_ONLY):
        raise ConfigError(f"scores= names a store that can be written: {_FORMS}")
    return cast(Store, ClickHouseStore(where, open_store(beside)))


def _of_service(url: str, keep: str | None, token: str | None) -> Store:
    if keep is not None:
        raise ConfigError("the service says how long its traces stay: keep= is for a store of one's own")
    from agenttrace.store.remote import RemoteStore  # on use: it needs an HTTP client

    return RemoteStore(url, token)  # it gives traces as the service has read them


def _reading(store: Store) -> Store:
    """The store, which from now on reads what came by OpenTelemetry as its dialects' tables have it today."""
    if getattr(store, "reading", ...) is None:  # one of ours, which nobody has told yet
        store.reading = _read_spans  # type: ignore[attr-defined]
    return store


def _read_spans(spans: Sequence[Span]) -> tuple[Sequence[Span], Mapping[str, ToolDefinition]]:
    if not any(semconv.RECEIVED in span.attributes for span in spans):
        return spans, {}
    from agenttrace.otlp_in.reading import read_anew  # on use: a store of one's own spans needs none of it

    return read_anew(spans)


def store_of(store: str | Path | Store | None, keep: str | None) -> Store:
    """The store that a tracer is given, or the one that it names; `keep` is for one that is named.

    Raises:
        ConfigError: it is neither, cannot be opened, or `keep` is given for a store of the user's own.
    """
    if store is None or isinstance(store, str | Path):
        store = open_store(store, keep=keep)
        if optional(store, OnlyRead) is not None:
            raise ConfigError(
                f"{store!r} is only read: record with exporters=[OTLPExporter(…)], or elsewhere"
            )
        return store
    if not callable(getattr(store, "write", None)):
        raise ConfigError(f"store is a path, 'memory' or a Store, got {store!r}")
    if keep is not None:
        raise ConfigError("keep is for a store by name; give it to your own: SQLiteStore(path, keep=…)")
    return _reading(store)


_shared_stores: dict[str, Store] = {}


def default_store() -> Store:
    """The store of those who name none: one object for the process, for each file that the setting names.

    Raises:
        ConfigError: what ``AGENTTRACE_STORE`` says cannot name a store.
    """
    return shared_store(_default_setting())


def shared_store(where: str | Path) -> Store:
    """The store that a path or an address names: one object for the process, for each file.

    Raises:
        ConfigError: it cannot name a store.
    """
    where = str(where)
    place = where if where == MEMORY or ":" in where else absolute(where)
    store = _shared_stores.get(place)
    # Of two threads that come here together both get the store that is put in first.
    return _shared_stores.setdefault(place, open_store(where)) if store is None else store


def _default_setting() -> str:
    return os.environ.get(ENVIRONMENT) or DEFAULT_PATH


def _path_of(setting: str) -> str:
    """The path in a setting: the setting itself, or the path of an SQLite address as SQLAlchemy reads it.

    Raises:
        ConfigError: any other address. The message repeats only its scheme: the rest may hold a password.
    """
    scheme, colon, rest = setting.partition(":")
    if colon and scheme.lower() == "sqlite":
        if rest == "//":
            return SQLITE_MEMORY
        if not rest.startswith("///") or rest == "///":
            raise ConfigError(f"a store is {_FORMS}, got an SQLite address that is none of these")
        if "?" in rest:
            raise ConfigError(
                f"a store is {_FORMS}; an address takes no options, a question mark in a name is written %3F"
            )
        return unquote(rest[3:], errors="surrogateescape")
    if "://" in setting:
        raise ConfigError(f"a store is {_FORMS}, got an address of another kind: {scheme}://…")
    return setting


def connected(
    exporters: Sequence[Exporter | Sender], store: Store, project: str
) -> tuple[list[Exporter], list[Sender], list[Destination]]:
    """The plain exporters; the senders, attached to the store; where what it stores is to be sent.

    A store of the user's own may be unable to: then what is to be sent is kept in memory beside it.

    Raises:
        ConfigError: no list, or something in it that is no exporter.
    """
    if not isinstance(exporters, Sequence):
        raise ConfigError(f"exporters is a list, got {type(exporters).__name__}; write exporters=[…]")
    for one in exporters:
        if isinstance(one, type):
            raise ConfigError(f"exporters holds the class {one.__name__}; make one: {one.__name__}(…)")
    senders = [sender for one in exporters if (sender := optional(one, Sender)) is not None]
    plain: list[Any] = [one for one in exporters if optional(one, Sender) is None]
    for exporter in plain:
        if not callable(getattr(exporter, "export", None)):
            raise ConfigError(f"an exporter has export(spans), flush(timeout), close(); got {exporter!r}")
    keeping = optional(store, KeepsUnsent)
    if keeping is not None:
        return plain, senders, [d for sender in senders for d in sender.attach(keeping, project)]
    memory = MemoryStore()
    memory.send_to = [d for sender in senders for d in sender.attach(memory, project)]
    return ([*plain, memory] if senders else plain), senders, []
