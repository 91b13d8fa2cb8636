"""Each trial of a marked test gets the example's input anew."""

_TESTS = """
import pytest
from agenttrace import Example, Tracer
from agenttrace.scorers import ToolOrderScorer

tracer = Tracer("shop", store="memory")
seen = []

@tracer.observe(span_type="tool")
def look_up(number):
    return 1

def agent(messages):
    seen.append(len(messages))
    look_up(1)
    messages.append("done")
    return "done"

EXAMPLES = [Example(name="chat", input={"messages": ["hi"]}, expected_tools=["look_up"])]
marked = pytest.mark.agenttrace(examples=EXAMPLES, scorers=[ToolOrderScorer()], tracer=tracer, trials=2)

@marked
def test_fields(messages):
    return agent(messages)

@marked
def test_example(example):
    return agent(**example.input)

def test_seen():
    assert seen == [1, 1, 1, 1]
    assert EXAMPLES[0].input == {"messages": ["hi"]}
"""


def test_no_trial_and_no_other_test_sees_what_one_changed(project):
    project.write("test_shop.py", _TESTS)
    lines = project.run("-pno:xdist")
    assert project.code == 0
    assert "3 passed" in lines[-1]


def test_a_store_that_cannot_be_written_is_not_said_to_hold_the_run_which_ends_red(project):
    project.write("test_shop.py", _TESTS)
    project.write("file.txt", "mine")
    lines = project.run("-pno:xdist", "--agenttrace-store=file.txt/traces.db")
    assert project.code == 1
    (line,) = [line for line in lines if line.startswith("the run could not be stored: ")]
    assert "cannot be written, and nothing was kept" in line
