"""The address of a store on a server: what the driver is told, what is ours, and what may be shown of it."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from agenttrace.core.errors import ConfigError, did_you_mean

SCHEMES = ("postgresql", "postgres")
SCHEMA = "agenttrace"
"""The schema that the tables are in, unless the address says another."""

_FORM = "postgresql://user:password@host:5432/database?schema=agenttrace"
_DRIVERS_OWN = {
    *("application_name", "channel_binding", "connect_timeout", "dbname", "gssencmode", "host"),
    *("keepalives", "keepalives_idle", "options", "passfile", "password", "port", "sslcert", "sslkey"),
    *("sslmode", "sslrootcert", "target_session_attrs", "user"),
}
_NAME = re.compile(r"[^\x00]{1,63}")


class Address(NamedTuple):
    """Where a store is: `dsn` for the driver, the schema of its tables, and a text without the password."""

    dsn: str
    schema: str
    shown: str

    @classmethod
    def of(cls, text: str) -> Address:
        """Read ``postgresql://user:password@host:port/database?schema=name``.

        What else stands after the question mark is the driver's own (``sslmode``, ``connect_timeout`` …).

        Raises:
            ConfigError: it cannot be read, or has an option that there is not. No message has the password.
        """
        if "\0" in text:
            raise ConfigError(f"a store on a server is {_FORM}; no address has a zero character")
        try:
            parts = urlsplit(text)
            port, host = parts.port, parts.hostname or ""
        except ValueError:
            raise ConfigError(
                f"a store on a server is {_FORM}; the port or the host cannot be read"
            ) from None
        options = parse_qsl(parts.query, keep_blank_values=True)
        schema = dict(options).get("schema", SCHEMA)
        for name, _ in options:
            if name != "schema" and name not in _DRIVERS_OWN:
                known = {"schema", *_DRIVERS_OWN}
                raise ConfigError(f"a store's address has no option {name!r}{did_you_mean(name, known)}")
        if not _NAME.fullmatch(schema) or len(schema.encode()) > 63 or schema.startswith("pg_"):
            raise ConfigError(
                f"a schema's name has 1 to 63 bytes and does not begin with pg_, got {schema!r}"
            )
        rest = urlencode([(name, value) for name, value in options if name != "schema"])
        dsn = urlunsplit(("postgresql", parts.netloc, parts.path, rest, ""))
        user = f"{parts.username}@" if parts.username else ""
        named_host = f"[{host}]" if ":" in host else host
        place = named_host + (f":{port}" if port else "")
        own = "" if schema == SCHEMA else f"?schema={schema}"
        return cls(dsn, schema, f"postgresql://{user}{place}{parts.path}{own}")
