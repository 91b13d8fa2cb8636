"""A number that the judge gives by the user's own prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenttrace.core.errors import ScorerError
from agenttrace.core.protocols import ChatModel
from agenttrace.judges.evidence import Evidence
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer
from agenttrace.judges.prompting import OwnPrompt
from agenttrace.judges.verdict import ScoreReply


class PromptScorer(JudgeScorer):
    """A number from 0 to 1 that the judge gives by a prompt of your own.

    `prompt` (or `conversation`, a list of messages) says what 0 and 1 mean and names what to look at:
    ``{{input}}``, ``{{actual_output}}``, ``{{expected_output}}``, ``{{trajectory}}`` … The reply's shape and
    the rules against injected instructions are added. One call a vote.

    Raises:
        ScorerError: there is no name or no prompt, or a placeholder is unknown.
    """

    def __init__(
        self,
        name: str,
        prompt: str | None = None,
        *,
        conversation: Sequence[Mapping[str, str]] | None = None,
        threshold: float = 0.5,
        model: str | ChatModel | None = None,
        votes: int = 1,
        gate: bool = True,
    ) -> None:
        if not name:
            raise ScorerError("a PromptScorer needs a name")
        super().__init__(threshold, model=model, votes=votes, name=name, gate=gate)
        self.question = OwnPrompt(name, prompt, conversation)

    def require(self, evidence: Evidence) -> None:
        """Raise ScorerError where a field is missing that the prompt names."""
        evidence.require(*self.question.needs)

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for one number."""
        question = self.question
        reply = await judge.ask(
            question.prompt, question.blocks(evidence), ScoreReply, dialogue=question.dialogue
        )
        return Finding(
            reply.score, f"The judge gives {reply.score:g}: {reply.reason}", {"judge_reason": reply.reason}
        )
