"""Reports fit the terminal: rules, titles, texts and diffs of a report, tables."""

import io
import os
import pty

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.report import EvaluationReport
from agenttrace.core.trace import Trace
from agenttrace.matching import compare, explain
from agenttrace.reports.diff_width import fitted_diff
from agenttrace.reports.terminal import report_lines
from agenttrace.reports.text import broken_line, plain, table_lines, terminal_width
from examples import failing_diffs
from tests.reports.reports_for_tests import shop_report


def lines_of(report, width):
    return plain(report_lines(report, width)).splitlines()


@pytest.mark.parametrize("width", [60, 72, 80, 100, 140, 200])
def test_no_line_is_wider_than_the_terminal_and_the_rules_fill_it(width):
    lines = lines_of(shop_report(), width)
    assert max(map(len, lines)) == width
    assert lines[0] == lines[2] == lines[-1] == "=" * width


def test_without_a_terminal_texts_stand_on_one_line_each():
    report = shop_report()
    reason = report[3].scores[0].reason
    assert len(reason) > 80
    assert reason in plain(report_lines(report))
    assert reason not in plain(report_lines(report, 80))


def test_a_wide_terminal_has_the_expected_and_the_actual_call_side_by_side():
    (row,) = [line for line in lines_of(shop_report(), 140) if line.startswith("    ~")]
    assert "refund(order=2, amount=12)" in row
    assert "refund(order=2, amount=12.5)" in row
    assert row.endswith("amount: expected 12, got 12.5")
    assert not [line for line in lines_of(shop_report(), 80) if "amount=12)" in line and "12.5" in line]


@pytest.mark.parametrize("width", [100, 140, 200])
def test_a_diff_for_a_wide_terminal_is_the_one_that_the_comparison_itself_would_print(width):
    expected, made = failing_diffs.refund()
    comparison = compare(expected, Trace.from_calls(made))
    narrow, wide = (explain(comparison, width=each) for each in (80, width))
    lines = fitted_diff([line[4:] for line in narrow.split("\n")], width - 4)
    assert "\n".join(f"    {line}" for line in lines) == wide


diffs = st.lists(
    st.text(alphabet='~✓-+! ab()=,"1', max_size=120).map(str.rstrip).filter(bool), min_size=1, max_size=8
)


@given(diffs, st.integers(40, 200))
def test_a_diff_that_is_laid_out_anew_loses_nothing_but_blanks(lines, width):
    fitted = fitted_diff(lines, width)
    assert all(len(line) <= width for line in fitted)
    kept = "".join(fitted).replace("got", "")
    assert sorted(kept.replace(" ", "").replace(";", "")) == sorted("".join(lines).replace(" ", ""))


@given(st.text(alphabet="abc ", max_size=200), st.integers(10, 80), st.integers(0, 100))
def test_a_broken_line_loses_nothing_but_blanks(text, width, hang):
    parts = broken_line(text, width, hang=hang)
    assert all(len(part) <= width for part in parts)
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")


def test_a_table_gives_way_where_it_is_widest_and_keeps_what_identifies():
    head = ("TRACE", "NAME", "STATUS")
    rows = [("0123456789ab", "a name that is as long as names are", "ok")]
    text = plain(table_lines(head, rows, width=40)).splitlines()
    assert text == ["TRACE         NAME                STATUS", "0123456789ab  a name that is as…  ok"]
    assert plain(table_lines(head, rows, width=400)) == plain(table_lines(head, rows))
    assert plain(table_lines(head, rows, width=1)).splitlines()[0] == "TRACE     NAME      STATUS"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_width_is_the_terminal_s_own(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal_width(io.StringIO()) is None
    assert terminal_width(Terminal()) == 80
    ours, theirs = pty.openpty()
    try:
        with os.fdopen(theirs, "w") as file:
            assert terminal_width(file) == 80
            monkeypatch.setenv("COLUMNS", "133")
            assert terminal_width(file) == 133
            monkeypatch.setenv("COLUMNS", "20")
            assert terminal_width(file) == 60
    finally:
        os.close(ours)


def test_an_interrupted_report_says_how_many_were_not_run():
    report = EvaluationReport(results=shop_report().results, metadata={"interrupted": True, "not_run": 280})
    assert "interrupted: 280 of 284 were not run" in lines_of(report, None)
