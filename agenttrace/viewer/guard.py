"""Who may ask: a page on this machine can be asked by every page in the reader's browser.

A request must name a host of ours (else a foreign name that leads here could read everything), must not come
from another site's page, and must carry the token, which only programs of the same user can read.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlsplit

from agenttrace.viewer.stand_in import cookie_word, end_of_entry, is_cookie_word

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
READING = frozenset({"GET", "HEAD"})
ANNOTATIONS = "/annotations"
"""The one path that takes POST: what people say."""
TRIES = 10
"""Different wrong tokens that an address may send in a minute."""
_MINUTE = 60.0
_MOST_ADDRESSES = 1_000
_MOST_READERS = 1_000


class Refusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    text: str


@dataclass
class Guard:
    """Says which requests are answered.

    `hosts` are the values of the header Host that are ours. `token` is None where everyone on this machine
    may look. `writing` are the paths that take POST.
    """

    hosts: Collection[str]
    token: str | None
    cookie: str
    writing: Collection[str] = ()
    _wrong: dict[str, dict[int, float]] = field(default_factory=dict)
    _readers: set[str] = field(default_factory=set)
    _entered: dict[str, float] = field(default_factory=dict)
    _own_secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    @cached_property
    def form_token(self) -> str:
        """What the forms of our pages carry, and other sites' pages cannot know.

        It is made from the token, so that an open page outlives its server; without a token, from a secret of
        this process.
        """
        secret = self._own_secret if self.token is None else self.token.encode()
        return hmac.new(secret, f"forms of {self.cookie}".encode(), "sha256").hexdigest()

    def is_form_token(self, text: str) -> bool:
        """Whether a form was made by a page of ours."""
        return hmac.compare_digest(text.encode(errors="replace"), self.form_token.encode())

    def refusal(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Why a request is refused for where it comes from, or None; `headers` have names in lower case."""
        if not path.startswith("/"):  # a proxy is asked so: the address would name a host of its own
            return Refusal(421, "Only paths are answered here.")
        host = headers.get("host", "").lower()
        if host not in self.hosts:
            return Refusal(421, f"This is not {host[:200] or 'the host that was asked for'}.")
        if method not in READING and not (method == "POST" and path in self.writing):
            return Refusal(405, "This is only read here.")
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(origin):
            return Refusal(403, "Another site's page may not ask here.")
        if method not in READING and origin is None:
            return Refusal(403, "A page of ours says where it comes from.")
        fetched = headers.get("sec-fetch-site", "none")
        if fetched in ("cross-site", "same-site"):
            is_link = (
                headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
            )
            if not (is_link and method in READING):
                return Refusal(403, "Another site's page may not ask here.")
        return None

    def _is_ours(self, origin: str) -> bool:
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.netloc.lower() in self.hosts

    def is_known(
        self, address: str, *tokens: str | None, cookie: str | None = None, code: str | None = None
    ) -> bool | None:
        """Whether one of the tokens, the cookie or the code is right; None where the address tried too many.

        A word that is sent again is no other try: an old page asks with its old cookie each second. Who is in
        stays in, whatever others try from the same address, such as a proxy's.
        """
        if self.token is None or cookie in self._readers:
            return True
        now = time.monotonic()
        tries = {word: at for word, at in self._wrong.get(address, {}).items() if now - at < _MINUTE}
        if len(tries) >= TRIES:
            return None
        if cookie and is_cookie_word(self.token, self.cookie, cookie):
            self._let_in(cookie)
            return True
        if any(self._is_token(token) for token in tokens if token) or (code and self._redeem(code)):
            return True
        if len(self._wrong) >= _MOST_ADDRESSES:
            self._wrong.clear()
        offered = [hash(word) for word in (*tokens, cookie, code) if word]
        self._wrong[address] = {**dict.fromkeys(offered, now), **tries}
        return False

    def reader_cookie(self) -> str:
        """A cookie for a reader who was let in."""
        cookie = "" if self.token is None else cookie_word(self.token, self.cookie)
        self._let_in(cookie)
        return cookie

    def _let_in(self, cookie: str) -> None:
        if len(self._readers) >= _MOST_READERS:
            self._readers.clear()
        self._readers.add(cookie)

    def _is_token(self, text: str) -> bool:
        token = self.token or ""
        return hmac.compare_digest(text.encode(errors="replace"), token.encode())

    def _redeem(self, code: str) -> bool:
        """Whether a code is good, which it is then no more."""
        until = end_of_entry(self.token or "", self.cookie, code)
        if until is None or code in self._entered:
            return False
        self._entered = {one: end for one, end in self._entered.items() if end >= time.time()}
        self._entered[code] = until
        return True
