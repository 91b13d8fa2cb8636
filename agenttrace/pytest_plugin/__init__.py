"""The pytest plugin: one test per example, the fixture `agenttrace`, scores in JUnit and at the end.

Only pytest is imported here: a run that uses none of it pays next to nothing.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from agenttrace.pytest_plugin.checks import Checks
    from agenttrace.pytest_plugin.session import FinishedRun

MARKER = "agenttrace"
_HELP = (
    "agenttrace(examples, scorers, tracer=None, model=None, trials=1, require=None): one test per example; "
    "the function is the agent and takes the example's input, or takes `example`"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of which begin with --agenttrace-."""
    group = parser.getgroup("agenttrace", "agenttrace: tests of LLM agents")
    group.addoption(
        "--agenttrace-trials", type=int, metavar="N", help="runs of each example, in place of the marker's"
    )
    group.addoption("--agenttrace-model", metavar="MODEL", help="the model of scorers without their own")
    group.addoption("--agenttrace-store", metavar="PATH", help="where results and their traces are stored")


def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker; collect results in the process that reports, which is no worker of xdist."""
    config.addinivalue_line("markers", _HELP)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Results(config), "agenttrace-results")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each example of a marked function."""
    if metafunc.definition.get_closest_marker(MARKER) is not None:
        from agenttrace.pytest_plugin.examples import parametrize

        parametrize(metafunc)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip and expect failures as the examples say."""
    for item in items:
        example = example_of(item)
        if example is not None:
            from agenttrace.pytest_plugin.examples import mark_as_the_example_says

            mark_as_the_example_says(item, example)


def example_of(item: pytest.Item) -> Any:
    """The example of a test that was made of one, else None."""
    callspec = getattr(item, "callspec", None)
    return None if callspec is None else callspec.params.get(EXAMPLE)


EXAMPLE = "_agenttrace_example"
"""The hidden parameter that holds a test's example."""


@pytest.fixture(name=EXAMPLE)
def _example(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Record the call of a marked test and score it, on whatever loop it runs."""
    example = example_of(item)
    if example is None or not isinstance(item, pytest.Function):
        return (yield)
    from agenttrace.pytest_plugin.scored_test import scored

    test = item.obj
    item.obj = scored(item, test, example)
    try:
        return (yield)
    finally:
        item.obj = test


RESULTS = pytest.StashKey[str]()
"""In a test's stash: its results as JSON, which its report carries to the process that reports."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give a test's results to its report."""
    report = yield
    if call.when == "call":
        results = item.stash.get(RESULTS, None)
        if results is not None:
            report.agenttrace_results = results  # type: ignore[attr-defined]  # for `_Results`
    return report


class _Results:
    """The results of all tests, from all workers; at the end they become one run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.began = time.time()
        self.rows: list[str] = []
        self.run: FinishedRun | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what a test scored."""
        results = getattr(report, "agenttrace_results", None)
        if results is not None:
            self.rows.append(results)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Keep the run."""
        if self.rows:
            from agenttrace.pytest_plugin.session import finished

            self.run = finished(self.rows, self.config, self.began)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say at the end what was scored, over all workers."""
        if self.run is not None:
            from agenttrace.pytest_plugin.summary import write_summary

            write_summary(terminalreporter, self.run)


@pytest.fixture
def agenttrace(request: pytest.FixtureRequest) -> Iterator[Checks]:
    """What is recorded while the test runs: ``check(expected)``, ``capture()``, ``attach(trace)``."""
    from agenttrace.pytest_plugin.checks import checks_of

    with checks_of(request.node) as checks:
        yield checks
