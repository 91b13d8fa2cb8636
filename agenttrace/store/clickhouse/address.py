"""The address of traces in ClickHouse: where they are, what is beside them, what may be shown of it."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.store.retention import Keep

SCHEME = "clickhouse"
TABLE = "otel_traces"
"""The table of the collector's exporter, unless the address says another."""

_FORM = "clickhouse://user:password@host:8123/database?table=otel_traces&scores=scores.db&since=30d&secure=1"
_OPTIONS = ("table", "scores", "since", "secure")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


class Address(NamedTuple):
    """Where the traces are. `beside` names the store for scores and runs, `since` is an age in seconds."""

    host: str
    port: int
    user: str
    password: str
    database: str
    table: str
    beside: str | None
    since: float | None
    secure: bool
    shown: str

    @classmethod
    def of(cls, text: str) -> Address:
        """Read ``clickhouse://user:password@host:port/database?table=…&scores=…&since=…&secure=1``.

        Raises:
            ConfigError: it cannot be read, or has an option that there is not. No message has the password.
        """
        try:
            parts = urlsplit(text)
            port, host = parts.port, parts.hostname
        except ValueError:
            raise ConfigError(
                f"traces in ClickHouse are at {_FORM}; the port or the host cannot be read"
            ) from None
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        for name in options:
            if name not in _OPTIONS:
                raise ConfigError(
                    f"ClickHouse's address has no option {name!r}{did_you_mean(name, _OPTIONS)}"
                )
        database, table = unquote(parts.path.strip("/")) or "default", options.get("table", TABLE)
        for what, name in (("database", database), ("table", table)):
            if not _NAME.fullmatch(name):
                raise ConfigError(f"a {what} in ClickHouse has a name of letters, digits and _, got {name!r}")
        secure = options.get("secure", "0").lower() in ("1", "true", "yes")
        user = unquote(parts.username or "default")
        host = host or "localhost"
        return cls(
            host,
            port or (8443 if secure else 8123),
            user,
            unquote(parts.password or ""),
            database,
            table,
            options.get("scores"),
            None if "since" not in options else Keep.of(options["since"]).seconds,
            secure,
            f"{SCHEME}://{user}@{f'[{host}]' if ':' in host else host}:{port or (8443 if secure else 8123)}"
            f"/{database}?table={table}",
        )

    @property
    def source(self) -> str:
        """The table, as a statement names it."""
        return f"`{self.database}`.`{self.table}`"
