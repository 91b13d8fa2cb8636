"""Rows of a diff whose values are secrets keep their calls, names and other values."""

import pickle

import pytest

from agenttrace import (
    EvaluationFailed,
    Example,
    Redaction,
    ToolOrderScorer,
    assert_test,
    call,
    one_of,
    run_evaluation,
)
from agenttrace.scoring.redacted import redacted_report

HEADERS = {"Authorization": "Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789"}
URL = "postgres://application_user:{}@db.example.org/main"


def failing(expected, got):
    return Example(
        tools_called=[{"name": "fetch", "arguments": got}], expected_tools=[call("fetch", expected)]
    )


def diff_of(expected, got, redaction=None):
    report = run_evaluation([failing(expected, got)], [ToolOrderScorer()], store="memory")
    return redacted_report(report, redaction or Redaction()).results[0].scores[0].diff.splitlines()


def test_rows_keep_what_stands_behind_a_secret_in_a_mapping():
    one = {"url": "https://host/a", "headers": HEADERS, "n": 1}
    assert diff_of(one, {**one, "url": "https://host/b", "n": 2}) == [
        '    ~ 1  fetch(url="https://host/a", headers={…}, n=1)',
        '         got fetch(url="https://host/b", headers={…}, n=2)',
        '         url: expected "https://host/a", got "https://host/b"',
        "         n: expected 1, got 2",
    ]


def test_rows_keep_the_arguments_behind_a_password():
    one = {"user": "ann", "password": "hunter2xY9", "page": 3, "limit": 10}
    assert diff_of(one, {**one, "page": 4}) == [
        '    ~ 1  fetch(user="ann", password="[redacted]", page=3, limit=10)',
        '         got fetch(user="ann", password="[redacted]", page=4, limit=10)',
        "         page: expected 3, got 4",
    ]


def test_secrets_that_differ_are_said_to_differ():
    lines = diff_of({"url": URL.format("Wt4nLc8bYdWt4nL8")}, {"url": URL.format("Rk7vQp2mZxRk7vQ9")})
    assert lines[0].startswith('    ~ 1  fetch(url="postgres://application_user:[redacted]')
    assert lines[1].startswith('         got fetch(url="postgres://application_user:[redacted]')
    assert "they differ in what is redacted" in "".join(lines[2:])
    lines = diff_of({"password": "Wt4nLc8bYd"}, {"password": "Rk7vQp2mZx"})
    assert "they differ in what is redacted" in "".join(lines)


def test_a_matcher_is_redacted_and_others_stay():
    lines = diff_of(
        {"text": one_of("zoe", "password=Wt4nLc8bYd"), "to": one_of("zoe", "ann")}, {"text": "x", "to": "bob"}
    )
    text = "\n".join(lines)
    assert "Wt4nLc8bYd" not in text
    assert 'got "x"' in text
    assert 'to: expected one_of("zoe", "ann"), got "bob"' in text


def test_a_diff_that_is_redacted_again_stays():
    one = {"user": "ann", "password": "hunter2xY9", "url": "https://host/a", "headers": HEADERS, "page": 3}
    report = run_evaluation([failing(one, {**one, "page": 4})], [ToolOrderScorer()], store="memory")
    once = redacted_report(report, Redaction())
    again = redacted_report(once, Redaction())
    stored = redacted_report(pickle.loads(pickle.dumps(once)), Redaction())
    assert again.results[0].scores[0].diff == once.results[0].scores[0].diff
    assert stored.results[0].scores[0].diff == once.results[0].scores[0].diff
    assert "hunter2xY9" not in once.results[0].scores[0].diff


def test_the_report_itself_has_all_values():
    with pytest.raises(EvaluationFailed) as failure:
        assert_test([failing({"password": "Wt4nLc8bYd"}, {"password": "Rk7vQp2mZx"})], [ToolOrderScorer()])
    assert "Wt4nLc8bYd" in failure.value.report[0].scores[0].diff
    assert "Wt4nLc8bYd" not in str(failure.value)
