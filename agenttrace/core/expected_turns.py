"""`check_turns`: what an example may expect of each turn of a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core.errors import DatasetError, did_you_mean
from agenttrace.core.text import short_repr

TURN_WORDS = ("expected_tools", "expected_output")
"""What may be said of a turn, as of an example."""


def check_turns(value: Any) -> None:
    """Check the turns of an example: a list with a mapping for each, None for one of which nothing is said.

    Raises:
        DatasetError: no list, or an entry that says something else; it names the turn.
    """
    if not isinstance(value, list) or not value:
        raise DatasetError(
            f"got {short_repr(value)}, wanted a list with what is expected of each turn: "
            "[{expected_tools: [find]}, {expected_output: done}]",
            field="turns",
        )
    for number, turn in enumerate(value):
        field = f"turns[{number}]"
        if turn is None:
            continue
        if not isinstance(turn, Mapping):
            raise DatasetError(f"got {short_repr(turn)}, wanted a mapping, or null", field=field)
        for word in turn:
            if word not in TURN_WORDS:
                raise DatasetError(
                    f"a turn has no {word!r}{did_you_mean(str(word), TURN_WORDS)}", field=field
                )
