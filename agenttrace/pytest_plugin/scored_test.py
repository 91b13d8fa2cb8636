"""A marked test's function as one that records its call and scores it, plain or async as it was."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationFailed, EvaluationReport
from agenttrace.evaluation.agent_run import Run
from agenttrace.evaluation.assertion import require_passed
from agenttrace.evaluation.requirement import parsed_requirements
from agenttrace.evaluation.run import Evaluation
from agenttrace.process.loop_thread import loop_keeper, wait_for
from agenttrace.pytest_plugin.checks import note
from agenttrace.pytest_plugin.examples import Quarantine, options_of
from agenttrace.store import open_store
from agenttrace.tracing.capture import Capture, capture


def scored(item: pytest.Function, test: Callable[..., Any], example: Example) -> Callable[..., Any]:
    """The test's function, called once for each trial; each call is recorded, and all are scored together.

    What the function raises is raised, as in any test. An async function stays one: pytest-asyncio or anyio
    run it on the loop, and with the fixtures, that they run it with anyway.
    """
    marked = _Marked(item, example)

    @wraps(test)
    async def async_test(**arguments: Any) -> None:
        __tracebackhide__ = True
        for _ in range(marked.trials):
            with marked.recorded() as run:
                run.output = await test(**arguments)
        evaluation = marked.evaluation()
        evaluation.engine.on_callers_loop = True
        await evaluation.engine.run()
        marked.settle(evaluation.stored_report())

    @wraps(test)
    def plain_test(**arguments: Any) -> None:
        __tracebackhide__ = True
        for _ in range(marked.trials):
            with marked.recorded() as run:
                run.output = test(**arguments)
        evaluation = marked.evaluation()
        evaluation.engine.keeper = loop_keeper()
        wait_for(evaluation.engine.run)
        marked.settle(evaluation.stored_report())

    return async_test if inspect.iscoroutinefunction(test) else plain_test


class _Recorded:
    """One call of the function: what it returned, what was recorded."""

    def __init__(self, captured: Capture) -> None:
        self.captured = captured
        self.output: Any = None


class _Marked:
    """One marked test: its options, the runs so far."""

    def __init__(self, item: pytest.Function, example: Example) -> None:
        self.item = item
        self.example = example
        self.options = options_of(item)
        self.trials: int = self.options.get("trials") or 1
        self.runs: list[_Recorded] = []
        self.quarantine = None if example.quarantine is None else Quarantine.parse(example.quarantine)

    @contextmanager
    def recorded(self) -> Iterator[_Recorded]:
        tracer = self.options.get("tracer")
        with capture() if tracer is None else tracer.capture() as captured:
            run = _Recorded(captured)
            self.runs.append(run)
            yield run

    def evaluation(self) -> Evaluation:
        """The evaluation of what was recorded; a place for each trial."""
        path = self.item.config.getoption("agenttrace_store")
        evaluation = Evaluation.of(
            [self.example],
            self.options.get("scorers") or (),
            model=self.options.get("model"),
            tracer=self.options.get("tracer"),
            trials=self.trials,
            eval_run_name=self.item.nodeid,
            store=None if path is None else open_store(path),
        )
        runs = iter(self.runs)
        evaluation.engine.run_of = lambda example: _run_of(example, next(runs))
        return evaluation

    def settle(self, report: EvaluationReport) -> None:
        """Note the scores, and pass or fail; a failure in quarantine is an expected one."""
        __tracebackhide__ = True
        note(self.item, report)
        require = self.options.get("require")
        over = self.quarantine is not None and self.quarantine.is_over
        try:
            require_passed(report, parsed_requirements(require))
        except EvaluationFailed as failure:
            text = str(failure)
        else:
            text = ""
        if self.quarantine is None:
            if text:
                pytest.fail(text, pytrace=False)
            return
        accepted = f"{self.quarantine.day} ({self.quarantine.owner}: {self.quarantine.why})"
        if over:
            remedy = text or "the example passes: remove its quarantine"
            pytest.fail(f"the quarantine ended on {accepted}; {remedy}", pytrace=False)
        if text:
            pytest.xfail(f"in quarantine until {accepted}; {text.partition(chr(10))[0]}")


def _run_of(example: Example, run: _Recorded) -> Run:
    trace = run.captured.trace
    fields: dict[str, Any] = {
        "tools_called": [call.name for call in trace.tool_calls] if trace.spans else None
    }
    if run.output is not None:
        fields["actual_output"] = run.output
    return Run(example.model_copy(update=fields), trace, ran=True)
