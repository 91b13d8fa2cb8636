import asyncio
import threading
from dataclasses import replace
from decimal import Decimal

import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.evaluation import run_evaluation
from agenttrace.scorers import ToolOrderScorer
from agenttrace.scoring.apply import apply_scorer
from agenttrace.scoring.isolation import carried
from tests.evaluation.evaluation_fakes import Answer, Does, scored
from tests.scoring.test_isolation import isolated


def score_of(function, timeout=60.0):
    """What the engine makes of a scorer, with another scorer beside it that must be left in peace."""
    (result,) = run_evaluation([Example()], [Does(function), Answer()], timeout=timeout)
    assert result.scores[1].passed
    return result.scores[0]


def test_a_scorer_may_be_plain_or_async():
    async def later(example, trace):
        await asyncio.sleep(0)
        return scored(0.75)

    for function in (
        lambda example, trace: scored(0.75),
        later,
        lambda example, trace: later(example, trace),
    ):
        score = score_of(function)
        assert (score.value, score.outcome) == (0.75, "passed")
        assert score.duration >= 0


def test_a_scorer_that_raises_gives_an_errored_score_with_its_traceback():
    def breaks(example, trace):
        raise ZeroDivisionError("no calls")

    score = score_of(breaks)
    assert (score.value, score.outcome) == (None, "errored")
    assert score.reason == "ZeroDivisionError: no calls"
    assert "in breaks" in score.error
    assert "isolation.py" not in score.error


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cost", Decimal("0.1")),
        ("cost", float("nan")),
        ("cost", 2**70),
        ("reason", None),
        ("name", 3),
        ("threshold", "high"),
        ("model", ["gpt"]),
        ("details", [1]),
        ("metadata", None),
        ("usage", "many"),
        ("diff", 1),
        ("error", ValueError()),
    ],
)
def test_a_score_that_no_store_could_keep_is_errored_and_names_the_field(field, value):
    score = score_of(lambda example, trace: replace(scored(1.0), **{field: value}))
    assert score.outcome == "errored"
    assert f"a Score whose {field} is {type(value).__name__}" in score.reason


def test_async_code_that_blocks_its_loop_costs_the_others_nothing():
    gate = threading.Event()

    class Blocks(Answer):
        name = "blocks"

        async def score(self, example, trace):
            gate.wait(60)
            return scored(1.0)

    class Fine(Answer):
        name = "fine"

        async def score(self, example, trace):
            await asyncio.sleep(0.01)
            return scored(1.0)

    async def both():
        with isolated() as isolation:
            blocking = asyncio.create_task(applied(Blocks(), Example(), Trace([]), isolation, 2))
            await asyncio.sleep(0.1)
            fine = await applied(Fine(), Example(), Trace([]), isolation, 2)
            gate.set()
            return await blocking, fine

    blocks, fine = asyncio.run(both())
    assert "no score within 2 s" in blocks.reason
    assert fine.outcome == "passed"


def test_an_error_of_ours_says_all_in_one_line():
    def lacks(example, trace):
        raise ScorerError("needs expected_output")

    score = score_of(lacks)
    assert (score.reason, score.error) == ("needs expected_output", "needs expected_output")


def test_an_expectation_that_only_the_run_shows_to_be_wrong_is_named_with_its_place():
    tools = {"refund": ToolDefinition(name="refund")}
    trace = Trace(Trace.from_calls(["refund"]).spans, tools=tools)
    written = Example.from_dict({"expected_tools": ["refnd"]}, source="refunds.yaml:12")
    for example, place in ((written, "refunds.yaml:12: "), (Example(expected_tools=["refnd"]), "")):
        score = score_at_once(ToolOrderScorer(), example, trace)
        assert score.outcome == "errored"
        assert score.reason == (
            f"the expectation cannot be used: {place}the expected tool 'refnd' is not among the recorded "
            "tools; did you mean 'refund'?"
        )
        assert score.error == score.reason


async def applied(scorer, example, trace, isolation, timeout):
    return await carried(apply_scorer(scorer, example, trace, isolation, timeout))


def score_at_once(scorer, example, trace):
    with isolated() as isolation:
        return asyncio.run(applied(scorer, example, trace, isolation, 5.0))


def test_an_exception_that_cannot_be_printed_is_still_an_errored_score():
    class Hostile(Exception):
        def __str__(self):
            raise RuntimeError

    def breaks(example, trace):
        raise Hostile

    assert score_of(breaks).outcome == "errored"


@pytest.mark.parametrize("leaving", [SystemExit, GeneratorExit])
def test_a_scorer_cannot_end_the_run(leaving):
    def leaves(example, trace):
        raise leaving

    assert leaving.__name__ in score_of(leaves).reason


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "returned NoneType None"),
        (0.7, "returned float 0.7; a scorer returns a Score"),
        (True, "returned bool True"),
        (Score(name="x", value=1.5, threshold=0.5, outcome="passed"), "returned the value 1.5"),
        (Score(name="x", value=float("nan"), threshold=0.5, outcome="passed"), "nan"),
        (Score(name="x", value=None, threshold=0.5, outcome="passed"), "passed Score with the value None"),
        (Score(name="x", value=0.0, threshold=0.5, outcome="passed"), "the value 0.0 and threshold 0.5"),
        (Score(name="x", value=0.5, threshold=0.5, outcome="failed"), "the three agree where Score.of"),
        (Score(name="x", value=True, threshold=0.5, outcome="passed"), "with the value True"),
        (Score(name="x", value=0.0, threshold=0.5, outcome="skipped"), "skipped Score with the value 0.0"),
        (
            Score(name="x", value=0.0, threshold=0.5, outcome="great"),
            "known: passed, failed, skipped, errored",
        ),
    ],
)
def test_nonsense_is_errored_never_a_score(value, said):
    score = score_of(lambda example, trace: value)
    assert (score.value, score.outcome) == (None, "errored")
    assert said in score.reason


def test_a_scorer_that_hangs_is_timed_out():
    release = threading.Event()

    async def never(example, trace):
        await asyncio.Event().wait()

    for function in (lambda example, trace: release.wait(60), never):
        score = score_of(function, timeout=0.1)
        assert score.outcome == "errored"
        assert "gave no score within 0.1 s" in score.reason
    release.set()


def test_a_scorer_that_starts_threads_is_no_trouble():
    def busy(example, trace):
        for _ in range(5):
            threading.Thread(target=lambda: None).start()
        return scored(1.0)

    assert score_of(busy).passed
