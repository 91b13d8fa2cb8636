"""A marked test's function as one that records its calls and scores them, plain or async as it was."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from types import TracebackType
from typing import Any

import pytest

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationFailed, EvaluationReport, ScoringResult
from agenttrace.evaluation.agent_run import Run
from agenttrace.evaluation.assertion import require_passed
from agenttrace.evaluation.requirement import parsed_requirements
from agenttrace.evaluation.run import Evaluation
from agenttrace.pytest_plugin.checks import note
from agenttrace.pytest_plugin.examples import Quarantine, options_of
from agenttrace.scoring.apply import users_traceback
from agenttrace.store import open_store
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
                trial.output = await test(**arguments)
            evaluation = marked.evaluation(trial)
            await evaluation.engine.run_async()
            marked.add(evaluation, trial.error)
        marked.settle()

    @wraps(test)
    def plain_test(**arguments: Any) -> None:
        __tracebackhide__ = True
        while marked.has_another_trial:
            with marked.trial() as trial:
                trial.output = test(**arguments)
            evaluation = marked.evaluation(trial)
            evaluation.engine.run()
            marked.add(evaluation, trial.error)
        marked.settle()

    return async_test if inspect.iscoroutinefunction(test) else plain_test


class _Trial:
    """One call of the function: what it returned or raised, what was recorded.

    An outcome of pytest's own (skip, fail, xfail) and whatever else ends more than the test pass through.
    """

    def __init__(self, captured: Capture) -> None:
        self._captured = captured
        self.output: Any = None
        self.error: Exception | None = None

    def __enter__(self) -> _Trial:
        self._captured.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> bool:
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
        failure = None if self.error is None else users_traceback(self.error)
        return Run(example.model_copy(update=fields), trace, failure=failure, ran=True)


class _MarkedTest:
    """One marked test: its options, and the results of its trials so far."""

    def __init__(self, item: pytest.Function, example: Example) -> None:
        self.item = item
        self.example = example
        self.options = options_of(item)
        self.trials: int = self.options.get("trials") or 1
        self.results: list[ScoringResult] = []
        self.report: EvaluationReport | None = None
        self.quarantine = None if example.quarantine is None else Quarantine.parse(example.quarantine)

    @property
    def has_another_trial(self) -> bool:
        return len(self.results) < self.trials

    def trial(self) -> _Trial:
        tracer = self.options.get("tracer")
        return _Trial(capture() if tracer is None else tracer.capture())

    def evaluation(self, trial: _Trial) -> Evaluation:
        """The evaluation of what was recorded in one trial."""
        path = self.item.config.getoption("agenttrace_store")
        evaluation = Evaluation.of(
            [self.example],
            self.options.get("scorers") or (),
            model=self.options.get("model"),
            tracer=self.options.get("tracer"),
            eval_run_name=self.item.nodeid,
            store=None if path is None else open_store(path),
        )
        evaluation.engine.run_of = trial.run_of
        return evaluation

    def add(self, evaluation: Evaluation, error: Exception | None) -> None:
        """Add the result of a trial. What the function raised in the only one is raised, as in any test."""
        __tracebackhide__ = True
        report = evaluation.report()
        (result,) = report.results
        self.results.append(result)
        trials = len(self.results)
        self.report = replace(
            report,
            results=tuple(replace(one, trial=n, trials=trials) for n, one in enumerate(self.results, 1)),
        )
        if not self.has_another_trial:
            note(self.item, self.report, evaluation)
        if error is not None and self.trials == 1:
            raise error

    def settle(self) -> None:
        """Pass or fail; a failure in quarantine is an expected one."""
        __tracebackhide__ = True
        assert self.report is not None
        text = self._failure(self.report)
        if self.quarantine is None:
            if text:
                pytest.fail(text, pytrace=False)
            return
        accepted = f"{self.quarantine.day} ({self.quarantine.owner}: {self.quarantine.why})"
        if self.quarantine.is_over:
            remedy = text or "the example passes: remove its quarantine"
            pytest.fail(f"the quarantine ended on {accepted}; {remedy}", pytrace=False)
        if text:
            pytest.xfail(f"in quarantine until {accepted}; {text.partition(chr(10))[0]}")

    def _failure(self, report: EvaluationReport) -> str:
        """The text of the failure, or an empty one."""
        require = self.options.get("require")
        try:
            require_passed(report, parsed_requirements(require))
        except EvaluationFailed as failure:
            return str(failure)
        return ""
