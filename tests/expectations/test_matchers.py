"""The matchers: what each accepts, how each is written as data."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agenttrace
from agenttrace import expectations
from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.marks import REDACTED
from agenttrace.expectations import (
    ABSENT,
    ANY,
    agreement,
    approx,
    default,
    gt,
    gte,
    has,
    length,
    lt,
    lte,
    not_,
    one_of,
    re_,
    ref,
    semantic,
    type_,
)  # fmt: skip
from agenttrace.expectations.matcher import OPERATORS, Matcher, read_value, write_value
from agenttrace.expectations.values import differences


@pytest.mark.parametrize(
    ("matcher", "accepted", "refused"),
    [
        (re_(r"(?i)paris"), ["Paris", "to PARIS now"], ["Rome", 1, None, ["Paris"]]),
        (approx(10, abs=2), [8, 12, 10.5, 12.0], [12.1, 7.9, "10", True, None]),
        (approx(100, rel=0.1), [90, 110], [89.9]),
        (approx(0.2, abs=0.1), [0.3, 0.1], [0.31]),
        (approx(1.0), [1.0000001, 1], [1.001]),
        (approx(0.3, abs=0), [0.3], [0.1 + 0.2]),
        (one_of("en", "fr", 1), ["en", 1, 1.0], ["de", True, None]),
        (gt(3), [4, 3.5], [3, "4", True, None]),
        (gte(3), [3], [2.9]),
        (lt("2025-06-02"), ["2025-06-01"], ["2025-06-02", 1]),
        (lte(3), [3, -1], [4]),
        (gte(1) & lt(5), [1, 4.9], [0, 5]),
        (has("hotel"), [["hotel", "bar"], "a hotel", {"hotel": 1}], [["bar"], "inn", 3, None]),
        (has({"id": 7}), [{"id": 7, "x": 1}, [{"id": 7}]], [{"id": 8}, [{"id": 8}]]),
        (has(1, 2), [[2, 3, 1]], [[1], [1, "2"]]),
        (length(3), ["abc", [1, 2, 3], {"a": 1, "b": 2, "c": 3}], ["ab", 3, None]),
        (length(gte(1)), ["a", [0]], ["", []]),
        (type_(str), ["", "a"], [1, None]),
        (type_(int), [1, 1.0], [1.5, True, "1"]),
        (type_("number"), [1, 1.5], [True, "1"]),
        (type_(bool), [True], [1, 0]),
        (type_(None), [None], [0, ""]),
        (type_(list), [[1], ()], ["a", {}]),
        (type_(dict), [{}], [[]]),
        (not_("x"), ["y", None, 1], ["x"]),
        (not_(one_of(1, 2)), [3], [1, 2.0]),
        (default(3), [3, 3.0], [4, None]),
        (lambda value: value > 3, [4], [3, "x"]),
    ],
)  # fmt: skip
def test_what_a_matcher_accepts(matcher: object, accepted: list[object], refused: list[object]) -> None:
    for value in accepted:
        assert agreement({"x": matcher}, {"x": value}) == 1.0, value
        assert agreement([matcher], [value]) == 1.0, value
    for value in refused:
        assert agreement({"x": matcher}, {"x": value}) == 0.0, value


@pytest.mark.parametrize(
    ("matcher", "absent"),
    [
        (ABSENT, True), (default(1), True), (one_of(1, ABSENT), True), (ANY, False),
        (one_of(1, 2), False), (not_(1), False), (type_(None), False),
    ],
)  # fmt: skip
def test_whether_a_matcher_accepts_a_key_that_is_not_there(matcher: object, absent: bool) -> None:
    assert (agreement({"x": matcher}, {}) == 1.0) is absent


def test_any_wants_the_key_and_absent_forbids_it() -> None:
    assert agreement({"x": ANY}, {"x": None}) == 1.0
    assert agreement({"x": ABSENT}, {"x": None}) == 0.0
    # Whatever the value was: its key is there.
    for unknown in (REDACTED, "a long te…[+5,000 chars]", {"$type": "Order", "$repr": "<Order>"}):
        assert agreement({"x": ABSENT}, {"x": unknown}) == 0.0
        assert agreement({"x": not_(ABSENT)}, {"x": unknown}) == 1.0


def test_semantic_without_a_judge_is_an_error_and_no_score() -> None:
    with pytest.raises(ScorerError, match="needs a judge"):
        agreement({"x": semantic("asks for a refund")}, {"x": "money back"})


@pytest.mark.parametrize(
    "make",
    [
        lambda: re_("("), lambda: re_(3), lambda: re_(b"a"), lambda: re_("a{99999999999999}"),
        lambda: approx("1"), lambda: approx(1, abs=-1), lambda: approx(float("nan")),
        lambda: approx(True),
        lambda: approx(1, rel=float("nan")), lambda: gt([1]), lambda: gt(True), one_of, has,
        lambda: length(-1), lambda: length("a"), lambda: type_("strnig"), lambda: type_(object),
        lambda: semantic(" "), lambda: ref("find"), lambda: ref("find.outptu.id"), lambda: ref("f.output..x"),
        lambda: gte(1) & gte(2),
    ],
)  # fmt: skip
def test_a_matcher_that_cannot_work_is_refused_when_it_is_made(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ExpectationError):
        make()


def test_a_misspelt_word_gets_a_suggestion() -> None:
    with pytest.raises(ExpectationError, match="did you mean 'string'"):
        type_("strnig")
    with pytest.raises(ExpectationError, match="did you mean 'output'"):
        ref("find.outptu.id")


@pytest.mark.parametrize(
    ("data", "matcher"),
    [
        ({"$re": "a"}, re_("a")),
        ({"$in": [1, {"$re": "a"}]}, one_of(1, re_("a"))),
        ({"$approx": 12, "$abs": 1}, approx(12, abs=1)),
        ({"$approx": 12, "$abs": 1, "$rel": 0.1}, approx(12, abs=1, rel=0.1)),
        ({"$gt": 1, "$lte": 5}, gt(1) & lte(5)),
        ({"$type": "integer"}, type_(int)),
        ({"$len": {"$gte": 1}}, length(gte(1))),
        ({"$has": ["a", "b"]}, has("a", "b")),
        ({"$absent": True}, ABSENT),
        ({"$not": {"$in": [1]}}, not_(one_of(1))),
        ({"$semantic": "x"}, semantic("x")),
        ({"$ref": "f.output.items[*].id"}, ref("f.output.items[*].id")),
        ({"$default": {"$in": [1, 2]}}, default(one_of(1, 2))),
        ({"$any": True}, ANY),
    ],
)  # fmt: skip
def test_operators_and_matchers_are_read_and_written_both_ways(data: object, matcher: object) -> None:
    assert read_value(data) == matcher
    assert write_value(matcher) == data
    assert read_value({"a": [data]}) == {"a": [matcher]}


def test_a_scalar_has_is_read_as_one_item() -> None:
    assert read_value({"$has": "a"}) == has("a")


def test_a_literal_dollar_key_is_written_doubled() -> None:
    assert read_value({"$$re": 1, "b": {"$$x": 2}}) == {"$re": 1, "b": {"$x": 2}}
    assert write_value({"$re": 1}) == {"$$re": 1}
    assert agreement(read_value({"$$re": "module.Thing"}), {"$re": "module.Thing"}) == 1.0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"$foo": "a"}, "unknown operator '\\$foo'; known: \\$abs, "),
        ({"$regex": "a"}, "unknown operator '\\$regex'; did you mean '\\$re'"),
        ({"$re": "a", "b": 1}, "ordinary key 'b'"),
        ({"$abs": 1}, "belong to '\\$approx'"),
        ({"$any": False}, "is written"),
        ({"$in": "abc"}, "takes a list"),
        ({"$any": True, "$gt": 1}, "cannot stand together"),
        ({"$float": 1}, "one of"),
    ],
)  # fmt: skip
def test_a_wrong_operator_is_an_error_that_says_what_to_do(data: object, said: str) -> None:
    with pytest.raises(ExpectationError, match=said):
        read_value({"deep": [data]})


def test_a_set_is_written_so_that_it_stays_unordered() -> None:
    back = read_value(write_value({"x": {1, 2}}))
    assert agreement(back, {"x": [2, 1]}) == 1.0
    assert agreement(back, {"x": [2, 1, 3]}) < 1.0


def test_a_predicate_cannot_be_written() -> None:
    with pytest.raises(ExpectationError, match="predicate"):
        write_value({"x": lambda value: value})


PLAIN = st.none() | st.booleans() | st.integers(-5, 5) | st.text("a$b", max_size=3)
MATCHERS = st.recursive(
    st.one_of(
        PLAIN,
        st.builds(re_, st.sampled_from(["a", "^b$"])),
        st.builds(lambda v, a: approx(v, abs=a), st.integers(-5, 5), st.integers(0, 3)),
        st.builds(gt, st.integers(-5, 5)),
        st.builds(lambda a, b: gte(a) & lt(b), st.integers(-5, 5), st.integers(-5, 5)),
        st.just(ABSENT),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text("a$", min_size=1, max_size=3), inner, max_size=3),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: one_of(*items)),
        st.lists(inner, min_size=1, max_size=2).map(lambda items: has(*items)),
        inner.map(not_),
        inner.map(default),
    ),
    max_leaves=6,
)


@given(MATCHERS, PLAIN)
def test_what_is_written_and_read_back_is_the_same_and_judges_the_same(expected, actual) -> None:  # type: ignore[no-untyped-def]
    back = read_value(write_value(expected))
    assert back == expected
    assert write_value(back) == write_value(expected)
    assert agreement(back, actual) == agreement(expected, actual)


UNWRITTEN = {"_AsRecorded", "_Unopened", "All", "Predicate"}
"""Made by ``&`` and by a callable: the former is written as its parts, the latter not at all."""
NOT_AT_THE_FRONT_DOOR = {"default"}
"""A word that says too little outside of its room."""


def matchers_of_the_room() -> list[type[Matcher]]:
    """Every class of a matcher in any module of the room, whether something imports that module or not."""
    modules = [
        import_module(f"{expectations.__name__}.{item.name}")
        for item in pkgutil.iter_modules(expectations.__path__)
    ]
    kinds = {
        kind
        for module in modules
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, Matcher)
    }
    return [kind for kind in kinds if not kind.__subclasses__() and kind.__name__ not in UNWRITTEN]


def test_every_matcher_has_an_operator_of_its_own_and_a_function_at_the_door() -> None:
    """A new matcher is its file, a line in the room's `__init__` and its name at the front door."""
    kinds = matchers_of_the_room()
    assert {kind.operator: kind for kind in kinds} == OPERATORS
    assert len(kinds) == len(OPERATORS)
    words = {kind.word for kind in kinds}
    assert words - set(expectations.__all__) == set()
    assert words - set(agenttrace.__all__) == NOT_AT_THE_FRONT_DOOR


def test_a_predicate_that_nobody_awaits_is_an_error() -> None:
    from agenttrace import Example
    from agenttrace.scorers import ToolOrderScorer

    async def is_large(amount: int) -> bool:
        return amount > 100

    example = Example(
        expected_tools=[agenttrace.call("refund", amount=is_large)],
        tools_called=[{"name": "refund", "arguments": {"amount": 1}}],
    )
    with pytest.raises(ScorerError, match="the predicate is_large is async"):
        ToolOrderScorer().score(example)


@pytest.mark.parametrize(
    "answer", [(False, "too small"), float("nan"), (x for x in ""), "1".isdigit, print, int]
)
def test_a_predicate_whose_answer_is_true_whatever_it_says_is_an_error(answer: object) -> None:
    from agenttrace import Example
    from agenttrace.scorers import ToolOrderScorer

    example = Example(
        expected_tools=[agenttrace.call("refund", amount=lambda amount: answer)],
        tools_called=[{"name": "refund", "arguments": {"amount": 1}}],
    )
    with pytest.raises(ScorerError, match="returns true or false, got"):
        ToolOrderScorer().score(example)


def test_a_predicate_may_answer_with_any_other_true_value() -> None:
    import re

    from agenttrace import Example
    from agenttrace.scorers import ToolOrderScorer

    for name, passed in (("order-7", True), ("7", False)):
        example = Example(
            expected_tools=[agenttrace.call("find", name=re.compile("order-").match)],
            tools_called=[{"name": "find", "arguments": {"name": name}}],
        )
        assert ToolOrderScorer().score(example).passed is passed


def test_matchers_stand_beside_predicates_in_others_only() -> None:
    def is_even(number: int) -> bool:
        return number % 2 == 0

    assert repr(gt(1) & not_(is_even)) == "gt(1) & not_(is_even)"
    with pytest.raises(TypeError, match="unsupported operand"):
        gt(1) & is_even  # type: ignore[operator]


def test_a_predicate_that_raises_says_neither_yes_nor_no() -> None:
    def is_long(value: object) -> bool:
        return len(value) > 3  # type: ignore[arg-type]

    assert agreement(not_(is_long), "abc") == 1.0
    assert agreement(not_(is_long), 7) == 0.0
    assert agreement(not_({"a": is_long}), {"a": 7}) == 0.0
    (difference,) = differences(not_(is_long), 7)
    assert "the predicate raised TypeError" in difference.note
