"""Values are cut near where they differ; no piece of a secret in them is shown, at any place of any text."""

import json
from contextlib import redirect_stdout
from io import StringIO
from itertools import product

import pytest

from agenttrace import EvaluationFailed, Example, ToolOrderScorer, Tracer, assert_test, call
from agenttrace.core.failure_width import set_failure_width
from agenttrace.reports import csv_report, json_report, junit_report, markdown_report, report_text
from agenttrace.scorers import ContainsScorer, ExactMatchScorer, ToolCallArgsScorer, TrajectoryScorer
from agenttrace.scoring.redacted import redacted_report
from agenttrace.viewer.report import run_report
from tests.stored_text import everything_in

LETTERS = "Rk7vQp2mZxW9tBn4cLd8yHs3gFj6aEu5iToN1qVbYrKzXwMpDfGh"


def made_up(number, size):
    """Letters of a secret; one of another number begins otherwise."""
    return "".join(LETTERS[(number * 17 + at * (number + 3)) % len(LETTERS)] for at in range(size))


SHAPES = {
    "postgres": (16, "postgres://application_user:{}@db.example.org/main"),
    "bearer": (40, "Authorization: Bearer {}"),
    "password": (16, "password={}"),
    "header": (32, "X-Api-Key: {}"),
    "aws": (40, "export AWS_SECRET_ACCESS_KEY={}"),
    "token": (28, "git clone https://ghp_Zq8w{}@github.com/acme/site"),
    "bare token": (28, "the token ghp_Zq8w{} was issued"),
    "signature": (43, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{}"),
    "json": (16, '{{"user": "ann", "role": "admin", "password": "{}"}}'),
    "pem": (120, "-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----"),
}
BEFORE = ["", "the settings of the shop, ", "a line of a log that says what was done here; " * 3]
CASES = list(product(SHAPES, BEFORE))


def secrets_of(shape):
    return [made_up(number, SHAPES[shape][0]) for number in (1, 2)]


def texts_of(shape, before):
    return [f"{before}\n{SHAPES[shape][1].format(secret)}\nand so on" for secret in secrets_of(shape)]


def pieces(secret):
    return {secret[at : at + 8] for at in range(len(secret) - 7)}


def files_of(report, redaction):
    clean = redacted_report(report, redaction)
    page = run_report(clean)
    texts = csv_report(clean), json_report(clean), junit_report(clean), markdown_report(clean), page
    return [*texts, *(report_text(clean, None, width) for width in (60, 80, 200))]


def shown_of(example, scorers, path):
    """All that is printed, written and stored of a failing example."""
    tracer = Tracer("excerpts", store=path)
    shown = StringIO()
    for width in (60, 200):
        set_failure_width(width)
        try:
            with redirect_stdout(shown), pytest.raises(EvaluationFailed) as failure:
                assert_test([example], scorers, tracer=tracer)
        finally:
            set_failure_width(None)
        shown.write(str(failure.value))
    tracer.shutdown()
    return [shown.getvalue(), everything_in(path), *files_of(failure.value.report, tracer.redaction)]


def check_shows_no_piece(texts, secrets):
    for text in texts:
        for secret in secrets:
            shown = [text[max(at - 60, 0) : at + 60] for one in pieces(secret) if (at := text.find(one)) >= 0]
            assert not shown


@pytest.mark.parametrize(("shape", "before"), CASES)
def test_calls_that_differ_show_no_piece_of_a_secret(tmp_path, shape, before):
    expected, got = texts_of(shape, before)
    example = Example(
        tools_called=[{"name": "connect", "arguments": {"to": got, "n": 2, "deep": {"a": [got]}}}],
        expected_tools=[call("connect", to=expected, n=1, deep={"a": [expected]})],
    )
    scorers = [ToolOrderScorer(), ToolCallArgsScorer(), TrajectoryScorer()]
    shown = shown_of(example, scorers, tmp_path / "traces.db")
    check_shows_no_piece(shown, secrets_of(shape))
    assert "expected 1, got 2" in shown[0]


@pytest.mark.parametrize(("shape", "before"), CASES)
def test_answers_that_differ_show_no_piece_of_a_secret(tmp_path, shape, before):
    expected, got = texts_of(shape, before)
    example = Example(actual_output=got, expected_output=expected)
    shown = shown_of(example, [ContainsScorer(), ExactMatchScorer()], tmp_path / "traces.db")
    check_shows_no_piece(shown, secrets_of(shape))


@pytest.mark.parametrize(("shape", "before"), CASES)
def test_a_scorer_with_texts_of_its_own_shows_no_piece_of_a_secret(tmp_path, shape, before):
    expected, got = texts_of(shape, before)
    example = Example(actual_output=got)
    shown = shown_of(example, [ContainsScorer([expected])], tmp_path / "traces.db")
    check_shows_no_piece(shown, secrets_of(shape))


@pytest.mark.parametrize("size", range(960, 1060, 9))
def test_a_value_that_is_cut_in_the_rows_shows_no_piece_of_a_secret(tmp_path, size):
    before = ("word " * 300)[:size]
    expected, got = texts_of("postgres", before)
    example = Example(
        tools_called=[{"name": "connect", "arguments": {"to": got}}],
        expected_tools=[call("connect", to=expected)],
    )
    shown = shown_of(example, [ToolOrderScorer()], tmp_path / "traces.db")
    check_shows_no_piece(shown, secrets_of("postgres"))


def test_what_is_beside_a_secret_stays():
    example = Example(
        actual_output="x",
        expected_output=json.dumps({"user": "ann", "role": "admin", "password": "YlTegTlWJIKVabc5"}),
    )
    with pytest.raises(EvaluationFailed) as failure:
        assert_test([example], [ContainsScorer()])
    assert 'missing: \'{"user": "ann", "role": "admin", "password": "[redacted]…' in str(failure.value)
    assert "YlTegTlWJIKVabc5" in failure.value.report[0].scores[0].details["missing"][0]
