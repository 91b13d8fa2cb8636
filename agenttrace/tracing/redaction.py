"""Secrets out of recorded values, before anything leaves the process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.jsonable import jsonable
from agenttrace.core.snapshot import MAX_VALUE_SIZE

REDACTED = "[redacted]"

SECRET_NAMES = frozenset(
    {
        "accesskey",
        "accesstoken",
        "apikey",
        "apisecret",
        "apitoken",
        "auth",
        "authorization",
        "authtoken",
        "awssecretaccesskey",
        "bearer",
        "bearertoken",
        "clientsecret",
        "connectionstring",
        "cookie",
        "credential",
        "credentials",
        "idtoken",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "proxyauthorization",
        "pwd",
        "refreshtoken",
        "secret",
        "secretaccesskey",
        "secretkey",
        "sessiontoken",
        "setcookie",
        "signingkey",
        "token",
        "xapikey",
    }
)
"""Names of parameters and keys whose value is never recorded; compared in lower case without ``_ - .``"""

# Each shape with what it cannot be without, in lower case: `in` looks through a long text a hundred times
# faster than `re`, which holds up the traced threads meanwhile. No shape can begin again inside what it has
# just looked through, so that a hostile text costs no more than its length.
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (signs, re.compile(shape))
    for signs, shape in (
        (("sk-", "pk-", "rk-"), r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"),  # OpenAI, Anthropic, Stripe-like
        (("k_live_", "k_test_"), r"\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}"),
        (("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),  # AWS access keys
        (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
        (("github_pat_",), r"\bgithub_pat_[A-Za-z0-9_]{40,}"),
        (("xox",), r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),  # Slack
        (("aiza",), r"(?<![A-Za-z0-9_-])AIza[0-9A-Za-z_-]{35}"),  # Google
        (("eyj",), r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),  # JWT
        (("bearer",), r"(?i:\bbearer\s+[A-Za-z0-9._~+/-]{16,}=*)"),
        (
            ("private key-----",),
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        ),
    )
)
SHORTEST_SECRET = 15
"""No shape above is shorter: shorter strings need no search."""

_IGNORED = str.maketrans("", "", "_-. ")

RedactCall = Callable[[str, Any], Any]
"""``redact(name, value) -> value``: for each recorded parameter, and for the output under ``"output"``."""


class Redaction:
    """What is taken out: secret-looking names and shapes, and what the user adds.

    `names` are further parameter and key names. `call` sees each recorded value, JSON-safe, after the
    built-in rules; when it raises, the value is dropped (fail closed) and counted. `redacted` counts what
    was taken out; it is read as an estimate, since captures redact on their own threads.
    """

    def __init__(self, names: Iterable[str] = (), call: RedactCall | None = None) -> None:
        self.names = SECRET_NAMES | {_plain(name) for name in names}
        self.call = call
        self.redacted = 0
        self.failed = 0
        self._known: dict[str, bool] = {}

    def is_secret(self, name: str) -> bool:
        """Whether a parameter or key of this name is redacted."""
        known = self._known.get(name)
        if known is None:
            known = _plain(name) in self.names
            if len(self._known) < 10_000:
                self._known[name] = known
        return known

    def value(self, name: str, value: Any) -> Any:
        """The redacted form of one recorded parameter or output, which is strict JSON."""
        if value is not None and self.is_secret(name):
            self.redacted += 1
            value = REDACTED
        else:
            value = self.inside(value)
        if self.call is None:
            return value
        try:
            return jsonable(self.call(name, value), limit=MAX_VALUE_SIZE)
        except Exception:  # choke-point: the user's own rule broke; keeping the value could leak it
            self.failed += 1
            return REDACTED

    def inside(self, value: Any) -> Any:
        """Redact by the keys and shapes inside a value; the same object where there is nothing to redact."""
        kind = type(value)
        if kind is str:
            return value if len(value) < SHORTEST_SECRET else self._text(value)
        if kind is dict:
            return {key: self._item(key, item) for key, item in value.items()}
        if kind is list:
            return [self.inside(item) for item in value]
        return value

    def _item(self, key: str, item: Any) -> Any:
        if item is not None and self.is_secret(key):
            self.redacted += 1
            return REDACTED
        return self.inside(item)

    def _text(self, text: str) -> str:
        lowered = text.lower()
        for signs, shape in _SHAPES:
            for sign in signs:
                if sign in lowered:
                    text, found = shape.subn(REDACTED, text)
                    self.redacted += found
                    break
        return text


def redaction_of(redact: Iterable[str] | RedactCall | None) -> Redaction:
    """The redaction for what a tracer was given.

    Raises:
        ConfigError: neither names nor a function.
    """
    if redact is None:
        return Redaction()
    if callable(redact):
        return Redaction(call=redact)
    names = list(redact) if isinstance(redact, Iterable) and not isinstance(redact, str | bytes) else None
    if names is None or not all(isinstance(name, str) and name for name in names):
        hint = f"; write [{redact!r}]" if isinstance(redact, str) else ""
        raise ConfigError(f"redact is a list of names or a function, got {redact!r}{hint}")
    return Redaction(names)


def _plain(name: str) -> str:
    return name.lower().translate(_IGNORED)
