"""What a value beside another one tells is told where rows are made in the quick way, too: in files."""

import sqlite3

import pytest
from test_answers import DATA, HARMLESS, SECRET

from agenttrace import ExactMatchScorer, Example, Tracer, run_evaluation
from agenttrace.scorers import ContainsScorer, ToolOrderScorer
from tests.stored_text import everything_in

BESIDE = [
    *DATA,
    {"command": "mysql", "args": [f"-p{SECRET}"]},
    {"cmd": "sshpass", "args": ["-p", SECRET]},
    {"executable": "redis-cli", "argv": ["-a", SECRET]},
    {"text": "INSERT INTO users (password) VALUES ($1)", "values": [SECRET]},
    {"query": "UPDATE users SET password = ?", "params": [SECRET]},
    {"name": "password", "value": SECRET},
    {"selector": "#password", "text": SECRET},
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.db"


@pytest.mark.parametrize("data", BESIDE)
def test_no_secret_is_in_the_file(path, data):
    tracer = Tracer("files", store=path)

    @tracer.observe(span_type="llm")
    def echo(value):
        return value

    for value in ("first", data, {"x": [data]}, "last"):
        echo(value)
    tracer.shutdown()
    text = everything_in(path)
    assert SECRET not in text
    assert "first" in text


@pytest.mark.parametrize("data", HARMLESS)
def test_other_data_is_in_the_file_as_it_was(path, data):
    tracer = Tracer("files", store=path)
    tracer.observe(lambda value: None, name="call")(data)
    tracer.shutdown()
    with sqlite3.connect(path) as db:  # not the tools that others in this process have decorated
        inputs = db.execute("SELECT input FROM spans").fetchall()
    db.close()
    assert len(inputs) == 1
    assert "[redacted]" not in inputs[0][0]


def test_the_output_and_the_details_of_a_result_repeat_no_secret_of_the_input(path):
    tracer = Tracer("files", store=path)

    @tracer.observe(span_type="agent")
    def log_in(user, password):
        return f"welcome {user}, {password} is right"

    example = Example(input={"user": "ann", "password": SECRET}, expected_output="bye")
    run_evaluation([example], [ExactMatchScorer()], function=log_in, tracer=tracer)
    tracer.shutdown()
    assert SECRET not in everything_in(path)


def test_calls_of_an_example_repeat_no_argument_of_their_own(path):
    tracer = Tracer("files", store=path)
    calls = [
        {"name": "login", "arguments": {"password": SECRET}, "error": f"bad {SECRET}"},
        {"name": "login", "arguments": {"password": SECRET}, "output": f"ok {SECRET}"},
    ]
    example = Example(input="hi", expected_tools=["login"], tools_called=calls)
    run_evaluation([example], [ToolOrderScorer()], tracer=tracer)
    tracer.shutdown()
    assert SECRET not in everything_in(path)


def test_online_scores_and_those_of_the_running_span_repeat_no_argument(path):
    tracer = Tracer("files", store=path)

    @tracer.observe(span_type="tool")
    def log_in(user, password):
        tracer.score_current_span("seen", 0.5, reason=f"used {password} now")
        tracer.async_evaluate(
            [ContainsScorer("zz")],
            input={"user": user, "password": password},
            actual_output=f"welcome {password} ok",
        )

    log_in("ann", SECRET)
    tracer.shutdown()
    text = everything_in(path)
    assert SECRET not in text
    assert "used [redacted] now" in text
