"""Labels on optional calls, repeated ones, alternatives and half-made groups: every pairing is tried."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import settings

from agenttrace.core.trace import Trace
from agenttrace.expectations import any_of, call, expect, many, not_, opt, par, ref, seq
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.pattern import Call, Pattern
from agenttrace.expectations.references import Ref
from agenttrace.matching import compare
from tests.matching.recogniser import Run, Term, end_counts, moves, roles

THOROUGH = settings.default is not None and settings.default.max_examples >= 300
CASES = 20_000 if THOROUGH else 600
NEGATION = type(not_(1))


def web(value: int) -> dict[str, Any]:
    return {"name": "web", "arguments": {}, "output": {"v": value}}


def db(value: int) -> dict[str, Any]:
    return {"name": "db", "arguments": {}, "output": {"v": value}}


def opened(value: int) -> dict[str, Any]:
    return {"name": "open", "arguments": {"x": value}, "output": None}


SEARCH, DB, OPEN = call("web", as_="s"), call("db", as_="s"), call("open", x=ref("s.output.v"))


@pytest.mark.parametrize(
    ("path", "run"),
    [
        ([opt(SEARCH), "web", OPEN], [web(1), opened(1)]),
        ([opt([SEARCH, "click"]), OPEN], [web(1), opened(1)]),
        (any_of(SEARCH, par("web", OPEN)), [web(1), opened(1)]),
        ([opt(SEARCH), OPEN], [opened(1)]),
    ],
)  # fmt: skip
def test_a_label_of_a_call_without_a_pair_stands_for_none(path: Any, run: Run) -> None:
    assert not compare(path, Trace.from_calls(list(run)), mode="exact").holds


def test_a_label_in_a_group_whose_other_call_took_a_wrong_value_stands_for_none() -> None:
    click = call("click", x=ref("t.output.v"))
    clicked = {"name": "click", "arguments": {"x": 1}}
    path = [opt([SEARCH, click]), call("db", as_="t"), OPEN]
    assert not compare(path, Trace.from_calls([db(1), web(1), clicked, db(2), opened(1)])).holds
    path = [call("db", as_="t"), opt([SEARCH, click]), OPEN]
    assert compare(path, Trace.from_calls([db(1), web(1), clicked, db(2), opened(1)])).holds


def test_a_call_before_the_labelled_one_is_not_its_source() -> None:
    path = ["login", opt(SEARCH), OPEN]
    assert not compare(path, Trace.from_calls([web(1), "login", opened(1)])).holds
    assert compare(path, Trace.from_calls(["login", web(1), opened(1)])).holds


@pytest.mark.parametrize(
    ("path", "run"),
    [
        ([any_of(SEARCH, DB), OPEN], [web(1), db(2), opened(2)]),
        ([opt(SEARCH), OPEN], [web(1), web(2), opened(2)]),
        ([any_of("web", SEARCH), OPEN], [web(1), opened(1)]),
        ([many(SEARCH, 1, 2), OPEN], [web(1), web(2), web(3), opened(3)]),
        ([opt(SEARCH), "web", OPEN], [web(1), web(2), opened(1)]),
        ([SEARCH, "web", call("open", x=not_(ref("s.output.v")))], [web(1), web(2), web(3), opened(1)]),
    ],
)
def test_the_call_is_searched_that_makes_the_values_fit(path: Any, run: Run) -> None:
    assert compare(path, Trace.from_calls(list(run))).holds


def test_a_group_that_holds_the_label_may_take_calls_from_those_that_need_it() -> None:
    """Without the group two calls would agree, were there a source; with it, there is one, and one agrees."""
    group = opt(par(call("a", as_="y"), call("a", v=1, output=ref("y.arguments.v"), as_="y")))
    users = [call("a", v=ref("y.output")), call("a", v=ref("y.output")), call("a", v=ref("y.arguments.v"))]
    made = [{"name": "a", "arguments": {"v": v}, "output": output} for v, output in ((0, 1), (1, 0), (1, 2))]
    assert compare([group, *users], Trace.from_calls(made), mode="contains").coverage == 1 / 3


# Every pairing


@pytest.mark.hypothesis
@pytest.mark.parametrize("part", range(10))
def test_no_pairing_is_better_wherever_labels_stand(part: int) -> None:
    for number in range(CASES // 10):
        random = Random(f"{part}/{number}")
        pattern = drawn(random, random.choice([1, 2, 2]))
        while not 2 <= len(list(pattern.calls())) <= 5:
            pattern = drawn(random, random.choice([1, 2, 2]))
        pattern = seq(pattern, drawn_call(random, "open"))
        run = [drawn_made(random) for _ in range(random.randint(1, 5))]
        for mode in ("exact", "in_order", "any_order", "contains"):
            check(pattern, run, mode)


def check(pattern: Pattern, run: Run, mode: Mode) -> None:
    got = compare(expect(pattern), Trace.from_calls(list(run)), mode=mode)
    best, is_whole = Fraction(0), False
    for coverage, agreeing in outcomes(pattern, run, ordered=mode in ("exact", "in_order")):
        best = max(best, coverage)
        whole = mode in ("in_order", "contains") or agreeing == len(run)
        is_whole = is_whole or (coverage == 1 and whole)
    assert (got.coverage, got.holds) == (pytest.approx(float(best)), is_whole), (pattern, run, mode)


def outcomes(pattern: Pattern, run: Run, *, ordered: bool) -> Iterator[tuple[Fraction, int]]:
    """The coverage, and the number of calls that agree, of every alignment."""
    calls = list(pattern.calls())
    start = roles(pattern, iter(range(len(calls))), "required", ordered)
    for required, pairs in alignments(start, run, calls, 0, ordered):
        shares = [(role, agreement(calls[number], at, pairs, calls, run)) for number, at, role in pairs]
        if any(role != "required" and share < 1 for role, share in shares):
            continue
        total = sum((share for role, share in shares if role == "required"), Fraction(0))
        agreeing = sum(share == 1 for _, share in shares)
        yield (total / required if required else Fraction(1)), agreeing


Pairs = tuple[tuple[int, int, str], ...]


def alignments(
    term: Term, run: Run, calls: list[Call], position: int, ordered: bool
) -> Iterator[tuple[int, Pairs]]:
    """Every number of required calls from here on, with the pairs: an expected call, a position, a role."""
    if position == len(run):
        yield from ((count, ()) for count in end_counts(term))
        return
    yield from alignments(term, run, calls, position + 1, ordered)
    for number, role, skipped, rest in moves(term, ordered):
        if calls[number].name == run[position]["name"]:
            for count, pairs in alignments(rest, run, calls, position + 1, ordered):
                needed = skipped + (role == "required")
                yield count + needed, ((number, position, role), *pairs)


def agreement(expected: Call, position: int, pairs: Pairs, calls: list[Call], run: Run) -> Fraction:
    """How far a pair agrees where labels stand for what is paired with them, and agrees itself."""
    if not isinstance(expected.arguments, dict):
        return Fraction(1)
    made = run[position]["arguments"]
    keys = expected.arguments.keys() | made.keys()
    equal = 0
    for key, wanted in expected.arguments.items():
        is_negated = type(wanted) is NEGATION
        inner = wanted.value if is_negated else wanted
        if isinstance(inner, Ref):
            holds = any(
                run[at]["output"] is not None
                and run[at]["output"].get("v") == made.get(key)
                and agreement(calls[number], at, pairs, calls, run) == 1
                for number, at, _ in pairs
                if at < position and calls[number].label == inner.source
            )
        else:
            holds = inner == made.get(key)
        equal += key in made and holds != is_negated
    return Fraction(equal, len(keys)) if keys else Fraction(1)


def drawn(random: Random, depth: int) -> Pattern:
    if depth == 0 or random.random() < 0.25:
        return drawn_call(random, random.choice(["web", "web", "db", "open"]))
    inner = [drawn(random, depth - 1) for _ in range(random.randint(1, 3))]
    kind = random.randrange(6)
    if kind < 2:
        return seq(*inner)
    if kind == 2:
        return par(*inner)
    if kind == 3:
        distinct = [one for at, one in enumerate(inner) if one not in inner[:at]]
        return any_of(*distinct) if len(distinct) > 1 else seq(*distinct)
    return opt(inner[0] if len(inner) < 2 else seq(*inner)) if kind == 4 else many(inner[0], 1, 2)


def drawn_call(random: Random, name: str) -> Call:
    label = random.choice(["s", "t"])
    if name != "open":
        return call(name, as_=random.choice([None, label, label]))
    source: Any = ref(f"{label}.output.v")
    source = not_(source) if random.random() < 0.15 else source
    return call("open", x=source) if random.random() < 0.8 else call("open", x=source, y=random.randint(0, 1))


def drawn_made(random: Random) -> dict[str, Any]:
    value = random.randint(1, 2)
    return random.choice([web(value), web(value), db(value), opened(value), opened(value)])
