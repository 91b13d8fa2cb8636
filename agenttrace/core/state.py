"""`StateReading`: what a named state was at the start of a capture, and what at its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import DatasetError, did_you_mean
from agenttrace.core.span import Span
from agenttrace.core.text import short_repr

STATE = "state"
"""The type of spans that hold a state: its name, the start as an input, the end as the output."""

START = "start"

Path = tuple[str | int, ...]
"""Where in a state: keys of mappings, positions in lists."""

CHANGES = ("changed", "added", "removed", "end")
STATE_WORDS = (*CHANGES, "only", "ignore", "state_from")
"""What may be said of a state that is expected."""


@dataclass(frozen=True, slots=True)
class StateReading:
    """One state of a capture.

    `problem` says why there is no start or no end to compare: the function raised, was late, returned what
    cannot be copied. `changed` and `unknown` are places that were compared before secrets were removed: those
    that changed, and those of which nobody can tell; None where that was not recorded. `shared` says that
    other captures read the same state in the meantime.
    """

    name: str
    start: Any = None
    end: Any = None
    problem: str = ""
    changed: frozenset[Path] | None = None
    unknown: frozenset[Path] = frozenset()
    shared: bool = False

    @classmethod
    def of(cls, span: Span) -> StateReading:
        """The state that a span of type `STATE` holds."""
        attributes = span.attributes
        changed = attributes.get(semconv.STATE_CHANGED)
        return cls(
            name=span.name,
            start=(span.input or {}).get(START),
            end=span.output,
            problem=str(attributes.get(semconv.STATE_PROBLEM) or ""),
            changed=None if changed is None else _paths(changed),
            unknown=_paths(attributes.get(semconv.STATE_UNKNOWN)),
            shared=bool(attributes.get(semconv.STATE_SHARED)),
        )


def only_states(spans: Iterable[Span]) -> bool:
    """Whether nothing was recorded but states: a run of which nothing else is known."""
    return all(span.span_type == STATE for span in spans)


def _paths(value: Any) -> frozenset[Path]:
    """Paths as they are stored; what is none, as anybody may have written anything, is left out."""
    each = [path for path in value if isinstance(path, list | tuple)] if isinstance(value, list) else []
    return frozenset(tuple(part for part in path if isinstance(part, str | int)) for path in each)


def check_expected_state(value: Any) -> None:
    """Check the words of expected states; what stands behind them, `parse_expected_state` reads.

    Raises:
        DatasetError: no mapping of names of states to mappings of known words.
    """
    if not isinstance(value, Mapping) or not value:
        raise DatasetError(
            f"got {short_repr(value)}, wanted a mapping of states' names to what is expected of each: "
            "{db: {changed: {orders.7.status: refunded}}}",
            field="expected_state",
        )
    for name, expected in value.items():
        field = f"expected_state.{name}"
        if name in STATE_WORDS and not _says_a_word(expected):
            raise DatasetError(
                f"{name!r} says what is expected of a state; the state's name comes first: "
                f"{{db: {{{name}: …}}}}",
                field="expected_state",
            )
        if not isinstance(expected, Mapping) or not expected:
            raise DatasetError(
                f"got {short_repr(expected)}, wanted a mapping with some of {', '.join(STATE_WORDS)}",
                field=field,
            )
        for word in expected:
            if word not in STATE_WORDS:
                hint = did_you_mean(str(word), STATE_WORDS)
                if "did you mean" not in hint:
                    hint = f"{hint}; a path stands below one of them: {{changed: {{{word}: …}}}}"
                raise DatasetError(f"an expected state has no {word!r}{hint}", field=field)


def _says_a_word(expected: Any) -> bool:
    return isinstance(expected, Mapping) and any(word in STATE_WORDS for word in expected)
