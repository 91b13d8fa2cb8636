"""Questions to ClickHouse: bounded in time, with values bound, and errors that say what to do."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.errors import MissingDependency, StoreError
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.store.clickhouse.address import Address

CONNECT_SECONDS = 5
ANSWER_SECONDS = 30
"""How long an answer may take; the server is told as well."""

_SETTINGS = {"output_format_json_quote_64bit_integers": 0, "max_execution_time": ANSWER_SECONDS}


class Connection:
    """The driver's client, made when first needed, and anew in a forked child."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._lock = threading.Lock()
        self._client: Any = None
        self._process = 0

    def ask(self, statement: str, values: Mapping[str, Any] | None = None) -> Sequence[Sequence[Any]]:
        """The rows of an answer.

        Raises:
            StoreError: the server cannot be asked, or says no. The text has no password.
            MissingDependency: the driver is not installed; the message names the extra.
        """
        with self._lock:
            try:
                client = self._connected()
                rows: Sequence[Sequence[Any]] = client.query(
                    statement, parameters=dict(values or {})
                ).result_rows
            except MissingDependency:
                raise
            except Exception as error:  # choke-point: the driver passes on what the network raises, too
                pass_on_interruption(error)
                self._client = None
                raise StoreError(f"{self._address.shown} cannot be read: {self._text_of(error)}") from None
            return rows

    def close(self) -> None:
        """Give the client up."""
        with self._lock:
            client, self._client = self._client, None
            if client is not None and self._process == os.getpid():
                client.close()

    def _connected(self) -> Any:
        if self._client is None or self._process != os.getpid():
            place = self._address
            self._client = _driver().get_client(
                host=place.host,
                port=place.port,
                username=place.user,
                password=place.password,
                database=place.database,
                secure=place.secure,
                connect_timeout=CONNECT_SECONDS,
                send_receive_timeout=ANSWER_SECONDS,
                query_retries=0,
                autogenerate_session_id=False,
                settings=_SETTINGS,
            )
            self._process = os.getpid()
        return self._client

    def _text_of(self, error: Exception) -> str:
        text = " ".join(str(error).split())[:500] or type(error).__name__
        return text.replace(self._address.password, "***") if self._address.password else text


def _driver() -> Any:
    try:
        import clickhouse_connect
    except ImportError as error:
        raise MissingDependency(
            "reading ClickHouse needs clickhouse-connect: pip install 'agenttrace-evals[clickhouse]'"
        ) from error
    return clickhouse_connect
