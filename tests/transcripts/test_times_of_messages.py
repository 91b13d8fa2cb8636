"""When conversations were, as logs of messages write it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import traces_from_transcript

SECOND = 1_767_323_045
NS = SECOND * 10**9


def read(**fields):
    (trace,) = traces_from_transcript({"messages": [{"role": "user", "content": "Hi"}], **fields})
    return trace


@pytest.mark.parametrize("name", ["timestamp", "created_at", "created", "time"])
@pytest.mark.parametrize(
    "value",
    [
        *[SECOND * 1000**power for power in range(4)],
        *[str(SECOND * 1000**power) for power in range(4)],
        f"{SECOND}.0",
        f" {SECOND} ",
        float(SECOND),
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05",
        "2026-01-02T05:04:05+02:00",
    ],
)
def test_a_time_is_read_in_each_unit_and_form(name, value):
    trace = read(**{name: value})
    assert trace.root.start_ns == NS
    assert trace.metadata == {}


@given(st.integers(min_value=1_000_000_000, max_value=9_000_000_000))
def test_each_unit_is_told_by_its_size(second):
    times = [read(created=second * 1000**power).root.start_ns for power in range(4)]
    assert times == [second * 10**9] * 4


def test_digits_that_may_be_a_date_of_iso_are_milliseconds():
    assert read(created="1712111300000").root.start_ns == 1_712_111_300_000_000_000
    assert read(created="20260102").root.start_ns == 1_767_312_000_000_000_000


@pytest.mark.parametrize(
    "value", ["bad", "12:30", "-1767323045", -5, 0, True, 1e30, float("inf"), float("nan"), [1], "9" * 30]
)
def test_what_is_no_time_is_kept_and_the_time_of_reading_stands_for_it(value):
    before = time.time_ns()
    trace = read(created_at=value)
    assert before <= trace.root.start_ns <= time.time_ns()
    assert "unreadable_time" in trace.metadata


def test_a_time_that_can_be_read_stands_for_one_beside_it_that_cannot():
    trace = read(timestamp="bad", created=SECOND)
    assert (trace.root.start_ns, trace.metadata) == (NS, {})


@pytest.mark.parametrize("fields", [{}, {"created": None}, {"timestamp": ""}])
def test_a_conversation_without_a_time_has_nothing_unreadable(fields):
    assert read(**fields).metadata == {}
