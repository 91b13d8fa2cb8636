"""An example's own scorers and thresholds."""

import pytest

from agenttrace import Example, ScorerError
from agenttrace.judges import FaithfulnessScorer, FakeChatModel
from agenttrace.scorers import ExactMatchScorer, ToolCallOrderScorer, ToolOrderScorer
from agenttrace.scoring.example_scorers import check_example_scorers, scorers_of_example

SUITE = (ToolOrderScorer(exact_match=True), ExactMatchScorer())


def own(*entries, **options):
    return scorers_of_example(Example(scorers=list(entries)), SUITE, **options)


def test_an_example_without_scorers_has_those_of_the_suite():
    assert scorers_of_example(Example(), SUITE) == SUITE


@pytest.mark.parametrize(
    "entry",
    [
        "ToolOrder:threshold=0.5",
        {"ToolOrder": {"threshold": 0.5}},
        {"Tool Order": {"threshold": 0.5}},
        {"tool_order_scorer": {"threshold": 0.5}},
    ],
)
def test_a_threshold_alone_changes_the_suite_s_scorer_for_this_example_and_nothing_else(entry):
    first, second = own(entry)
    assert (first.name, first.threshold, first.strict) == ("Tool Order", 0.5, True)
    assert second is SUITE[1]
    assert SUITE[0].threshold == 1.0


def test_other_options_make_the_scorer_anew_in_its_place():
    first, second = own({"ToolOrder": {"parameters": "ignore"}})
    assert (first.parameters, first.strict) == ("ignore", False)
    assert second is SUITE[1]


def test_a_name_alone_adds_what_the_suite_does_not_have_and_changes_nothing_else():
    assert own("ToolOrder") == SUITE
    assert isinstance(own("ToolCallOrder")[2], ToolCallOrderScorer)


def test_a_scorer_of_another_name_is_added():
    added = own({"ToolOrder": {"name": "Strict", "exact_match": True}})
    assert [scorer.name for scorer in added] == ["Tool Order", SUITE[1].name, "Strict"]
    suite = (ToolOrderScorer(name="A"), ToolOrderScorer(name="B"))
    several = scorers_of_example(Example(scorers=["ToolOrder:name=C"]), suite)
    assert [scorer.name for scorer in several] == ["A", "B", "C"]


def test_of_two_entries_for_one_scorer_the_later_one_holds():
    assert own("ToolOrder:threshold=0.5", "ToolOrder:threshold=0.7")[0].threshold == 0.7


def test_a_judge_that_an_example_names_gets_the_model_of_the_run():
    model = FakeChatModel(["{}"])
    (judge,) = scorers_of_example(Example(scorers=["Faithfulness"]), (), model)
    assert isinstance(judge, FaithfulnessScorer)
    assert judge.model is model


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("ToolOdrer", "did you mean 'ToolOrderScorer'"),
        ("ToolOrder:threshold=2", "threshold is a number from 0 to 1"),
        ({"ToolOrder": {"exact": True}}, "did you mean 'exact_match'"),
        ({"ToolOrder": {"exact_match": "no"}}, "exact_match is true or false"),
        ("ToolCallCount", "needs the option 'counts'"),
    ],
)
def test_what_makes_no_scorer_is_an_error_with_the_example_s_place(entry, message):
    example = Example.from_dict({"scorers": [entry]}, source="refunds.yaml:7")
    with pytest.raises(ScorerError, match=message) as caught:
        scorers_of_example(example, SUITE)
    assert str(caught.value).startswith("refunds.yaml:7: scorers[0]: ")


def test_options_are_checked_before_the_suite_is_known():
    check_example_scorers([Example(scorers=["Anything:threshold=0.5", "ToolOrder"])])
    with pytest.raises(ScorerError, match="did you mean 'exact_match'"):
        check_example_scorers([Example(scorers=[{"ToolOrder": {"exact": True}}])])
