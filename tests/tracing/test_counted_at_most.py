"""The quick bound of what a snapshot counts is never below what it counts."""

from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.limits import RECORDED
from agenttrace.core.snapshot import EXACT_INT, first_snapshot
from agenttrace.tracing.kept_whole import _most_counted

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(1 - EXACT_INT, EXACT_INT - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
DATA = st.recursive(
    SCALARS,
    lambda parts: (
        st.lists(parts, max_size=6)
        | st.lists(parts, max_size=5).map(tuple)
        | st.dictionaries(st.text(max_size=8), parts, max_size=6)
    ),
    max_leaves=40,
)


@given(st.lists(DATA, max_size=5) | st.dictionaries(st.text(max_size=8), DATA, max_size=5))
def test_plain_data_counts_for_no_more_than_its_bound(data):
    assert _most_counted(data) >= first_snapshot(data, limits=RECORDED)[1]


def test_a_part_that_stands_in_several_places_counts_in_each():
    part = {"text": "x" * 1_000}
    assert _most_counted([part] * 50) >= first_snapshot([part] * 50, limits=RECORDED)[1]


def test_of_long_integers_no_bound_is_told():
    assert _most_counted([EXACT_INT]) > RECORDED.value


def test_a_value_near_the_limit_is_bounded_closely():
    rows = [{"title": f"Result {n}", "tags": ["a", "b"], "score": n / 7} for n in range(900)]
    counted = first_snapshot(rows, limits=RECORDED)[1]
    assert counted <= _most_counted(rows) <= 1.3 * counted
