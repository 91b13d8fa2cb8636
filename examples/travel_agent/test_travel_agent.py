"""The travel agent's unit tests: run them with pytest."""

from pathlib import Path

import pytest
from travel_agent import MyAgent, judgment

from agenttrace import Example, assert_test
from agenttrace.scorers import ToolOrderScorer

TESTS = Path(__file__).with_name("tests.yaml")


def test_the_agent_looks_up_what_is_asked():
    assert_test(
        test_file=TESTS,
        scorers=[ToolOrderScorer(exact_match=True)],
        function=MyAgent().run_agent,
        tracer=judgment,
    )


def test_extra_calls_are_fine_where_only_the_order_counts():
    example = Example(
        input={"prompt": "What's the attraction and weather in Lima for late May?"},
        expected_tools=["get_attractions", "get_weather"],
    )
    assert_test(
        examples=[example],
        scorers=[ToolOrderScorer()],
        function=MyAgent(quirk="asks twice").run_agent,
        tracer=judgment,
    )


@pytest.mark.parametrize(
    ("quirk", "said"),
    [
        ("forgets weather", "missing"),
        ("wrong city", "destination"),
        ("wrong dates", "end_date"),
        ("crashes", "the weather service for Paris does not answer"),
    ],
)
def test_an_agent_that_goes_wrong_is_caught(quirk, said):
    with pytest.raises(AssertionError, match=said):
        assert_test(
            test_file=TESTS,
            scorers=[ToolOrderScorer(exact_match=True)],
            function=MyAgent(quirk=quirk).run_agent,
            tracer=judgment,
        )
