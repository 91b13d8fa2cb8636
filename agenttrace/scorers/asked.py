"""What `score` gives where a judge may have to be asked first.

A scorer made with ``ask=`` gives an awaitable, always; without it the score itself. The type says which:
``ToolOrderScorer()`` is a ``ToolOrderScorer[Score]``, and so is one that is written without brackets.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agenttrace.core.score import Score
from agenttrace.matching.answers import Answers, Ask, judged
from agenttrace.matching.comparison import Comparison

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Given = TypeVar("Given", bound=Score | Awaitable[Score], default=Score)
else:
    from typing import TypeVar

    Given = TypeVar("Given")  # the default is for type checkers; Python has it from 3.13 on


def scored(
    comparing: Callable[[Answers | None], Comparison], score: Callable[[Comparison], Score], ask: Ask | None
) -> Any:
    """The score of a comparison, or where there is a judge, an awaitable of it."""
    return score(comparing(None)) if ask is None else _judged(comparing, score, ask)


async def _judged(
    comparing: Callable[[Answers | None], Comparison], score: Callable[[Comparison], Score], ask: Ask
) -> Score:
    return score(await judged(comparing, ask))
