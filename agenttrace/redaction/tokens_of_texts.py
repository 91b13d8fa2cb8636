"""Tokens of a text, or of a vocabulary, which are no secrets: ``{"token": "Paris", "label": "LOC"}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OF_TEXTS = frozenset(
    {
        *("label", "entity", "entity_group", "entity_type", "lemma", "pos", "tag", "ner", "score", "prob"),
        *("probability", "count", "frequency", "idf", "amount", "symbol", "whitespace", "offset", "offsets"),
    }
)
_LONGEST_TOKEN = 24


def is_token_of_text(entry: Mapping[str, Any]) -> bool:
    """Returns True for a token of a text, which has a label or a count, or of a model's vocabulary."""
    if "logprob" in entry:
        return True
    token = entry.get("token")
    is_short = type(token) is str and len(token) <= _LONGEST_TOKEN and token.isalpha()
    return is_short and not _OF_TEXTS.isdisjoint(entry)
