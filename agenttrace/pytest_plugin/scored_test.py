"""A marked test's function as one that records its calls and scores them, plain or async as it was."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from types import TracebackType
from typing import Any

import pytest

from agenttrace.core.deep_link import See
from agenttrace.core.errors import ConfigError, SimulationError
from agenttrace.core.example import Example
from agenttrace.core.quarantine import Quarantine
from agenttrace.core.report import EvaluationFailed, EvaluationReport, ScoringResult
from agenttrace.evaluation.agent_run import Run, described_failure
from agenttrace.evaluation.assertion import require_passed, warn_of_vacuous_guards
from agenttrace.evaluation.requirement import Requirement, parsed_requirements
from agenttrace.evaluation.run import Evaluation
from agenttrace.evaluation.trials import MAX_TRIALS, settled_by
from agenttrace.pytest_plugin import ERRORED
from agenttrace.pytest_plugin.checks import note
from agenttrace.pytest_plugin.examples import options_of
from agenttrace.pytest_plugin.suite import named_as, store_named, suite_of
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.record import record_of_report
from agenttrace.scoring.closed_loop import advice_for
from agenttrace.scoring.copies import copied_input
from agenttrace.scoring.redacted import redacted_report
from agenttrace.simulation.simulation import Simulation
from agenttrace.store.viewer_note import see_in
from agenttrace.tracing.capture import Capture, capture


def scored(item: pytest.Function, test: Callable[..., Any], example: Example) -> Callable[..., Any]:
    """The test's function, called once for each trial; each call is recorded and scored.

    Where there is one trial, what the function raises is raised, as in any test; of several trials it fails
    its own. An async function stays one: pytest-asyncio or anyio run it on the loop, and with the fixtures,
    that they run it with anyway.
    """
    marked = _MarkedTest(item, example)

    @wraps(test)
    async def async_test(**arguments: Any) -> None:
        __tracebackhide__ = True
        while marked.has_another_trial:
            with marked.trial() as trial:
                trial.output = await test(**marked.own(arguments))
            evaluation = marked.evaluation(trial)
            await evaluation.engine.run_async()
            marked.add(evaluation, trial.error)
        marked.settle()

    @wraps(test)
    def plain_test(**arguments: Any) -> None:
        __tracebackhide__ = True
        while marked.has_another_trial:
            with marked.trial() as trial:
                trial.output = test(**marked.own(arguments))
            evaluation = marked.evaluation(trial)
            evaluation.engine.run()
            marked.add(evaluation, trial.error)
        marked.settle()

    return async_test if inspect.iscoroutinefunction(test) else plain_test


class _Trial:
    """One call of the function: what it returned or raised, what was recorded.

    An outcome of pytest's own (skip, fail, xfail) and whatever else ends more than the test pass through.
    """

    def __init__(self, captured: Capture, simulation: Simulation | None = None) -> None:
        self._captured = captured
        self._simulation = simulation
        self._trouble: SimulationError | None = None
        self.output: Any = None
        self.error: Exception | None = None

    def __enter__(self) -> _Trial:
        if self._simulation is not None:
            self._simulation.check()
        self._captured.__enter__()
        if self._simulation is not None:
            self._simulation.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> bool:
        try:
            if self._simulation is not None:
                self._simulation.__exit__(kind, error, place)
        except SimulationError as trouble:
            self._trouble = trouble
        finally:
            self._captured.__exit__(kind, error, place)
        self.error = error if isinstance(error, Exception) else None
        return self.error is not None

    def run_of(self, example: Example) -> Run:
        """The run of the example that this call was."""
        trace = self._captured.trace
        fields: dict[str, Any] = {
            "tools_called": [call.name for call in trace.tool_calls] if trace.spans else None
        }
        if self.output is not None:
            fields["actual_output"] = self.output
        failure = None if self.error is None else described_failure(self.error)
        if self._trouble is not None:
            return Run(example, trace, why_not_comparable=f"the simulation: {self._trouble}", ran=True)
        ran, secrets = example.model_copy(update=fields), self._captured.secrets
        return Run(ran, trace, failure=failure, ran=True, secrets=secrets)


class _MarkedTest:
    """One marked test: its options, and the results of its trials so far."""

    def __init__(self, item: pytest.Function, example: Example) -> None:
        self.item = item
        self.example = example
        self.options = options_of(item)
        self.suite = suite_of(item.config)
        trials = self.options.get("trials", 1)
        self.trials: int = self.options.get("max_trials", MAX_TRIALS) if trials == "auto" else trials
        self.settled = settled_by(self.requirements, self.trials) if trials == "auto" else None
        self.why_not_run: str | None = None
        self.results: list[ScoringResult] = []
        self._last: Evaluation | None = None
        self._raised: Exception | None = None
        self.quarantine = None if example.quarantine is None else Quarantine.parse(example.quarantine)

    def own(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of one trial: what is of the example is a copy, which the agent may change."""
        own = dict(arguments)
        values: Any = self.example.input
        whole = copied_input(values)
        for name, value in arguments.items():
            if value is self.example:
                own[name] = self.example.model_copy(update={"input": whole})
            elif isinstance(whole, Mapping) and value is values.get(name, own):
                own[name] = whole[name]
        return own

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """What the trials must reach."""
        return parsed_requirements(self.options.get("require"))

    @property
    def has_another_trial(self) -> bool:
        """Whether the function is to be called once more: the verdict is open, and the budget not spent."""
        if len(self.results) >= self.trials or self.why_not_run is not None:
            return False
        if self.results and self.settled is not None and self.settled(self.results):
            return False
        spending = self.suite.spending
        self.why_not_run = None if spending is None else spending.why_spent()
        return self.why_not_run is None

    def trial(self) -> _Trial:
        tracer = self.options.get("tracer")
        if tracer is not None and not callable(getattr(tracer, "capture", None)):
            raise ConfigError(f"tracer is a Tracer, got {tracer!r}")
        simulation = None if self.example.simulate is None else Simulation(self.example.simulate)
        return _Trial(capture() if tracer is None else tracer.capture(), simulation)

    def evaluation(self, trial: _Trial | None) -> Evaluation:
        """The evaluation of what was recorded in one trial; without one it only describes the test."""
        evaluation = Evaluation.of(
            [self.example],
            self.options.get("scorers") or (),
            model=self.options.get("model"),
            tracer=self.options.get("tracer"),
            eval_run_name=self.item.nodeid,
            store=store_named(self.item.config),
        )
        if trial is not None:
            evaluation.engine.run_of = trial.run_of
        return evaluation

    def add(self, evaluation: Evaluation, error: Exception | None) -> None:
        """Add the result of a trial; what the function raised in the only one is kept for `settle`."""
        report = evaluation.report()
        if self.suite.spending is not None:
            self.suite.spending.add(report)
        self.results.extend(report.results)
        self._last = evaluation
        self._raised = error if self.trials == 1 else None
        if self._raised is not None and (advice := advice_for(self._raised)):
            self._raised.add_note(advice)

    def _noted_report(self, evaluation: Evaluation) -> EvaluationReport:
        """The report of all trials, noted for JUnit and for the run of all tests."""
        if self.why_not_run is not None:
            not_run = ScoringResult(example=self.example, outcome="not_run", error=self.why_not_run)
            self.results.append(replace(not_run, source=self.example.source))
        count = len(self.results)
        trials = tuple(replace(one, trial=n, trials=count) for n, one in enumerate(self.results, 1))
        report = replace(evaluation.header.report(evaluation.engine), results=trials)
        note(self.item, report, evaluation)
        return report

    def settle(self) -> None:
        """Pass or fail; a failure in quarantine, or one that the baseline has too, is an expected one.

        What the function raised in the only trial is raised else, as in any test. An errored result, which
        says nothing either way, is never an expected one.
        """
        __tracebackhide__ = True
        evaluation = self._last or self.evaluation(None)
        report = self._noted_report(evaluation)
        warn_of_vacuous_guards(report)
        if len(self.results) == 1 and self.why_not_run is not None:
            pytest.skip(f"not run: {self.why_not_run}")
        text = self._failure(report, evaluation)
        if text and self._is_errored:
            self.item.stash[ERRORED] = text
            pytest.fail(text, pytrace=False)
        if self.quarantine is None:
            if self._raised is not None:
                _note_link(self._raised, report, see_in(evaluation.store))
                raise self._raised
            if text:
                pytest.fail(text, pytrace=False)
            return
        accepted = str(self.quarantine)
        if self.quarantine.is_over:
            remedy = text or "the example passes: remove its quarantine"
            pytest.fail(f"the quarantine ended on {accepted}; {remedy}", pytrace=False)
        if text:
            pytest.xfail(f"in quarantine until {accepted}; {text.partition(chr(10))[0]}")

    @property
    def _is_errored(self) -> bool:
        return any(result.outcome == "errored" for result in self.results)

    def _failure(self, report: EvaluationReport, evaluation: Evaluation) -> str:
        """The text of the failure, or an empty one; without secrets, because pytest writes it to files."""
        try:
            needed = () if self._raised is not None else self.requirements
            redacted = redacted_report(report, evaluation.redaction)
            require_passed(redacted, needed, see=lambda: see_in(evaluation.store), indent=0)
        except EvaluationFailed as failure:
            text = str(failure)
        else:
            return ""
        baseline = self.suite.baseline
        if baseline is None or self._is_errored:
            return text
        after = record_of_report(named_as(self.item, report))
        if compare_runs(baseline, after).regressions:
            return f"worse than {baseline.label}: {text}"
        pytest.xfail(f"no worse than {baseline.label}; {text.partition(chr(10))[0]}")


def _note_link(error: Exception, report: EvaluationReport, see: See | None) -> None:
    """Add to what an agent raised how to look at its trace, where one was recorded."""
    (result,) = report.results
    if see is not None and result.trace is not None and result.trace.spans:
        error.add_note(f"see: {see(result.trace.trace_id).text}")
