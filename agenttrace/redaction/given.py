"""Calls whose own name says that what they return is a secret: ``get_password``, ``createApiKey``."""

from __future__ import annotations

from agenttrace.redaction.names import words_of
from agenttrace.redaction.naming import Names

_VERBS = frozenset(
    {
        *("get", "fetch", "read", "load", "create", "generate", "make", "new", "issue", "rotate", "retrieve"),
        *("lookup", "find", "reveal", "decrypt", "request", "refresh", "show", "obtain", "mint"),
    }
)


def returned_secret(name: str, names: Names) -> str:
    """The secret's name in that of a call which returns it; an empty one for any other call."""
    verb, *rest = words_of(name.rpartition(".")[2]) or [""]
    secret = "_".join(rest)
    return secret if verb in _VERBS and secret and names.is_secret(secret) else ""
