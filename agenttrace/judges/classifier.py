"""A label that the judge chooses for the output, by the user's own prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import create_model

from agenttrace.core.errors import ScorerError
from agenttrace.core.numbers import is_number
from agenttrace.core.protocols import ChatModel
from agenttrace.judges.evidence import Evidence
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer
from agenttrace.judges.prompting import OwnPrompt
from agenttrace.judges.verdict import Reply


class ClassifierScorer(JudgeScorer):
    """The score of the label that the judge chooses by a prompt of your own.

    `options` maps each label to its score from 0 to 1. `conversation` (a list of messages) or `prompt` puts
    the question, with ``{{input}}``, ``{{actual_output}}``, ``{{trajectory}}`` …; the labels and the reply's
    shape are added. `slug` names the classifier in a store. The label must be one of the options, letter for
    letter. One call a vote. ::

        ClassifierScorer(
            "Politeness", "politeness",
            conversation=[{"role": "system", "content": "Is this answer polite? {{actual_output}}"}],
            options={"polite": 1.0, "neutral": 0.5, "rude": 0.0},
        )

    Raises:
        ScorerError: there is no name or fewer than two options, a score is outside 0..1, or a placeholder is
            unknown.
    """

    def __init__(
        self,
        name: str,
        slug: str = "",
        *,
        conversation: Sequence[Mapping[str, str]] | None = None,
        prompt: str | None = None,
        options: Mapping[str, float],
        threshold: float = 0.5,
        model: str | ChatModel | None = None,
        votes: int = 1,
        gate: bool = True,
    ) -> None:
        if not name:
            raise ScorerError("a ClassifierScorer needs a name")
        super().__init__(threshold, model=model, votes=votes, name=name, gate=gate)
        self.slug = slug or "-".join(name.lower().split())
        self.options = _checked_options(name, options)
        self.question = OwnPrompt(name, prompt, conversation)
        self._shape = _shape(tuple(self.options))

    def require(self, evidence: Evidence) -> None:
        """Raise ScorerError where a field is missing that the prompt names."""
        evidence.require(*self.question.needs)

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for one label."""
        question = self.question
        reply: Any = await judge.ask(
            question.prompt, question.blocks(evidence), self._shape, dialogue=question.dialogue
        )
        value = self.options[reply.label]
        return Finding(
            value,
            f"Labelled {reply.label!r}, which scores {value:g}: {reply.reason}",
            {"label": reply.label, "judge_reason": reply.reason, "options": dict(self.options)},
        )


def _shape(labels: tuple[str, ...]) -> type[Reply]:
    """Return the shape of a reply whose label is one of `labels`."""
    label_type: Any = Literal[labels]  # made at run time, so beyond what a type checker can follow
    return create_model("LabelReply", __base__=Reply, reason=(str, ...), label=(label_type, ...))


def _checked_options(name: str, options: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(options, Mapping) or len(options) < 2:
        raise ScorerError(f"{name}: options maps at least two labels to scores, got {options!r}")
    for label, score in options.items():
        if not isinstance(label, str) or not label:
            raise ScorerError(f"{name}: a label is a text, got {label!r}; quote yes and no in YAML")
        if not (is_number(score) and 0 <= score <= 1):
            raise ScorerError(f"{name}: the score of {label!r} is a number from 0 to 1, got {score!r}")
    return {label: float(score) for label, score in options.items()}
