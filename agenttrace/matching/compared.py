"""`Compared`: an expected value that a comparator of the user's compares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.expectations.matcher import Context, Matcher

Compare = Callable[[Any, Any], bool | float]
"""Takes the expected and the actual value; returns a bool, or an agreement from 0 to 1."""

Comparators = Mapping[str, Compare | Mapping[str, Compare]]
"""For a tool, what compares its arguments as a whole (two mappings), or single parameters by name."""


@dataclass(frozen=True, slots=True, repr=False)
class Compared(Matcher):
    """An expected value that a user's comparator compares."""

    is_opaque = True
    value: Any
    compare: Compare

    def agree(self, actual: Any, context: Context) -> float:
        """What the comparator returns; a ScorerError where that is no agreement."""
        result = self.compare(_copied(self.value), _copied(actual))
        if isinstance(result, bool):
            return float(result)
        if not isinstance(result, int | float) or not 0 <= result <= 1:
            raise ScorerError(f"a comparator returns true, false or a number from 0 to 1, got {result!r}")
        return float(result)

    def why(self, actual: Any, context: Context) -> str:
        """Which comparator it was."""
        return f"by {getattr(self.compare, '__name__', 'the comparator')}"

    def __repr__(self) -> str:
        return repr(self.value)


def _copied(value: Any) -> Any:
    """Containers of one's own for a comparator, which may sort them or take from them."""
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if type(value) is list else value
