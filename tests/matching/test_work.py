"""How much work a comparison is: steps are counted, and bounded where a path could mean too much."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from agenttrace.core.errors import ExpectationError
from agenttrace.core.trace import Trace
from agenttrace.expectations import any_of, call, expect, many, opt, par, seq
from agenttrace.expectations.assign import Assignment
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.pattern import MAX_NESTING
from agenttrace.matching import chain, compare, interleave
from agenttrace.matching.comparison import Comparison


def compared(expected: object, run: list[Any], mode: Mode = "exact") -> Comparison:
    return compare(expected, Trace.from_calls(run), mode=mode)


def shuffled(names: str, count: int) -> list[str]:
    random = Random(count)
    return [random.choice(names) for _ in range(count)]


def calls(count: int, arguments: Callable[[int, Random], dict[str, Any]]) -> list[dict[str, Any]]:
    random = Random(3)
    return [{"name": "tool", "arguments": arguments(n, random)} for n in range(count)]


PAIRS = any_of(seq("a", "b"), seq("c", "d"))
NESTED = many(par(many(par(many("a"), many("b"))), many(par(many("c"), many("d")))))


@pytest.mark.parametrize(
    ("expected", "run", "mode", "most_steps"),
    [
        (par(many("a"), many("b")), shuffled("ab", 400), "exact", 5_000),
        (par(many("a"), many("b")), shuffled("ab", 400), "any_order", 2_000),
        (par(many("search"), "lookup"), ["search"] * 399 + ["lookup"], "exact", 4_000),
        (many(par("a", "b")), list("abba") * 50, "exact", 2_000),
        (many(par("a", "b")), shuffled("ab", 200), "in_order", 2_000),
        (many(par("a", "b")), list("abba") * 50, "any_order", 10_000),
        (many(PAIRS), list("abcdcdab") * 8, "exact", 1_000),
        (many(PAIRS), list("abcdcdab") * 50, "exact", 5_000),
        (many(PAIRS), list("abcdcdab") * 8, "any_order", 2_000),
        (many(PAIRS), list("abcdcdab") * 25, "contains", 20_000),
        (many(PAIRS, 0, 60), list("abcdcdab") * 8, "exact", 3_000),
        (many(seq("search", opt("open"))), ["search", "open", "search"] * 40, "exact", 2_000),
        (NESTED, ["a", "b", "c", "d", *shuffled("abcd", 96)], "exact", 20_000),
        (NESTED, ["a", "b", "c", "d", *shuffled("abcd", 96)], "any_order", 5_000),
        (par(many(par(many(par("a", "b")), "c")), "d"), [*"abbac" * 20, "d"], "exact", 5_000),
        (many(seq(many(seq(many("a"), "b")), "c")), list("aababc") * 50, "exact", 5_000),
        (many("a", 0), ["a"] * 2_000, "exact", 2_000),
        (many(par(*(f"t{n}" for n in range(30)))), [f"t{n}" for n in range(30)] * 5, "exact", 50_000),
        (seq(*(any_of(f"a{n}", seq(f"b{n}", f"c{n}")) for n in range(20))),
         [f"{letter}{n}" for n in range(20) for letter in "bc"], "exact", 500),
        (seq(*(call("s", q=n, k=1) for n in range(20)), any_of("x", seq("y", "z"))),
         ["y", "z", *({"name": "s", "arguments": {"q": 19 - n, "k": 1}} for n in range(20))],
         "any_order", 2_000),
    ],
)  # fmt: skip
def test_a_long_run_is_answered_in_few_steps(
    expected: object, run: list[Any], mode: Mode, most_steps: int
) -> None:
    comparison = compared(expected, run, mode)
    assert comparison.holds
    assert 0 < comparison.alignment.steps <= most_steps


@pytest.mark.parametrize("share_changed", [0.3, 1.0])
def test_many_calls_with_arguments_are_each_held_against_all_places_about_once(share_changed: float) -> None:
    run = calls(
        500, lambda n, random: {"id": n, "city": random.choice("abcdefgh"), "day": random.randint(1, 5)}
    )
    random = Random(5)
    changed = [{**one["arguments"], "id": -n} if random.random() < share_changed else one["arguments"]
               for n, one in enumerate(run)]  # fmt: skip
    expected = [call("tool", arguments) for arguments in random.sample(changed, len(changed))]
    comparison = compared(expected, run, "contains")
    assert not comparison.holds
    assert len(comparison.rows) == 500
    assert comparison.alignment.steps <= 2 * 500 * 500
    assert comparison.call_agreement.comparisons <= 500  # for the diff; the others are looked up


def test_nested_arguments_are_compared_by_their_distinct_parts() -> None:
    def nested(n: int, random: Random) -> dict[str, Any]:
        return {"id": n, "items": [{"sku": random.randint(0, 20), "count": random.randint(1, 3)}]}

    run = calls(200, nested)
    comparison = compared([call("tool", one["arguments"]) for one in run[::-1]], run, "contains")
    assert comparison.holds
    assert comparison.call_agreement.comparisons == 0


def test_two_unordered_groups_in_a_row_take_two_assignments_and_not_one_for_each_place_between() -> None:
    first, second = ([call("a", n=n + add) for n in range(60)] for add in (0, 60))
    run = [{"name": "a", "arguments": {"n": n}} for n in range(120)]
    comparison = compared(seq(par(*first), par(*second)), run)
    assert comparison.holds
    assert comparison.alignment.steps <= 300_000


def test_an_assignment_goes_on_to_a_free_place_that_is_as_good() -> None:
    assignment = Assignment(300)
    for number in range(300):
        assignment.add(number, dict.fromkeys(range(300), 7))
    assert assignment.total == 300 * 7
    assert assignment.steps == 300


@pytest.mark.parametrize(
    ("expected", "run"),
    [
        (["t"] * 5_000, ["s"] * 2_500 + ["t"] * 2_500),
        ([f"t{n % 20}" for n in range(5_000)], [f"t{n * 7 % 20}" for n in range(5_000)]),
        ([f"t{n}" for n in range(5_000)], [f"s{n}" for n in range(5_000)]),
    ],
)
def test_the_diff_of_a_long_sequence_looks_at_few_calls_for_each_that_is_missing(
    expected: list[str], run: list[str]
) -> None:
    comparison = compared(expected, run, "in_order")
    assert not comparison.holds
    assert len(comparison.rows) >= 5_000
    assert comparison.free_calls.steps <= 5 * 5_000


def test_a_group_that_interleaves_in_too_many_ways_is_an_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interleave, "MAX_STATES", 100)
    group = par(*(seq("a", "b", f"c{n}") for n in range(12)))
    run = [*"ab" * 12, *(f"c{n}" for n in range(12))]
    with pytest.raises(ExpectationError, match=r"par\(seq\(call\('a'\), .* can be aligned .* 50,000 states"):
        compared("login" >> group, ["login", *run], "in_order")


def test_alternatives_that_take_too_many_steps_are_an_error_that_names_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chain, "MAX_STEPS", 100)
    path = seq(*(any_of("a", seq("b", "c")) for _ in range(9)))
    with pytest.raises(
        ExpectationError, match=r"any_of\(call\('a'\), .* can be aligned .* more than 100 steps"
    ):
        compared(path, list("abc" * 9), "in_order")


def test_a_group_that_is_too_much_to_search_is_written_out_where_it_means_few_ways(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(interleave, "MAX_STATES", 0)
    group = [call("s", q=n) for n in range(8)]
    path = [*group, *(any_of(f"x{n}", seq(f"y{n}", f"z{n}")) for n in range(5))]
    run = [{"name": "s", "arguments": {"q": n}} for n in reversed(range(8))] + [f"x{n}" for n in range(5)]
    assert compared(path, run, "any_order").holds


def nested(levels: int) -> Any:
    data: Any = "a"
    for _ in range(levels):
        data = {"opt": data}
    return data


@pytest.mark.parametrize("mode", ["exact", "in_order", "any_order", "contains", "only"])
def test_patterns_nest_sixty_four_levels_deep(mode: Mode) -> None:
    def each(wrap: Callable[[Any], Any]) -> Any:
        path: Any = "a"
        for _ in range(MAX_NESTING - 1):
            path = wrap(path)
        return path

    for path in (
        each(opt),
        each(many),
        each(lambda inner: many(inner, 0)),
        each(lambda inner: par(inner, "b")),
    ):
        assert compared(path, ["a", *"b" * (len(list(path.calls())) - 1)], mode).holds


def test_a_repetition_that_stands_for_very_many_calls_is_an_error_that_names_it() -> None:
    path: Any = "a"
    for _ in range(20):
        path = many(path, 2)
    with pytest.raises(ExpectationError, match=r"many\(.* stands for more than 100,000 calls"):
        compared(path, ["a"])


def built(levels: int) -> Any:
    path: Any = "a"
    for level in range(levels):
        path = opt(path) if level % 2 else par(path, "b")
    return path


@pytest.mark.parametrize("levels", [MAX_NESTING, 3_000, 100_000])
def test_deeper_nesting_is_an_error_that_says_the_limit(levels: int) -> None:
    with pytest.raises(ExpectationError, match="at most 64 levels deep"):
        compared(nested(levels), ["a"])
    with pytest.raises(ExpectationError, match="at most 64 levels deep"):
        compared({"path": [[nested(levels)]]}, ["a"])


def test_patterns_that_are_built_too_deep_are_an_error_at_once() -> None:
    path: Any = "a"
    for level in range(MAX_NESTING):
        path = opt(path) if level % 2 else par(path, "b")
    with pytest.raises(ExpectationError, match=r"at most 64 levels deep.* around opt\(par\("):
        par(path)


def test_lists_in_lists_are_one_sequence_however_deep() -> None:
    path: Any = "a"
    for _ in range(100_000):
        path = [path]
    assert expect(path).path == seq("a")
