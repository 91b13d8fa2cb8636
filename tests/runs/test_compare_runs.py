"""What became of each example between two runs, and whether it may be chance."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.run_comparison import CHANGE_KINDS, ExampleRecord, RunRecord
from agenttrace.runs.compare import compare_runs
from agenttrace.statistics.rates import fisher_exact

LETTERS = {"p": "passed", "f": "failed", "e": "errored", "n": "not_run"}


def example(outcomes, name=None, fingerprint="f", example_id=None, **values):
    return ExampleRecord(
        name=name,
        fingerprint=fingerprint,
        example_id=example_id,
        outcomes=tuple(LETTERS[letter] for letter in outcomes),
        values={name.replace("_", " "): tuple(each) for name, each in values.items()},
    )


def run(*examples, label="a run", **more):
    scorers = dict.fromkeys(name for each in examples for name in each.values)
    return RunRecord(label=label, examples=examples, scorers=tuple(scorers), **more)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("p", "p", "same"),
        ("f", "f", "same"),
        ("p", "f", "worse"),
        ("ppp", "fff", "worse"),
        ("ppp", "ppf", "less_stable"),
        ("p", "ppf", "less_stable"),
        ("pppppppp", "pfffffff", "worse"),
        ("pf", "ff", "lower_rate"),
        ("pppf", "ppff", "lower_rate"),
        ("ppff", "pppf", "higher_rate"),
        ("ff", "pf", "higher_rate"),
        ("pf", "pppfff", "same"),
        ("pppppppf", "ffffffff", "worse"),
        ("f", "p", "better"),
        ("ff", "pp", "better"),
        ("ppf", "ppp", "steadier"),
        ("fffffffp", "pppppppp", "better"),
        ("p", "e", "errored"),
        ("ppp", "ppe", "errored"),
        ("e", "e", "errored"),
        ("e", "p", "new"),
        ("n", "f", "new"),
        ("p", "n", "not_run"),
        ("pn", "pn", "same"),
    ],
)
def test_the_kind_of_a_change_follows_from_the_trials(before, after, kind):
    (change,) = compare_runs(run(example(before)), run(example(after))).changes
    assert change.kind == kind


@given(*[st.tuples(st.integers(0, 12), st.integers(0, 12))] * 2)
def test_every_pair_of_rates_has_the_kind_that_the_rule_gives(before, after):
    (bp, bf), (ap, af) = before, after
    one, other = run(example("p" * bp + "f" * bf)), run(example("p" * ap + "f" * af))
    kind = compare_runs(one, other).changes[0].kind
    backwards = compare_runs(other, one).changes[0].kind
    if not ap + af:
        assert kind == "not_run"
    elif not bp + bf:
        assert kind == "new"
    else:
        fell = ap * (bp + bf) < bp * (ap + af)
        assert (kind in ("worse", "less_stable", "lower_rate")) == fell
        assert (kind == "same") == (ap * (bp + bf) == bp * (ap + af))
        assert (kind == "worse") == (fell and ((not bf and not ap) or fisher_exact(bp, bf, ap, af) < 0.05))
        mirror = {"worse": "better", "better": "worse"}
        assert kind not in mirror or backwards == mirror[kind]


def test_examples_are_matched_by_id_then_by_unique_name_then_by_fingerprint():
    before = run(
        example("p", "a", "1", example_id="x"),
        example("p", "b", "2"),
        example("p", "twice", "3"),
        example("p", "twice", "4"),
        example("p", None, "5"),
        example("p", "old name", "6"),
    )
    after = run(
        example("p", "renamed", "9", example_id="x"),
        example("f", "b", "8"),
        example("f", "twice", "4"),
        example("p", "twice", "3"),
        example("p", None, "5"),
        example("p", "new name", "6"),
    )
    comparison = compare_runs(before, after)
    assert comparison.matched_by == {"id": 1, "name": 1, "fingerprint": 4}
    assert [(c.kind, c.label, c.is_changed) for c in comparison.of_kind("worse")] == [
        ("worse", "b", True),
        ("worse", "twice", False),
    ]
    remedy = "not matched by it (trials of one example? evaluate them with trials_by='name')"
    assert comparison.duplicates == (f"2 examples of a run have the name 'twice': {remedy}",) * 2


def test_names_that_are_shared_are_one_line_for_each_run():
    many = run(*[example("p", f"task {n // 4}", str(n // 4)) for n in range(40)])
    (line, other) = compare_runs(many, many).duplicates
    assert line == other
    assert line.startswith("4 examples of a run have the name 'task 0', 9 more names are shared, too: not")


def test_equal_examples_are_matched_in_their_order_and_what_is_left_is_new_or_gone():
    comparison = compare_runs(run(example("p"), example("f")), run(example("p"), example("p"), example("p")))
    assert [c.kind for c in comparison.changes] == ["new", "better", "same"]
    assert [c.kind for c in compare_runs(run(example("p")), run()).changes] == ["gone"]
    assert [c.kind for c in compare_runs(run(example("p")), run(is_complete=False)).changes] == ["not_run"]


ROWS = st.lists(st.tuples(st.sampled_from("abc "), st.sampled_from("xy"), st.sampled_from("pfe")), max_size=8)


@given(ROWS, ROWS)
def test_every_example_of_both_runs_is_in_the_comparison_once(before, after):
    runs = [
        run(*[example(outcome, name.strip() or None, print_) for name, print_, outcome in rows])
        for rows in (before, after)
    ]
    changes = compare_runs(*runs).changes
    for side, record in zip(("before", "after"), runs, strict=True):
        listed = [getattr(change, side) for change in changes if getattr(change, side) is not None]
        assert sorted(map(id, listed)) == sorted(map(id, record.examples))
    order = [CHANGE_KINDS.index(change.kind) for change in changes]
    assert order == sorted(order)


def test_scores_that_are_better_when_lower_are_turned():
    before = run(example("p", "a", Noise=[0.1]), lower_is_better=frozenset({"Noise"}))
    after = run(example("p", "a", Noise=[0.4]), lower_is_better=frozenset({"Noise"}))
    (noise,) = compare_runs(before, after).scorers
    assert (round(noise.difference, 6), round(noise.gain, 6), noise.worse, noise.better) == (0.3, -0.3, 1, 0)


def test_means_are_over_the_examples_of_both_runs():
    before = run(example("p", "a", S=[1.0]), example("p", "b", "g", S=[0.0]))
    after = run(example("p", "a", S=[0.5, 1.0]), example("p", "c", "h", S=[0.0]))
    (scorer,) = compare_runs(before, after).scorers
    assert (scorer.before, scorer.after, scorer.pairs) == (1.0, 0.75, 1)


def test_too_few_changes_say_nothing_and_enough_do():
    def runs(changed):
        names = [str(number) for number in range(20)]
        before = run(*[example("p", name, S=[1.0]) for name in names])
        after = run(*[example("f" if n < changed else "p", name, S=[0.5 if n < changed else 1.0])
                      for n, name in enumerate(names)])  # fmt: skip
        return compare_runs(before, after)

    assert (runs(5).p_value, runs(5).scorers[0].p_value, runs(5).scorers[0].interval) == (None, None, None)
    six = runs(6)
    assert math.isclose(six.p_value, 0.03125)
    assert math.isclose(six.scorers[0].p_value, 0.03125)
    assert six.scorers[0].interval.high < 0


def test_a_scorer_of_one_run_alone_is_not_compared():
    comparison = compare_runs(run(example("p", "a", Old=[1.0])), run(example("p", "a", New=[0.5])))
    assert [(s.name, s.before, s.after, s.difference) for s in comparison.scorers] == [
        ("New", None, 0.5, None),
        ("Old", 1.0, None, None),
    ]


def test_a_comparison_as_data_is_json_without_reasons():
    before = run(example("p", "a", S=[1.0]))
    after = run(
        ExampleRecord(fingerprint="f", name="a", outcomes=("failed",), why="secret", values={"S": (0.0,)})
    )
    assert "secret" not in json.dumps(compare_runs(before, after).to_dict())


def rates(*passes, of=4, **more):
    """A run of as many examples, each of which passed so many of its trials."""
    return run(*[example("p" * n + "f" * (of - n), str(place)) for place, n in enumerate(passes)], **more)


def test_a_pass_rate_that_fell_over_all_examples_is_a_loss_though_no_example_alone_is_worse():
    comparison = compare_runs(rates(*[3] * 8, *[0] * 8), rates(*[2] * 8, *[0] * 8))
    assert (comparison.counts, comparison.regressions) == ({"lower_rate": 8, "same": 8}, ())
    rate = comparison.pass_rate
    assert (rate.before, rate.after, rate.worse, rate.better) == (0.375, 0.25, 8, 0)
    assert math.isclose(rate.p_value, 2 / 2**8)
    assert (rate.fell, comparison.losses, comparison.is_worse) == (True, (rate,), True)
    back = compare_runs(comparison.after, comparison.before)
    assert (back.counts, back.losses, back.is_worse) == ({"higher_rate": 8, "same": 8}, (), False)


def test_a_pass_rate_of_which_too_few_examples_differ_is_no_loss():
    comparison = compare_runs(rates(*[3] * 20), rates(*[2] * 5, *[3] * 15))
    assert (comparison.pass_rate.p_value, comparison.is_worse) == (None, False)


def test_losses_and_gains_that_may_be_chance_are_no_loss():
    comparison = compare_runs(rates(*[2] * 10), rates(*[1] * 6, *[3] * 4))
    assert comparison.pass_rate.p_value > 0.05
    assert not comparison.is_worse


def test_what_could_not_be_judged_is_in_no_pass_rate():
    comparison = compare_runs(
        run(example("pp", "a"), example("e", "b")), run(example("pe", "a"), example("p", "b"))
    )
    assert (comparison.pass_rate.pairs, comparison.pass_rate.after) == (1, 1.0)


def test_the_pass_rate_of_single_trials_is_tested_as_the_verdicts_are():
    before = run(*[example("p", str(n)) for n in range(80)])
    after = run(*[example("f" if n < 60 else "p", str(n)) for n in range(80)])
    comparison = compare_runs(before, after)
    assert comparison.pass_rate.p_value == comparison.p_value


def values(*numbers, **more):
    return run(*[example("p", str(n), S=[value]) for n, value in enumerate(numbers)], **more)


def test_the_mean_of_a_gating_scorer_that_fell_is_a_loss_and_of_one_that_informs_is_none():
    before, after = values(*[1.0] * 9), values(*[0.9, 0.8, 0.7] * 3)
    assert [loss.name for loss in compare_runs(before, after).losses] == ["S"]
    informs = frozenset({"S"})
    assert not compare_runs(before, values(*[0.9, 0.8, 0.7] * 3, informing=informs)).is_worse
    assert compare_runs(values(*[1.0] * 9, informing=informs), after).is_worse
    rose = compare_runs(before, values(*[0.9] * 9, lower_is_better=frozenset({"S"})))
    assert (rose.scorers[0].p_value < 0.05, rose.is_worse) == (True, False)


def test_a_mean_that_fell_by_one_outlier_while_nearly_all_rose_is_no_loss():
    before, after = values(*[0.5] * 15, 1.0), values(*[0.51] * 15, 0.0)
    (scorer,) = compare_runs(before, after).scorers
    assert (scorer.gain < 0, scorer.p_value < 0.05, scorer.fell) == (True, True, False)


def test_a_comparison_as_data_says_what_fell():
    data = compare_runs(rates(*[3] * 8), rates(*[2] * 8)).to_dict()
    assert (data["losses"], data["is_worse"], data["pass_rate"]["after"]) == (["pass rate"], True, 0.5)
