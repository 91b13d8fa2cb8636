"""Recorded calls say their arguments in the words of many libraries; none of them is dropped unseen."""

import pytest

from agenttrace import Example, ToolOrderScorer, Trace, call
from agenttrace.core.errors import DatasetError

WORDS = [
    *("arguments", "args", "parameters", "input_parameters"),
    *("input", "tool_input", "kwargs", "params", "tool_args", "tool_arguments"),
]


def first(entry):
    return Trace.from_calls([entry]).tool_calls[0]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("recorded", [{"amount": 9999}, '{"amount": 9999}'])
def test_arguments_are_read_under_each_of_these_words(word, recorded):
    made = first({"name": "refund", word: recorded})
    assert (made.arguments, made.metadata) == ({"amount": 9999}, {})


@pytest.mark.parametrize("word", WORDS)
def test_a_call_with_arguments_does_not_pass_as_one_without(word):
    example = Example(
        tools_called=[{"name": "refund", word: {"amount": 9999}}], expected_tools=[call("refund", {})]
    )
    assert not ToolOrderScorer().score(example).passed


def test_where_arguments_are_there_the_other_words_are_something_else():
    made = first({"name": "refund", "arguments": {"amount": 1}, "input": {"channel": "mail"}})
    assert (made.arguments, made.metadata) == ({"amount": 1}, {"input": {"channel": "mail"}})
    made = first({"name": "refund", "arguments": None, "input": {"channel": "mail"}})
    assert (made.arguments, made.metadata) == ({}, {"input": {"channel": "mail"}})


def test_an_input_that_names_no_arguments_is_said_to_be_unread():
    made = first({"name": "search", "input": "Paris"})
    assert made.arguments == {}
    assert "are not JSON" in made.arguments_error


def test_a_list_is_no_arguments_and_stays_what_it_is():
    assert first({"name": "search", "input": [1, 2]}).metadata == {"input": [1, 2]}


def test_two_words_of_equal_right_are_an_error():
    with pytest.raises(DatasetError, match="got both 'arguments' and 'input_parameters'"):
        first({"name": "refund", "arguments": {"a": 1}, "input_parameters": {"a": 2}})


def test_an_expected_tool_is_read_with_the_same_word():
    example = Example(
        tools_called=[{"name": "refund", "input_parameters": {"amount": 9}}],
        expected_tools=[{"name": "refund", "input_parameters": {"amount": 9}}],
    )
    assert ToolOrderScorer().score(example).passed
