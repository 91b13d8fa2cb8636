"""`replay_runs`: recorded runs answered by their recordings, the new trajectories beside the old ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.marks import cause_within
from agenttrace.core.report import ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.tagged import opened_throughout
from agenttrace.core.text import error_line
from agenttrace.core.trace import Trace
from agenttrace.evaluation.run import TIMEOUT, Evaluation
from agenttrace.evaluation.run import Recording as RecordsRuns
from agenttrace.evaluation.simulated import SimulatedRuns, tagged
from agenttrace.expectations.expectation import expectation_of
from agenttrace.expectations.matcher import Context
from agenttrace.expectations.reading import in_favour
from agenttrace.expectations.values import agree, prepare
from agenttrace.reports.first_line import why
from agenttrace.scorers.tool_order import ToolOrderScorer
from agenttrace.simulation.recorded_call import ANSWERED, recorded_calls
from agenttrace.simulation.recording import Models, Recording, ReplayedRun
from agenttrace.statistics.proportions import Interval, wilson_interval
from agenttrace.tracing.context import answering

ReplayOutcome = Literal["same", "differs", "failed", "left", "not_replayable"]
"""*same*: the same calls, and the same end; *differs*: other calls, or another end, though the recording
answered all of them; *failed*: the agent raised, which it did not then. Not told: *left*, where it made a
call that was not recorded, so that nobody knows what would have come next, and *not_replayable*."""

COMPARABLE: tuple[ReplayOutcome, ...] = ("same", "differs", "failed")


@dataclass(frozen=True, slots=True)
class ReplayedTrace:
    """One recorded run, and what became of it: `why` names the first difference, `diff` has the aligned rows.

    `trace` is the new run, None where there was none.
    """

    trace_id: str
    outcome: ReplayOutcome
    why: str = ""
    diff: str = ""
    trace: Trace | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON data, without the new trace itself."""
        new = None if self.trace is None else self.trace.trace_id
        return {
            "trace_id": self.trace_id,
            "outcome": self.outcome,
            "why": self.why,
            "diff": self.diff,
            "new_trace_id": new,
        }


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What became of recorded runs on another version of the agent."""

    runs: tuple[ReplayedTrace, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many runs have each outcome."""
        return Counter(run.outcome for run in self.runs)

    @property
    def comparable(self) -> int:
        """Runs of which it can be told whether they are the same."""
        return sum(self.counts[outcome] for outcome in COMPARABLE)

    @property
    def same(self) -> Interval:
        """The share of the same runs among those told: its interval (Wilson, 95 %)."""
        return wilson_interval(self.counts["same"], self.comparable)

    @property
    def exit_code(self) -> int:
        """0 where all are the same; 1 where one is not; 2 where nothing is known to differ, or to be told."""
        if self.counts["differs"] or self.counts["failed"]:
            return 1
        return 0 if self.runs and self.comparable == len(self.runs) else 2

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        share = self.counts["same"] / self.comparable if self.comparable else None
        return {
            "counts": dict(self.counts),
            "comparable": self.comparable,
            "same": {"share": share, "interval": list(self.same), "confidence": 0.95},
            "runs": [run.to_dict() for run in self.runs],
        }


def replay_runs(
    traces: Iterable[Trace],
    function: Callable[..., Any],
    *,
    tracer: RecordsRuns | None = None,
    models: Models = "recorded",
    ignore: Iterable[str] = (),
    timeout: float | None = TIMEOUT,
    concurrency: int = 1,
) -> ReplayReport:
    """Run the agent on the input of each recorded run, answered by that recording (see `Tracer.replay`).

    The calls of each new run are compared with those of its own past, in order, with their arguments. No
    labels are needed, nothing outside is reached. The new traces bear the tag ``"replay"``.

    Raises:
        ConfigError: wrong use.
    """
    ignored = frozenset([ignore] if isinstance(ignore, str) else ignore)
    recorded = list(traces)
    outcomes: dict[int, ReplayedTrace] = {}
    prepared: list[_Prepared] = []
    for place, trace in enumerate(recorded):
        try:
            prepared.append(_prepared(place, trace, models, ignored))
        except ConfigError as error:
            outcomes[place] = ReplayedTrace(trace.trace_id, "not_replayable", str(error))
    if prepared:
        for one, result in _results(prepared, function, tracer, timeout, concurrency):
            outcomes[one.place] = _outcome(one, result)
    return ReplayReport(tuple(outcomes[place] for place in sorted(outcomes)))


@dataclass(slots=True)
class _Prepared:
    """A recorded run that can be replayed."""

    place: int
    recording: Recording
    example: Example
    run: ReplayedRun | None = None


def _prepared(place: int, trace: Trace, models: Models, ignored: frozenset[str]) -> _Prepared:
    root = trace.root
    if root is None or root.input is None:
        raise ConfigError("the input of the run was not recorded")
    if root.span_type in ANSWERED:
        raise ConfigError(f"the run is one call of a {root.span_type}, so nothing below it would run")
    cause = cause_within(dict(root.input))
    if cause is not None:
        raise ConfigError(f"the input of the run was {cause} when it was recorded")
    recording = Recording(trace, models=models, ignore=ignored, complete=False)
    recording.check()
    answered = {call.span.span_id for call in recorded_calls(trace)}
    calls = [call for call in trace.tool_calls if call.span_id in answered]
    example = Example(
        name=trace.trace_id[:8],
        input=opened_throughout(dict(root.input)),
        expected_tools=expectation_of(calls),
    )
    return _Prepared(place, recording, example)


def _results(
    prepared: list[_Prepared],
    function: Callable[..., Any],
    tracer: RecordsRuns | None,
    timeout: float | None,
    concurrency: int,
) -> Iterator[tuple[_Prepared, ScoringResult]]:
    examples = [one.example for one in prepared]
    by_example = {id(one.example): one for one in prepared}
    evaluation = Evaluation.of(
        examples,
        [ToolOrderScorer(exact_match=True)],
        function=function,
        tracer=tracer,
        timeout=timeout,
        concurrency=concurrency,
    )

    def begin(example: Example) -> SimulatedRuns:
        one = by_example[id(example)]
        one.run = one.recording.begin(answering.get())
        return SimulatedRuns((one.run,))

    engine = evaluation.engine
    engine.capture, engine.simulate = tagged(engine.capture), begin
    engine.run()
    return zip(prepared, engine.results(), strict=True)


def _outcome(one: _Prepared, result: ScoringResult) -> ReplayedTrace:
    outcome, text, diff = _compared(one, result)
    return ReplayedTrace(one.recording.trace.trace_id, outcome, text, diff, result.trace)


def _compared(one: _Prepared, result: ScoringResult) -> tuple[ReplayOutcome, str, str]:
    """The outcome, why, and the aligned rows."""
    old, new = one.recording.trace, result.trace
    if one.run is not None and one.run.left is not None:
        return "left", str(one.run.left), ""  # rows would say that what nobody knows is missing
    if result.outcome == "errored" or new is None:
        return "not_replayable", error_line(result.error or ""), ""
    raised = result.error is not None
    then, now = (None if trace.error is None else trace.error.type for trace in (old, new))
    if raised and then != now:
        return "failed", error_line(result.error or ""), _diff(one, new)
    score = _score(one, new)
    if not score.passed:
        failed = ScoringResult(example=one.example, outcome="failed", scores=(score,), trace=new)
        return "differs", why(failed), score.diff or ""
    if not raised and then is not None:
        return "differs", f"it raised {then} then, and does not now", ""
    if not raised and not _agree(result.example.actual_output, old.output):
        return "differs", "the calls are the same, the answer is another", ""
    return "same", "", ""


def _agree(answer: Any, recorded: Any) -> bool:
    """Whether an answer is the recorded one, as far as that was recorded."""
    expected = prepare(jsonable(answer))
    return in_favour(lambda: agree(expected, recorded, Context(mode="exact")) == 1.0)


def _score(one: _Prepared, trace: Trace) -> Score:
    return ToolOrderScorer(exact_match=True).score(one.example, trace)


def _diff(one: _Prepared, trace: Trace | None) -> str:
    """The aligned rows of old and new calls, where there is a new run."""
    return "" if trace is None else _score(one, trace).diff or ""
