import asyncio
from decimal import Decimal
from fractions import Fraction

import pytest

from agenttrace import Example, run_evaluation
from agenttrace.core.errors import ScorerError
from agenttrace.core.protocols import Scorer
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.scorers import ToolOrderScorer, scorer

EXAMPLE = Example(
    input="a question",
    actual_output="a polite answer",
    expected_output="an answer",
    context=["c"],
    retrieval_context=["r"],
    expected_tools=["a"],
    additional_metadata={"k": 1},
)
RUN = Trace.from_calls(["a", "b"], output="of the run")


def test_a_plain_function_is_a_scorer():
    @scorer
    def politeness(actual_output):
        return "polite" in actual_output

    assert isinstance(politeness, Scorer)
    assert (politeness.name, politeness.threshold) == ("politeness", 0.5)
    score = politeness.score(EXAMPLE, RUN)
    assert (score.name, score.value, score.outcome) == ("politeness", 1.0, "passed")
    assert politeness("rude") is False


def test_an_async_function_is_a_scorer():
    @scorer(name="Brevity", threshold=0.8)
    async def short(output):
        await asyncio.sleep(0)
        return 0.75, f"{len(output)} characters"

    score = asyncio.run(short.score(EXAMPLE, RUN))
    assert (score.name, score.value, score.outcome, score.reason) == (
        "Brevity",
        0.75,
        "failed",
        "15 characters",
    )


def test_a_function_gets_what_it_asks_for():
    got = {}

    @scorer
    def curious(
        example, trace, input, actual_output, output, expected_output, expected, context,  # noqa: A002
        retrieval_context,
        expected_tools, tool_calls, metadata, factor=2, *args, **kwargs,
    ):  # fmt: skip
        got.update(locals())
        return 1

    curious.score(EXAMPLE, RUN)
    assert got["example"] is EXAMPLE
    assert got["trace"] is RUN
    assert [call.name for call in got["tool_calls"]] == ["a", "b"]
    assert got["actual_output"] == got["output"] == "a polite answer"
    assert got["expected_output"] == got["expected"] == "an answer"
    assert (got["input"], got["context"], got["retrieval_context"]) == ("a question", ["c"], ["r"])
    assert (got["expected_tools"], got["metadata"], got["factor"]) == (["a"], {"k": 1}, 2)


def test_the_trace_s_output_stands_for_a_missing_one():
    @scorer
    def said(output):
        return output == "of the run"

    assert said.score(Example(), RUN).value == 1.0


def test_calls_come_from_the_example_where_nothing_was_recorded():
    @scorer
    def few(tool_calls):
        return 1 / len(tool_calls)

    assert few.score(Example(tools_called=["a", "b"])).value == 0.5
    with pytest.raises(ScorerError, match="nothing says what was called"):
        few.score(Example())


@pytest.mark.parametrize(
    ("returned", "value", "reason"),
    [(1, 1.0, ""), (0.25, 0.25, ""), (True, 1.0, ""), (False, 0.0, ""), ((True, "good"), 1.0, "good")],
)
def test_what_a_function_may_return(returned, value, reason):
    score = scorer(name="x")(lambda: returned).score(EXAMPLE, RUN)
    assert (score.value, score.reason) == (value, reason)


def test_a_score_of_its_own_keeps_its_threshold_and_gets_the_name():
    made = scorer(name="mine")(lambda: Score.of("other", 0.3, 0.2, reason="r"))
    score = made.score(EXAMPLE, RUN)
    assert (score.name, score.threshold, score.outcome, score.reason) == ("mine", 0.2, "passed", "r")


@pytest.mark.parametrize("returned", [None, "1", [1], (1, 2), {"value": 1}])
def test_what_is_no_score_is_an_error_that_says_what_is_wanted(returned):
    with pytest.raises(ScorerError, match="wanted a number from 0 to 1"):
        scorer(name="x")(lambda: returned).score(EXAMPLE, RUN)


@pytest.mark.parametrize("returned", [2, -0.1, float("nan")])
def test_a_number_out_of_range_is_an_error(returned):
    with pytest.raises(ValueError, match="from 0 to 1"):
        scorer(name="x")(lambda: returned).score(EXAMPLE, RUN)


def test_a_parameter_that_is_taken_by_position_only_is_refused():
    def by_position(output, /):
        return 1.0

    with pytest.raises(ScorerError, match="takes 'output' by position only"):
        scorer(by_position)


def test_parameters_that_take_whatever_comes_are_given_nothing():
    def of_all(*context, **metadata):
        return not context and not metadata

    assert scorer(of_all).score(EXAMPLE, RUN).value == 1.0


def test_a_parameter_that_nothing_gives_is_refused_with_a_suggestion():
    with pytest.raises(ScorerError, match="asks for 'actual_ouput'; did you mean 'actual_output'"):

        @scorer
        def misspelt(actual_ouput):
            return 1


def test_a_threshold_out_of_range_is_refused():
    with pytest.raises(ScorerError, match="threshold"):
        scorer(threshold=5)(lambda: 1)


class WordCount:
    """A scorer that is a class of its own: no base class is needed."""

    name = "Word Count"
    threshold = 0.5

    def score(self, example, trace):
        words = len(str(example.actual_output).split())
        return Score.of(self.name, min(1.0, 3 / words), self.threshold, reason=f"{words} words")


class LenientOrder(ToolOrderScorer):
    """A scorer that changes one thing of another."""

    def score(self, example, trace):
        score = super().score(example, trace)
        return Score.of(self.name, max(score.value, 0.5), 0.5, reason=score.reason)


def test_own_classes_and_subclasses_score_in_an_evaluation():
    @scorer
    async def slow(output):
        return "polite" in output

    example = Example(actual_output="a polite answer", expected_tools=["z"], tools_called=["a"])
    report = run_evaluation([example], [WordCount(), LenientOrder(name="Lenient"), slow])
    (result,) = report
    assert [(score.name, score.value) for score in result.scores] == [
        ("Word Count", 1.0), ("Lenient", 0.5), ("slow", 1.0),
    ]  # fmt: skip


def test_a_function_that_breaks_makes_an_errored_score_and_not_a_failed_one():
    @scorer
    def broken(output):
        raise RuntimeError("oh")

    report = run_evaluation([Example(actual_output="x")], [broken])
    (score,) = report[0].scores
    assert (score.outcome, score.value) == ("errored", None)
    assert "RuntimeError: oh" in score.reason


@pytest.mark.parametrize("returned", [2, "high"], ids=str)
def test_whatever_a_function_returns_instead_of_a_score_is_the_same_error(returned):
    with pytest.raises(ScorerError, match=r"'x' returned .* wanted a number from 0 to 1"):
        scorer(name="x")(lambda: returned).score(EXAMPLE, RUN)


@pytest.mark.parametrize("value", [Decimal("0.75"), Fraction(3, 4), 0.75])
def test_any_number_of_the_standard_library_is_a_score(value):
    @scorer
    def three_quarters():
        return value

    score = three_quarters.score(Example(input="x"), None)
    assert (type(score.value), score.value) == (float, 0.75)


@pytest.mark.parametrize("value", [Decimal("2"), Decimal("sNaN"), Fraction(10**400), Fraction(-1, 2)])
def test_a_number_that_is_not_from_0_to_1_is_none(value):
    @scorer
    def odd():
        return value

    with pytest.raises(ScorerError, match="wanted a number from 0 to 1"):
        odd.score(Example(input="x"), None)


def test_numbers_and_flags_of_numpy_are_scores():
    numpy = pytest.importorskip("numpy")

    for value, number in ((numpy.float32(0.5), 0.5), (numpy.bool_(1), 1.0), (numpy.int64(1), 1.0)):
        assert scorer(lambda value=value: value, name="n").score(Example(input="x"), None).value == number
