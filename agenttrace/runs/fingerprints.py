"""Fingerprints by which examples and datasets are the same in two runs, whatever their ids and dates are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from agenttrace.core.example import Example
from agenttrace.core.file_form import lossy, to_file_form

_FIELDS = ("input", "expected_output", "expected_tools", "expected_state", "turns", "context")
"""What is asked and what is expected; not what was recorded, nor name, id and date."""

_encode = json.JSONEncoder(sort_keys=True, allow_nan=False).encode
"""A file may have its keys in any order."""
_LONG_NUMBER = re.compile(r"\d{600}")
"""Such a number, as a tag or a mark, has another form in a file."""


def fingerprint_of(example: Example) -> str:
    """Return 16 hex digits, equal for examples with equal inputs and expectations."""
    values = {name: value for name in _FIELDS if (value := getattr(example, name)) is not None}
    text = ""
    try:
        text = _encode(values)
        as_it_is = not ("$" in text or " #" in text or _LONG_NUMBER.search(text))
    except (TypeError, ValueError, RecursionError):  # a value that JSON has no word for
        as_it_is = False
    if not as_it_is:
        text = _encode({name: to_file_form(values[name], lossy, name) for name in values})
    return _digest(text)


def dataset_fingerprint(fingerprints: Iterable[str]) -> str:
    """Return 16 hex digits, equal for the same examples in any order."""
    return _digest(" ".join(sorted(fingerprints)))


def _digest(text: str) -> str:
    from hashlib import blake2b

    return blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()
