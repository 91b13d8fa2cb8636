"""Copies of examples, so that what one run or scorer changes in them reaches nobody else."""

from __future__ import annotations

import copy
from typing import Any

from agenttrace.core.example import Example


def own_input(value: Any) -> Any:
    """An input for one run of the agent: a deep copy, but for what cannot be copied (a client, a lock).

    Where one value of a mapping cannot be copied, the others still are.

    Raises:
        KeyboardInterrupt: a value's own code raised it; anything else means that it cannot be copied.
    """
    if value is None or type(value) is str:
        return value
    try:
        return copy.deepcopy(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # choke-point: whatever the values' own code raises, SystemExit too
        if type(value) is not dict or len(value) < 2:
            return value
    return {key: own_input({key: item})[key] for key, item in value.items()}


def own_example(example: Example) -> Example:
    """An example for one scorer: the same values in dicts, lists and sets of its own.

    Other objects are shared, matchers and outputs of the user's own types among them: they are few that
    change, and some are large. What is nested too deep to be copied is shared whole.
    """
    fields = {key: value for key, value in example.__dict__.items() if type(value) in _COPIES}
    copies: dict[int, Any] = {}
    try:
        return example.model_copy(update={key: _contents(value, copies) for key, value in fields.items()})
    except RuntimeError:  # a RecursionError, or a thread left behind changes a dict meanwhile
        return example


def _contents(value: Any, copies: dict[int, Any]) -> Any:
    """The value with its containers copied; one that stands twice is copied once, also within itself."""
    kind = type(value)
    if kind not in _COPIES:
        return value
    known = copies.get(id(value))
    if known is not None:
        return known
    if kind is tuple:
        return tuple([_contents(item, copies) for item in value])
    found: Any = kind()
    copies[id(value)] = found
    if kind is dict:
        for key, item in value.items():
            found[key] = _contents(item, copies) if type(item) in _COPIES else item
    elif kind is list:
        found.extend([_contents(item, copies) if type(item) in _COPIES else item for item in value])
    else:
        found.update(value)
    return found


_COPIES = frozenset({dict, list, tuple, set})
