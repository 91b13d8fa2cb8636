"""The alignment is the best there is, whatever the shape of the expectation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.trace import Trace
from agenttrace.expectations import any_of, call, expect, many, opt, par, seq
from agenttrace.expectations.pattern import Pattern
from agenttrace.expectations.values import agreement
from agenttrace.matching import compare
from tests.expectations.strategies import (
    actual_runs,
    is_subsequence,
    language,
    mappings,
    multiset_words,
    ordered_terms,
    orders,
    terms,
    trace_of,
    words,
)


def weights(
    term: Pattern, run: list[dict[str, object]]
) -> tuple[list[dict[int, float]], set[tuple[int, int]]]:
    expected, before = orders(term)
    table = [
        {
            at: agreement(e.arguments, a["arguments"]) if isinstance(e.arguments, dict) else 1.0
            for at, a in enumerate(run)
            if a["name"] == e.name
        }
        for e in expected
    ]
    return table, before


def legal(term: Pattern, run: list[dict[str, object]], ordered: bool):  # type: ignore[no-untyped-def]
    table, before = weights(term, run)
    for mapping in mappings(len(table), len(run)):
        if any(at not in table[place] for place, at in mapping.items()):
            continue
        if ordered and any(a in mapping and b in mapping and mapping[a] > mapping[b] for a, b in before):
            continue
        yield [table[place][at] for place, at in mapping.items()]


@given(ordered_terms(4), actual_runs(4))
def test_the_total_agreement_equals_that_of_brute_force(term: Pattern, run: list[dict[str, object]]) -> None:
    count = len(list(term.calls()))
    for mode, ordered in (("in_order", True), ("contains", False)):
        best = max(sum(found) for found in legal(term, run, ordered))
        comparison = compare(expect(term), trace_of(run), mode=mode)  # type: ignore[arg-type]
        assert comparison.coverage == pytest.approx(best / count)


@given(ordered_terms(4), actual_runs(4))
def test_with_full_credit_the_number_of_full_matches_equals_that_of_brute_force(
    term: Pattern, run: list[dict[str, object]]
) -> None:
    best = max(sum(weight == 1 for weight in found) for found in legal(term, run, ordered=True))
    comparison = compare(expect(term), trace_of(run), credit="full")
    assert comparison.matched == best


@given(terms())
def test_exact_mode_accepts_just_the_language_of_the_term(term: Pattern) -> None:
    accepted = language(term, 4)
    for word in words(4, "ab"):
        assert compare(expect(term, mode="exact"), trace_of(word)).holds == (word in accepted), (term, word)


@given(terms())
def test_in_order_accepts_a_run_that_contains_a_word_of_the_language(term: Pattern) -> None:
    accepted = language(term, 4)
    for word in words(4, "ab"):
        wanted = any(is_subsequence(inner, word) for inner in accepted)
        assert compare(expect(term, mode="in_order"), trace_of(word)).holds == wanted, (term, word)


@given(terms())
def test_any_order_accepts_every_permutation_of_a_word_of_the_language(term: Pattern) -> None:
    accepted = {order for word in language(term, 3) for order in multiset_words(word)}
    for word in words(3, "ab"):
        assert compare(expect(term, mode="any_order"), trace_of(word)).holds == (word in accepted), (
            term,
            word,
        )


@given(terms(arguments=True), st.data())
def test_a_trajectory_of_the_expectation_itself_scores_one(term: Pattern, data: st.DataObject) -> None:
    run = data.draw(own_run(term))
    comparison = compare(expect(term, mode="exact"), trace_of(run))
    assert comparison.value == comparison.coverage == comparison.precision == comparison.f1 == 1.0


def own_run(term: Pattern) -> st.SearchStrategy[list[dict[str, object]]]:
    """A run that a term describes, drawn without the engine."""
    from agenttrace.expectations.pattern import AnyOf, Call, Many, Par, Seq

    @st.composite
    def draw_run(draw: st.DrawFn, term: Pattern) -> list[dict[str, object]]:
        if isinstance(term, Call):
            return [
                {"name": term.name, "arguments": term.arguments if isinstance(term.arguments, dict) else {}}
            ]
        if isinstance(term, AnyOf):
            return draw(draw_run(draw(st.sampled_from(term.parts))))
        if isinstance(term, Many):
            assert term.most is not None
            return [
                c for _ in range(draw(st.integers(term.least, term.most))) for c in draw(draw_run(term.part))
            ]
        assert isinstance(term, Seq | Par)
        runs = [draw(draw_run(part)) for part in term.parts]
        if isinstance(term, Seq):
            return [c for run in runs for c in run]
        merged: list[dict[str, object]] = []
        while any(runs):
            merged.append(draw(st.sampled_from([run for run in runs if run])).pop(0))
        return merged

    return draw_run(term)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.integers(0, 1)), max_size=5), st.randoms()
)
def test_the_order_in_which_an_unordered_group_is_listed_changes_nothing(drawn, random) -> None:  # type: ignore[no-untyped-def]
    expected = [call(name, {"x": x, "y": y}) for name, x, y in drawn] or [call("a")]
    shuffled = list(expected)
    random.shuffle(shuffled)
    run = [{"name": "a", "arguments": {"x": 1, "y": 0}}, {"name": "b", "arguments": {"x": 0}}] * 2
    one = compare(expect(par(*expected)), trace_of(run))
    two = compare(expect(par(*shuffled)), trace_of(run))
    assert (one.coverage, one.precision, one.matched) == (two.coverage, two.precision, two.matched)
    assert {c.index for c in one.extra} == {c.index for c in two.extra}


@given(ordered_terms(4), actual_runs(5), st.integers(0, 5))
def test_an_unrelated_extra_call_never_raises_precision(
    term: Pattern, run: list[dict[str, object]], at: int
) -> None:
    longer = [*run[:at], {"name": "unrelated", "arguments": {}}, *run[at:]]
    before, after = compare(expect(term), trace_of(run)), compare(expect(term), trace_of(longer))
    assert after.precision <= before.precision
    assert after.coverage == before.coverage


@given(st.lists(st.sampled_from("abcd"), max_size=7), st.lists(st.sampled_from("abcd"), max_size=7))
def test_order_is_the_share_of_the_longest_common_subsequence(e: list[str], a: list[str]) -> None:
    table = [[0] * (len(e) + 1) for _ in range(len(a) + 1)]
    for i, got in enumerate(a):
        for j, wanted in enumerate(e):
            table[i + 1][j + 1] = table[i][j] + 1 if got == wanted else max(table[i][j + 1], table[i + 1][j])
    expected = table[-1][-1] / len(e) if e else 1.0
    assert compare(e, trace_of(a), mode="contains").order == expected


def test_an_early_call_with_other_parameters_does_not_take_the_match() -> None:
    run = [{"name": "f", "arguments": {"x": 0}}, {"name": "f", "arguments": {"x": 1}}]
    comparison = compare([call("f", x=1)], trace_of(run))
    assert [pair.position for pair in comparison.pairs] == [1]


def test_ties_go_to_the_earliest_call() -> None:
    for expected in (["f"], par("f"), [par("f"), opt("z")], [call("f", {})]):
        assert [pair.position for pair in compare(expected, trace_of(["f", "f"])).pairs] == [0]


def test_the_pairing_of_an_unordered_group_is_not_greedy() -> None:
    run = [{"name": "a", "arguments": {"x": 1, "y": 2}}, {"name": "a", "arguments": {"x": 1}}]
    expected = par(call("a", {"x": 1}, match="listed"), call("a", {"x": 1, "y": 2}, match="listed"))
    assert compare(expected, trace_of(run)).holds


def test_a_seq_inside_par_may_interleave_with_its_neighbours() -> None:
    assert compare(expect(par(seq("a", "b"), seq("c", "d")), mode="exact"), trace_of("cabd")).holds
    assert not compare(expect(par(seq("a", "b"), seq("c", "d")), mode="exact"), trace_of("cbad")).holds


def test_a_required_call_takes_precedence_over_an_optional_one() -> None:
    assert compare(expect(opt("a") >> call("a"), mode="exact"), trace_of("a")).holds


def test_an_optional_group_counts_only_where_all_of_it_fits() -> None:
    group = expect(call("x") >> opt(seq("hold", "pay")), mode="exact")
    assert compare(group, trace_of(["x"])).holds
    assert compare(group, trace_of(["x", "hold", "pay"])).holds
    partly = compare(group, trace_of(["x", "hold"]))
    assert not partly.holds
    assert [one.name for one in partly.extra] == ["hold"]


def test_the_alternative_that_fits_best_wins() -> None:
    path = any_of("book_card", seq("hold", "pay_later"))
    assert compare(path, trace_of(["hold", "pay_later"])).holds
    assert compare(path, trace_of(["hold"])).coverage == 0.5


def test_repetition_without_limit_takes_every_call() -> None:
    comparison = compare(expect(many("a"), mode="exact"), trace_of("aaaa"))
    assert comparison.holds
    assert comparison.precision == 1.0


def test_a_repeated_group_is_taken_as_often_as_it_fits() -> None:
    path = expect(many(seq("a", "b"), 0, None), mode="exact")
    assert compare(path, trace_of("ababab")).holds
    assert not compare(path, trace_of("ababa")).holds


def test_alternatives_one_after_the_other_do_not_multiply() -> None:
    path = seq(*(any_of(f"a{n}", seq(f"b{n}", f"c{n}")) for n in range(9)))
    assert compare(path, trace_of(["a0"])).coverage == 1 / 9
    run = ["a0", *(f"{letter}{n}" for n in range(1, 9) for letter in "bc")]
    assert compare(expect(path, mode="exact"), trace_of(run)).holds


def test_sequences_that_differ_in_what_was_never_called_interleave_as_equals() -> None:
    path = par(*(seq("a", "b", f"c{n}") for n in range(12)))
    comparison = compare(path, trace_of("abababababababababab"))
    assert comparison.matched == 20
    assert comparison.required == 36


@pytest.mark.parametrize(
    ("mode", "run", "holds"),
    [
        ("exact", "ab", True), ("exact", "axb", False), ("exact", "ba", False),
        ("in_order", "axb", True), ("in_order", "ba", False),
        ("any_order", "ba", True), ("any_order", "bax", False), ("any_order", "a", False),
        ("contains", "xba", True), ("contains", "b", False),
        ("only", "b", True), ("only", "", True), ("only", "ax", False), ("only", "aa", False),
    ],
)  # fmt: skip
def test_what_each_mode_accepts(mode: str, run: str, holds: bool) -> None:
    comparison = compare(["a", "b"], trace_of(run), mode=mode)  # type: ignore[arg-type]
    assert comparison.holds is holds
    assert comparison.value == float(holds)


def test_lcs_mode_is_graded() -> None:
    assert compare(["a", "b", "c"], trace_of("acb"), mode="lcs").value == pytest.approx(2 / 3)


@pytest.mark.parametrize("mode", ["exact", "in_order", "any_order", "contains", "only", "lcs"])
def test_empty_against_empty_is_one_and_calls_where_none_are_expected_are_zero(mode) -> None:  # type: ignore[no-untyped-def]
    assert compare([], Trace.from_calls([]), mode=mode).value == 1.0
    unexpected = compare([], trace_of("ab"), mode=mode)
    assert unexpected.value == 0.0
    assert unexpected.aligned == "no calls expected, 2 made: a, b"


def test_a_path_of_options_alone_does_not_forbid_other_calls_in_order() -> None:
    assert compare([opt("a")], trace_of("x")).holds
    assert compare([any_of("a", seq())], trace_of("x")).holds
    assert not compare(expect([opt("a")], mode="exact"), trace_of("x")).holds


FAILING = st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=5)


@given(ordered_terms(4, arguments=False), FAILING)
def test_among_equal_alignments_one_with_the_most_calls_that_succeeded_is_taken(
    term: Pattern, made: list[tuple[str, bool]]
) -> None:
    """Then one with the earliest calls."""
    run: list[dict[str, object]] = [
        {"name": name, "arguments": {}, **({"error": "late"} if failed else {})} for name, failed in made
    ]
    for mode, ordered in (("in_order", True), ("contains", False)):
        best = max(
            (len(at), sum(not made[position][1] for position in at), -sum(at))
            for at in legal_positions(term, run, ordered)
        )
        pairs = compare(expect(term), trace_of(run), mode=mode).pairs  # type: ignore[arg-type]
        at = [pair.position for pair in pairs]
        assert (len(at), sum(not made[position][1] for position in at), -sum(at)) == best


def legal_positions(term: Pattern, run: list[dict[str, object]], ordered: bool):  # type: ignore[no-untyped-def]
    table, before = weights(term, run)
    for mapping in mappings(len(table), len(run)):
        if any(at not in table[place] for place, at in mapping.items()):
            continue
        if ordered and any(a in mapping and b in mapping and mapping[a] > mapping[b] for a, b in before):
            continue
        yield sorted(mapping.values())


def test_the_successful_retry_stands_for_a_call_and_not_the_failed_attempt() -> None:
    run = trace_of([{"name": "pay", "error": "late"}, {"name": "pay"}, {"name": "pay"}])
    for expected in (["pay"], [call("pay", {})], [par("pay")], call("pay") >> opt("ship")):
        (pair,) = compare(expected, run).pairs
        assert pair.position == 1
