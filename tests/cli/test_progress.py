"""Progress of ``eval run``: what a line says, when lines come, the bar on a terminal."""

import io

import pytest

from agenttrace.cli import progress
from agenttrace.cli.progress import Tally, failure_text, lines, shown_progress
from agenttrace.core.example import Example
from agenttrace.core.report import ScoringResult
from agenttrace.core.score import Score


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


def result(outcome="passed", name=None, **fields):
    return ScoringResult(example=Example(name=name), outcome=outcome, **fields)


def tally_after(seconds, total=400, **outcomes):
    clock = Clock()
    tally = Tally(total, clock)
    for outcome, count in outcomes.items():
        for _ in range(count):
            tally.add(0, total, result(outcome))
    clock.now += seconds
    return tally


@pytest.mark.parametrize(
    ("seconds", "outcomes", "line"),
    [
        (
            29.3,
            {"passed": 116, "failed": 3, "errored": 1},
            "120 of 400, 3 failed, 1 errored, 4.1/s, about 70 s left",
        ),
        (30, {"passed": 1}, "1 of 400, 2.0/min, about 3.3 h left"),
        (30, {"passed": 60}, "60 of 400, 2.0/s, about 3 min left"),
        (30, {}, "0 of 400, none finished in 30 s"),
        (10, {"passed": 399}, "399 of 400, 39.9/s, about 1 s left"),
        (10, {"passed": 399, "not_run": 1}, "400 of 400, 1 not run, 40.0/s"),
    ],
)
def test_a_line_says_how_far_it_is_what_failed_and_how_long_it_will_take(seconds, outcomes, line):
    assert tally_after(seconds, **outcomes).line() == line


def test_the_total_is_what_the_engine_says():
    tally = Tally(10, Clock())
    tally.add(1, 30, result())
    assert tally.total == 30


def test_a_line_comes_every_thirty_seconds_the_first_after_thirty():
    clock, heard, waited = Clock(), [], []
    tally = Tally(4, clock)

    def wait(seconds):
        waited.append(seconds)
        clock.now += seconds
        if len(waited) == 2:
            tally.add(1, 4, result())
        return len(waited) > 3

    lines(tally, heard.append, wait)
    assert waited == [30, 30, 30, 30]
    assert heard == [
        "0 of 4, none finished in 30 s",
        "1 of 4, 1.0/min, about 3 min left",
        "1 of 4, 0.7/min, about 4 min left",
    ]


@pytest.mark.parametrize("error", [BrokenPipeError, ValueError])
def test_nobody_who_reads_ends_the_lines_and_nothing_else(error):
    def say(line):
        raise error("closed")

    lines(Tally(4, Clock()), say, lambda seconds: False)


def test_a_short_run_without_a_terminal_says_nothing(capsys):
    with shown_progress(1) as callback:
        callback(1, 1, result())
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_the_lines_go_to_stderr(capsys, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.001)
    with shown_progress(2) as callback:
        callback(1, 2, result("failed"))
        printed = ""
        while "1 of 2, 1 failed" not in printed:
            printed += capsys.readouterr().err
    assert capsys.readouterr().out == ""


def test_quiet_has_no_callback():
    with shown_progress(1, quiet=True) as callback:
        assert callback is None


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_failures_are_printed_above_the_bar_as_they_come(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    with shown_progress(200) as callback:
        callback(1, 200, result("passed", "fine"))
        score = Score.of("Tool Order", 0.5, 1.0, reason="1 of 2 aligned", diff="    - 2  notify   missing")
        callback(2, 200, result("failed", "refund", scores=(score,)))
        assert "✗ refund: 1 of 2 aligned; - 2 notify missing" in terminal.getvalue()
        callback(3, 200, result("errored", "\x1b[2J" + "x" * 500, error="broke"))
        for done in range(4, 101):
            callback(done, 200, result("failed", "more"))
    printed = terminal.getvalue()
    assert "! \\x1b[2Jxxx" in printed
    assert "x" * 101 not in printed
    assert printed.count("✗ more") == progress.SHOWN_FAILURES - 2
    assert "fine" not in printed


def test_a_failure_names_the_trial():
    text = failure_text(result("failed", "refund", trial=2, trials=3, error="Traceback\nValueError: no"))
    assert text == "✗ refund, trial 2: ValueError: no"
