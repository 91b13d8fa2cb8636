"""JSON as its standard has it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core import json_reader
from agenttrace.core.json_reader import (
    InvalidJSON,
    json_object_in,
    json_or_literal,
    lenient_json,
    plain_json,
    strict_json,
)

long_texts = st.builds(
    lambda before, digits, after: f'{{"{before}": [{"7" * digits}, "{after}"]}}',
    st.text("ab1", max_size=300),
    st.integers(1, 1_500),
    st.text("ab1", max_size=300),
)
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
    assert strict_json(json.dumps(value, allow_nan=False)) == value


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
    with pytest.raises(InvalidJSON) as caught:
        strict_json(text)
    assert complaint in caught.value.problem


def test_the_message_for_the_author_quotes_what_is_wrong_and_the_other_does_not() -> None:
    with pytest.raises(InvalidJSON, match="the key 'secret' stands twice in one object") as caught:
        strict_json('{"secret": 1, "secret": 2}')
    assert caught.value.problem == "a key stands twice in one object"


@pytest.mark.parametrize(
    ("text", "value"), [('{"a": 1, "a": 2}', {"a": 2}), ("1e999", float("inf")), (b"[1]", [1])]
)
def test_foreign_json_is_read_as_python_reads_it(text: str | bytes, value: Any) -> None:
    assert lenient_json(text) == value


@pytest.mark.parametrize(
    "text", ["", "{", b"\xff", "9" * 5000, "[" * 100_000], ids=lambda text: str(text[:5])
)
def test_what_is_no_json_at_all_is_one_kind_of_error(text: str | bytes) -> None:
    with pytest.raises(InvalidJSON):
        lenient_json(text)


def test_the_object_in_a_text_is_read_and_nothing_else() -> None:
    assert json_object_in('{"a": 1}') == {"a": 1}
    assert [json_object_in(text) for text in ("[1]", "1", "a", "", "[" * 100_000)] == [None] * 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": true}', {"a": True}),
        ("{'a': True}", {"a": True}),
        ("None", None),
        ("{'a': run()}", "{'a': run()}"),
        ("{" * 5000, "{" * 5000),
        ("Paris", "Paris"),
        ("'Paris'", "'Paris'"),
    ],
    ids=range(7),
)
def test_a_recorded_text_is_a_value_only_where_it_is_json_or_a_literal(text: str, value: Any) -> None:
    assert json_or_literal(text) == value


@given(long_texts)
def test_plain_json_is_what_python_reads_and_leaves_large_numbers_to_others(text: str) -> None:
    expected = json.loads(text)
    ((number, _),) = expected.values()
    try:
        assert plain_json(text) == expected
        assert number < 10**600
    except InvalidJSON:
        assert "1" * 3 in text or "7" * 3 in text


@pytest.mark.parametrize("text", ["1e400", "[NaN]", "[-Infinity]", " 1", "1 2", "[" + "9" * 900 + "]"])
def test_plain_json_refuses_what_is_not_plain(text: str) -> None:
    with pytest.raises(InvalidJSON):
        plain_json(text)


def test_a_key_that_stands_twice_among_many_is_found_in_time_in_proportion() -> None:
    """Looking at each key, it takes no more look-ups than there are keys."""
    compared = 0

    class Key(str):
        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    keys = [Key(number) for number in range(2_000)]
    with pytest.raises(InvalidJSON, match="'1999' stands twice"):
        json_reader._unique([(key, 1) for key in [*keys, Key(1_999)]])
    assert compared < 100
