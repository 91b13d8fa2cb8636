"""Copies that are made fast are those that are made slowly."""

import json
import math
from dataclasses import replace
from enum import IntEnum, StrEnum

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agenttrace import Example
from agenttrace.core.changed import changed
from agenttrace.core.jsonable import json_text, jsonable, to_json
from agenttrace.core.marks import without_digests
from agenttrace.core.report import ScoringResult
from agenttrace.core.score import Score
from agenttrace.redaction import Redaction
from agenttrace.redaction.harmless_copy import harmless_copy

TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "sk-abcdefghijklmnopqrstuvwx",
            "postgres://user:hunter2hunter2@host/db",
            "\ud800 alone",
            "{'password': 'hunter2hunter2'}",
            "a long text that goes on…[+7 chars #0123456789abcdef]",
            "a long and harmless text, order 12 of 40",
        ]
    ),
)
KEYS = st.one_of(st.text(max_size=20), st.sampled_from(["password", "api_key", "$float", "$bytes", "name"]))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.integers().map(lambda n: n**60), TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=4),
        st.dictionaries(st.one_of(KEYS, st.integers(0, 3), st.floats(0, 3), st.none()), inner, max_size=3),
        st.tuples(inner, inner),
    ),
    max_leaves=12,
)


class Colour(StrEnum):
    RED = "red"


class Number(IntEnum):
    ONE = 1


def same(one, other):
    """Equal, NaN and types included."""
    return json.dumps(one) == json.dumps(other) and repr(one) == repr(other)


@given(VALUES)
@example({1: "a", "1": "b"})
@example({"big": 1.7e308, "long": 10**400, "nan": math.nan})
@example({"one": Number.ONE, "list": [Colour.RED, (1, 2)]})
def test_json_text_is_that_of_the_careful_copy(value):
    assert json_text(value) == to_json(jsonable(value))


def test_json_text_of_what_is_too_deep_is_bounded_as_the_careful_copy_is():
    deep = value = []
    for _ in range(300):
        value.append([])
        value = value[0]
    assert json_text(deep) == to_json(jsonable(deep))


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_a_copy_that_is_called_harmless_is_what_redaction_makes_of_it(values):
    redaction = Redaction(["colour_code"])
    copy = harmless_copy(values, redaction)
    if copy is not None:
        assert same(copy, redaction.inside(without_digests(jsonable(values))))
        assert same(copy, redaction.fields(jsonable(values)))
        assert redaction.redacted == 0


def test_a_copy_that_is_called_harmless_shares_no_container():
    values = {"rows": [{"name": "a"}, [1, 2]], "text": "harmless"}
    copy = harmless_copy(values, Redaction())
    assert copy == values
    assert copy["rows"] is not values["rows"]
    assert copy["rows"][0] is not values["rows"][0]
    assert copy["rows"][1] is not values["rows"][1]


@pytest.mark.parametrize(
    "values",
    [
        {"password": "x"},
        {"a": {"api_key": 1}},
        {"a": ["sk-abcdefghijklmnopqrstuvwx"]},
        {"a": {1: 2}},
        {"a": (1,)},
        {"a": math.nan},
        {"$float": "NaN"},
        {"a": "x" * 20 + "…[+7 chars #0123456789abcdef]"},
        {"a": "\ud800"},
        {"colour code": "x"},
        {"a": list(range(1_000))},
    ],
)
def test_what_has_to_be_looked_at_closely_is_not_called_harmless(values):
    assert harmless_copy(values, Redaction(["colour_code"])) is None


def test_nothing_is_called_harmless_where_the_user_has_a_rule_or_containers_share_others():
    assert harmless_copy({"a": 1}, Redaction(call=lambda name, value: value)) is None
    shared: list = [1]
    for _ in range(18):
        shared = [shared, shared]
    assert harmless_copy({"a": shared}, Redaction()) is None


def test_a_changed_copy_is_a_replaced_one():
    score = Score.of("x", 0.5, 0.4, reason="why", details={"a": 1}, usage={"t": 1}, cost=2.0)
    assert changed(score, name="y", duration=3.0) == replace(score, name="y", duration=3.0)
    result = ScoringResult(example=Example(input="a"), outcome="passed", scores=(score,))
    assert changed(result, trial=2) == replace(result, trial=2)
    with pytest.raises(KeyError):
        changed(score, nam="y")


def test_a_changed_example_is_a_copied_one_and_remembers_its_source():
    written = Example.from_dict({"input": {"a": [1]}, "name": "n"}, source="file.yaml:3")
    copy = written.changed(actual_output="x")
    assert copy == written.model_copy(update={"actual_output": "x"})
    assert copy.source == "file.yaml:3"
    assert copy.model_fields_set == {"input", "name", "actual_output"}
    copy._source = None
    copy.name = "other"
    assert (written.source, written.name) == ("file.yaml:3", "n")
