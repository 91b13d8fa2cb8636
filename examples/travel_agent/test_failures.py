"""The travel agent's failure modes: with simulated tools, so that nothing outside has to fail for it."""

from pathlib import Path

import pytest
import travel_agent
from travel_agent import MyAgent, judgment

from agenttrace import run_evaluation
from agenttrace.datasets import EvalDataset
from agenttrace.scorers import ExactMatchScorer, ToolOrderScorer

FAILURES = EvalDataset.from_file(Path(__file__).with_name("failures.yaml"))


@pytest.fixture(autouse=True)
def no_city_is_known(monkeypatch):
    """A tool that really ran would raise."""
    monkeypatch.setattr(travel_agent, "_city", lambda name: pytest.fail(f"really looked up {name}"))


def results(quirk=None, trials=1):
    report = run_evaluation(
        FAILURES,
        [ToolOrderScorer(exact_match=True, attempts="count"), ExactMatchScorer()],
        function=MyAgent(quirk=quirk).run_agent,
        tracer=judgment,
        trials=trials,
    )
    named = {}
    for result in report:
        named.setdefault(result.example.name, []).append(result)
    return named


def test_what_the_agent_makes_of_failing_tools():
    named = results(trials=20)
    outcomes = {name: {result.outcome for result in trials} for name, trials in named.items()}
    assert outcomes == {
        "tools-answer": {"passed"},
        "weather-service-is-down": {"failed"},  # it does not say what it knows
        "nothing-is-known": {"passed"},
        "weather-service-is-flaky": {"passed", "failed"},  # it does not try again
    }
    assert "the weather service does not answer" in named["weather-service-is-down"][0].error
    rate = sum(result.success for result in named["weather-service-is-flaky"]) / 20
    assert 0.4 < rate < 0.95


@pytest.mark.parametrize(
    ("quirk", "said"),
    [
        ("forgets weather", "get_weather"),
        ("wrong city", "destination"),
        ("wrong order", "get_weather"),
        ("wrong dates", "end_date"),
        ("asks twice", "extra"),
    ],
)
def test_each_way_of_going_wrong_is_caught_without_the_tools(quirk, said):
    (result,) = results(quirk)["tools-answer"]
    assert result.outcome == "failed"
    assert said in result.scores[0].diff
