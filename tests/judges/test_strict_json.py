"""JSON as its standard has it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.judges.strict_json import StrictJSONError, parse_strict

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@given(json_values)
def test_what_python_writes_strictly_is_read_back(value: Any) -> None:
    assert parse_strict(json.dumps(value, allow_nan=False)) == value


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not one JSON document"),
        ("{}{}", "not one JSON document"),
        ("{} x", "not one JSON document"),
        ("```json\n{}\n```", "not one JSON document"),
        ('{"a": 1', "not one JSON document"),
        ("{'a': 1}", "not one JSON document"),
        ('{"a": 1,}', "not one JSON document"),
        ("\ufeff{}", "not one JSON document"),
        ('"\n"', "not one JSON document"),
        ('{"a": 1, "a": 1}', "a key stands twice"),
        ('[{"b": {"a": 1, "\\u0061": 2}}]', "a key stands twice"),
        ("NaN", "NaN and Infinity"),
        ("[Infinity]", "NaN and Infinity"),
        ('{"a": -Infinity}', "NaN and Infinity"),
        ("1e999", "too large"),
        ("-1e999", "too large"),
        ("9" * 5000, "too large"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    ],
)
def test_anything_else_is_an_error_that_does_not_quote_the_text(text: str, complaint: str) -> None:
    with pytest.raises(StrictJSONError, match=complaint):
        parse_strict(text)
