"""What a report says of its scorers, its examples and its tags together."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.evaluation import Requirement
from agenttrace.statistics import wilson_interval


def scored(value: float, name: str = "Order") -> Score:
    return Score.of(name, value, 0.5)


def report(*rows: str, tags: dict[int, object] | None = None) -> EvaluationReport:
    """Each row is one example's trials: p passed, f failed, e errored; each with a score of 1 or 0, or
    none."""
    words = {"p": "passed", "f": "failed", "e": "errored"}
    return EvaluationReport(
        results=tuple(
            ScoringResult(
                example=Example(
                    name=f"example {place}",
                    additional_metadata={"tags": (tags or {}).get(place)} if tags else None,
                ),
                outcome=words[letter],  # type: ignore[arg-type]
                position=place,
                scores=() if letter == "e" else (scored(float(letter == "p")),),
                trial=trial,
                trials=len(row),
            )
            for place, row in enumerate(rows)
            for trial, letter in enumerate(row, 1)
        )
    )


def test_each_example_has_its_rate_with_an_interval_pass_at_k_and_pass_hat_k() -> None:
    one, other = report("pppf", "ffff").summary().examples
    assert (one.name, one.trials, one.outcomes) == ("example 0", 4, {"passed": 3, "failed": 1})
    assert one.pass_rate.value == 0.75
    assert one.pass_rate.interval == wilson_interval(3, 4)
    assert one.pass_at == {1: 0.75, 2: 1.0, 3: 1.0, 4: 1.0}
    assert one.pass_hat == {1: 0.75, 2: 0.5, 3: 0.25, 4: 0.0}
    assert other.pass_hat == {1: 0.0, 2: 0.0, 3: 0.0, 4: 0.0}
    assert str(one.means["Order"]) == "0.75 over 4 of 4"


def test_pass_hat_k_of_a_report_is_the_mean_over_examples_for_every_k_that_all_have_trials_for() -> None:
    summary = report("pppf", "pp").summary()
    assert summary.pass_hat == {1: pytest.approx(0.875), 2: pytest.approx(0.75)}
    assert summary.pass_at == {1: pytest.approx(0.875), 2: 1.0}
    assert summary.pass_rate.value == pytest.approx(0.875)
    assert (summary.pass_rate.passed, summary.pass_rate.total) == (5, 6)


def test_a_scorer_has_its_mean_with_counts_and_an_error_clustered_by_example() -> None:
    (order,) = report("pp", "ff", "pe").summary().scorers
    assert str(order.mean) == "0.6 over 5 of 6"
    assert order.outcomes == {"passed": 3, "failed": 2}
    assert order.gate
    assert order.standard_error == pytest.approx((2.24 * 3 / 2) ** 0.5 / 5)
    assert (order.pass_rate.passed, order.pass_rate.total) == (3, 6)  # what errored passed nothing


def test_trials_of_one_example_that_agree_make_an_interval_no_narrower_than_its_examples_do() -> None:
    single, repeated = report("p", "f", "p", "p").summary(), report("pp", "ff", "pp", "pp").summary()
    assert repeated.pass_rate.interval == pytest.approx(single.pass_rate.interval, abs=0.01)
    assert repeated.standard_error == pytest.approx(single.standard_error)


@pytest.mark.parametrize("tags", ["paid", ["paid"], ("paid",)])
def test_a_tag_has_the_examples_that_bear_it(tags: object) -> None:
    (paid,) = report("pp", "pf", "ff", tags={0: tags, 1: tags}).summary().tags
    assert (paid.tag, paid.examples) == ("paid", 2)
    assert (paid.pass_rate.passed, paid.pass_rate.total) == (3, 4)
    assert str(paid.scorers[0].mean) == "0.75 over 4 of 4"


def test_a_scorer_without_any_value_says_so_and_a_skipped_score_is_no_trial_of_it() -> None:
    skipped = Score.skipped("Order", 0.5, "nothing to compare")
    broken = Score.errored("Judge", 0.5, "broke")
    results = (
        ScoringResult(example=Example(), outcome="passed", scores=(skipped, broken)),
        ScoringResult(example=Example(), outcome="passed", scores=(scored(1.0), broken), position=1),
    )
    order, judge = EvaluationReport(results=results).summary().scorers
    assert (order.pass_rate.passed, order.pass_rate.total) == (1, 1)
    assert judge.mean is None
    assert judge.to_dict()["count"] == 0


def test_a_report_without_results_is_summed_up_too() -> None:
    summary = report().summary()
    assert (summary.pass_rate.value, summary.pass_rate.interval) == (0.0, (0.0, 1.0))
    assert summary.pass_hat == {}


def test_the_data_is_json_and_the_text_has_a_line_for_each_scorer_and_tag() -> None:
    summary = report("pppf", "ffff", tags={0: "paid"}).summary()
    assert json.loads(json.dumps(summary.to_dict()))["examples"][0]["pass_hat"]["2"] == 0.5
    first, *rest = str(summary).splitlines()
    assert first.startswith("pass rate 0.375 (3 of 8; 95 % interval ")
    assert rest[0] == "pass^k 1: 0.375, 2: 0.25, 3: 0.125, 4: 0"
    assert rest[1].startswith("Order: mean 0.375 over 8 of 8, standard error 0.3")
    assert rest[2].startswith("tag paid: pass rate 0.75 (3 of 4; ")


def test_a_scorer_of_single_examples_is_measured_over_those_alone() -> None:
    shared, own = scored(1.0), scored(1.0, "Own")
    rows = [(shared,), (shared, own), ()]
    results = tuple(
        ScoringResult(example=Example(), outcome="passed", position=place, scores=scores)
        for place, scores in enumerate(rows)
    )
    made = EvaluationReport(results=results)
    assert {name: repr(mean) for name, mean in made.means.items()} == {
        "Order": "1.0 over 2 of 3",
        "Own": "1.0 over 1 of 2",
    }
    rates = {one.name: (one.pass_rate.passed, one.pass_rate.total) for one in made.summary().scorers}
    assert rates == {"Order": (2, 3), "Own": (1, 2)}
    verdicts = [Requirement.parse(f"{word}(Own) >= 0.5").verdict(made) for word in ("mean", "pass_rate")]
    assert [verdict.measured.value for verdict in verdicts] == [0.5, 0.5]
    assert verdicts[0].measured.counts == "over 2 of 2, 1 without a score as 0"
    passing = EvaluationReport(results=results[:2])
    assert Requirement.parse("mean(Own) >= 1").holds(passing)
    assert Requirement.parse("pass_rate(Own) >= 1").holds(passing)


def test_an_interrupted_run_did_not_pass_whatever_its_results_say() -> None:
    whole = report("pp")
    assert whole.passed
    assert not replace(whole, metadata={"interrupted": True}).passed
