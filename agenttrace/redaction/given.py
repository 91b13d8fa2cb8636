"""Calls whose own name says that they return a secret, or take one: ``get_password``, ``set_api_key``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
_MAY_RETURN = frozenset(
    {
        *("access", "acquire", "exchange", "renew", "regenerate", "regen", "provision", "recover", "restore"),
        *("reset", "change", "update", "assign", "suggest", "list", "export", "extract", "copy", "derive"),
        *("resolve", "unwrap", "unseal", "pull", "query", "view", "print", "dump", "grab", "give", "return"),
        *("expose", "random", "temp", "temporary"),
    }
)
"""Verbs, and what a password is by itself, *temporary*, with which calls return a password, a token, a key or
a secret; of a card or a session they return an id."""
_OF_KEYS = frozenset({"rotate", "export", "regenerate", "regen", "provision", "recover", "reveal", "renew"})
"""What is done with keys that are secrets alone: *get a key* is said of any other."""
_OF_VERSIONS = frozenset({"access", "read", "fetch"})
"""Verbs with which the version of a secret is the secret; with others it is a number."""
_STRONG = ("pass", "pwd", "secret", "token", "key", "cred")
_BEFORE_WHOSE = frozenset({"for", "of", "by", "from", "with", "to", "in", "on", "as"})
"""What stands between a secret and whose it is, or where: ``get_token_for_user``."""
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
    words = words_of(call.rpartition(".")[2])
    for place, verb in enumerate(words[:-1]):
        if verb in _RETURN or verb in _MAY_RETURN:
            for behind in _parts_behind(verb, words[place + 1 :]):
                name = "_".join(behind)
                is_strong = verb in _RETURN or any(sign in name for sign in _STRONG)
                if is_strong and names.is_secret(name):
                    return name
    return ""


def _parts_behind(verb: str, words: list[str]) -> Iterator[list[str]]:
    """The words behind a verb, and those of them that may be a secret's name by themselves."""
    yield words
    whose = next((place for place, word in enumerate(words) if word in _BEFORE_WHOSE), 0)
    if whose:
        words = words[:whose]
        yield words
    if verb in _OF_VERSIONS and words[-1] in ("version", "versions"):
        yield words[:-1]
    if verb in _OF_KEYS and words in (["key"], ["keys"]):
        yield ["secret", *words]


def taken_secret(call: str, names: Names) -> str:
    """The secret's name in that of a call which is given it; an empty one for any other call."""
    words = words_of(call.rpartition(".")[2])
    for place, word in enumerate(words[:-1]):  # behind a server's or vendor's name: ``vault_set_secret``
        if word in _TAKE:
            secret = "_".join(words[place + 1 :])
            secret += "_code" if secret in _OF_CODES else ""
            if names.is_secret(secret):
                return secret
    return ""


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
