"""Calls that were made before are looked up, and counted as if all had been compared."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Example, Tracer
from agenttrace.core.digests import digest_of, secret_digest
from agenttrace.core.marks import Redacted, cut
from agenttrace.core.trace import Trace
from agenttrace.expectations.reading import _read
from agenttrace.matching import repeats
from agenttrace.scorers import LoopScorer


def secret(text):
    return Redacted("[redacted]", secret_digest(text))


LONG, OTHER = "x" * 30, "x" * 29 + "y"
PARTS = [
    1,
    "a",
    LONG,
    OTHER,
    secret("a"),
    secret("b"),
    secret(LONG),
    "[redacted]",
    "[redacted] tail",
    cut(LONG, 10, digest_of(LONG)),
    cut(OTHER, 10, digest_of(OTHER)),
    cut(LONG, 10),
    cut("z" * 30, 10),
    cut(LONG, 20),
    {"$type": "Db"},
    {"$type": "unreadable"},
    [1, {"$truncated": 3}],
    {"a": 1, "$truncated": 3},
    {"[redacted]": 1},
    {"$bytes": f"YWJj #{digest_of(b'abcdef')}", "size": 6},
    {"$truncated": "depth"},
]


@given(
    st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(PARTS[:8])), max_size=8),
    st.booleans(),
)
def test_a_call_is_counted_as_if_it_were_compared_with_every_earlier_one(arguments, favourable):
    calls = Trace.from_calls(
        [{"name": "t", "arguments": {"x": x, "y": [y]}} for x, y in arguments]
    ).tool_calls
    earlier = repeats.Repeats()
    with _read(favourable):
        for number, call in enumerate(calls):
            assert earlier.count(call) == sum(repeats._are_the_same(one, call) for one in calls[:number])
            earlier.add(call)


@pytest.mark.parametrize("parameter", ["token", "database"])
def test_calls_that_lack_the_same_parts_are_not_compared_one_by_one(parameter, monkeypatch):
    compared = []
    compare = repeats.agree
    monkeypatch.setattr(repeats, "agree", lambda *pair: compared.append(1) or compare(*pair))
    tracer = Tracer("repeats", store="memory")
    with tracer.capture() as captured:
        for number in range(200):
            with tracer.span("find", span_type="tool") as span:
                span.input = {parameter: object() if parameter == "database" else "s-1", "page": number}
    for trace in (captured.trace, pickle.loads(pickle.dumps(captured.trace))):
        assert LoopScorer().score(Example(), trace).outcome == "passed"
    assert len(compared) == 0
