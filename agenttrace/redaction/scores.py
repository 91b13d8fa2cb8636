"""Scores without secrets: in their reasons, diffs, details, and the values that they say differ."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Protocol

from agenttrace.core.changed import changed
from agenttrace.core.jsonable import clean_text, jsonable
from agenttrace.core.limits import RECORDED, WHOLE
from agenttrace.core.marks import REDACTED, text_without_digests, without_digests
from agenttrace.core.score import Score
from agenttrace.core.shown_text import ShownText
from agenttrace.redaction.encodings import without_shortened
from agenttrace.redaction.excerpts import without_pieces
from agenttrace.redaction.expected_calls import without_secret_outputs
from agenttrace.redaction.fields import is_labelled_secret
from agenttrace.redaction.harmless_copy import Rules, harmless_copy
from agenttrace.redaction.paths import path_without_secrets, secret_part, value_at_path
from agenttrace.redaction.repeated import sought_elsewhere, taken_out_of, without_repeated_in
from agenttrace.redaction.shown import without_shown_arguments
from agenttrace.redaction.spans import Redacts as RedactsSpans

_HOLD_DIFFERENCES = frozenset({"rows", "calls", "differences", "checks"})
"""The details that say in which values a call differs."""
_VALUES = ("details", "metadata", "options", "example")
_OF_DETAILS = replace(WHOLE, items=RECORDED.items)


class Redacts(Rules, RedactsSpans, Protocol):
    """A redaction, as far as scores need it."""

    @property
    def level(self) -> str:
        """Which rules hold."""
        ...

    def inside(self, value: Any) -> Any:
        """The redacted form of a value."""
        ...


def score_without_secrets(score: Score, redaction: Redacts, signs: tuple[str, ...]) -> Score:
    """A score without secrets, and without digests, in its texts and details; `signs` are those of the user's
    names. What is taken out of its details and options, its other texts do not repeat."""
    changes: dict[str, Any] = {"name": redaction.inside(clean_text(score.name))}
    secrets: set[str] = set()
    for name in _VALUES:
        if values := getattr(score, name):
            harmless = harmless_copy(values, redaction)
            if harmless is not None:
                data, clean = harmless, without_secret_outputs(harmless, redaction)
            else:
                data = without_digests(jsonable(dict(values), limits=_OF_DETAILS))
                clean = without_secret_outputs(redaction.inside(data), redaction)
            if harmless is None or not _HOLD_DIFFERENCES.isdisjoint(clean):
                clean = _without_differences(clean, redaction)
            if clean is not data:
                secrets |= taken_out_of(data, clean)
            changes[name] = clean
    changes |= _texts_of(score, redaction, signs, secrets)
    if score.evidence:
        changes["evidence"] = _texts(redaction, "evidence", jsonable(dict(score.evidence)))
    return score_without_repeated(changed(score, **changes), sought_elsewhere(secrets))


def _texts_of(
    score: Score, redaction: Redacts, signs: tuple[str, ...], secrets: Collection[str]
) -> dict[str, str]:
    """The redacted texts of a score whose details hold these secrets."""
    texts: dict[str, str] = {}
    for name in ("reason", "diff", "error"):
        text = getattr(score, name)
        if isinstance(text, ShownText):
            texts[name] = _written_again(redaction, name, text)
        elif text is not None:
            texts[name] = _shown(redaction, signs, name, without_pieces(text, secrets))
    if " " not in score.reason and is_labelled_secret(score.name, score.reason, redaction):
        texts["reason"] = REDACTED  # no sentence about the secret: the secret
    return texts


def score_without_repeated(score: Score, secrets: Collection[str]) -> Score:
    """A score that is redacted without what its texts repeat of secrets that are made up."""
    if not secrets:
        return score
    changes: dict[str, Any] = {}
    for name in ("name", "reason", "diff", "error", *_VALUES, "evidence"):
        value = getattr(score, name)
        if value:
            value = value if isinstance(value, str) else dict(value)
            clean = without_repeated_in(value, secrets)
            if clean is not value:
                changes[name] = str(clean) if isinstance(clean, str) else without_digests(clean)
    return changed(score, **changes) if changes else score


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
    return _without_shapes(redaction, name, without_shown_arguments(text, redaction.is_secret, signs))


def _written_again(redaction: Redacts, name: str, text: ShownText) -> str:
    """A text that shows redacted values. In one with nothing redacted, names alone hide no more."""
    clean = text.redacted(redaction)
    return clean if clean.is_redacted else _without_shapes(redaction, name, text_without_digests(clean))


def _without_shapes(redaction: Redacts, name: str, text: str) -> str:
    text = redaction.text(name, text)
    return text if redaction.level == "off" else without_shortened(text)[0]


def _without_differences(data: Any, redaction: Redacts, before: str = "") -> Any:
    """A score's details, whose differences name a value by its ``path``; `before` it stands that of a row."""
    if type(data) is list:
        return [_without_differences(item, redaction, before) for item in data]
    if type(data) is not dict:
        return data
    path = data.get("path")
    whole = ".".join(filter(None, (before, path))) if type(path) is str else before
    is_secret = bool(secret_part(whole, redaction.is_secret))
    if type(path) is str and "kind" in data:
        data = {**data, "path": path_without_secrets(path, redaction.key)}
    return {
        key: value_at_path(whole, item, redaction.inside)
        if is_secret and key in ("expected", "got")
        else _without_differences(item, redaction, whole if key == "differences" else "")
        for key, item in data.items()
    }
