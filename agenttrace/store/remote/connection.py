"""`Connection`: calls a service's store over HTTP, within a time, and once more where nothing is answered."""

from __future__ import annotations

import gzip
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core.errors import StoreError
from agenttrace.http.endpoint import ApiKey
from agenttrace.http.transport import Answer, Failure, Transport
from agenttrace.process.loop_thread import LoopKeeper
from agenttrace.store.remote.calls import CALLS, KEY, MOST_BYTES, PATH
from agenttrace.store.remote.values import Unreadable, error_of, read, written

CALL_SECONDS = 60.0
"""For a call whose caller waits for its answer, with all its attempts."""
WRITE_SECONDS = 20.0
"""For a batch of spans, which memory keeps where the service does not answer."""
_WORTH_PACKING = 1_000
_NOT_LET_IN = (401, 403)


class Away(Exception):
    """The service does not answer now. `is_sure` is False where it may have done what it was asked."""

    def __init__(self, text: str, *, is_sure: bool) -> None:
        super().__init__(text)
        self.is_sure = is_sure


class Message(NamedTuple):
    """A call as it is sent. The service does what has the same `key` once."""

    name: str
    key: str
    body: bytes

    @classmethod
    def of(cls, name: str, positional: Sequence[Any] = (), named: Mapping[str, Any] | None = None) -> Message:
        """A call of one of `CALLS`.

        Raises:
            TypeError: an argument is no value that a service takes.
        """
        body = written({"call": name, "positional": list(positional), "named": named or {}})
        return cls(name, uuid.uuid4().hex, body)


class Connection:
    """Calls the store of the service at `url`; may be used on any thread, and in forked children."""

    def __init__(self, url: str, token: ApiKey | None) -> None:
        self._url = f"{url}{PATH}"
        self._address = url
        self._token = token
        self._begin()

    def _begin(self) -> None:
        self._loops = LoopKeeper(name="store")
        self._asking = Transport(timeout=CALL_SECONDS, attempts=4, max_bytes=MOST_BYTES)
        self._writing = Transport(timeout=WRITE_SECONDS, attempts=2, max_bytes=MOST_BYTES)

    def call(self, name: str, /, *positional: Any, **named: Any) -> Any:
        """What a method of the service's store returns.

        Raises:
            StoreError: the service did not answer, does not let this process in, or its store raised it.
            QueryError: the service's store raised it.
            TypeError: an argument is no value that a service takes.
        """
        try:
            return self.send(Message.of(name, positional, named))
        except Away as error:
            verb = "written" if CALLS[name].writes else "read"
            raise StoreError(f"the store at {self._address} cannot be {verb}: {error}") from None

    def send(self, message: Message, *, briefly: bool = False, within: float | None = None) -> Any:
        """What the service answers to a message; `briefly` for one that memory keeps otherwise.

        `within` so many seconds, where that is less than it would wait.

        Raises:
            Away: the service did not answer, or has no time.
            StoreError: as `call` does.
        """
        headers = {
            "content-type": "application/json",
            "accept-encoding": "gzip",
            **({} if self._token is None else {"authorization": f"Bearer {self._token.reveal()}"}),
            **({KEY: message.key} if CALLS[message.name].writes else {}),
        }
        body = message.body
        if len(body) > _WORTH_PACKING:
            headers["content-encoding"] = "gzip"
            body = gzip.compress(body, compresslevel=1)
        transport = self._writing if briefly else self._asking
        try:
            outcome = self._loops.loop().call(transport.post(self._url, headers, body), within)
        except TimeoutError:
            raise Away("it did not answer in time", is_sure=False) from None
        if isinstance(outcome, Failure):
            is_sure = "cannot connect" in outcome.problem
            raise Away(outcome.problem, is_sure=is_sure)
        return self._result(outcome)

    def _result(self, answer: Answer) -> Any:
        if answer.status in _NOT_LET_IN:
            who = "this token"
            if self._token is None:
                who = "anybody without a token; give token=, or set AGENTTRACE_TOKEN"
            raise StoreError(f"the service at {self._address} does not let in {who}")
        if answer.status == 429 or answer.status >= 500:
            raise Away(f"it answered {answer.status}", is_sure=answer.status in (429, 503))
        otherwise = f"{self._address} is no service of agenttrace: it answered {answer.status}"
        try:
            data = read(answer.body)
        except Unreadable as error:
            raise StoreError(f"{otherwise} ({error})") from None
        if answer.status != 200 or not isinstance(data, dict) or "result" not in data:
            raise error_of(data, otherwise)
        return data["result"]

    def get_ready(self) -> None:
        """Start the thread that sends."""
        self._loops.loop()

    def begin_anew(self) -> None:
        """In a forked child: leave the connections to the parent."""
        self._begin()

    def close(self) -> None:
        """Close the connections; another call opens them again."""
        self._loops.close()
