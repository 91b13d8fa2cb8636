"""The keys of an entry with a name, or a kind, beside its value: ``{"Name": …, "Value": …}``."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from agenttrace.redaction.asked import without_suffix
from agenttrace.redaction.entry_keys import NAMES_OF_VALUES, VALUES
from agenttrace.redaction.naming import Names
from agenttrace.redaction.result_words import is_word
from agenttrace.redaction.values import is_opaque

_BESIDE_CONTENT = frozenset(
    {
        "key",
        "variable",
        "var",
        "env",
        "env_var",
        "envVar",
        "setting",
        "config_key",
        "secret_name",
        "secretName",
    }
)
_NAMES, _LONGEST_NAME = frozenset(NAMES_OF_VALUES), 64
_SEVERAL_VALUES = ("values", "vals")


def values_in(entry: Collection[str]) -> tuple[str, ...]:
    """The keys of values: ``content`` beside a ``key`` or a variable alone, as memories are kept."""
    return VALUES if _BESIDE_CONTENT.isdisjoint(entry) else (*VALUES, "content")


def may_have_several(keys: Collection[str]) -> bool:
    """Returns True for the keys of an entry that has a name beside a list of its values."""
    return ("values" in keys or "vals" in keys) and not _NAMES.isdisjoint(keys)


def keys_of_several(entry: Mapping[str, Any], names: Names) -> list[str]:
    """The keys of lists that have a text of letters and digits, beside a secret's name, as directories have
    attributes: ``{"attribute": "userPassword", "values": ["…"]}``; not those of a diagram."""
    secrets = [
        name
        for name in (entry.get(key) for key in NAMES_OF_VALUES)
        if type(name) is str and len(name) <= _LONGEST_NAME and names.is_secret(name)
    ]
    return [key for key in _SEVERAL_VALUES if any(_has_text(entry.get(key), name, names) for name in secrets)]


def _has_text(values: Any, name: str, names: Names) -> bool:
    return type(values) in (list, tuple) and any(
        type(one) is str and is_opaque(one) and names.hides(name, one) for one in values
    )


def keys_of_kind(entry: Mapping[str, Any], names: Names) -> list[str]:
    """The keys of secrets in an entry of one of these programs, or of a file that is a secret's."""
    keys = _keys_of_store(entry) if names.is_secret("secret") else []
    if ("key1" in entry or "keyName" in entry) and names.is_secret("storage_key"):
        keys += _keys_of_account(entry)
    if "grant_type" in entry and names.is_secret("authorization_code"):  # of OAuth
        keys += [key for key in ("code", "code_verifier", "device_code") if type(entry.get(key)) is str]
    path, content = entry.get("path", entry.get("file_path")), entry.get("content")
    if type(path) is str and type(content) is str and is_word(content):
        name = path.replace("\\", "/").rpartition("/")[2]
        keys += ["content"] if names.is_secret(without_suffix(name)) else []
    return keys


def _keys_of_store(entry: Mapping[str, Any]) -> list[str]:
    keys: list[str] = []
    if entry.get("kind") == "Secret":  # of Kubernetes
        keys += [key for key in ("data", "stringData") if type(entry.get(key)) is dict]
    if entry.get("Type") == "SecureString":  # of a parameter of AWS
        keys.append("Value")
    is_marked = entry.get("type") == "CONCEALED" or entry.get("sensitive") is True
    if is_marked and entry.get("value") is not None:  # of 1Password, of Terraform
        keys.append("value")
    if "lease_id" in entry and "lease_duration" in entry and type(entry.get("data")) is dict:  # of Vault
        keys.append("data")
    name = entry.get("name", entry.get("id"))
    if type(name) is str and "/secrets/" in name:  # of Google and Azure
        keys += [key for key in ("payload", "value") if type(entry.get(key)) in (dict, str)]
    return keys


_LONG_KEY = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+/]{32,200}={0,2}")
_KEY_OF_ACCOUNT = re.compile(r"(?i)key ?\d|(?:primary|secondary|root|admin)\w{0,40}")


def _keys_of_account(entry: Mapping[str, Any]) -> list[str]:
    """The keys of a listing of an account's keys of Azure: ``key1`` beside ``key2``, ``keyName`` beside its
    value. Other things have these names too: only what is long and random is a key."""
    if "key1" in entry and "key2" in entry:
        return [key for key in ("key1", "key2") if _is_long_key(entry[key])]
    name = entry.get("keyName")
    is_key = type(name) is str and ("permissions" in entry or _KEY_OF_ACCOUNT.fullmatch(name) is not None)
    return ["value"] if is_key and _is_long_key(entry.get("value")) else []


def _is_long_key(value: Any) -> bool:
    return type(value) is str and _LONG_KEY.fullmatch(value) is not None
