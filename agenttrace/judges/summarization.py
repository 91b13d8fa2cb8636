"""Whether a summary is true to its source, and covers its facts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agenttrace.core.errors import ScorerError
from agenttrace.core.protocols import ChatModel
from agenttrace.judges.evidence import Evidence
from agenttrace.judges.formulas import coverage, culprits, facts, share_affirmed, words_of
from agenttrace.judges.judge import Judge
from agenttrace.judges.judge_scorer import Finding, JudgeScorer


class SummarizationScorer(JudgeScorer):
    """The lesser of two shares: claims that the source supports, source facts that the summary covers.

    `input` is the source, `actual_output` the summary. Alignment is "yes" / n over the summary's claims
    ("idk" counts against it; no claims: 0). Coverage asks closed questions of the source and of the summary,
    apart from each other: of those that the source answers with yes, the share that the summary does, too
    (none: 0). `questions` are your own; None lets the judge write them from the source, `[]` leaves coverage
    out. Five calls a vote, four with your own questions, two with `[]`.
    """

    name = "Summarization"
    needs = ("input", "actual_output")

    def __init__(
        self,
        threshold: float = 0.5,
        *,
        questions: Sequence[str] | None = None,
        model: str | ChatModel | None = None,
        votes: int = 1,
        name: str | None = None,
        gate: bool = True,
    ) -> None:
        super().__init__(threshold, model=model, votes=votes, name=name, gate=gate)
        if isinstance(questions, str):
            raise ScorerError(f"questions is a list of texts, got the text {questions!r}")
        self.questions = None if questions is None else tuple(questions)

    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask for claims and their verdicts, and for questions and their answers."""
        summary = evidence.text("actual_output")
        source = evidence.text("input")
        claims = await judge.items("claims", {"actual_output": summary})
        verdicts = await judge.verdicts("summarization_verdicts", claims, {"source": source})
        questions = self.questions
        if questions is None:
            questions = tuple(await judge.items("summarization_questions", {"source": source}))
        of_source, of_summary = await asyncio.gather(
            judge.verdicts("closed_questions", questions, {"text": source}),
            judge.verdicts("closed_questions", questions, {"text": summary}),
        )
        claim_verdicts = words_of(verdicts)
        answers = list(zip(words_of(of_source), words_of(of_summary), strict=True))
        relevant = [answer for from_source, answer in answers if from_source == "yes"]
        alignment = share_affirmed(claim_verdicts, none=0.0)
        coverage_share = 1.0 if self.questions == () else coverage(answers)
        reason = (
            f"The lesser of alignment {alignment:.3g} "
            f"({claim_verdicts.count('yes')} of {len(claim_verdicts)} claims supported) "
            f"and coverage {coverage_share:.3g} "
            f"({relevant.count('yes')} of {len(relevant)} source facts found)"
        )
        return Finding(
            min(alignment, coverage_share),
            reason + culprits(claims, verdicts, "no", "idk", lead="; not supported: "),
            {
                "alignment": alignment,
                "coverage": coverage_share,
                "verdicts": facts(claims, verdicts),
                "questions": [
                    {"question": question, "source": from_source, "summary": answer}
                    for question, (from_source, answer) in zip(questions, answers, strict=True)
                ],
            },
        )
