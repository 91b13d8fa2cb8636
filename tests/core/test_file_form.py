from __future__ import annotations

import json
import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import DatasetError, ExpectationError
from agenttrace.core.file_form import MAX_DEPTH, from_file_form, lossy, strict, to_file_form

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_json_values_come_back_through_strict_json(value: object) -> None:
    text = json.dumps(to_file_form(value, strict), allow_nan=False)
    back = from_file_form(json.loads(text))
    assert repr(back) == repr(value)


def test_long_lists_are_not_cut() -> None:
    assert to_file_form(list(range(5_000)), lossy) == list(range(5_000))


def test_nan_is_written_as_a_mark_and_read_as_nan() -> None:
    assert to_file_form([math.nan], strict) == [{"$float": "NaN"}]
    assert math.isnan(from_file_form({"$float": "NaN"}))
    assert from_file_form({"$float": "3.5"}) == {"$float": "3.5"}


def test_refused_names_the_place_of_what_has_no_json_form() -> None:
    with pytest.raises(DatasetError) as caught:
        to_file_form({"a": [1, object()]}, strict, "input")
    assert caught.value.field == "input.a[1]"
    assert "an object cannot be written to a file" in str(caught.value)


def test_refused_writes_dates_as_iso_text() -> None:
    assert to_file_form({"when": date(2025, 6, 1)}, strict) == {"when": "2025-06-01"}


def test_a_matcher_without_a_file_form_is_foreign() -> None:
    class Predicate:
        def to_data(self) -> dict[str, object]:
            raise ExpectationError("a function has no file form")

    with pytest.raises(DatasetError, match=r"expected_tools\[0\]: a function has no file form"):
        to_file_form([Predicate()], strict, "expected_tools")
    assert "$type" in to_file_form([Predicate()], lossy)[0]


def test_a_value_inside_itself_is_refused() -> None:
    loop: dict[str, object] = {}
    loop["self"] = loop
    with pytest.raises(DatasetError, match=f"nested more than {MAX_DEPTH} levels deep"):
        to_file_form(loop, strict, "input")


def test_data_nested_too_deep_is_refused_on_reading() -> None:
    deep: list[object] = []
    for _ in range(MAX_DEPTH + 2):
        deep = [deep]
    with pytest.raises(DatasetError, match="levels deep"):
        from_file_form(deep, "input")


def test_what_stands_in_itself_is_marked_there_and_refused_in_a_file():
    """Each level would stand twice in the one above it."""
    value = [1]
    value += [value, {"again": value}]
    written = to_file_form(value, lossy)
    assert written[0] == 1
    assert len(str(written)) < 500
    with pytest.raises(DatasetError, match="inside itself"):
        to_file_form(value, strict)
