import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.evaluation.requirement import Requirement, check_requirements, parsed_requirements

WORDS = {"p": "passed", "f": "failed", "e": "errored", "n": "not_run"}


def report(*rows, values=None):
    """Each row is one example's trials: p passed, f failed, e errored; `values` are Tool Order's, by row."""
    return EvaluationReport(
        results=tuple(
            ScoringResult(
                example=Example(name=f"example {position + 1}"),
                outcome=WORDS[letter],
                position=position,
                scores=scores_of(values, position, trial),
            )
            for position, row in enumerate(rows)
            for trial, letter in enumerate(row)
        )
    )


def scores_of(values, position, trial):
    if values is None or values[position][trial] is None:
        return ()
    value = values[position][trial]
    if value == "skipped":
        return (Score.skipped("Tool Order", 0.5, "nothing to compare"),)
    return (Score.of("Tool Order", value, 0.5),)


def measured(text, *rows, **more):
    return Requirement.parse(text).measured(report(*rows, **more))


def test_pass_rate_is_the_share_of_all_results():
    assert measured("pass_rate >= 0.5", "pppp", "ffff") == 0.5


def test_pass_rate_weighs_examples_alike_whatever_their_number_of_trials():
    assert measured("pass_rate >= 0.5", "pppp", "f") == 0.5


def test_worst_pass_rate_is_that_of_the_worst_example():
    assert measured("worst_pass_rate >= 0.5", "pppp", "pfff", "ppff") == 0.25


def test_pass_hat_k_and_pass_at_k_are_means_over_examples():
    assert measured("pass^2 >= 0.5", "ppff", "pppp") == pytest.approx((1 / 6 + 1) / 2)
    assert measured("pass@2 >= 0.5", "ppff", "ffff") == pytest.approx((5 / 6 + 0) / 2)


def test_the_mean_of_a_scorer_counts_a_run_without_a_score_as_0_and_leaves_out_what_was_skipped():
    values = [[1.0, 0.5, None, "skipped"]]
    assert measured("mean(Tool Order) >= 0.5", "ppfp", values=values) == 0.5
    verdict = Requirement.parse("mean(Tool Order) >= 0.5").verdict(report("ppfp", values=values))
    assert "over 3 of 4, 1 without a score as 0" in str(verdict)


def test_the_pass_rate_of_a_scorer_is_its_own():
    values = [[1.0, 0.4, "skipped"], [1.0, 1.0, 1.0]]
    assert measured("pass_rate(Tool Order) >= 0.5", "fff", "fff", values=values) == 0.75


def test_a_scorer_may_be_low_on_purpose():
    assert Requirement.parse("mean(Tool Order) <= 0.1").holds(report("p", values=[[0.1]]))
    assert not Requirement.parse("mean(Tool Order) < 0.1").holds(report("p", values=[[0.1]]))


def test_a_scorer_s_name_may_have_brackets():
    assert Requirement.parse("mean(Tool Order (mode=exact)) >= 0.9").scorer == "Tool Order (mode=exact)"


def test_errored_results_did_not_pass():
    assert measured("pass_rate>=0.5", "pe") == 0.5


@pytest.mark.parametrize("letter", ["e", "n"])
def test_a_report_with_a_result_that_was_not_judged_meets_no_requirement(letter):
    for text in ("pass_rate >= 0", "mean(Tool Order) <= 1"):
        assert not Requirement.parse(text).holds(report("ppp" + letter))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("pass_rate >= 0.5", True),
        ("pass_rate > 0.5", False),
        ("pass_rate == 0.5", True),
        ("pass_rate >= .51", False),
    ],
)
def test_the_sign_says_how_it_compares(text, holds):
    assert Requirement.parse(text).holds(report("pf")) is holds


def test_a_rate_that_no_binary_fraction_is_meets_its_own_bound():
    for n in (3, 7, 10, 30):
        for passes in range(n + 1):
            text = f"{passes / n:.12f}"
            row = "p" * passes + "f" * (n - passes)
            assert Requirement.parse(f"pass_rate >= {text}").holds(report(row, row, row)), (passes, n)


@pytest.mark.parametrize(
    "text",
    ["", "0.8", "pass_rate", "pass_rate >= 1.2", "pass_rate <= 0.5", "pass_rate >= x", 0.8, "pass^2 < 1"],
)
def test_another_form_is_an_error(text):
    with pytest.raises(ConfigError, match="require is a line such as"):
        Requirement.parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("passrate >= 0.5", "no measure 'passrate'; did you mean 'pass_rate'"),
        ("pass^0 >= 0.5", r"no measure 'pass\^0'; did you mean 'pass\^3'"),
        ("pass^ >= 0.5", r"no measure 'pass\^'"),
        ("mean >= 0.5", r"mean is of a scorer, such as 'mean\(Tool Order\) >= 0.9'"),
        ("worst_pass_rate(Tool Order) >= 0.5", "worst_pass_rate is of whole results"),
    ],
)
def test_an_unknown_measure_is_an_error_with_a_suggestion(text, said):
    with pytest.raises(ConfigError, match=said):
        Requirement.parse(text)


def test_the_verdict_says_when_there_are_too_few_trials_to_tell():
    verdict = Requirement.parse("pass_rate >= 0.8").verdict(report("pppppppppp" + "ff"))
    assert verdict.holds
    assert verdict.unsure
    assert str(verdict) == (
        "pass_rate >= 0.8, got 0.833 (10 of 12; 95 % interval 0.55 to 0.95: too few trials to tell)"
    )


def test_the_verdict_of_many_trials_is_told_and_so_is_one_of_all_trials():
    many = Requirement.parse("pass_rate >= 0.8").verdict(report("p" * 60))
    assert str(many) == "pass_rate >= 0.8, got 1 (60 of 60; 95 % interval 0.94 to 1.00)"
    every = Requirement.parse("pass_rate == 1").verdict(report("ppp"))
    assert every.holds
    assert not every.unsure  # no number of trials could be sure of all


def test_the_worst_example_is_named():
    verdict = Requirement.parse("worst_pass_rate >= 0.5").verdict(report("pppp", "pfff"))
    assert "got 0.25 (1 of 4 of example 2; 95 % interval " in str(verdict)


def test_the_interval_of_pass_hat_k_of_one_example_is_that_of_its_rate_to_the_k():
    rate = Requirement.parse("pass_rate >= 0.5").verdict(report("ppppf")).measured.interval
    power = Requirement.parse("pass^3 >= 0.5").verdict(report("ppppf")).measured.interval
    assert power == pytest.approx((rate.low**3, rate.high**3))
    some = Requirement.parse("pass@3 >= 0.5").verdict(report("ppppf")).measured.interval
    assert some == pytest.approx((1 - (1 - rate.low) ** 3, 1 - (1 - rate.high) ** 3))


def test_an_example_with_fewer_trials_than_k_is_an_error_that_names_it():
    with pytest.raises(ConfigError, match=r"pass\^3 needs 3 trials of each example, and example 2 has 2"):
        measured("pass^3 >= 0.5", "ppp", "pp")


def test_one_line_a_list_and_none_are_read():
    one = Requirement.parse("pass_rate >= 0.5")
    assert parsed_requirements(None) == ()
    assert parsed_requirements("pass_rate >= 0.5") == parsed_requirements(["pass_rate >= 0.5"]) == (one,)
    assert parsed_requirements([one, "pass^2 > 0.1"])[0] is one


@pytest.mark.parametrize("require", [[], 0.8, {}])
def test_something_else_than_lines_is_an_error(require):
    with pytest.raises(ConfigError, match="or a list of them"):
        parsed_requirements(require)


def test_a_scorer_that_there_is_none_of_is_an_error_with_a_suggestion():
    with pytest.raises(ConfigError, match="there is no scorer 'Tool Ordr'; did you mean 'Tool Order'"):
        check_requirements(parsed_requirements("mean(Tool Ordr) >= 1"), ["Tool Order", "Exact Match"])


def test_fewer_trials_than_k_are_an_error():
    with pytest.raises(ConfigError, match=r"'pass\^3 >= 0.5' needs 3 trials of each example, got 2"):
        check_requirements(parsed_requirements("pass^3 >= 0.5"), [], 2)
