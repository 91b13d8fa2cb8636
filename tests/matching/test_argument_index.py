"""The index of arguments gives what weighing pair by pair gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.trace import Trace
from agenttrace.expectations import call
from agenttrace.matching.agreement import CallAgreement

SCALARS = st.sampled_from(
    [None, True, False, 0, 1, 1.0, 2.5, "1", "a", "x…[+3 chars]", "2025-06-01T12:00:00Z", 2**60, float("nan")]
)


def values(keys: list[str]) -> st.SearchStrategy[object]:
    return st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(keys), inner, max_size=2),
        max_leaves=4,
    )


EXPECTED = st.dictionaries(st.sampled_from("xyz"), values(["a", "b"]), max_size=3)
ACTUAL = st.dictionaries(st.sampled_from("xyz"), values(["a", "b", "$type", "$truncated"]), max_size=3)


@given(EXPECTED, st.lists(ACTUAL, min_size=16, max_size=24), st.sampled_from(["exact", "listed"]))
def test_the_index_agrees_with_weighing_each_pair(expected, runs, mode) -> None:  # type: ignore[no-untyped-def]
    trace = Trace.from_calls([{"name": "f", "arguments": arguments} for arguments in runs])
    wanted = call("f", expected)
    each, whole = CallAgreement(trace.tool_calls, mode=mode), CallAgreement(trace.tool_calls, mode=mode)
    assert whole.agreements(wanted) == {at: each.agreement(wanted, at) for at in range(len(runs))}
