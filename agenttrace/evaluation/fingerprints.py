"""Fingerprints by which examples and datasets are the same in two runs, whatever their ids and dates are."""

from __future__ import annotations

from collections.abc import Iterable

from agenttrace.core.example import Example
from agenttrace.core.file_form import lossy, to_file_form
from agenttrace.core.value_key import text_key

_FIELDS = ("input", "expected_output", "expected_tools", "context")
"""What is asked and what is expected; not what was recorded, nor name, id and date."""


def fingerprint_of(example: Example) -> str:
    """Return 16 hex digits, equal for examples with equal inputs and expectations."""
    values = {name: value for name in _FIELDS if (value := getattr(example, name)) is not None}
    data = {name: to_file_form(values[name], lossy, name) for name in values}
    return _digest(text_key(data))  # a file may have its keys in any order


def dataset_fingerprint(fingerprints: Iterable[str]) -> str:
    """Return 16 hex digits, equal for the same examples in any order."""
    return _digest(" ".join(sorted(fingerprints)))


def _digest(text: str) -> str:
    from hashlib import blake2b

    return blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()
