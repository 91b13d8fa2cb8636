"""The base class of every scorer that asks a model: how many votes, which of them counts, errors, costs."""

from __future__ import annotations

import asyncio
import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from agenttrace.core.errors import AgentTraceError, ConfigError, JudgeError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_whole
from agenttrace.core.protocols import ChatModel, name_of_model
from agenttrace.core.score import Score, checked_gate, checked_threshold
from agenttrace.core.trace import Trace
from agenttrace.judges.evidence import Evidence
from agenttrace.judges.formulas import culprits, facts
from agenttrace.judges.judge import Judge
from agenttrace.judges.models.resolve import DEFAULT_MODEL_VARIABLE, default_model, resolve_model
from agenttrace.judges.seen import evidence_of
from agenttrace.judges.verdict import ReasonedVerdict, UnreadableReply

_RAW_LIMIT = 20_000
_EXCERPT = 300


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one vote: a value with its arithmetic, in words and as data."""

    value: float
    reason: str
    details: Mapping[str, Any] = field(default_factory=dict)


class JudgeScorer(ABC):
    """A scorer that asks a language model.

    `model` is a name (see `resolve_model`), a `ChatModel`, or None: then `with_model` or the environment
    variable ``AGENTTRACE_JUDGE_MODEL`` gives it, else scoring raises `ConfigError`. `votes` is how often the
    whole question is asked, concurrently; the vote with the median value is the result, and of an even number
    of votes the worse of the two in the middle. More than half of the votes must be readable; a vote whose
    model raises counts as unreadable.

    A judge that gives no readable answer makes an *errored* score with the raw reply in its details; a field
    that is missing raises `ScorerError` before anything is asked. With `gate=False` the score informs: it is
    shown and stored, and fails nothing.

    Raises:
        ScorerError: the threshold is not a number from 0 to 1, or `votes` not a whole number from 1.
    """

    name: str = ""
    needs: ClassVar[tuple[str, ...]] = ()
    """The fields that the scorer needs."""
    lower_is_better: ClassVar[bool] = False

    def __init__(
        self,
        threshold: float = 0.5,
        *,
        model: str | ChatModel | None = None,
        votes: int = 1,
        name: str | None = None,
        gate: bool = True,
    ) -> None:
        self.name = name or self.name
        self.gate = checked_gate(gate, self.name)
        self.threshold = float(checked_threshold(threshold, self.name))
        if not is_whole(votes, 1):
            raise ScorerError(f"{self.name}: votes is a whole number from 1, got {votes!r}")
        self.model = model
        self.votes = votes

    @abstractmethod
    async def find(self, judge: Judge, evidence: Evidence) -> Finding:
        """Ask the judge and compute the value: one vote."""

    def require(self, evidence: Evidence) -> None:
        """Raise `ScorerError` where a field is missing that this scorer needs."""
        evidence.require(*self.needs)

    def check(self, example: Example) -> None:
        """Check the fields that the user wrote, before any agent runs.

        Raises:
            ScorerError: the example lacks a field that no run fills in.
            ConfigError: there is no model, or one that cannot be reached as configured.
        """
        self.require(Evidence(example, None, self.name, before_run=True))
        self._model()

    def with_model(self, model: str | ChatModel) -> Self:
        """Return a copy of the scorer that asks `model`; the scorer itself where it has its own model.

        Raises:
            ConfigError: the model cannot be reached as configured. A misspelt name fails here and not in the
                middle of an evaluation.
        """
        if self.model is not None:
            return self
        other = copy.copy(self)
        other.model = resolve_model(model)
        return other

    async def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Ask the judge about one example.

        Raises:
            ScorerError: a field that the scorer needs is missing.
            ConfigError: there is no model, or one that cannot be reached as configured.
        """
        evidence = Evidence(example, trace, self.name)
        self.require(evidence)
        model = self._model()
        judges = [Judge(model, salt=vote) for vote in range(self.votes)]
        outcomes = await asyncio.gather(*(self._vote(judge, evidence) for judge in judges))
        score = self._decide(outcomes)
        if evidence.not_whole:
            unseen = "; ".join(f"{field} was {cause}" for field, cause in evidence.not_whole.items())
            reason = f"{score.reason} (The judge did not see everything: {unseen} when it was recorded.)"
            score = replace(
                score, reason=reason, details={**score.details, "not_recorded_whole": evidence.not_whole}
            )
        return replace(
            score,
            model=name_of_model(model),
            cost=_total([judge.cost for judge in judges]),
            usage=_sum([judge.usage for judge in judges]),
            metadata=self._metadata(judges, evidence),
            evidence=evidence_of(judges, outcomes),
        )

    def check_model(self) -> None:
        """Raise `ConfigError` where there is no model to ask, or it cannot be reached as configured."""
        self._model()

    def _model(self) -> ChatModel:
        model = self.model if self.model is not None else default_model()
        if model is None:
            raise ConfigError(
                f"{self.name} has no model to ask: pass model= to the scorer or to the evaluation, "
                f"or set {DEFAULT_MODEL_VARIABLE}"
            )
        return resolve_model(model)

    async def _vote(self, judge: Judge, evidence: Evidence) -> Finding | JudgeError:
        try:
            return await self.find(judge, evidence)
        except JudgeError as error:
            return error
        except AgentTraceError:
            raise  # wrong use: no other vote could do better
        except Exception as error:  # choke-point: the other votes still count where one breaks
            if self.votes == 1:
                raise
            return JudgeError(f"{type(error).__name__}: {error}")

    def _decide(self, outcomes: Sequence[Finding | JudgeError]) -> Score:
        """Return the score of the median vote, or an errored score where too few votes can be read."""
        findings = [outcome for outcome in outcomes if isinstance(outcome, Finding)]
        errors = [outcome for outcome in outcomes if isinstance(outcome, JudgeError)]
        if 2 * len(findings) <= len(outcomes):
            return self._errored(errors, len(outcomes))
        ranking = sorted(findings, key=lambda finding: finding.value, reverse=self.lower_is_better)
        median = ranking[(len(ranking) - 1) // 2]
        reason, details = median.reason, dict(median.details)
        if len(outcomes) > 1:
            values = [finding.value for finding in findings]
            details["votes"] = {"values": values, "unreadable": len(errors)}
            listing = ", ".join(f"{value:.3g}" for value in values)
            reason = f"Median of {len(values)} of {len(outcomes)} votes ({listing}). {reason}"
        return Score.of(
            self.name,
            median.value,
            self.threshold,
            reason=reason,
            details=details,
            lower_is_better=self.lower_is_better,
        )

    def _errored(self, errors: Sequence[JudgeError], votes: int) -> Score:
        raw = [error.raw[:_RAW_LIMIT] for error in errors if isinstance(error, UnreadableReply)]
        reason = str(errors[0])
        if votes > 1:
            reason = f"{len(errors)} of {votes} votes gave no verdict; the first: {reason}"
        # An expected failure: the judge's reply says more than a traceback through this code.
        excerpt = f"\nThe judge's last reply: {raw[0][:_EXCERPT]!r}" if raw else ""
        score = Score.errored(
            self.name, self.threshold, f"{type(errors[0]).__name__}: {errors[0]}{excerpt}", reason
        )
        return replace(score, details={"raw": raw, "problems": [str(error) for error in errors]})

    def _metadata(self, judges: Sequence[Judge], evidence: Evidence) -> dict[str, Any]:
        prompts: dict[str, str] = {}
        for judge in judges:
            prompts.update(judge.prompts)
        metadata: dict[str, Any] = {"prompts": prompts}
        if evidence.cut:
            metadata["cut"] = sorted(set(evidence.cut))
        if any(reply.cached for judge in judges for reply in judge.replies):
            metadata["cached"] = True
        return metadata

    def __repr__(self) -> str:
        return f"{type(self).__name__}(threshold={self.threshold:g}, name={self.name!r})"


def _total(costs: Sequence[float | None]) -> float | None:
    numbers = [cost for cost in costs if cost is not None]
    return sum(numbers) if numbers and len(numbers) == len(costs) else None


def _sum(usages: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {key: sum(usage[key] for usage in usages) for key in usages[0]}


def finding_of(
    value: float,
    reason: str,
    items: Sequence[str],
    verdicts: Sequence[ReasonedVerdict],
    *quoted: str,
    lead: str = ": ",
) -> Finding:
    """Return what verdicts on items come to; the reason quotes the items with a verdict of `quoted`."""
    return Finding(
        value, reason + culprits(items, verdicts, *quoted, lead=lead), {"verdicts": facts(items, verdicts)}
    )


async def rate(
    judge: Judge, prompt: str, blocks: Mapping[str, str], words: Mapping[str, str] | None = None
) -> Finding:
    """Ask for a rating of 1 to 5; the value is (rating − 1) / 4, so that the middle is 0.5."""
    reply = await judge.rating(prompt, blocks, words)
    return Finding(
        (reply.rating - 1) / 4,
        f"Rated {reply.rating} of 1 to 5, ({reply.rating} − 1) / 4: {reply.reason}",
        {"rating": reply.rating, "judge_reason": reply.reason},
    )
