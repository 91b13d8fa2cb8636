"""How well the agent's path serves its task."""

from __future__ import annotations

from agenttrace.core.protocols import ChatModel
from agenttrace.judges.evidence import TRAJECTORY, Evidence
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer, rate

_EXPECTATIONS = ("expected_output", "expected_tools")


class LLMJudgeTrajectoryScorer(JudgeScorer):
    """How well the agent's path serves the task.

    The right tools, sensible arguments, no detours, errors handled. Without expectations the judge goes by
    the input alone; `expected_behavior`, and the example's `expected_tools` and `expected_output` if there
    are any, say what is expected. For exact requirements use a deterministic scorer; this one is for
    requirements that cannot be written down exactly. A rating of 1 to 5 as (rating − 1) / 4. One call a vote;
    long trajectories are cut in the middle, and the score says so.
    """

    name = "Trajectory"
    needs = ("input", TRAJECTORY)

    def __init__(
        self,
        threshold: float = 0.5,
        *,
        expected_behavior: str = "",
        model: str | ChatModel | None = None,
        votes: int = 1,
        name: str | None = None,
        gate: bool = True,
    ) -> None:
        super().__init__(threshold, model=model, votes=votes, name=name, gate=gate)
        self.expected_behavior = expected_behavior

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for one rating."""
        optional = [field for field in ("actual_output", *_EXPECTATIONS) if evidence.has(field)]
        blocks = evidence.blocks(*self.needs, *optional)
        if not self.expected_behavior and not set(optional) & set(_EXPECTATIONS):
            return await rate(judge, "trajectory", blocks)
        words = {"expected_behavior": self.expected_behavior}
        return await rate(judge, "trajectory_expected", blocks, words)


TrajectoryJudge = LLMJudgeTrajectoryScorer
"""A shorter name of `LLMJudgeTrajectoryScorer`."""
