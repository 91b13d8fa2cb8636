"""What ends an evaluation before all of it was run: settled trials, a budget, failures."""

import asyncio
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import (
    ConfigError,
    EvaluationFailed,
    Example,
    Tracer,
    assert_test,
    assert_test_async,
    run_evaluation,
)
from agenttrace.core.report import ScoringResult
from agenttrace.core.score import Score
from agenttrace.evaluation.budget import Budget, in_words
from agenttrace.evaluation.schedule import Schedule
from agenttrace.store import MemoryStore
from tests.evaluation.evaluation_fakes import Answer, Does, scored


def texts(count, **fields):
    return [Example(input=f"{n}", expected_output=f"{n}", name=f"n{n}", **fields) for n in range(count)]


def echo(text):
    return text


def two_fails(results):
    return sum(not result.success for result in results) == 2


class TestTrialsThatSettle:
    def test_end_when_the_rule_says_so_and_results_know_how_many_there_were(self):
        calls = []

        def agent(text):
            calls.append(text)
            return text if text == "0" else "wrong"

        report = run_evaluation(
            texts(2),
            [Answer()],
            function=agent,
            trials="auto",
            max_trials=5,
            settled=two_fails,
            store=MemoryStore(),
        )
        assert calls == ["0"] * 5 + ["1"] * 2
        assert [(one.position, one.trial, one.trials) for one in report] == [
            *((0, trial, 5) for trial in range(1, 6)),
            (1, 1, 2),
            (1, 2, 2),
        ]

    def test_of_one_example_follow_one_after_the_other_those_of_several_run_side_by_side(self):
        running, most = {}, []

        async def agent(text):
            running[text] = running.get(text, 0) + 1
            most.append((running[text], sum(running.values())))
            await asyncio.sleep(0.01)
            running[text] -= 1
            return text

        report = run_evaluation(
            texts(4),
            [Answer()],
            function=agent,
            trials="auto",
            max_trials=3,
            settled=lambda results: False,
            concurrency=4,
            store=MemoryStore(),
        )
        assert report.counts["passed"] == 12
        assert max(own for own, _ in most) == 1
        assert max(together for _, together in most) == 4

    def test_settle_what_is_required(self):
        report = assert_test(
            texts(1), [Answer()], function=echo, trials="auto", max_trials=30, require="pass_rate >= 0.5"
        )
        assert 1 < len(report) < 30

    def test_are_settled_by_the_same_rule_on_the_callers_loop(self):
        async def agent(text):
            return text

        options = {"trials": "auto", "max_trials": 30, "require": "pass_rate >= 0.5"}
        here = assert_test(texts(2), [Answer()], function=agent, **options)
        there = asyncio.run(assert_test_async(texts(2), [Answer()], function=agent, **options))
        assert len(here) == len(there)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"trials": "often"}, "trials is a whole number from 1, or 'auto'"),
            ({"trials": "auto", "max_trials": 0}, "max_trials is a whole number from 1"),
            ({"settled": two_fails}, "settled says when trials='auto' are enough"),
            ({"stop_after": 0}, "stop_after is a whole number from 1"),
            ({"budget": "much"}, "budget is a text such as '2 usd'"),
        ],
    )
    def test_wrong_use_is_said_before_anything_runs(self, options, said):
        calls = []
        with pytest.raises(ConfigError, match=said):
            run_evaluation(texts(1), [Answer()], function=calls.append, **options)
        assert calls == []


class TestStopAfter:
    @pytest.mark.parametrize("door", ["sync", "async"])
    def test_so_many_failed_examples_the_rest_is_not_run(self, door):
        calls = []

        def agent(text):
            calls.append(text)
            return "wrong" if text in "13" else text

        doors = {"sync": assert_test, "async": lambda *a, **o: asyncio.run(assert_test_async(*a, **o))}
        arguments = (texts(6), [Answer()])
        options = {"function": agent, "stop_after": 2, "store": MemoryStore()}
        with pytest.raises(EvaluationFailed) as failed:
            doors[door](*arguments, **options)
        report = failed.value.report
        assert [one.outcome for one in report] == [
            *("passed", "failed", "passed", "failed", "not_run", "not_run"),
        ]
        assert calls == ["0", "1", "2", "3"]
        assert report.counts == {"passed": 2, "failed": 2, "errored": 0, "not_run": 2}
        assert report.metadata["not_run"] == 2
        line = str(failed.value).splitlines()[0]
        assert line.startswith(
            "2 of 6 were not run: 2 examples did not pass, and stop_after=2; 2 failed of 4"
        )

    def test_what_was_not_run_is_no_pass_whatever_is_required(self):
        with pytest.raises(EvaluationFailed, match="were not run"):
            assert_test(
                texts(3),
                [Answer()],
                function=lambda text: "wrong",
                stop_after=1,
                require="pass_rate >= 0",
                store=MemoryStore(),
            )

    def test_results_that_were_not_run_are_stored_with_the_run(self):
        store = MemoryStore()
        run_evaluation(texts(3), [Answer()], function=lambda text: "wrong", stop_after=1, store=store)
        (run,) = store.runs()
        assert [one["outcome"] for one in store.run(run.run_id)["results"]] == [
            "failed",
            "not_run",
            "not_run",
        ]


def spending_agent(tracer, usage):
    @tracer.observe(span_type="llm")
    def ask(text):
        tracer.current_span().set_usage(usage)
        return text

    return ask


@pytest.fixture
def tracer():
    tracer = Tracer("budget", store="memory")
    yield tracer
    tracer.shutdown()


class TestBudget:
    def test_of_money_is_spent_by_the_agent_and_the_judges(self, tracer):
        agent = spending_agent(tracer, {"input_tokens": 10, "cost": 0.2})
        judge = Does(lambda example, trace: replace(scored(1.0), cost=0.3))
        with pytest.raises(EvaluationFailed) as failed:
            assert_test(texts(40), [judge], function=agent, tracer=tracer, budget="2 usd")
        first, report = str(failed.value).splitlines()[0], failed.value.report
        assert first == "36 of 40 were not run: the budget of 2 usd is spent (2.00 usd after 4)"
        assert report.counts == {"passed": 4, "failed": 0, "errored": 0, "not_run": 36}
        assert not report.passed
        assert report.metadata["budget"] == "2 usd"
        assert report.metadata["spent"] == "2.00 usd"
        assert "unpriced" not in report.metadata

    def test_of_tokens_counts_those_of_the_agent_and_the_judges(self, tracer):
        agent = spending_agent(tracer, {"input_tokens": 30, "output_tokens": 10})
        judge = Does(lambda example, trace: replace(scored(1.0), usage={"total_tokens": 60}))
        report = run_evaluation(texts(9), [judge], function=agent, tracer=tracer, budget="250 tokens")
        assert report.counts["passed"] == 3
        assert report[3].error == "the budget of 250 tokens is spent (300 tokens after 3)"

    def test_of_time_ends_when_it_is_over(self, tracer, monkeypatch):
        clock = iter(range(0, 10_000, 30))
        fake = SimpleNamespace(monotonic=lambda: float(next(clock)))  # other threads ask the real clock
        monkeypatch.setattr("agenttrace.evaluation.budget.time", fake)
        report = run_evaluation(texts(9), [Answer()], function=echo, tracer=tracer, budget="2 minutes")
        assert 0 < report.counts["passed"] < 9
        assert report[8].error.startswith("the budget of 2 minutes is spent (")

    def test_says_that_a_price_is_unknown_instead_of_taking_it_for_nothing(self, tracer):
        agent = spending_agent(tracer, {"input_tokens": 10})
        report = run_evaluation(texts(3), [Answer()], function=agent, tracer=tracer, budget="2 usd")
        assert report.passed
        assert report.metadata["unpriced"].startswith("no price is known for 3 answers of models")

    def test_leaves_an_example_whose_trials_are_not_settled_with_one_that_was_not_run(self, tracer):
        agent = spending_agent(tracer, {"cost": 0.6})
        report = run_evaluation(
            texts(2),
            [Answer()],
            function=agent,
            tracer=tracer,
            trials="auto",
            max_trials=5,
            settled=lambda results: False,
            budget="1 usd",
        )
        assert [(one.position, one.trial, one.outcome) for one in report] == [
            (0, 1, "passed"),
            (0, 2, "passed"),
            (0, 3, "not_run"),
            (1, 1, "not_run"),
        ]

    def test_is_preceded_by_an_estimate_from_the_last_such_run(self, tracer):
        agent = spending_agent(tracer, {"input_tokens": 1_000, "cost": 0.25})
        first = run_evaluation(
            texts(2), [Answer()], function=agent, tracer=tracer, eval_run_name="nightly", budget="9 usd"
        )
        tracer.flush()
        second = run_evaluation(
            texts(4), [Answer()], function=agent, tracer=tracer, eval_run_name="nightly", budget="9 usd"
        )
        other = run_evaluation(
            texts(4), [Answer()], function=agent, tracer=tracer, eval_run_name="weekly", budget="9 usd"
        )
        assert "estimate" not in first.metadata
        assert second.metadata["estimate"].startswith("about 1.00 usd, 4,000 tokens, ")
        assert "estimate" not in other.metadata


class TestTheTextOfABudget:
    @pytest.mark.parametrize(
        ("text", "limits"),
        [
            ("2 usd", [("usd", 2)]),
            ("$2.50", [("usd", 2.5)]),
            ("50 cents", [("usd", 0.5)]),
            ("50000 tokens", [("tokens", 50_000)]),
            ("50,000 tokens", [("tokens", 50_000)]),
            ("50,000tokens,1,000usd", [("tokens", 50_000), ("usd", 1_000)]),
            ("10 minutes", [("seconds", 600)]),
            ("1.5 hours", [("seconds", 5_400)]),
            ("2 USD, 10 minutes", [("usd", 2), ("seconds", 600)]),
            ("2 usd,10 minutes", [("usd", 2), ("seconds", 600)]),
            ("2 usd,500 tokens", [("usd", 2), ("tokens", 500)]),
            ("10 minutes,120 usd", [("seconds", 600), ("usd", 120)]),
            ("1,000,000 tokens,200 seconds", [("tokens", 1_000_000), ("seconds", 200)]),
            ("90 seconds, 1_000 tokens", [("seconds", 90), ("tokens", 1_000)]),
        ],
    )
    def test_is_read(self, text, limits):
        assert [(limit.kind, limit.amount) for limit in Budget.parse(text).limits] == limits

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "budget is a text such as"),
            ("two usd", "budget is a text such as"),
            ("-2 usd", "budget is a text such as"),
            (2, "got 2"),
            ("$2,500 tokens", "dollars and tokens in one limit"),
            ("2", "write a unit"),
            ("2 euro", "no unit 'euro'"),
            ("10 minuts", "did you mean 'minutes'"),
            ("0 usd", "an amount above 0"),
            ("1 usd, 2 usd", "two limits of one kind"),
            ("1 minute, 2 hours", "two limits of one kind"),
        ],
    )
    def test_that_cannot_be_read_is_an_error_that_says_what_can(self, text, said):
        with pytest.raises(ConfigError, match=said):
            Budget.parse(text)

    def test_amounts_have_their_units(self):
        assert [in_words("usd", 2.034), in_words("usd", 0.00123), in_words("tokens", 51_200)] == [
            *("2.03 usd", "0.00123 usd", "51,200 tokens"),
        ]
        assert [in_words("seconds", 12.34), in_words("seconds", 612)] == ["12.3 seconds", "10.2 minutes"]


def result(place, success):
    position, trial = place
    return ScoringResult(
        example=Example(), outcome="passed" if success else "failed", position=position, trial=trial + 1
    )


@given(st.data())
def test_a_schedule_gives_each_place_once_whatever_ends_first(data):
    """Against a plain account of what must have been run, in any interleaving of running places."""
    examples, trials = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5))
    auto = data.draw(st.booleans())
    settled = (lambda results: not results[-1].success) if auto else None
    schedule = Schedule(examples, trials, settled=settled)
    rng = random.Random(data.draw(st.integers()))
    running, finished = [], {}
    while True:
        place = schedule.next() if rng.random() < 0.6 or not running else None
        if place is not None:
            assert place not in finished
            assert place not in running
            running.append(place)
        elif running:
            done = running.pop(rng.randrange(len(running)))
            finished[done] = rng.random() < 0.7
            schedule.add(done, result(done, finished[done]))
        else:
            break
    assert schedule.missing() == []
    assert schedule.missing(stored=finished) == []
    lost = data.draw(st.sampled_from(sorted(finished)))
    stored = [place for place in finished if place[0] != lost[0] or place[1] < lost[1]]
    assert schedule.missing(stored)[0] == lost
    assert {position for position, _ in schedule.missing(stored)} == {lost[0]}
    assert schedule.at_most == len(finished)
    for position in range(examples):
        outcomes = [finished[position, trial] for trial in range(trials) if (position, trial) in finished]
        assert len(outcomes) == (outcomes.index(False) + 1 if auto and False in outcomes else trials)


def test_a_judge_of_unknown_price_is_counted_too(tracer):
    judge = Does(lambda example, trace: replace(scored(1.0), usage={"total_tokens": 60}))
    report = run_evaluation(texts(2), [judge], function=echo, tracer=tracer, budget="2 usd")
    assert "2 answers" in report.metadata["unpriced"]
    assert Score.of("x", 1.0, 0.5).cost is None
