"""A score at once, or an awaitable of it where a judge is asked (``ask=``).

A scorer made with ``ask=`` always returns an awaitable; without it, it returns the score itself. The type
says which: ``ToolOrderScorer()`` is a ``ToolOrderScorer[Score]``, and so is one that is written without
brackets.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agenttrace.core.score import Score
from agenttrace.matching.answers import Answers, Ask, judged
from agenttrace.matching.comparison import Comparison

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ScoreOrAwaitable = TypeVar("ScoreOrAwaitable", bound=Score | Awaitable[Score], default=Score)
else:
    from typing import TypeVar

    ScoreOrAwaitable = TypeVar("ScoreOrAwaitable")  # Python has defaults from 3.13 on


def score_or_awaitable(
    compare: Callable[[Answers | None], Comparison], score: Callable[[Comparison], Score], ask: Ask | None
) -> Any:
    """Return the score of a comparison; with a judge (`ask`), an awaitable of it."""
    return score(compare(None)) if ask is None else _judged(compare, score, ask)


async def _judged(
    compare: Callable[[Answers | None], Comparison], score: Callable[[Comparison], Score], ask: Ask
) -> Score:
    return score(await judged(compare, ask))
