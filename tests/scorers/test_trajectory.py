import asyncio
from itertools import permutations

import pytest

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.expectations import any_of, approx, call, expect, opt, par, semantic
from agenttrace.scorers import TrajectoryScorer


def scored(expected, actual, metric="coverage", **options):
    scorer = TrajectoryScorer(metric=metric, expected=expected, **options)
    return scorer.score(Example(tools_called=list(actual)))


@pytest.mark.parametrize(
    ("metric", "value", "reason"),
    [
        ("coverage", 0.75, "coverage 0.75: agreement 3 over 4 expected calls (in_order)"),
        ("precision", 0.6, "precision 0.6: agreement 3 over 5 calls made (in_order)"),
        ("f1", 2 / 3, "f1 0.666667: 2·P·R / (P + R), P 0.6, R 0.75 (in_order)"),
        ("order", 0.75, "order 0.75: 3 of 4 expected calls in order, by name (in_order)"),
        ("args", 1.0, "args 1: mean agreement of the paired calls; 3 of 4 expected calls aligned (in_order)"),
        ("holds", 0.0, "holds 0: 3 of 4 expected calls aligned (in_order)"),
    ],
)
def test_each_metric_tells_its_arithmetic(metric, value, reason):
    score = scored(["a", "b", "c", "d"], "axbdx", metric)
    assert score.value == pytest.approx(value)
    assert score.reason == reason


@pytest.mark.parametrize("agreements", [(0.1, 0.2, 0.3), (0.1, 0.7, 0.1), (0.3, 0.3, 0.1)])
def test_whether_a_mean_reaches_its_threshold_does_not_depend_on_the_order_of_a_group(agreements):
    near = {
        name: {"x": lambda expected, actual, share=share: share}
        for name, share in zip("abc", agreements, strict=True)
    }
    run = [{"name": name, "arguments": {"x": 1}} for name in "abc"]
    for metric in ("coverage", "precision", "f1", "args"):
        groups = [par(*(call(name, x=1) for name in names)) for names in permutations("abc")]
        scores = [scored(group, run, metric, comparators=near) for group in groups]
        assert len({score.value for score in scores}) == 1
        threshold = sum(agreements) / 3
        again = [scored(group, run, metric, comparators=near, threshold=threshold) for group in groups]
        assert len({score.outcome for score in again}) == 1


def test_all_metrics_are_in_the_details():
    details = scored(["a", "b"], "ax").details
    assert (details["coverage"], details["precision"], details["f1"], details["order"]) == (
        0.5,
        0.5,
        0.5,
        0.5,
    )


def test_arguments_count_by_how_far_they_agree():
    expected = [call("a", x=1, y=1)]
    actual = [{"name": "a", "arguments": {"x": 1, "y": 2}}]
    assert scored(expected, actual, "args").value == 0.5
    assert scored(expected, actual, "coverage").value == 0.5
    assert scored(expected, actual, "coverage", parameters="ignore").value == 1.0


def test_patterns_of_any_kind():
    path = call("login") >> par("hotel", "flight") >> opt("seat") >> any_of("card", "later")
    assert scored(path, ["login", "flight", "hotel", "later"], "holds", mode="exact").value == 1.0
    assert scored(path, ["login", "flight", "later"], "coverage").value == 0.75


def test_a_constraint_that_does_not_hold_makes_it_0_and_has_a_row():
    score = scored(expect(["a"], never="delete_*"), ["a", "delete_b"])
    assert score.value == 0.0
    assert "0 because a constraint does not hold" in score.reason
    (check,) = score.details["checks"]
    assert (check["held"], check["severity"]) == (False, "fail")
    assert "delete_b" in score.diff


def test_a_warning_does_not_fail():
    score = scored(expect(["a"], never="b", severity="warn"), "ab")
    assert (score.value, score.details["checks"][0]["held"]) == (1.0, False)


@pytest.mark.parametrize("metric", ["holds", "coverage", "precision", "f1", "order", "args"])
def test_constraints_without_a_path_hold_or_do_not(metric):
    assert scored(expect(max_calls=2), "ab", metric).value == 1.0
    assert scored(expect(max_calls=1), "ab", metric).value == 0.0


@pytest.mark.parametrize("metric", ["holds", "coverage", "precision", "f1", "order", "args"])
def test_nothing_expected_is_right_where_nothing_was_called(metric):
    assert scored([], [], metric).value == 1.0
    score = scored([], "ab", metric)
    assert score.value == 0.0
    assert "no calls expected, 2 made: a, b" in score.reason


def test_what_is_right_has_no_diff():
    assert scored(["a"], "a").diff is None
    assert scored(["a", "b"], "a").diff is not None


def test_the_example_s_expected_tools_are_expected_by_default():
    assert TrajectoryScorer().score(Example(expected_tools=["a"], tools_called=["a"])).value == 1.0
    with pytest.raises(ScorerError, match="needs an expectation"):
        TrajectoryScorer().check(Example())


def test_a_judge_decides_what_a_value_means():
    asked = []

    async def ask(text, value):
        asked.append((text, value))
        return True

    expected = [call("mail", body=semantic("mentions the date"))]
    actual = [{"name": "mail", "arguments": {"body": "See you on 1 June."}}]
    score = asyncio.run(_awaited(scored(expected, actual, ask=ask)))
    assert score.value == 1.0
    assert asked == [("mentions the date", "See you on 1 June.")]


async def _awaited(score):
    return await score


def test_without_a_judge_a_meaning_is_an_error():
    with pytest.raises(ScorerError, match="judge"):
        scored([call("mail", body=semantic("x"))], [{"name": "mail", "arguments": {"body": "y"}}])


def test_unknown_words_are_refused_with_a_suggestion():
    with pytest.raises(ScorerError, match="did you mean 'coverage'"):
        TrajectoryScorer(metric="coverge")
    with pytest.raises(ExpectationError):
        TrajectoryScorer(expected=[{"tol": "a", "x": 1}])


def test_the_threshold_decides_over_graded_values():
    assert scored([call("a", n=approx(1)), "b"], [{"name": "a", "arguments": {"n": 1}}], threshold=0.5).passed
