"""Progress of an evaluation on stderr: a bar on a terminal, elsewhere a line every 30 seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from agenttrace.core.report import ScoringResult
from agenttrace.core.text import shorten
from agenttrace.evaluation.engine import Progress
from agenttrace.process.threads import start_thread
from agenttrace.reports.first_line import label, why
from agenttrace.reports.text import safe_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

EVERY = 30.0
"""Seconds between two lines where there is no terminal; the first comes after as many."""

SHOWN_FAILURES = 50
"""Failures that are printed above the bar."""


class Tally:
    """How far an evaluation is, how much of it failed, how long it will take; read from any thread."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self.outcomes: Counter[str] = Counter()
        self._clock = clock
        self._start = clock()

    def add(self, done: int, total: int, result: ScoringResult) -> None:
        """Count a result; `done` is not needed, results are counted."""
        self.total = total
        self.outcomes[result.outcome] += 1

    @property
    def done(self) -> int:
        """Results so far."""
        return self.outcomes.total()

    def line(self) -> str:
        """``120 of 400, 3 failed, 1 errored, 4.1/s, about 1 min left``."""
        return ", ".join([f"{self.done} of {self.total}", *self.rest()])

    def rest(self) -> list[str]:
        """What stands behind the count: failures, the rate, the time that is left."""
        words = [f"{n} {word.replace('_', ' ')}" for word in _BAD if (n := self.outcomes[word])]
        seconds = self._clock() - self._start
        if not self.done or seconds <= 0:
            return [*words, f"none finished in {_seconds_text(seconds)}"]
        rate = self.done / seconds
        words.append(f"{rate:.1f}/s" if rate >= 0.1 else f"{60 * rate:.1f}/min")
        left = max(self.total - self.done, 0) / rate
        return [*words, f"about {_seconds_text(left)} left"] if left else words


_BAD = ("failed", "errored", "not_run")


def _seconds_text(seconds: float) -> str:
    """A span of time as people say it: in steps of 5 s, in minutes, in hours."""
    if seconds < 90:
        return f"{max(5 * round(seconds / 5), 1)} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


@contextmanager
def shown_progress(total: int, *, quiet: bool = False) -> Iterator[Progress | None]:
    """Yield the callback that shows progress while the block runs; None where it is to be quiet."""
    if quiet:
        yield None
        return
    tally = Tally(total)
    if sys.stderr.isatty():
        with _bar(tally) as callback:
            yield callback
        return
    stop = threading.Event()
    thread = start_thread(lambda: lines(tally, _say, stop.wait), "progress")
    try:
        yield tally.add
    finally:
        stop.set()
        thread.join()


def lines(tally: Tally, say: Callable[[str], None], wait: Callable[[float], bool]) -> None:
    """Say how far it is each time that `wait` has waited, until it returns True."""
    while not wait(EVERY):
        try:
            say(tally.line())
        except (OSError, ValueError):  # nobody reads stderr any more, or it is closed
            return


def _say(line: str) -> None:
    click.echo(line, err=True)


@contextmanager
def _bar(tally: Tally) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        *(TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn()),
        *(TextColumn("{task.fields[rest]}"), TimeElapsedColumn()),
    )
    with Bar(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("evaluating", total=tally.total, rest="")

        def advance(done: int, total: int, result: ScoringResult) -> None:
            tally.add(done, total, result)
            if not result.success and done - tally.outcomes["passed"] <= SHOWN_FAILURES:
                _print_failure(bar, result)
            bar.update(task, completed=tally.done, total=total, rest=", ".join(tally.rest()))

        yield advance


def _print_failure(bar: Bar, result: ScoringResult) -> None:
    """Print a result that did not pass above the bar, on one line."""
    from rich.text import Text

    text = Text(shorten(failure_text(result), bar.console.width), style="red", no_wrap=True)
    bar.console.print(text, highlight=False)


def failure_text(result: ScoringResult) -> str:
    """``✗ refund-8, trial 2: 1 of 2 expected calls aligned; amount: expected 12.5, got 12``."""
    mark = "✗" if result.outcome == "failed" else "!"
    trial = f", trial {result.trial}" if result.trials > 1 else ""
    return safe_line(f"{mark} {label(result)}{trial}: {why(result)}", 500)
