"""Which scorers are ours: they change nothing that they are shown, and say what they cannot tell."""

from __future__ import annotations

from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.scorers.custom import FunctionScorer

_OURS = "agenttrace."


def changes_nothing(scorer: Scorer, example: Example) -> bool:
    """Whether a scorer is of a class of ours, and calls no function of the user's in place of scoring."""
    asked = asked_scorer(scorer, example)
    return type(asked).__module__.startswith(_OURS) and not isinstance(asked, FunctionScorer)


def says_what_is_missing(scorer: Scorer, example: Example) -> bool:
    """Whether a scorer scores by code of ours, which says itself what the record did not tell it."""
    module = getattr(asked_scorer(scorer, example).score, "__module__", None)
    return isinstance(module, str) and module.startswith(_OURS)


def asked_scorer(scorer: Scorer, example: Example) -> Scorer:
    """Return the scorer that scores an example: itself, or the one that a scorer of a task asks for it."""
    scorer_for = getattr(scorer, "scorer_for", None)
    if scorer_for is None or not type(scorer).__module__.startswith(_OURS):
        return scorer
    try:
        asked: Scorer = scorer_for(example)
    except Exception:  # choke-point: what making it raises, asking it raises again, where it is isolated
        return scorer
    return asked
