"""Calls whose own name says that they return a secret, or take one: ``get_password``, ``set_api_key``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agenttrace.redaction.names import words_of
from agenttrace.redaction.naming import Names
from agenttrace.redaction.owners import says_whose
from agenttrace.redaction.result_words import is_word

_RETURN = frozenset(
    {
        *("get", "fetch", "read", "load", "create", "generate", "make", "new", "issue", "rotate", "retrieve"),
        *("lookup", "find", "reveal", "decrypt", "request", "refresh", "show", "obtain", "mint", "wait"),
    }
)
_TAKE = frozenset(
    {
        *("set", "store", "save", "create", "add", "put", "update", "change", "reset", "rotate", "register"),
        *("write", "insert", "upsert", "verify", "check", "validate", "test", "use", "submit", "enter"),
        *("type", "provide", "send", "share", "encrypt", "hash", "import", "upload", "configure"),
        *("replace", "try"),
    }
)
_OF_CODES = frozenset({"2fa", "mfa", "two_factor"})
"""What calls are named that are given a one-time code: ``submit_2fa``."""


def returned_secret(call: str, names: Names) -> str:
    """The secret's name in that of a call which returns it; an empty one for any other call."""
    return _secret_after(_RETURN, call, names)


def taken_secret(call: str, names: Names) -> str:
    """The secret's name in that of a call which is given it; an empty one for any other call."""
    return _secret_after(_TAKE, call, names)


def is_taken(parameter: str, value: Any, parameters: int) -> bool:
    """Returns True for the argument of such a call that is the secret: one made-up word, of `parameters`
    under no name that says whose it is. A key alone is what is set."""
    if type(value) is not str or not is_word(value):
        return False
    return not says_whose(parameter) or (parameters == 1 and words_of(parameter)[-1] == "key")


def without_taken(inputs: Mapping[str, Any], secret: str, clean: Callable[[str, Any], Any]) -> dict[str, Any]:
    """The arguments of such a call with what `clean` makes of the secret, by its name."""
    return {
        name: clean(secret, value) if is_taken(name, value, len(inputs)) else value
        for name, value in inputs.items()
    }


def _secret_after(verbs: frozenset[str], call: str, names: Names) -> str:
    words = words_of(call.rpartition(".")[2])
    for place, word in enumerate(words[:-1]):  # behind a server's or vendor's name: ``vault_get_secret``
        secret = "_".join(words[place + 1 :])
        if word not in verbs:
            continue
        if verbs is _TAKE and secret in _OF_CODES:
            secret += "_code"
        if names.is_secret(secret):
            return secret
    return ""
