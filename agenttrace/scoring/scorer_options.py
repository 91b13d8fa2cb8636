"""The options that a scorer was made with, as far as it keeps them: by name, with their defaults."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from agenttrace.core.protocols import Scorer

ABSENT: Any = inspect.Parameter.empty
"""In place of a default where an option has none, and of a value that the scorer does not keep."""

OF_CALL_SCORERS: dict[str, Any] = {
    "agent": None, "attempts": "count", "names": {}, "tools": None, "gate": True,
}  # fmt: skip
"""The options that scorers of calls hand on (`CallOptions`), with their defaults."""

_NOT_OPTIONS = frozenset({"self", "options", "args", "kwargs", "name"})


@lru_cache(maxsize=256)
def options_of(kind: type) -> tuple[tuple[str, Any], ...]:
    """The options that a class of scorers takes, each with its default."""
    try:
        parameters = inspect.signature(kind).parameters.values()
    except (TypeError, ValueError):
        return ()
    options = [(p.name, p.default) for p in parameters if p.name not in _NOT_OPTIONS]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        options += OF_CALL_SCORERS.items()
    return tuple((name, default) for name, default in options if not name.startswith("_"))


def option_value(scorer: Scorer, name: str) -> Any:
    """An option's value: an attribute of the scorer of that name, or of what chooses its calls."""
    value = getattr(scorer, name, ABSENT)
    return getattr(getattr(scorer, "selection", None), name, ABSENT) if value is ABSENT else value
