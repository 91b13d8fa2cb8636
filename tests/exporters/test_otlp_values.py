"""Any value as OTLP writes it."""

import json
from enum import Enum

import pytest
from any_json import mappings, values
from hypothesis import given

from agenttrace.core.marks import Redacted, bytes_data, cut
from agenttrace.exporters.otlp_encoding import any_value, json_text, key_values


class Level(Enum):
    HIGH = "high"


class Meters(float):
    pass


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("text", {"string_value": "text"}),
        ("", {"string_value": ""}),
        ("a lone \ud83d", {"string_value": "a lone \ufffd"}),
        ("a pair \ud83d\ude00", {"string_value": "a pair 😀"}),
        (True, {"bool_value": True}),
        (7, {"int_value": 7}),
        (2**63 - 1, {"int_value": 2**63 - 1}),
        (2**63, {"string_value": str(2**63)}),
        (-(2**63) - 1, {"string_value": str(-(2**63) - 1)}),
        (0.5, {"double_value": 0.5}),
        ([], {"array_value": {"values": []}}),
        (("a", "b"), {"array_value": {"values": [{"string_value": "a"}, {"string_value": "b"}]}}),
        ([1, "b"], {"string_value": '[1,"b"]'}),
        ([1, None], {"string_value": "[1,null]"}),
        ([[1]], {"string_value": "[[1]]"}),
        ({"city": "Oslo"}, {"string_value": '{"city":"Oslo"}'}),
        ({}, {"string_value": "{}"}),
        (Level.HIGH, {"string_value": "high"}),
        (Meters(3.5), {"double_value": 3.5}),
        ({1, 2}, {"string_value": "[1,2]"}),
        pytest.param(object(), {"string_value": '{"$type":"object"}'}, id="object()"),
    ],
    ids=repr,
)
def test_a_value_is_written_as_its_kind_or_else_as_json_text(value, written):
    assert any_value(value) == written


def test_what_is_none_or_has_no_name_is_left_out():
    assert key_values({"a": None, "": 1, "b": 2}) == [{"key": "b", "value": {"int_value": 2}}]


def test_names_are_text_that_can_be_written():
    assert [entry["key"] for entry in key_values({"\ud83d": 1, 5: 2})] == ["\ufffd", "5"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"stadt": "Köln"}, '{"stadt":"Köln"}'),
        ({"\ud83d": "\ud83d"}, '{"\ufffd":"\ufffd"}'),
        ([float("nan"), 1.0], '[{"$float":"NaN"},1.0]'),
        ({(1, 2): "a"}, '{"tuple [1, 2]":"a"}'),
    ],
)
def test_json_text_is_strict_and_readable(value, text):
    assert json_text(value) == text


def test_an_integer_that_python_will_not_print_is_cut():
    huge = 10**5_000
    assert any_value(huge)["string_value"].endswith(" digits]")
    assert any_value({"n": huge}) == {"string_value": f'{{"n":{{"$int":"{huge:#x}"}}}}'}


def test_a_value_inside_itself_and_one_that_is_too_deep_are_cut():
    loop = []
    loop.append(loop)
    deep = None
    for _ in range(5_000):
        deep = [deep]
    assert "$cycle" in json_text(loop)
    assert "$truncated" in json_text(deep)


@given(values)
def test_any_json_data_becomes_strict_json_text(value):
    def refuse(constant):
        raise AssertionError(constant)

    text = json_text(value)
    json.loads(text, parse_constant=refuse, parse_int=str)
    text.encode()


@given(mappings)
def test_any_attributes_are_written_with_one_kind_of_value_each(attributes):
    for entry in key_values(attributes):
        assert entry["key"]
        assert len(entry["value"]) == 1


def test_digests_of_what_was_cut_are_not_sent():
    digest = "0123456789abcdef" * 2
    text, data = cut("abcdef", 4, digest), bytes_data(b"ab", 4, digest)
    sent = str(key_values({"text": text, "texts": [text], "nested": {"a": [text, data]}, "bytes": data}))
    assert digest not in sent
    assert sent.count("abcd…[+2 chars]") == 3
    assert type(any_value(Redacted("[redacted]", b"d"))["string_value"]) is str
