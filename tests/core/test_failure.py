"""Fingerprints of failures are equal for equal failures, whatever the values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Example, Score, Trace, call, expect
from agenttrace.core.failure import MOST_FINGERPRINTS, failures_of, fingerprints_of
from agenttrace.core.report import ScoringResult
from agenttrace.scorers import ContainsScorer, ExactMatchScorer, ToolCallCountScorer, ToolOrderScorer


def failures(expected, calls, **options):
    score = ToolOrderScorer(**options).score(Example(expected_tools=expected), Trace.from_calls(calls))
    return {found.title for found in fingerprints_of(score)}


def refund(amount, **more):
    return {"name": "refund", "arguments": {"amount": amount, **more}}


def test_each_row_and_each_place_where_it_differs_is_a_failure():
    expected = [call("refund", amount=12, to="ann"), "notify"]
    assert failures(expected, [refund(13, to="bob")]) == {
        "refund amount differs",
        "refund to differs",
        "notify missing",
    }


def test_a_call_that_is_not_expected_is_a_failure_only_where_none_may_be_made():
    calls = [refund(1), {"name": "delete"}]
    assert failures(["refund", "notify"], calls) == {"notify missing"}
    assert failures(["refund"], calls, exact_match=True) == {"delete extra"}


def test_a_forbidden_call_is_named_once_and_a_broken_bound_by_its_words():
    calls = [refund(1), refund(1), {"name": "wipe"}]
    expected = expect(never=["wipe"], at_most={"refund": 1})
    assert failures(expected, calls) == {"wipe forbidden", "constraint at most 1 × refund"}


@given(st.lists(st.tuples(st.integers(), st.text()), min_size=2, max_size=2))
def test_the_fingerprint_does_not_depend_on_the_values(values):
    keys = set()
    for number, text in values:
        expected = [call("refund", amount=[number], note="x" + text)]
        score = ToolOrderScorer().score(
            Example(expected_tools=expected), Trace.from_calls([refund([number + 1], note=text)])
        )
        keys.add(frozenset(found.key for found in fingerprints_of(score)))
    assert len(keys) == 1


def test_positions_in_lists_are_no_part_of_it():
    def key(beds):
        expected = [call("book", rooms=[{"beds": 1}, {"beds": 1}])]
        rooms = {"name": "book", "arguments": {"rooms": [{"beds": n} for n in beds]}}
        score = ToolOrderScorer().score(Example(expected_tools=expected), Trace.from_calls([rooms]))
        return [found.key for found in fingerprints_of(score)]

    assert key([2, 1]) == key([1, 3])


def test_other_scorers_say_where_answers_differ_or_which_tool_was_miscounted():
    answer = ExactMatchScorer().score(Example(actual_output={"a": 1}, expected_output={"a": 2}), None)
    assert [found.title for found in fingerprints_of(answer)] == ["answer a differs"]
    count = ToolCallCountScorer({"pay": ("=", 2)}).score(Example(), Trace.from_calls(["pay"]))
    assert [found.title for found in fingerprints_of(count)] == ["pay miscounted"]
    contains = ContainsScorer("five").score(Example(actual_output="four"), None)
    assert [found.title for found in fingerprints_of(contains)] == ["below its threshold"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ValueError: no order 7", "ValueError: no order 8"),
        ("the scorer 'A' gave no score within 120 s", "the scorer 'A' gave no score within 60 s"),
        (
            "Traceback (most recent call last):\n  x\nKeyError: 'a'",
            "Traceback (most recent call last):\n  y\nKeyError: 'b'",
        ),
    ],
)
def test_errors_of_one_kind_are_one_failure(one, other):
    first, second = (fingerprints_of(Score.errored("s", 1, text)) for text in (one, other))
    assert first == second
    assert len(first) == 1
    ended = [ScoringResult(example=Example(), error=text, outcome="failed") for text in (one, other)]
    assert failures_of(ended[0]) == failures_of(ended[1])


def test_what_passed_was_skipped_or_only_informs_is_no_failure():
    assert fingerprints_of(Score.of("s", 1, 1)) == ()
    assert fingerprints_of(Score.skipped("s", 1, "nothing")) == ()
    assert fingerprints_of(Score.of("s", 0, 1).informing()) == ()


@given(
    st.dictionaries(
        st.sampled_from(["rows", "checks", "differences", "tools", "label", "x"]),
        st.recursive(
            st.none() | st.integers() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ),
    )
)
def test_details_of_any_shape_give_a_failure(details):
    found = fingerprints_of(Score.of("s", 0, 1, details=details))
    assert 1 <= len(found) <= MOST_FINGERPRINTS
