"""What is expected counts for the bound on what waits, and is not cut."""

import re
import threading
from dataclasses import dataclass

import pytest

from agenttrace import Example, any_of, call, not_, one_of, re_, seq
from agenttrace.core.score import Score
from agenttrace.expectations.parse import parse_expectation
from agenttrace.online import evaluator, weight
from agenttrace.online.request import make_request
from agenttrace.online.weight import weight_of

SIZE = 100_000
BIG = "z" * SIZE


EXPECTED = {
    "expected_output": BIG,
    "expected_tools": [call("a", x=BIG)],
    "expected_state": {"db": {"end": BIG}},
    "turns": [{"expected_output": BIG}],
    "simulate": {"a": BIG},
}


@dataclass
class Order:
    note: str


class Waits:
    name, threshold = "Waits", 0.5

    def __init__(self):
        self.gate = threading.Event()
        self.seen = []

    def score(self, example, trace):
        self.gate.wait(60)
        self.seen.append(example.expected_output)
        return Score.of(self.name, 1.0, self.threshold)


@pytest.mark.parametrize("field", EXPECTED)
def test_when_what_is_expected_fills_the_queue_the_newest_is_dropped(field, tracer, monkeypatch):
    monkeypatch.setattr(evaluator, "MAX_WEIGHT", 10 * SIZE)
    waits = Waits()
    for _ in range(30):
        tracer.async_evaluate([waits], example=Example(**{field: EXPECTED[field]}))
    counts = tracer.stats()["evaluations"]
    assert (counts["pending"], counts["dropped"]) == (10, 20)
    waits.gate.set()
    assert tracer.wait_for_evaluations(60)
    assert tracer.stats()["evaluations"]["scored"] == 10
    if field == "expected_output":
        assert waits.seen == [BIG] * 10
    tracer.async_evaluate([waits], actual_output="a").result(60)
    assert tracer.stats()["evaluations"]["scored"] == 11


@pytest.mark.parametrize(
    "expected",
    [
        BIG,
        BIG.encode(),
        {BIG: 1},
        [{"deep": ({BIG},)}],
        call("a", x=BIG),
        seq(call("a"), any_of(call("b"), call("c", x=[BIG]))),
        parse_expectation([call("a", output=BIG)]),
        one_of("a", BIG),
        not_(re_(BIG)),
        re.compile(BIG),
        Order(BIG),
    ],
)
def test_texts_count_wherever_an_expectation_holds_them(expected):
    assert SIZE <= weight_of(expected) < SIZE + 2_000
    assert make_request([], {"expected_output": expected}).weight == weight_of(expected)


@pytest.mark.parametrize(
    "expected", [None, 1, "short", ["lookup", "refund"], [call("a", x=1)], not_(1), object(), bool]
)
def test_what_is_light_is_not_weighed(expected):
    assert weight_of(expected) == 0


def test_a_long_list_of_numbers_counts_by_its_items():
    assert weight_of([1.5] * 5_000) == 8 * 5_000


def test_what_is_there_twice_or_in_itself_is_weighed_once():
    loop = [["z" * 5_000]]
    loop += [loop, loop[0]]
    assert weight_of(loop) < 6_000


def test_a_vast_value_is_looked_at_in_part_and_the_rest_estimated(monkeypatch):
    monkeypatch.setattr(weight, "_MOST_PARTS", 100)
    assert weight_of([["z" * 1_000] for _ in range(1_000)]) == pytest.approx(1_000_000, rel=0.5)
