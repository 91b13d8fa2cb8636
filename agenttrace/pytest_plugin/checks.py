"""`Checks`: what the fixture `agenttrace` gives a test; how scores are noted on a test's report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example, ExpectedTools
from agenttrace.core.protocols import Scorer
from agenttrace.core.report import EvaluationReport
from agenttrace.core.trace import Trace
from agenttrace.evaluation.agent_run import Run
from agenttrace.evaluation.assertion import require_passed, warn_of_vacuous_guards
from agenttrace.evaluation.run import Evaluation
from agenttrace.pytest_plugin.session import hand_over
from agenttrace.pytest_plugin.suite import store_named
from agenttrace.reports.tree import trace_lines
from agenttrace.scorers import ToolOrderScorer
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store.viewer_note import see_in
from agenttrace.tracing.capture import Capture, capture


class Checks:
    """What is recorded while a test runs, and checks of it.

    Recording begins with the test. `capture` narrows it to a block: the checks after it are about that block.
    """

    def __init__(self, item: pytest.Item, captured: Capture) -> None:
        self._item = item
        self._captured = captured

    @property
    def trace(self) -> Trace:
        """What was recorded so far, in the last block of `capture` or since the test began."""
        return self._captured.trace

    @contextmanager
    def capture(self) -> Iterator[Capture]:
        """A block of its own: ``with agenttrace.capture() as captured: …``."""
        with capture() as captured:
            self._captured = captured
            yield captured

    def check(
        self,
        expected: ExpectedTools | None = None,
        *,
        scorers: Sequence[Scorer] | None = None,
        example: Example | None = None,
    ) -> EvaluationReport:
        """Compare what was recorded with the calls that are expected, or with an example.

        `scorers` are `ToolOrderScorer()` by default. Can be called in plain tests and in async ones; a scorer
        that asks a model is waited for.

        Raises:
            EvaluationFailed: an AssertionError; its first line says what is wrong.
            ConfigError: neither or both of `expected` and `example`.
        """
        __tracebackhide__ = True
        if (expected is None) == (example is None):
            raise ConfigError("check takes the calls that are expected, or example=, one of them")
        wanted = Example(name=self._item.name, expected_tools=expected) if example is None else example
        chosen = [ToolOrderScorer()] if scorers is None else scorers
        evaluation = Evaluation.of([wanted], chosen, store=store_named(self._item.config))
        trace, secrets = self.trace, self._captured.secrets
        names = [call.name for call in trace.tool_calls]
        evaluation.engine.run_of = lambda one: Run(
            one.model_copy(update={"tools_called": names}), trace, ran=True, secrets=secrets
        )
        evaluation.engine.run()
        report = evaluation.report()
        note(self._item, report, evaluation)
        warn_of_vacuous_guards(report)
        redacted = redacted_report(report, evaluation.redaction)  # pytest writes the text to files
        require_passed(redacted, see=lambda: see_in(evaluation.store))
        return report

    def attach(self, trace: Trace | None = None, title: str = "trace") -> None:
        """Add a trace to the test's report, which is shown where the test fails: what was recorded so far."""
        lines = trace_lines(self.trace if trace is None else trace)
        text = "\n".join(line.text for line in lines)
        self._item.add_report_section("call", title, text)


@contextmanager
def checks_of(item: pytest.Item) -> Iterator[Checks]:
    """The checks of one test, which is recorded from here on."""
    with capture() as captured:
        yield Checks(item, captured)


def note(item: pytest.Item, report: EvaluationReport, evaluation: Evaluation) -> None:
    """Note the scores of a test for JUnit; the process that reports gets the results with its report."""
    hand_over(item, report, evaluation)
    for result in report.results:
        item.user_properties.append(("agenttrace:result", f"{result.outcome} {item.name}"))
        for score in result.scores:
            value = "" if score.value is None else f"{score.value:g} "
            item.user_properties.append((f"agenttrace:score:{score.name}", f"{value}{score.outcome}"))
        if result.trace_id is not None:
            item.user_properties.append(("agenttrace:trace", result.trace_id))
