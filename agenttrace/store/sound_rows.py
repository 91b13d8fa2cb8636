"""What stands in a row of spans as values of the types that a span declares, whatever somebody wrote there.

A row of a file may be damaged, or written by other hands. It still is a span, and harms no other: what is no
value of its kind is kept as an attribute that says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from agenttrace.core import semconv
from agenttrace.core.numbers import is_number
from agenttrace.core.span import EMPTY, Status
from agenttrace.core.trace_facts import VERDICTS, ScoreFacts

_STATUSES = frozenset(get_args(Status))


def sound_text(value: Any) -> str:
    """A text as it is, anything else written out."""
    if isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


_TRACE_ID = re.compile(r"[0-9a-f]{32}")


def is_trace_id(value: Any) -> bool:
    """Returns True for 32 hex digits. What else stands in a trace's row is no id that one could ask for."""
    return type(value) is str and _TRACE_ID.fullmatch(value) is not None


def sound_number(value: Any, otherwise: int = 0) -> int:
    """An integer as it is; `otherwise` for what is none."""
    return value if type(value) is int else otherwise


def is_sound_score(value: Any, threshold: Any, outcome: Any) -> bool:
    """Returns True for what a score can have."""
    return outcome in VERDICTS and is_number(threshold) and (value is None or is_number(value))


def sound_score(name: Any, value: Any, threshold: Any, outcome: Any) -> ScoreFacts:
    """A score's row as its facts; *errored* for one that no score can have: nobody knows its outcome."""
    if is_sound_score(value, threshold, outcome):
        return ScoreFacts(sound_text(name), value, threshold, outcome)
    return ScoreFacts(sound_text(name), None, threshold if is_number(threshold) else 0.0, "errored")


def sound_mapping(value: Any) -> Mapping[str, Any] | None:
    """A mapping as it is; a value of another kind under the key ``$unreadable``; None stays None."""
    if type(value) is dict or value is None or isinstance(value, Mapping):
        return value
    return {"$unreadable": value}


def sound_rest(rest: Any) -> Mapping[str, Any]:
    """What is rare of a span, with values of the declared types.

    What else stands there is under the attribute `semconv.UNREADABLE`.
    """
    if not isinstance(rest, Mapping):
        return {"attributes": {semconv.UNREADABLE: rest}}
    status, attributes = rest.get("status", "ok"), rest.get("attributes", EMPTY)
    error, usage = rest.get("error"), rest.get("usage")
    wrong: dict[str, Any] = {}
    if not (isinstance(status, str) and status in _STATUSES):
        wrong["status"] = status
    if not isinstance(attributes, Mapping):
        wrong["attributes"] = attributes
    if not (error is None or _is_error(error)):
        wrong["error"] = error
    if not (usage is None or isinstance(usage, Mapping)):
        wrong["usage"] = usage
    if not wrong:
        return rest
    sound = {name: value for name, value in rest.items() if name not in wrong}
    if "status" in wrong or "error" in wrong:
        sound["status"] = "error"  # it did not end well, or nobody knows
    sound["attributes"] = {**sound.get("attributes", EMPTY), semconv.UNREADABLE: wrong}
    return sound


def _is_error(error: Any) -> bool:
    return (
        isinstance(error, Mapping)
        and isinstance(error.get("type"), str)
        and isinstance(error.get("message"), str)
        and isinstance(error.get("frames"), list)
        and all(map(_is_frame, error["frames"]))
    )


def _is_frame(frame: Any) -> bool:
    return (
        isinstance(frame, list)
        and len(frame) == 3
        and isinstance(frame[0], str)
        and type(frame[1]) is int
        and isinstance(frame[2], str)
    )
