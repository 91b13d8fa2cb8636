"""Scores without secrets: in their reasons, diffs, details, and the values that they say differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from agenttrace.core.changed import changed
from agenttrace.core.jsonable import clean_text, jsonable
from agenttrace.core.limits import RECORDED, WHOLE
from agenttrace.core.marks import REDACTED, text_without_digests, without_digests
from agenttrace.core.score import Score
from agenttrace.redaction.encodings import without_shortened
from agenttrace.redaction.harmless_copy import Rules, harmless_copy
from agenttrace.redaction.naming import Names
from agenttrace.redaction.shown import is_secret_path, without_shown_arguments

_HOLD_DIFFERENCES = frozenset({"rows", "calls", "differences", "checks"})
"""The details that say in which values a call differs."""
_OF_DETAILS = replace(WHOLE, items=RECORDED.items)


class Redacts(Rules, Protocol):
    """A redaction, as far as scores need it."""

    @property
    def level(self) -> str:
        """Which rules hold."""
        ...

    def text(self, name: str, text: str) -> str:
        """The redacted form of a text."""
        ...

    def inside(self, value: Any) -> Any:
        """The redacted form of a value."""
        ...

    def key(self, key: str) -> str:
        """A key without secrets in its own text."""
        ...


def score_without_secrets(score: Score, redaction: Redacts, signs: tuple[str, ...]) -> Score:
    """A score without secrets, and without digests, in its texts and details; `signs` are those of the user's
    names."""
    changes: dict[str, Any] = {
        "name": redaction.inside(clean_text(score.name)),
        "reason": _shown(redaction, signs, "reason", score.reason),
    }
    for name in ("diff", "error"):
        text = getattr(score, name)
        if text is not None:
            changes[name] = _shown(redaction, signs, name, text)
    for name in ("details", "metadata", "options", "example"):
        if values := getattr(score, name):
            harmless = harmless_copy(values, redaction)
            if harmless is not None:
                changes[name] = (
                    _without_differences(harmless, redaction)
                    if _HOLD_DIFFERENCES & harmless.keys()
                    else harmless
                )
                continue
            data = jsonable(dict(getattr(score, name)), limits=_OF_DETAILS)
            clean = redaction.inside(without_digests(data))
            changes[name] = _without_differences(clean, redaction)
    if score.evidence:
        changes["evidence"] = _texts(redaction, "evidence", jsonable(dict(score.evidence)))
    return changed(score, **changes)


def _texts(redaction: Redacts, name: str, value: Any) -> Any:
    """The redacted form of all texts in a value, each as a text of this name or under its own key."""
    if isinstance(value, str):
        return redaction.text(name, text_without_digests(value))
    if isinstance(value, dict):
        return {redaction.key(key): _texts(redaction, key, item) for key, item in value.items()}
    return [_texts(redaction, name, item) for item in value] if isinstance(value, list) else value


def _shown(redaction: Redacts, signs: tuple[str, ...], name: str, text: str) -> str:
    """A text of a score. Live runs are redacted before they are scored, runs that were read are not."""
    text = text_without_digests(clean_text(text))
    text = redaction.text(name, without_shown_arguments(text, redaction.is_secret, signs))
    return text if redaction.level == "off" else without_shortened(text)[0]


def _without_differences(data: Any, names: Names, is_inside: bool = False) -> Any:
    """A score's details, whose differences name a value by its ``path``; `is_inside` those of a secret."""
    if type(data) is list:
        return [_without_differences(item, names, is_inside) for item in data]
    if type(data) is not dict:
        return data
    path = data.get("path")
    is_secret = is_inside or (type(path) is str and is_secret_path(path, names.is_secret))
    return {
        key: REDACTED
        if is_secret and key in ("expected", "got") and item is not None
        else _without_differences(item, names, is_secret and key == "differences")
        for key, item in data.items()
    }
