"""Plants the demo: two weeks of a support desk, recorded and scored by the library, moved back in time."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal

from agenttrace.cli.demo_clock import Clock, move_notes, spans_of
from agenttrace.cli.demo_desk import (
    ORDERS,
    POLICIES,
    Desk,
    PaymentError,
    Ticket,
)
from agenttrace.cli.demo_judge import scripted_judge
from agenttrace.cli.demo_night import reconciliation
from agenttrace.cli.demo_suite import ANSWERS, REFUNDS
from agenttrace.core.annotation import Annotation
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import AgentTraceError, StoreError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.report import EvaluationReport
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.evaluation.evaluate import run_evaluation
from agenttrace.judges import FaithfulnessScorer
from agenttrace.scorers import LoopScorer, ToolOrderScorer, scorer
from agenttrace.store import MemoryStore, SQLiteStore
from agenttrace.tracer import Tracer
from agenttrace.tracing.observed_function import known_tools

PROJECT = "support desk"
MARK = "planted demo"
"""The dataset by which a demo store is known."""
DAYS = 14
RELEASES = {"2.3.0": 14.0, "2.4.0": 9.0, "2.4.1": 6.0, "2.5.0": 3.0}
"""Releases, and how many days ago each went out."""
_DAY = 86_400 * 10**9
_SESSIONS = 22
"""Sessions a day."""
_LOOPS = (5, 2, 0)
_DECLINED_SINCE = 5.5
_ASKING = {
    "refund": "Please refund my order {order}.",
    "where": "Where is my order {order}?",
    "label": "I need a return label for order {order}.",
    "policy": "What is your {topic}?",
}


def planted(store: SQLiteStore) -> Literal["no", "partly", "whole"]:
    """Whether this module has filled a store: *partly* where it was interrupted."""
    try:
        mark = store.load_dataset(MARK, PROJECT)
    except AgentTraceError:
        return "no"
    if not isinstance(mark, dict):
        return "no"
    return "whole" if mark.get("is_whole") else "partly"


def plant(path: str, now_ns: int, *, seed: int = 7, days: int = DAYS) -> None:
    """Fill a new store with what happened in the days before a moment; equal seeds plant the same."""
    store = SQLiteStore(path)
    try:
        mark = {"planted_ns": now_ns, "days": days, "seed": seed}
        store.save_dataset(MARK, PROJECT, {**mark, "is_whole": False})
        history = _History(store, now_ns, Random(seed))  # noqa: S311 - to be repeated, not to be secret
        for day in range(days, -1, -1):
            history.live(day)
        if not store.flush(timeout=30.0) or store.health().mode == "memory":
            raise StoreError(f"the demo could not be written to {path}: {store.health().trouble}")
        move_notes(path)
        store.save_dataset(MARK, PROJECT, {**mark, "is_whole": True})
    finally:
        store.close()


@scorer(name="Tools Succeeded", threshold=1.0)
def tools_succeeded(trace: Trace) -> Score:
    """Whether no tool raised, and every one that says how it went says that it succeeded."""
    calls = [call for call in trace.tool_calls if call.failed or _says_how(call.output)]
    failed = [
        f"{call.name}: {'raised' if call.failed else call.output.get('reason')}"
        for call in calls
        if call.failed or not call.output["success"]
    ]
    value = 1 - len(failed) / len(calls) if calls else 1.0
    return Score.of(
        "Tools Succeeded", value, 1.0, reason="; ".join(failed) or "no tool raised or reports a failure"
    )


def _says_how(output: Any) -> bool:
    return isinstance(output, dict) and "success" in output


@dataclass
class _History:
    """What happens day by day: tickets, the runs of two suites, what people say, which failures are fixed."""

    store: SQLiteStore
    now_ns: int
    chance: Random
    judged: list[tuple[str, Score]] = field(default_factory=list)
    """Traces of production with a judge's score, the newest last."""
    sessions: int = 0
    newest: EvaluationReport | None = None
    """The newest run of the suite of refunds."""

    def __post_init__(self) -> None:
        self.tracer = Tracer(PROJECT, store=MemoryStore())
        self.clock = Clock(self.chance)
        self.judge = scripted_judge()
        self.faithfulness = FaithfulnessScorer(model=self.judge, threshold=0.8)
        self.desks = {release: Desk(self.tracer, release, self.chance) for release in RELEASES}

    def live(self, day: int) -> None:
        """All that happens on the day that ended so many days ago."""
        for release, out in RELEASES.items():
            if int(out) == day + 1:
                self._run_suites(release, self.now_ns - int((out + 0.02) * _DAY))
        traces: list[Trace] = []
        scores: list[ScoreRow] = []
        for ago, ticket in sorted(self._tickets(day), key=lambda entry: -entry[0]):
            trace = self._answered(ticket, ago)
            traces.append(trace)
            scores += [ScoreRow(trace.trace_id, None, score) for score in self._scores(trace)]
        if day == 1:
            traces.append(self._recorded(lambda: reconciliation(self.tracer)(1), 1.2))
        self.store.write(Batch(spans_of(traces), scores, {PROJECT: list(known_tools().values())}))
        self._mark_fixed(day)
        if day == 0:
            self._let_people_speak(traces)

    def _tickets(self, day: int) -> Iterator[tuple[float, Ticket]]:
        """The tickets of a day, each with how many days ago it came; those of a session are close."""
        for _ in range(_SESSIONS if day else 0):
            self.sessions += 1
            order = self.chance.choice(list(ORDERS.values()))
            ago = day + self.chance.random()
            session, channel = f"s-{self.sessions:04}", self.chance.choice(("chat", "mail"))
            for turn in range(self.chance.choice((1, 2, 2, 3, 4))):
                kind = self.chance.choice(("refund", "where", "label", "policy", "policy"))
                topic = self.chance.choice(list(POLICIES))
                message = _ASKING[kind].format(order=order.number, topic=topic)
                yield max(ago - turn * 0.004, 0.001), Ticket(message, order.customer, session, channel)
        if day in _LOOPS:
            message = "How long is the warranty of discontinued headphones?"
            yield day + 0.3, Ticket(message, "initech", f"s-loop-{day}", "chat")

    def _release(self, ago: float) -> str:
        return next((name for name, out in reversed(RELEASES.items()) if ago <= out), next(iter(RELEASES)))

    def _answered(self, ticket: Ticket, ago: float) -> Trace:
        desk = self.desks[self._release(ago)]
        desk.ticket, desk.is_declining = ticket, ago < _DECLINED_SINCE
        try:
            return self._recorded(lambda: desk.handle_ticket(ticket.message), ago)
        finally:
            desk.ticket, desk.is_declining = None, False

    def _recorded(self, call: Callable[[], object], ago: float) -> Trace:
        """What a call records, as if it had been made so many days ago; what it raises is recorded too."""
        with self.tracer.capture() as captured, suppress(PaymentError, LookupError):
            call()
        return self.clock.moved(captured.trace, self.now_ns - int(ago * _DAY))

    def _scores(self, trace: Trace) -> Iterator[Score]:
        """The scores of a trace of production: of loops and failures, of policies where one was read."""
        example = Example(input=dict(trace.input or {}))
        for rule in (LoopScorer(repeats=2), tools_succeeded):
            score = rule.score(example, trace)
            assert isinstance(score, Score)  # awaitable only where a judge is asked
            yield score
        article = next((call.output for call in trace.tool_calls[::-1] if call.name == "search_kb"), None)
        if isinstance(article, str) and article in POLICIES.values():
            example = Example(input=example.input, actual_output=trace.output, retrieval_context=[article])
            score = asyncio.run(self.faithfulness.score(example, trace))
            self.judged.append((trace.trace_id, score))
            yield score

    def _run_suites(self, release: str, start_ns: int) -> None:
        """The runs of a release, before it goes out."""
        function = self.desks[release].handle_ticket
        suites: tuple[tuple[str, list[Example], list[Scorer], int], ...] = (
            ("refunds", REFUNDS, [ToolOrderScorer(exact_match=True), LoopScorer(repeats=2)], 3),
            ("answers", ANSWERS, [FaithfulnessScorer(model=self.judge, threshold=0.8, votes=3)], 1),
        )
        for name, examples, scorers, trials in suites:
            report = run_evaluation(
                examples,
                scorers,
                function=function,
                tracer=self.tracer,
                eval_run_name=name,
                trials=trials,
                metadata={"release": release},
            )
            report = _of_release(self.clock.moved_report(report, start_ns), release)
            self.store.write(Batch(spans_of([one.trace for one in report if one.trace is not None])))
            self.store.write_report(report)
            self.newest = report if name == "refunds" else self.newest
            start_ns += int(report.duration * 1e9) + 60 * 10**9

    def _mark_fixed(self, day: int) -> None:
        """What 2.4.0 mended is marked as fixed on the day after it went out."""
        if day == int(RELEASES["2.4.0"]) - 1:
            for failure in self.store.failures(project=PROJECT):
                if "store_credit" in failure.title or "LookupError" in failure.title:
                    self.store.set_failure_state(
                        failure.fingerprint, "fixed", fixed_in="2.4.0", project=PROJECT
                    )

    def _let_people_speak(self, traces: Sequence[Trace]) -> None:
        """What two people say of the judge's verdicts, and of the loop."""
        words = [
            self._word(
                trace_id,
                at,
                label="Faithfulness",
                thumbs="up" if score.passed is (place % 8 != 3) else "down",
                note="" if place % 8 != 3 else "the judge is mistaken",
                by=("ann", "li")[place % 2],
            )
            for place, (trace_id, score) in enumerate(self.judged[-32:])
            for at in [self.now_ns - (32 - place) * 10**11]
        ]
        words += [
            self._word(
                trace.trace_id, self.now_ns - 10**11, thumbs="down", note="it asked six times", by="ann"
            )
            for trace in traces
        ]
        for place, result in enumerate(self.newest or ()):
            if result.name == "refund gift card" and result.trial == 1:
                words.append(self._corrected(str(result.trace_id), place))
        scores = [
            ScoreRow(word.trace_id, None, score) for word in words if (score := word.as_score()) is not None
        ]
        self.store.write(Batch(scores=scores, annotations=words))

    def _corrected(self, trace_id: str, place: int) -> Annotation:
        assert self.newest is not None
        expected = {"expected_tools": ["lookup_order", "store_credit", "notify"]}
        word = self._word(
            trace_id, self.now_ns - 10**11, expected=expected, note="credit is right for cards", by="li"
        )
        return replace(word, run_id=self.newest.run_id, result=place)

    def _word(self, trace_id: str, created_ns: int, **word: Any) -> Annotation:
        key = f"{self.chance.getrandbits(128):032x}"
        fields = {name: value or None for name, value in word.items()}
        return Annotation(
            annotation_id=key, project=PROJECT, trace_id=trace_id, created_ns=created_ns, **fields
        )


def _commit(release: str) -> str:
    return hashlib.sha256(release.encode()).hexdigest()[:40]


def _of_release(report: EvaluationReport, release: str) -> EvaluationReport:
    """A run with the revision of a release, in place of that of the working directory."""
    git = {"commit": _commit(release), "branch": f"release-{release}", "dirty": None}
    return replace(report, metadata={**report.metadata, "git": git})
