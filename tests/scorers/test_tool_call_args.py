import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.expectations import approx
from agenttrace.scorers import ToolCallArgsScorer


def call(name, **args):
    return {"name": name, "args": args}


def scored(expected, actual, **options):
    return ToolCallArgsScorer(expected, **options).score(Example(tools_called=actual))


def test_the_score_is_the_share_of_expected_calls_that_are_matched():
    score = scored([call("a", x=1), call("b", y=2)], [call("b", y=2), call("a", x=9), call("c")])
    assert score.value == 0.5
    assert score.reason == "1 of 2 expected calls matched"


def test_the_details_tell_each_expected_call_with_what_parts_it_from_the_nearest():
    score = scored([call("a", x=1, y=1), call("b"), call("gone")], [call("b"), call("a", x=1, y=9, z=0)])
    first, second, third = score.details["calls"]
    assert (first["number"], first["matched"], first["call"]["index"]) == (1, False, 1)
    assert [(d["path"], d["kind"]) for d in first["differences"]] == [("y", "differs"), ("z", "unexpected")]
    assert (second["matched"], second["differences"]) == (True, [])
    assert (third["matched"], third["call"]) == (False, None)


def test_the_pairing_is_the_best_and_not_the_first():
    expected = [call("t", x=1), call("t", x=1, y=2)]
    actual = [call("t", x=1, y=2), call("t", x=1)]
    for mode in ("exact", "listed"):
        assert scored(expected, actual, mode=mode).value == 1.0
        assert scored(expected[::-1], actual, mode=mode).value == 1.0


def test_each_actual_call_serves_one_expected_call():
    assert scored([call("a", x=1)] * 2, [call("a", x=1)]).value == 0.5
    assert scored([call("a", x=1)] * 2, [call("a", x=1)] * 2).value == 1.0


def test_listed_arguments_agree_at_any_depth_and_others_are_free():
    actual = [call("a", x={"deep": 1, "more": 2}, y=3)]
    assert scored([call("a", x={"deep": 1})], actual).value == 0.0
    assert scored([call("a", x={"deep": 1})], actual, mode="listed").value == 1.0


def test_no_arguments_are_not_any_arguments():
    assert scored([call("a")], [call("a", x=1)]).value == 0.0
    assert scored([call("a")], [call("a", x=1)], mode="listed").value == 1.0
    assert scored([{"name": "a"}], [call("a", x=1)]).value == 1.0


def test_strict_is_all_or_nothing():
    score = scored([call("a"), call("b")], [call("a")], strict=True)
    assert (score.value, score.strict) == (0.0, True)
    assert score.reason == "1 of 2 expected calls matched; strict: 0 unless all"


def test_nothing_expected_is_right_where_nothing_was_called():
    assert scored([], []).value == 1.0
    score = scored([], [call("a")])
    assert (score.value, score.reason) == (0.0, "no calls expected, 1 made: a")


def test_values_are_typed_and_may_be_matchers():
    actual = [call("a", n=1.0000001)]
    assert scored([call("a", n=approx(1))], actual).value == 1.0
    assert scored([call("a", n=True)], [call("a", n=1)]).value == 0.0
    assert scored([call("a", n=1)], [call("a", n=1.0)]).value == 1.0


def test_comparators_compare_single_parameters():
    def rough(expected, actual):
        return expected.lower() == actual.lower()

    options = {"comparators": {"a": {"q": rough}}}
    assert scored([call("a", q="PARIS")], [call("a", q="paris")], **options).value == 1.0
    score = scored([call("a", q="Rome")], [call("a", q="paris")], **options)
    (row,) = score.details["calls"]
    assert (score.value, row["differences"][0]["note"]) == (0.0, "by rough")


def test_arguments_are_bound_as_the_tool_takes_them():
    tool = ToolDefinition(name="pay", parameters=(Parameter(name="id"), Parameter(name="tip", default=0)))
    trace = Trace(Trace.from_calls([call("pay", id=7, tip=0)]).spans, tools={"pay": tool})
    assert ToolCallArgsScorer([call("pay", id=7)]).score(Example(), trace).value == 1.0
    with pytest.raises(ExpectationError, match="did you mean 'tip'"):
        ToolCallArgsScorer([call("pay", id=7, tp=1)]).score(Example(), trace)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([{"nmae": "a"}], ExpectationError, "nmae"),
        ([{"name": "a", "args": [1]}], ExpectationError, "mapping of names to values"),
        ([{"name": "a", "agrs": {}}], ExpectationError, "did you mean 'args'"),
    ],
)
def test_calls_that_cannot_be_understood_are_refused_when_built(given, error, said):
    with pytest.raises(error, match=said):
        ToolCallArgsScorer(given)


def test_an_unknown_mode_is_refused():
    with pytest.raises(ScorerError, match="'exact' or 'listed', got 'subset'"):
        ToolCallArgsScorer([], mode="subset")


def test_the_example_s_expected_tools_are_expected_by_default():
    example = Example(expected_tools=["a", call("b", x=1)], tools_called=["a", call("b", x=1)])
    assert ToolCallArgsScorer().score(example).value == 1.0
    with pytest.raises(ScorerError, match="needs to be told"):
        ToolCallArgsScorer().check(Example())


calls = st.lists(st.builds(call, st.sampled_from("ab"), x=st.integers(0, 2), y=st.integers(0, 1)), max_size=6)


@given(calls, calls, st.randoms())
def test_the_order_of_neither_side_changes_the_score(expected, actual, random):
    value = scored(expected, actual).value
    for side in (expected, actual):
        random.shuffle(side)
    assert scored(expected, actual).value == value


@given(calls)
def test_a_run_that_is_its_own_expectation_scores_1(run):
    assert scored(run, run).value == 1.0
