"""No pattern of the user's stops the process: each program here is killed where one does."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.faults

PATTERNS = r"""
evil = [
    (r"(a+)+$", "a" * 30 + "!"),
    (r"(a|aa)+$", "a" * 50 + "!"),
    (r"(.*a){15}$", "a" * 60 + "!"),
    (r"^(\w+\s?)*$", "word " * 20 + "!"),
    (r"([a-zA-Z0-9]+)*@", "a" * 40),
    (r"(x+x+)+y", "x" * 40),
]
fine = [
    (r"(\d+) EUR", "It costs 12 EUR."),
    (r"^A\d+$", "A7"),
    (r"(?i)(paris|rome)", "to PARIS now"),
    (r"^[\w.]+@(\w+\.)+\w+$", "ann@mail.example.com"),
]

import threading, time
from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.evaluation import run_evaluation
from agenttrace.expectations import agreement, call, expect, has, not_, one_of, re_
from agenttrace.scorers import *

pauses, ended = [], threading.Event()
def tick():
    last = time.monotonic()
    while not ended.wait(0.001):
        last, before = time.monotonic(), last
        pauses.append(last - before)
ticking = threading.Thread(target=tick, daemon=True)
ticking.start()
def end():
    ended.set()
    ticking.join()
    assert len(pauses) > 100
    assert max(pauses) < 5.0, max(pauses)
def scores(scorers, **fields):
    (result,) = run_evaluation([Example(**fields)], scorers)
    return result.scores
"""
"""Six patterns that take `re` minutes and more, four that do not, and a thread that must not stand still."""


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", f"{PATTERNS}\n{program}\nend()"], capture_output=True, text=True, timeout=150
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_regex_scorer_gives_a_score_or_an_error():
    run("""
for pattern, text in evil + fine:
    (score,) = scores([RegexScorer(pattern)], actual_output=text)
    if (pattern, text) in fine:
        assert (score.outcome, score.value) == ("passed", 1.0), score
    else:
        assert (score.outcome, score.value) == ("errored", None), score
        assert score.error.startswith(f"Regex: /{pattern}/ found no answer within 0.5 s"), score
""")


def test_the_matcher_agrees_or_raises():
    run("""
for pattern, text in fine:
    assert agreement({"x": re_(pattern)}, {"x": text}) == 1.0
for pattern, text in evil:
    try:
        raise AssertionError(agreement({"x": re_(pattern)}, {"x": text}))
    except ScorerError as error:
        assert str(error).startswith(f"/{pattern}/ found no answer within 0.5 s"), error
""")


def test_every_scorer_that_takes_the_matcher_is_errored_never_a_0_never_a_pass():
    run("""
pattern, text = evil[0]
slow = re_(pattern)
calls = [
    {"name": "search", "arguments": {"q": text}, "output": [text]},
    {"name": "book", "arguments": {"q": text}},
]
by_call = [call("search", q=slow), call("search", q=not_(slow))]
for scorer, expected in [
    *((ToolOrderScorer(), wanted) for wanted in by_call),
    (ToolOrderScorer(exact_match=True), call("search", q=one_of(slow, "never said"))),
    (ToolOrderScorer(), {"path": [{"search": {"q": {"$re": pattern}}}], "never": ["pay"]}),
    *((TrajectoryScorer(metric=metric), by_call[0]) for metric in ("holds", "f1", "order", "args")),
    (ToolCallArgsScorer(), [{"name": "search", "args": {"q": slow}}]),
    (ToolCallOutputScorer(), [{"name": "search", "output": has(slow)}]),
    (ToolDependencyScorer(), [{"tool_name": "book", "action_dependencies": [
        {"tool_name": "search", "parameters": {"q": slow}}]}]),
]:
    expected = expected if isinstance(expected, list | dict) else [expected]
    (score,) = scores([scorer], expected_tools=expected, tools_called=calls)
    assert (score.outcome, score.value) == ("errored", None), (scorer, expected, score)
    assert "found no answer within 0.5 s" in score.error, score
for scorer in (ExactMatchScorer(), JSONSimilarityScorer()):
    (score,) = scores([scorer], expected_output={"q": slow}, actual_output={"q": text})
    assert (score.outcome, score.value) == ("errored", None), (scorer, score)
    assert "found no answer within 0.5 s" in score.error, score
""")


def test_a_json_schema_gives_a_score_or_an_error():
    run("""
pattern, text = evil[0]
name = {text: 1}
for schema, data in [
    ({"type": "object", "properties": {"q": {"pattern": pattern}}}, {"q": text}),
    ({"patternProperties": {pattern: {"type": "string"}}}, name),
    ({"patternProperties": {pattern: {}}, "additionalProperties": False}, name),
    ({"additionalProperties": False, "patternProperties": {pattern: {}}}, name),
    ({"unevaluatedProperties": False, "allOf": [{"patternProperties": {pattern: {}}}]}, name),
    ({"$schema": "http://json-schema.org/draft-07/schema#", "pattern": pattern,
      "properties": {"more": {"$ref": "#"}}}, {"more": {"more": text}}),
]:
    (score,) = scores([JSONCorrectnessScorer(schema)], actual_output=data)
    assert (score.outcome, score.value) == ("errored", None), (schema, score)
    assert score.error.startswith("JSON Correctness: /(a+)+$/ found no answer within "), score
""")
