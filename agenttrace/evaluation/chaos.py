"""`chaos`: one recorded run again and again, each time with another fault of one of its tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from threading import TIMEOUT_MAX
from typing import Any, Literal

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.marks import cause_within
from agenttrace.core.numbers import is_number
from agenttrace.core.protocols import Scorer
from agenttrace.core.report import ScoringResult
from agenttrace.core.tagged import opened_throughout
from agenttrace.core.text import error_line
from agenttrace.core.trace import Trace
from agenttrace.evaluation.run import TIMEOUT, Evaluation
from agenttrace.evaluation.run import Recording as RecordsRuns
from agenttrace.evaluation.simulated import SimulatedRuns, tagged
from agenttrace.expectations.expectation import expectation_of
from agenttrace.matching.selection import Selection
from agenttrace.reports.first_line import why
from agenttrace.scorers.call_scorer import CallScorer
from agenttrace.scorers.exact_match import ExactMatchScorer
from agenttrace.scorers.tool_order import ToolOrderScorer
from agenttrace.simulation.faults import KINDS, Fault, FaultyRun, Kind, possible_faults
from agenttrace.simulation.recorded_call import ANSWERED
from agenttrace.simulation.recording import Models, Recording
from agenttrace.tracing.context import answering
from agenttrace.tracing.observed_function import known_tools

WRITE = "write"
"""The tag of tools with side effects."""

MOST_RUNS = 500
"""Runs of one `chaos`: each fault alone, and of sets of them as many as are left."""

ChaosOutcome = Literal["recovered", "failed_softly", "did_harm", "cannot_be_told"]
"""*recovered*: all scorers pass; *failed_softly*: the agent raised, or the calls are not those expected;
*did_harm*: a call with side effects that was not made without the fault, or an answer that is wrong;
*cannot_be_told*: it made another call that was not recorded."""


@dataclass(frozen=True, slots=True)
class FaultResult:
    """What became of the agent under some faults, and why."""

    faults: tuple[Fault, ...]
    outcome: ChaosOutcome
    why: str = ""
    trace: Trace | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON data, without the trace itself."""
        faults = [{"tool": fault.tool, "kind": fault.kind} for fault in self.faults]
        return {"faults": faults, "outcome": self.outcome, "why": self.why}


@dataclass(frozen=True, slots=True)
class ChaosReport:
    """What became of the agent under each single fault, and the smallest set of faults that breaks it."""

    results: tuple[FaultResult, ...]
    breaks: FaultResult | None

    @property
    def counts(self) -> Mapping[str, int]:
        """How many single faults have each outcome."""
        return Counter(result.outcome for result in self.results)

    @property
    def matrix(self) -> Mapping[str, Mapping[str, ChaosOutcome]]:
        """The outcome for each tool and kind of fault."""
        rows: dict[str, dict[str, ChaosOutcome]] = {}
        for result in self.results:
            rows.setdefault(result.faults[0].tool, {})[result.faults[0].kind] = result.outcome
        return rows

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return {
            "counts": dict(self.counts),
            "results": [result.to_dict() for result in self.results],
            "breaks": None if self.breaks is None else self.breaks.to_dict(),
        }


def chaos(
    trace: Trace,
    function: Callable[..., Any],
    scorers: Sequence[Scorer] = (),
    *,
    example: Example | None = None,
    kinds: Iterable[Kind] | Kind = KINDS,
    writes: Iterable[str] = (),
    seconds: float = 1.0,
    models: Models = "recorded",
    most: int = 2,
    tracer: RecordsRuns | None = None,
    timeout: float | None = TIMEOUT,
) -> ChaosReport:
    """Run the agent on the input of a recorded run, answered by it, but for one fault at a time.

    Args:
        trace: The recorded run.
        function: The agent.
        scorers: What says whether it recovered; by default the recorded calls, failed attempts left out, and
            the recorded answer if there is one.
        example: What they compare with; by default made of the recorded run.
        kinds: Which faults.
        writes: Names of tools with side effects, beside those with the tag ``"write"``.
        seconds: How late a slow tool is.
        models: ``"live"`` asks models, as an agent with another answer does another request.
        most: Where no single fault breaks the agent, sets of so many are tried, the smaller first.
        tracer: As of `run_evaluation`, as is `timeout`.

    Raises:
        ConfigError: wrong use, or a recording that cannot be replayed.
    """
    chosen = _checked_kinds(kinds)
    _check_numbers(seconds, most)
    if not callable(function):
        raise ConfigError(f"chaos runs an agent: function is to be called, got {function!r:.80}")
    recording = Recording(trace, models=models, complete=False, repeats=True)
    recording.check()
    if trace.root is not None and trace.root.span_type in ANSWERED:
        raise ConfigError(f"the run is one call of a {trace.root.span_type}, so nothing below it would run")
    test = example or _example(trace)
    suite = scorers or _default_scorers(test)
    runner = _Runner(recording, function, test, suite, _write_tools(trace, writes), seconds, tracer, timeout)
    faults = possible_faults(recording, chosen)
    if not faults:
        raise ConfigError("the recording has no calls of tools in which anything could go wrong")
    baseline = runner.run([()])[0]
    if baseline.outcome != "recovered":
        raise ConfigError(f"the agent does not pass without a fault: {baseline.why}")
    results = runner.run([(fault,) for fault in faults])
    breaks = next((result for result in results if result.outcome in _BROKEN), None)
    left = max(MOST_RUNS - len(results), 0)
    for size in range(2, most + 1):
        if breaks is not None:
            break
        sets = [each for each in combinations(faults, size) if len({fault.tool for fault in each}) == size]
        tried = runner.run(sets[:left])
        left -= len(tried)
        breaks = next((result for result in tried if result.outcome in _BROKEN), None)
    return ChaosReport(tuple(results), breaks)


_BROKEN: tuple[ChaosOutcome, ...] = ("failed_softly", "did_harm")


def _checked_kinds(kinds: Iterable[Kind] | Kind) -> tuple[Kind, ...]:
    chosen: tuple[Any, ...] = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    for kind in chosen:
        if kind not in KINDS:
            raise ConfigError(f"there is no fault {kind!r}{did_you_mean(str(kind), KINDS)}")
    if not chosen:
        raise ConfigError(f"kinds names no fault; there are {', '.join(KINDS)}")
    return chosen


def _check_numbers(seconds: Any, most: Any) -> None:
    if not is_number(seconds) or not 0 <= seconds <= TIMEOUT_MAX:
        raise ConfigError(f"seconds is a number from 0, got {seconds!r:.80}")
    if type(most) is not int or most < 1:
        raise ConfigError(f"most is a whole number from 1, got {most!r:.80}")


def _write_tools(trace: Trace, writes: Iterable[str]) -> frozenset[str]:
    """The tools with side effects: those with the tag, and those that are named."""
    tools = known_tools()
    named = [writes] if isinstance(writes, str) else [*writes]
    known = {*tools, *(call.name for call in trace.tool_calls)}
    for name in named:
        if name not in known:
            raise ConfigError(f"there is no tool {name!r}{did_you_mean(str(name), known)}")
    return frozenset(named) | {name for name, tool in tools.items() if WRITE in (tool.tags or ())}


def _default_scorers(example: Example) -> list[Scorer]:
    """The calls; and the answer, where there is one."""
    calls = ToolOrderScorer(attempts="collapse")
    return [calls] if example.expected_output is None else [calls, ExactMatchScorer()]


def _example(trace: Trace) -> Example:
    root = trace.root
    if root is None or root.input is None or cause_within(dict(root.input)) is not None:
        raise ConfigError("the input of the run was not recorded whole; give an example with its input")
    calls, _ = Selection(attempts="collapse").counted(trace.tool_calls)
    return Example(
        input=opened_throughout(dict(root.input)),
        expected_tools=expectation_of(calls),
        expected_output=opened_throughout(trace.output),
    )


@dataclass(frozen=True, slots=True)
class _Runner:
    """Runs the agent under sets of faults."""

    recording: Recording
    function: Callable[..., Any]
    example: Example
    scorers: Sequence[Scorer]
    writes: Collection[str]
    seconds: float
    tracer: RecordsRuns | None
    timeout: float | None

    def run(self, sets: Sequence[tuple[Fault, ...]]) -> list[FaultResult]:
        """The outcome under each set, in order."""
        if not sets:
            return []
        examples = [self.example.changed() for _ in sets]
        faults_of = {id(example): faults for example, faults in zip(examples, sets, strict=True)}
        runs: dict[int, FaultyRun] = {}
        evaluation = Evaluation.of(
            examples, self.scorers, function=self.function, tracer=self.tracer, timeout=self.timeout
        )

        def begin(example: Example) -> SimulatedRuns:
            run = FaultyRun(self.recording, answering.get(), faults_of[id(example)], self.seconds)
            run.enter()
            runs[id(example)] = run
            return SimulatedRuns((run,))

        engine = evaluation.engine
        engine.capture, engine.simulate = tagged(engine.capture), begin
        engine.run()
        results = engine.results()
        return [
            self._result(faults, runs.get(id(example)), result)
            for example, faults, result in zip(examples, sets, results, strict=True)
        ]

    def _result(self, faults: tuple[Fault, ...], run: FaultyRun | None, result: ScoringResult) -> FaultResult:
        if run is None:  # it did not begin: the input does not fit the agent
            return FaultResult(faults, "cannot_be_told", error_line(result.error or ""), result.trace)
        outcome, text = self._outcome(faults, run, result)
        return FaultResult(faults, outcome, text, result.trace)

    def _outcome(
        self, faults: tuple[Fault, ...], run: FaultyRun, result: ScoringResult
    ) -> tuple[ChaosOutcome, str]:
        written = self._written_too_often(faults, run)
        if written:
            return "did_harm", f"{written} was called as it is not without the fault"
        if run.left is not None:
            return "cannot_be_told", str(run.left)
        if result.outcome == "errored":
            return "cannot_be_told", error_line(result.error or why(result))
        if result.success:
            return "recovered", ""
        failed = [score for score in result.scores if score.gate and not score.passed]
        about_calls = {scorer.name for scorer in self.scorers if isinstance(scorer, CallScorer)}
        is_wrong = result.error is None and any(score.name not in about_calls for score in failed)
        return "did_harm" if is_wrong else "failed_softly", why(result)

    def _written_too_often(self, faults: tuple[Fault, ...], run: FaultyRun) -> str:
        """A tool with side effects that was called more often than recorded, or with other arguments.

        One that failed had no effect yet: to call it once more is no harm.
        """
        allowed = Counter(call.name for call in self.recording.trace.tool_calls)
        allowed.update(fault.tool for fault in faults if fault.kind == "error")
        made = Counter(call.name for call in run.calls)
        names = [*(name for name, count in made.items() if count > allowed[name]), *run.refused]
        return next((name for name in names if name in self.writes), "")
