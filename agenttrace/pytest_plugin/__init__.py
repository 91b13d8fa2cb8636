"""The pytest plugin: one test per example, the fixture `agenttrace`, scores in JUnit and at the end.

Next to nothing but pytest is imported here: a run that uses none of it pays next to nothing.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from agenttrace.pytest_plugin.checks import Checks
    from agenttrace.pytest_plugin.session import Extent, FinishedRun

MARKER = "agenttrace"
_HELP = (
    "agenttrace(examples, scorers, tracer=None, model=None, trials=1, max_trials=30, require=None): one test "
    "per example; the function is the agent and takes the example's input, or takes `example`"
)


_OPTIONS = (
    (
        "trials",
        "N|auto",
        "runs of each example, in place of the marker's; auto: until the verdict is settled",
    ),
    ("max-trials", "N", "the most runs of an example with trials=auto (default: 30)"),
    ("model", "MODEL", "the model of scorers without their own"),
    ("store", "PATH", "where results and their traces are stored"),
    ("baseline", "BRANCH|FILE|RUN", "fail where an example is worse than there, not where it failed before"),
    ("save-baseline", "FILE", "write names, outcomes and numbers of this run, to be committed"),
    ("report", "FILE", "write the run as one HTML page that loads nothing"),
    ("budget", "'2 usd'", "money, tokens or minutes; what was not run when they are spent fails the run"),
)
_CHOOSING = ("keyword", "markexpr", "lf", "stepwise", "deselect")
"""pytest's options that run some of the tests."""

_FLAGS = (
    ("update", "rewrite the expectations that failed in the examples' files to what ran"),
    ("coverage", "say which tools the expectations name"),
)

_WIDTH = pytest.StashKey[int | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, all of which begin with --agenttrace-."""
    group = parser.getgroup("agenttrace", "agenttrace: tests of LLM agents")
    for name, metavar, text in _OPTIONS:
        group.addoption(f"--agenttrace-{name}", metavar=metavar, help=text)
    group.addoption(
        "--agenttrace-coverage-fail-under",
        metavar="PERCENT",
        type=_percent,
        help="fail where expectations name fewer of the tools",
    )
    for name, text in _FLAGS:
        group.addoption(f"--agenttrace-{name}", action="store_true", help=text)


def _percent(text: str) -> float:
    percent = float(text)
    if not 0 <= percent <= 100:
        raise ValueError
    return percent


_percent.__name__ = "percent from 0 to 100"  # how argparse calls it


@pytest.hookimpl(trylast=True)  # after the terminal's reporter is there
def pytest_configure(config: pytest.Config) -> None:
    """Describe the marker; collect results in the process that reports, which is no worker of xdist."""
    config.addinivalue_line("markers", _HELP)
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is None:
        config.pluginmanager.register(_Results(config), "agenttrace-results")
        config.stash[_WIDTH] = _terminal_width(config)
        return
    config.stash[_WIDTH] = worker.get("agenttrace_width")
    if "agenttrace_spent" in worker:
        config.stash[SPENT] = Path(worker["agenttrace_spent"])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Say how wide the terminal is; not before anything of agenttrace is in use, which may never be."""
    if "agenttrace.core" in sys.modules:
        from agenttrace.core.failure_width import set_failure_width

        set_failure_width(item.config.stash[_WIDTH])


def _terminal_width(config: pytest.Config) -> int | None:
    """The width of the terminal that pytest writes to, as pytest knows it; None where it is no terminal.

    While a test runs its output is captured, so that nothing can ask the terminal itself.
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if not getattr(reporter, "isatty", False):
        return None
    width: int = config.get_terminal_writer().fullwidth
    return width


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each example of a marked function."""
    if metafunc.definition.get_closest_marker(MARKER) is not None:
        from agenttrace.pytest_plugin.examples import parametrize

        parametrize(metafunc)


@pytest.hookimpl(tryfirst=True)  # before -k chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip and expect failures as the examples say; read what the command line says of all."""
    marked = [(item, example) for item in items if (example := example_of(item)) is not None]
    for item in items:
        if example_of(item) is None and item.get_closest_marker(MARKER) is not None:
            raise pytest.UsageError(
                f"{item.nodeid}: @pytest.mark.agenttrace marks functions and methods that pytest calls with "
                "arguments, no unittest.TestCase"
            )
    if marked:
        from agenttrace.pytest_plugin.examples import mark_as_the_example_says
        from agenttrace.pytest_plugin.suite import read_suite

        for item, example in marked:
            mark_as_the_example_says(item, example)
            item.extra_keyword_matches.update(example.tags or ())
        read_suite(config, marked)


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


SPENT = pytest.StashKey[Path]()
"""In the stash of a process: the file in which all workers note what they spend."""

RESULTS = pytest.StashKey[str]()
"""In a test's stash: its results as JSON, which its report carries to the process that reports."""

ERRORED = pytest.StashKey[str]()
"""In a test's stash: why nothing says how it went, where its result is errored."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give a test's results to its report. One that is errored is a failure, whatever was expected."""
    report = yield
    _say_why_first(report, call)
    if call.when == "call":
        errored = item.stash.get(ERRORED, None)
        if errored is not None and hasattr(report, "wasxfail"):
            del report.wasxfail
            report.outcome, report.longrepr = "failed", errored
        results = item.stash.get(RESULTS, None)
        if results is not None:
            report.agenttrace_results = results  # type: ignore[attr-defined]  # for `_Results`
    return report


def _say_why_first(report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
    """Begin a failed evaluation's line of the summary with its reason, as in a marked test.

    The name of the exception fills what a terminal has room for.
    """
    kind = getattr(
        sys.modules.get("agenttrace.core.report"), "EvaluationFailed", None
    )  # else none was raised
    crash = getattr(report.longrepr, "reprcrash", None)
    if (
        kind is not None
        and crash is not None
        and call.excinfo is not None
        and call.excinfo.errisinstance(kind)
    ):
        crash.message = str(call.excinfo.value)


class _Results:
    """The results of all tests, from all workers; at the end they become one run."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.began = time.time()
        self.rows: list[tuple[str, str | None]] = []
        self.run: FinishedRun | None = None
        self._deselected = False
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        if config.getoption("agenttrace_budget") is not None:
            self._directory = tempfile.TemporaryDirectory(prefix="agenttrace-")
            config.stash[SPENT] = Path(self._directory.name, "spent")

    @pytest.hookimpl(optionalhook=True)  # of pytest-xdist
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker how wide the terminal is, and where all note what they spend."""
        node.workerinput["agenttrace_width"] = _terminal_width(self.config)
        if self._directory is not None:
            node.workerinput["agenttrace_spent"] = str(self.config.stash[SPENT])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect what a test scored, and why its failure was expected, if it was."""
        results = getattr(report, "agenttrace_results", None)
        if results is not None:
            self.rows.append((results, getattr(report, "wasxfail", None) if report.skipped else None))

    def pytest_deselected(self) -> None:
        """Note that not all tests are run. With xdist, only the workers know."""
        self._deselected = True

    def _extent(self, session: pytest.Session) -> Extent:
        """How much of the collected files was run, as far as pytest says."""
        if session.exitstatus == pytest.ExitCode.INTERRUPTED or session.shouldfail:
            return "interrupted"
        options = (self.config.getoption(name, None) for name in _CHOOSING)
        by_id = any("::" in str(argument) for argument in self.config.args)
        return "part" if self._deselected or by_id or any(options) else "whole"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep the run; fail where not all of it was run, or it does not cover enough."""
        if self.rows:
            from agenttrace.pytest_plugin.session import finished

            self.run = finished(self.rows, self.config, self.began, self._extent(session))
            if self.run.failed and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self._directory is not None:
            self._directory.cleanup()

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
