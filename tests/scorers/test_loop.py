import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.scorers import LoopScorer


def scored(called, **options):
    return LoopScorer(**options).score(Example(tools_called=called))


def find(**arguments):
    return {"name": "find", "arguments": arguments}


def test_the_same_call_again_is_redundant():
    score = scored([find(q="x"), "other", find(q="x"), find(q="y"), find(q="x")])
    assert score.value == pytest.approx(0.6)
    assert score.reason == "2 of 5 calls redundant: find (call 3), find (call 5)"
    assert score.details == {"calls": 5, "redundant": [2, 4]}


def test_arguments_are_the_same_where_their_values_are():
    assert scored([find(a=1, b=[2]), find(b=[2.0], a=1.0)]).value == 0.5
    assert scored([find(a=1), find(a=True), find(a="1")]).value == 1.0


def test_a_retry_after_a_failure_is_not_redundant():
    failed = {**find(q="x"), "error": "timeout"}
    assert scored([failed, failed, find(q="x")]).value == 1.0
    assert scored([failed, find(q="x"), find(q="x")]).value == pytest.approx(2 / 3)


def test_some_repeats_may_be_allowed():
    assert scored([find(q="x")] * 3, repeats=2).value == pytest.approx(2 / 3)


def test_arguments_that_could_not_be_read_are_compared_by_their_text():
    assert scored([{"name": "find", "arguments": "{1"}, {"name": "find", "arguments": "{2"}]).value == 1.0
    assert scored([{"name": "find", "arguments": "{1"}] * 2).value == 0.5


def test_no_calls_are_no_loop():
    assert scored([]).value == 1.0


@pytest.mark.parametrize("repeats", [0, -1, 1.5, True])
def test_repeats_are_counted_from_1(repeats):
    with pytest.raises(ScorerError, match="whole number from 1"):
        LoopScorer(repeats=repeats)
