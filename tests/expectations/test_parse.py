"""Expectations read from every form, written back, and refused with a hint."""

from __future__ import annotations

import textwrap
from dataclasses import fields

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import ExpectationError
from agenttrace.core.example import Example
from agenttrace.core.tool_call import ANY, EXPECTED_WORDS, ExpectedToolCall
from agenttrace.expectations import (
    any_of,
    approx,
    call,
    expect,
    lte,
    many,
    opt,
    par,
    parse_expectation,
    re_,
    ref,
    semantic,
    seq,
)
from agenttrace.matching import compare  # fmt: skip
from tests.expectations.strategies import terms, trace_of


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (["lookup", "refund"], seq("lookup", "refund")),
        ("lookup", seq("lookup")),
        ([], seq()),
        ([{"tool_name": "refund", "parameters": {"id": 7}}], seq(call("refund", id=7))),
        ([{"name": "refund", "args": {"id": 7}, "agent_name": "a"}], seq(call("refund", id=7, agent="a"))),
        ([{"tool_name": "refund"}], seq("refund")),
        ([{"tool_name": "refund", "parameters": {}}], seq(call("refund", {}))),
        ([{"refund": {"id": 7}}, {"login": None}], seq(call("refund", id=7), "login")),
        ([{"call": "refund", "args": {"id": 7}, "match": "listed", "as": "r"}],
         seq(call("refund", {"id": 7}, match="listed", as_="r"))),
        ([{"call": "notify", "times": [1, 2], "agent": "mailer"}],
         seq(many(call("notify", agent="mailer"), 1, 2))),
        ([{"call": "notify", "times": 2}], seq(many("notify", 2, 2))),
        ([{"par": ["a", {"b": {"x": 1}}]}], seq(par("a", call("b", x=1)))),
        ([{"opt": "a"}], seq(opt("a"))),
        ([{"any_of": ["a", ["b", "c"]]}], seq(any_of("a", seq("b", "c")))),
        ([{"many": "a"}], seq(many("a", 1, None))),
        ([{"many": ["a", "b"], "times": [0, None]}], seq(many(seq("a", "b"), 0, None))),
        ([{"seq": ["a", "b"]}], seq("a", "b")),
        (call("a") >> par("b", "c"), seq("a", par("b", "c"))),
        ([call("a"), ExpectedToolCall(name="b", arguments={"x": 1})], seq("a", call("b", x=1))),
        ({"path": ["a", {"opt": "b"}]}, seq("a", opt("b"))),
        ({"par": ["a", "b"]}, seq(par("a", "b"))),
    ],
)  # fmt: skip
def test_every_form_is_read(raw: object, path: object) -> None:
    assert parse_expectation(raw).path == path


SAID = {
    "name": "refund", "arguments": {"id": 7}, "output": "done", "agent": "clerk", "turn": 2, "mode": "listed",
    "ignore": ["note"], "label": "r", "kind": "write", "result_dependencies": ["find"],
    "action_dependencies": ["login"],
    "require_all": False,
}  # fmt: skip


@pytest.mark.parametrize("place", range(3))
def test_a_call_may_be_said_in_any_of_its_words(place: int) -> None:
    """Every reader knows every word, whichever of the words for the name stands beside it."""
    raw = {words[min(place, len(words) - 1)]: SAID[field] for field, words in EXPECTED_WORDS.items()}
    [expected] = parse_expectation([raw]).calls
    assert expected.to_data() == ExpectedToolCall.of(raw).to_data()
    assert expected.to_data() == {words[0]: SAID[field] for field, words in EXPECTED_WORDS.items()}


def test_the_words_of_a_call_are_its_fields() -> None:
    assert [*EXPECTED_WORDS, "source"] == [item.name for item in fields(ExpectedToolCall)]


@pytest.mark.parametrize(
    "raw", [{"call": "a", "name": "b"}, {"name": "a", "args": {"x": 1}, "parameters": {}}]
)
def test_two_words_for_one_thing_that_disagree_are_refused(raw: dict[str, object]) -> None:
    with pytest.raises(ExpectationError, match="contradicts another key of the expected tool"):
        parse_expectation([raw])


def test_one_name_stands_for_a_list_of_one() -> None:
    """It was read letter by letter, so nothing was left out, and unknown tools were waited for."""
    said = {
        "tool_name": "a",
        "ignore": "note",
        "action_dependencies": "login",
        "result_dependencies": {"name": "b"},
    }
    expected = ExpectedToolCall.of(said)
    assert expected.ignore == ("note",)
    assert expected.action_dependencies == ("login",)
    assert expected.result_dependencies == ({"name": "b"},)


@pytest.mark.parametrize("ignore", [3, [3], {"note": 1}])
def test_what_is_left_out_of_arguments_are_their_names(ignore: object) -> None:
    with pytest.raises(ExpectationError, match="ignore is a parameter's name or a list of names"):
        ExpectedToolCall.of({"tool_name": "a", "ignore": ignore})


def test_two_words_for_one_thing_may_agree() -> None:
    assert parse_expectation([{"tool_name": "a", "name": "a", "args": None}]).calls == (call("a"),)


def test_arguments_that_are_not_said_are_unconstrained_and_an_empty_mapping_means_none() -> None:
    (free, none) = parse_expectation(["a", {"tool_name": "b", "parameters": {}}]).calls
    assert free.arguments is ANY
    assert none.arguments == {}


YAML = textwrap.dedent(
    """
    path:
      - login
      - par: [{hotel: {city: Paris}}, {flight: {to: CDG, day: {$approx: 12, $abs: 1}}}]
      - opt: seat_map
      - any_of: [{book_card: {amount: {$lte: 300}, id: {$ref: "flight.output.id"}}}, [hold, pay_later]]
      - {call: notify, times: [1, 2], agent: mailer, args: {body: {$semantic: "mentions the date"}}}
    never: ["delete_*"]
    max_calls: 8
    before: [[login, notify]]
    at_most: {notify: 2}
    severity: {max_calls: warn}
    """
)


def test_the_yaml_twin_says_what_python_says() -> None:
    python = expect(
        call("login")
        >> par(call("hotel", city="Paris"), call("flight", to="CDG", day=approx(12, abs=1)))
        >> opt("seat_map")
        >> any_of(call("book_card", amount=lte(300), id=ref("flight.output.id")), seq("hold", "pay_later"))
        >> many(call("notify", {"body": semantic("mentions the date")}, agent="mailer"), 1, 2),
        never="delete_*",
        max_calls=8,
        before=[("login", "notify")],
        at_most={"notify": 2},
        severity={"max_calls": "warn"},
    )
    assert parse_expectation(yaml.safe_load(YAML)) == python
    assert parse_expectation(yaml.safe_load(yaml.safe_dump(python.to_data()))) == python


@given(
    terms(arguments=True),
    st.sampled_from([{}, {"never": ["x"], "mode": "exact"}, {"max_calls": 50, "turn": 2}]),
)
def test_what_is_written_and_read_back_is_the_same(term, constraints) -> None:  # type: ignore[no-untyped-def]
    said = expect(term, **constraints)
    data = said.to_data()
    assert parse_expectation(data) == said
    assert parse_expectation(yaml.safe_load(yaml.safe_dump(data))) == said
    assert parse_expectation(data).to_data() == data


def test_constraints_alone_say_nothing_of_the_calls() -> None:
    said = parse_expectation({"never": ["delete_*"]})
    assert said.path is None
    assert parse_expectation(said.to_data()) == said
    assert compare(said, trace_of("ab")).value == 1.0


def test_zero_and_an_empty_only_survive_the_round_trip() -> None:
    said = expect(tool_errors=0, max_calls=0, only=[])
    assert parse_expectation(said.to_data()) == said


def test_an_output_of_null_is_null_in_every_form() -> None:
    said = expect(call("a", output=None))
    assert said.to_data() == [{"tool_name": "a", "output": None}]
    assert parse_expectation(said.to_data()) == said
    something, nothing = trace_of([{"name": "a", "output": 1}]), trace_of([{"name": "a", "output": None}])
    for form in (said, [{"tool_name": "a", "output": None}], [{"call": "a", "output": None}]):
        assert compare(form, nothing).holds
        assert not compare(form, something).holds
    assert compare([{"tool_name": "a", "output": {"$type": "null"}}], nothing).holds  # as files had it


def test_a_word_in_place_of_true_or_false_is_an_error() -> None:
    with pytest.raises(ExpectationError, match="require_all is true or false, got 'no'"):
        parse_expectation([{"tool_name": "a", "require_all": "no"}])


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ([{"pra": ["a"]}], "did you mean 'par'"),
        ([{"call": "a", "arg": {}}], "unknown key 'arg'.*did you mean 'args'"),
        ([{"tool_name": "a", "params": {}}], "did you mean 'parameters'"),
        ({"path": ["a"], "nevre": ["b"]}, "did you mean 'never'"),
        ({"nevr": ["a"], "max_cals": 3}, "did you mean 'never'"),
        ({"calls": ["a"], "match": "exact"}, "no 'calls'; did you mean 'path'"),
        ({"steps": ["a"], "never": ["b"]}, "no 'steps'; did you mean 'path'"),
        ([{"par": ["a"], "opt": "b"}], "stands alone"),
        ([{"par": "a"}], "takes a list"),
        ([{"call": "a", "times": [2, 1]}], "can never be"),
        ([{"call": "a", "times": "2"}], "times is a number"),
        ([{"many": "a", "times": [0, 0]}], "can never be"),
        ([{"any_of": []}], "at least one"),
        ([{"any_of": ["a", "a"]}], "stands twice"),
        ([{"par": []}], "at least one"),
        ([3], "an expected call is"),
        (3, "an expected call is"),
        ([""], "empty name"),
        ([{}], "no expected call"),
        ([{"tool_name": "a", "parameters": [1]}], "mapping"),
        ([{"tool_name": "a", "parameters": {"x": {"$rex": 1}}}], "did you mean '\\$re'"),
        ([{"tool_name": "a", "mode": "exatc"}], "match is one of"),
        ({"path": ["a"], "mode": "inorder"}, "did you mean 'in_order'"),
        ({"path": ["a"], "severity": {"nevr": "warn"}}, "did you mean 'never'"),
        ({"path": ["a"], "severity": "error"}, "'fail' or 'warn'"),
        ({"path": ["a"], "max_calls": -1}, "0 or more"),
        ({"path": ["a"], "max_calls": True}, "whole number"),
        ({"path": ["a"], "seconds": "3"}, "number"),
        ({"path": ["a"], "at_most": ["a"]}, "mapping"),
        ({"path": ["a"], "before": ["a", "b", "c"]}, "pairs"),
        ({"path": ["a"], "no_repeats": 1}, "true or false"),
        ({"never": ["x"], "mode": "exact"}, "there is no path"),
        ({"path": ["a"], "never": [1]}, "never is"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error_with_a_hint(raw: object, said: str) -> None:
    with pytest.raises(ExpectationError, match=said):
        parse_expectation(raw)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({"path": ["delete_all"], "never": ["delete_*"]}, "forbids"),
        ({"path": ["a", {"opt": "b"}], "only": ["a"]}, "leaves out"),
        ({"path": ["a", "b"], "max_calls": 1}, "needs 2 calls"),
        ({"path": [{"call": "a", "times": 3}], "at_most": {"a": 2}}, "needs 3 calls"),
        ({"at_least": {"a": 3}, "at_most": {"a": 2}}, "at_least of 'a' is 3"),
    ],
)
def test_what_can_never_hold_is_an_error(raw: object, said: str) -> None:
    with pytest.raises(ExpectationError, match=said):
        parse_expectation(raw)


def test_errors_begin_with_where_it_was_written() -> None:
    with pytest.raises(ExpectationError, match=r"^tests/refunds.yaml:12: "):
        parse_expectation([{"pra": ["a"]}], "tests/refunds.yaml:12")
    assert parse_expectation(["a"], "f.yaml:3").source == "f.yaml:3"


def test_a_list_that_was_changed_is_read_anew() -> None:
    raw = [{"tool_name": "a", "parameters": {"x": 1}}]
    assert parse_expectation(raw) is parse_expectation([{"tool_name": "a", "parameters": {"x": 1}}])
    raw[0]["parameters"]["x"] = True  # type: ignore[index]
    assert parse_expectation(raw).calls[0].arguments == {"x": True}
    assert parse_expectation(raw).calls[0].arguments["x"] is True  # type: ignore[index]


def test_an_example_takes_every_form() -> None:
    for raw in (
        ["a"], [{"tool_name": "a"}], [call("a")], call("a") >> "b", expect(["a"], never="x"),
        {"path": ["a"], "never": ["x"]}, [{"par": ["a", "b"]}], [{"a": {"x": 1}}],
    ):  # fmt: skip
        assert parse_expectation(Example(expected_tools=raw).expected_tools).calls[0].name == "a"


def test_patterns_can_be_written_with_names_on_the_left() -> None:
    assert "a" >> call("b") >> "c" == seq("a", "b", "c")


@pytest.mark.parametrize(
    "make",
    [
        lambda: call(""), lambda: call("a", {"x": 1}, y=2), lambda: call("a", match="exatc"),  # type: ignore[arg-type]
        lambda: many("a", -1), lambda: many("a", True), lambda: any_of(), lambda: par(),
        lambda: call("a", x=int), lambda: call("a", {1: 2}),  # type: ignore[dict-item]
    ],
)  # fmt: skip
def test_a_pattern_that_cannot_be_is_refused_when_it_is_made(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ExpectationError):
        make()


def test_a_pattern_shows_itself_as_it_is_written() -> None:
    said = call("a", x=re_("b"), y=1) >> par("b", opt("c")) >> any_of("d", seq("e", "f")) >> many("g", 1, 2)
    assert repr(said) == (
        "seq(call('a', x=re_('b'), y=1), par(call('b'), opt(call('c'))), "
        "any_of(call('d'), seq(call('e'), call('f'))), many(call('g'), 1, 2))"
    )
    assert (
        repr(call("a", {"match": 1}, match="listed", output=3))
        == "call('a', {'match': 1}, match='listed', output=3)"
    )


@pytest.mark.parametrize("said", [{}, {"agent": "desk"}, {"severity": "warn"}])
def test_an_expectation_that_says_nothing_is_built_written_and_read_back(said: dict[str, object]) -> None:
    built = expect(**said)  # type: ignore[arg-type]
    assert built.to_data() == said
    assert parse_expectation(said) == built
    for run in ("", "ab"):
        assert compare(said, trace_of(run)).value == 1.0
    assert compare(expect([]), trace_of("ab")).value == 0.0
    with pytest.raises(ExpectationError, match="no expected call"):
        parse_expectation([said])


def test_the_kind_of_an_expected_call_is_read_and_written():
    data = [{"tool_name": "refund", "parameters": {"id": 7}, "kind": "write"}]
    parsed = parse_expectation(data)
    assert parsed.calls[0].kind == "write"
    assert parsed.to_data() == data
    with pytest.raises(ExpectationError, match="kind of the expected tool 'refund' is a text, got 7"):
        parse_expectation([{"name": "refund", "kind": 7}])


def test_an_unknown_key_is_told_before_the_call_which_may_be_long():
    with pytest.raises(ExpectationError) as raised:
        parse_expectation([{"name": "refund", "parameters": {"text": "x" * 500}, "knid": "write"}])
    assert str(raised.value) == "unknown key 'knid' in the expected tool 'refund'; did you mean 'kind'?"
    with pytest.raises(ExpectationError, match=r"in the expected tool .refund.; known: action"):
        parse_expectation([{"name": "refund", "flavour": 1}])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"path": ["pay"], "match": "in_order"}, "'in_order' is a mode: write mode: in_order"),
        (
            {"path": ["pay"], "match": "exact"},
            "no call of the path has any; for the calls themselves write mode: exact",
        ),
        ({"never": ["pay"], "match": "ignore"}, "match='ignore' says how arguments are compared"),
    ],
)
def test_a_way_to_compare_arguments_where_there_is_none_is_an_error_that_says_what_was_meant(data, words):
    with pytest.raises(ExpectationError) as error:
        parse_expectation(data)
    assert words in str(error.value)
    assert "did you mean" not in str(error.value)


def test_a_value_that_holds_itself_or_is_too_deep_is_an_error_that_says_so() -> None:
    endless: list[object] = []
    endless.append(endless)
    deep: object = 1
    for _ in range(5_000):
        deep = [deep]
    for value in (endless, deep, {"a": endless}):
        with pytest.raises(ExpectationError, match="nested too deeply, or holds itself"):
            parse_expectation([call("a", x=value)])


@pytest.mark.parametrize("options", [{}, {"abs": 10**400}, {"rel": 10**400}])
def test_approx_of_an_integer_beyond_every_float_is_an_error(options: dict[str, int]) -> None:
    with pytest.raises(ExpectationError, match="a float can hold"):
        approx(1 if options else -(10**400), **options)
