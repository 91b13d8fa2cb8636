"""Fingerprints of failures: what a score says went wrong, without the values, so that equal failures meet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from agenttrace.core.annotation import is_word
from agenttrace.core.score import Score
from agenttrace.core.text import short_line

if TYPE_CHECKING:
    from agenttrace.core.report import ScoringResult

State = Literal["open", "fixed", "back"]
"""*fixed*: somebody says so, of a revision; *back*: it was seen again after that."""

STATES: tuple[State, ...] = ("open", "fixed", "back")
MOST_FINGERPRINTS = 20
"""Failures that one score may have: of a run in which everything differs, the first ones say enough."""

_LONGEST_TITLE = 200
_INDEX = re.compile(r"\[\d+\]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_NUMBER = re.compile(r"\d[\d.,:-]*")
_ERROR = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Warning|Timeout|Interrupt|Exit))\b")

_EXTRA_COUNTS = frozenset({"exact", "any_order", "only"})
"""The modes in which a call that is not expected is a failure."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One failure: `key` is equal for equal failures, `title` says in words what it is."""

    key: str
    title: str
    scorer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure as the inbox keeps it.

    `count` is in how many evaluated cases (a trace, or a result of a run) it was seen since the store was
    made; `traces` are the newest of those that are still stored, `customers` those of all of these, `cost`
    what these cost in US dollars (None where nothing says). Times are nanoseconds since 1970. `fixed_in` is
    the revision that somebody named, `revisions` are those in which it was seen, the newest last.
    """

    fingerprint: str
    project: str
    scorer: str
    title: str
    state: State
    fixed_in: str | None
    changed_ns: int | None
    first_ns: int
    last_ns: int
    count: int
    revisions: tuple[str, ...] = ()
    traces: tuple[str, ...] = ()
    customers: tuple[str, ...] = ()
    cost: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name, as JSON data."""
        return asdict(self)


def state_text(failure: Failure) -> str:
    """A state in words."""
    if failure.state == "open":
        return "open"
    revision = f" in {failure.fixed_in}" if failure.fixed_in else ""
    return f"fixed{revision}" if failure.state == "fixed" else f"back again, was fixed{revision}"


def fingerprints_of(score: Score) -> tuple[Fingerprint, ...]:
    """The failures of a score: none unless it failed or is errored, and decides (`gate`).

    One for each aligned row and place where it differs, each broken constraint, each place where answers
    differ; where a scorer says no more, one for the scorer. Values, positions and numbers are no part of it.
    """
    if score.outcome not in ("failed", "errored") or not score.gate:
        return ()
    if score.outcome == "errored":
        parts: list[tuple[str, ...]] = [("errored", _kind_of_error(score.reason or score.error or ""))]
    else:
        try:
            parts = list(dict.fromkeys(_parts(score.details)))[:MOST_FINGERPRINTS]
        except (TypeError, AttributeError, KeyError, ValueError):  # details of the user's own making
            parts = []
    otherwise = "said to be bad" if is_word(score) else "below its threshold"
    return tuple(_fingerprint(score.name, part) for part in parts or [(otherwise,)])


def failures_of(result: ScoringResult) -> tuple[Fingerprint, ...]:
    """The failures of a run's result: those of its scores, and that its agent raised or was late."""
    if result.outcome == "not_run":
        return ()
    failures = [one for score in result.scores for one in fingerprints_of(score)]
    if result.error is not None:
        ending = "raised" if result.outcome == "failed" else "could not be judged:"
        failures.append(_fingerprint("agent", (ending, _kind_of_error(result.error))))
    return tuple(dict.fromkeys(failures))


def _fingerprint(scorer: str, part: tuple[str, ...]) -> Fingerprint:
    from hashlib import blake2b  # on use: recording starts without it

    text = "\0".join((scorer, *part))
    key = blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
    title = short_line(" ".join(filter(None, part)), _LONGEST_TITLE)
    return Fingerprint(key, title, scorer)


def _kind_of_error(text: str) -> str:
    """The class of an exception; of other texts the first line without quotations and numbers."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if not lines:
        return "for no reason"
    line = lines[-1] if lines[0].startswith("Traceback") else lines[0]
    match = _ERROR.match(line.strip())
    return match[1] if match else _NUMBER.sub("N", _QUOTED.sub("'…'", line.strip()))[:120]


def _parts(details: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    forbidden = False
    for row in details.get("rows", ()):
        forbidden = forbidden or row["kind"] == "forbidden"
        yield from _parts_of_row(row, str(details.get("mode")))
    for check in details.get("checks", ()):
        named_by_row = forbidden and check["name"] in ("never", "only")
        if not check["held"] and check.get("severity") == "fail" and not named_by_row:
            yield ("constraint", str(check["wanted"]))
    if "rows" not in details:
        yield from _parts_of_other(details)


def _parts_of_row(row: Mapping[str, Any], mode: str) -> Iterator[tuple[str, ...]]:
    kind = row["kind"]
    if kind == "differs":
        differences = row.get("differences") or [{"path": "", "kind": "differs"}]
        for difference in differences:
            yield (_tool(row["expected"], row), *_place(difference))
    elif kind == "missing":
        out_of_order = str(row.get("note") or "").startswith("out of order")
        yield (_tool(row["expected"], row), "out of order" if out_of_order else "missing")
    elif kind == "forbidden" or (kind == "extra" and mode in _EXTRA_COUNTS):
        yield (str(row["actual"]["name"]), kind)


def _tool(expected: Any, row: Mapping[str, Any]) -> str:
    if isinstance(expected, Mapping):
        name = expected.get("tool_name", expected.get("name"))
        if name is not None:
            return str(name)
    if isinstance(expected, str):
        return expected
    return str((row.get("actual") or {}).get("name", "a call"))


def _place(difference: Mapping[str, Any]) -> tuple[str, str]:
    return _INDEX.sub("[]", str(difference.get("path") or "")), str(difference.get("kind") or "differs")


def _parts_of_other(details: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for difference in _mappings(details.get("differences")):
        yield ("answer", *_place(difference))
    for tool in _mappings(details.get("tools")):
        if tool.get("held") is False:
            yield (str(tool.get("tool")), "lacks a dependency")
    if isinstance(label := details.get("label"), str):
        yield ("label", label)
    for name, value in details.items():
        if isinstance(value, Mapping) and value.get("held") is False:
            yield (str(name), "beyond its limit" if "limit" in value else "miscounted")


def _mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else ()
