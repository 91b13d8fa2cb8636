"""One evaluation that a rule asks for: the trace as it is now, whether it is time, and its scores."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core.batch import ScoreRow
from agenttrace.core.changed import changed
from agenttrace.core.digests import digest_of
from agenttrace.core.errors import error_text
from agenttrace.core.example import Example
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.core.jsonable import json_text
from agenttrace.core.pending import FAILED, Claim
from agenttrace.core.protocols import Scorer, Store
from agenttrace.core.query_matching import matches
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.datasets.from_traces import example_from_trace
from agenttrace.process.loop_thread import LoopKeeper
from agenttrace.process.threads import DaemonExecutor
from agenttrace.redaction import Redaction
from agenttrace.scoring.apply import apply_scorer
from agenttrace.scoring.isolation import Isolation, carried
from agenttrace.scoring.score_options import options_of, versions_of
from agenttrace.store.bulk_scores import RULE
from agenttrace.store.facts import facts_of
from agenttrace.work.rules import Rule

MOST_TRIES = 5
"""How many claimants may die at an evaluation before it has failed."""


Ask = Callable[..., Awaitable[Any]]
"""``await ask(function, *arguments)``: what the function returns."""


class Settled(NamedTuple):
    """How an evaluation ended: what `WorkQueue.settle` takes."""

    seen: str
    scores: Sequence[ScoreRow] | None

    @property
    def has_failed(self) -> bool:
        """Whether it could not be evaluated."""
        return self.seen.startswith(FAILED)


class TooEarly(NamedTuple):
    """The trace has no root yet: it is time again in so many seconds, if nothing comes."""

    seconds: float


class Evaluating:
    """Evaluates traces by rules. Plain scorers run on threads of its own, async ones on a loop of its own.

    `ask` makes a call to the store on a thread.
    """

    def __init__(self, store: Store, ask: Ask) -> None:
        self._trace_of = store.trace
        self._scores_of = store.scores
        self._ask = ask
        self._threads = DaemonExecutor(math.inf, name="work")
        self._loops = LoopKeeper(DaemonExecutor())
        self._isolation = Isolation(self._threads, self._loops.loop)
        self._redaction = Redaction()

    def close(self) -> None:
        """End the threads that are idle, and the loop."""
        self._threads.shutdown(wait=False)
        self._loops.close()

    async def evaluate(self, claim: Claim, rule: Rule) -> Settled | TooEarly:
        """Evaluate the trace of a claim.

        Raises:
            StoreError: the trace cannot be read now.
        """
        trace = await self._ask(self._trace_of, claim.item.trace_id)
        if trace is None or not trace.spans:
            return Settled(FAILED + "the trace is not in the store any more", [])
        if claim.tries > MOST_TRIES:
            why = f"{claim.tries - 1} workers ended while they evaluated it"
            return self._failed(claim, rule, trace, why)
        seen = digest_of(rule.digest + content_digest(trace))
        if claim.seen == seen:
            return Settled(seen, None)
        early = _seconds_to_rest(trace, rule)
        if early > 0:
            return TooEarly(early)
        try:
            if rule.where.terms and not await self._matches(trace, rule):
                return Settled(seen, [])
            example = example_from_trace(trace, outputs=True)
        except Exception as error:  # choke-point: whatever a stranger's trace makes of it, it is told
            pass_on_interruption(error)
            return self._failed(claim, rule, trace, error_text(error))
        scores = await asyncio.gather(*(self._score(one, rule, example, trace) for one in rule.scorers))
        return Settled(seen, self._rows(claim, rule, trace, scores))

    async def _matches(self, trace: Trace, rule: Rule) -> bool:
        stored = await self._ask(self._scores_of, trace.trace_id)
        # What the rule itself said of the trace must not decide whether it says it again.
        others = [score for _, score in stored if score.metadata.get(RULE) != rule.name]
        facts = facts_of(trace, others)
        return facts is not None and matches(rule.where, facts)

    async def _score(self, scorer: Scorer, rule: Rule, example: Example, trace: Trace) -> Score:
        score = await carried(apply_scorer(scorer, example, trace, self._isolation, rule.timeout))
        metadata = {**versions_of(scorer, example), **score.metadata}
        return changed(score, options=options_of(scorer), metadata=metadata)

    def _failed(self, claim: Claim, rule: Rule, trace: Trace, why: str) -> Settled:
        scores = [Score.errored(one.name, one.threshold, f"not evaluated: {why}") for one in rule.scorers]
        return Settled(FAILED + why, self._rows(claim, rule, trace, scores))

    def _rows(self, claim: Claim, rule: Rule, trace: Trace, scores: Sequence[Score]) -> list[ScoreRow]:
        mark: Mapping[str, Any] = {RULE: rule.name}
        marked = [changed(score, metadata={**score.metadata, **mark}) for score in scores]
        return [ScoreRow(trace.trace_id, None, self._redaction.score(score)) for score in marked]


def _seconds_to_rest(trace: Trace, rule: Rule) -> float:
    """How long a trace without its root still has to rest; 0 where it has one."""
    if any(span.parent_key is None for span in trace.spans):
        return 0.0
    age = time.time() - max(span.end_ns for span in trace.spans) / 1e9
    return min(rule.rest_without_root - age, rule.rest_without_root)


def content_digest(trace: Trace) -> str:
    """32 hex digits, equal for traces of the same spans with the same content."""
    spans = sorted(trace.spans, key=lambda span: span.span_key)
    return digest_of("\n".join(json_text(_content(span.to_dict())) for span in spans))


def _content(span: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in span.items() if name != "index"}
