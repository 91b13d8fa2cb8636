"""A mapping's key that is a secret is shown in no path, however the path is cut."""

import pytest

from agenttrace import Example, ToolOrderScorer, Tracer, call
from agenttrace.scorers import ExactMatchScorer, JSONSimilarityScorer, StateScorer, ToolCallArgsScorer
from tests.scoring.test_secrets_in_excerpts import check_shows_no_piece, made_up, shown_of

LETTERS = made_up(1, 90)
SECRETS = {
    "github": "ghp_" + LETTERS[:36],
    "anthropic": "sk-ant-api03-" + LETTERS[:90] + "-AA",
    "openai": "sk-proj-" + LETTERS[:60],
    "slack": "xoxb-123456789012-1234567890123-" + LETTERS[:24],
    "hook": "https://hooks.slack.com/services/T0AB1CD2E/B0AB1CD2E/" + LETTERS[:24],
    "address": "https://api.example.org/v1/orders/of/customers?api_key=" + LETTERS[:40],
    "bearer": "Authorization: Bearer " + LETTERS[:60],
    "key": f"-----BEGIN PRIVATE KEY-----\n{LETTERS}\n-----END PRIVATE KEY-----",
}
PATHS = (
    [],
    ["m"],
    ["open_gateway_sessions_by_owner"],
    ["m", "open_gateway_sessions_by_the_name_of_their_owner"],
)


def under(names, value):
    for name in reversed(names):
        value = {name: value}
    return value


@pytest.mark.parametrize("names", PATHS)
@pytest.mark.parametrize("what", SECRETS)
def test_calls_that_differ_under_a_secret_key_do_not_show_it(tmp_path, what, names):
    names = [*names, SECRETS[what]]
    expected, got, more = (under(names, value) for value in ({"requests": 1}, {"requests": 2}, {"page": 1}))
    example = Example(
        tools_called=[{"name": "save", "arguments": one} for one in (got, more, got)],
        expected_tools=[call("save", expected), call("save", expected), call("save", {})],
    )
    shown = shown_of(example, [ToolOrderScorer(), ToolCallArgsScorer()], tmp_path / "traces.db")
    check_shows_no_piece(shown, [LETTERS])


@pytest.mark.parametrize("names", PATHS)
@pytest.mark.parametrize("what", SECRETS)
def test_answers_that_differ_under_a_secret_key_do_not_show_it(tmp_path, what, names):
    names = [*names, SECRETS[what]]
    example = Example(actual_output=under(names, {"n": 2}), expected_output=under(names, {"n": 1}))
    shown = shown_of(example, [ExactMatchScorer(), JSONSimilarityScorer()], tmp_path / "traces.db")
    check_shows_no_piece(shown, [LETTERS])


@pytest.mark.parametrize("names", PATHS)
@pytest.mark.parametrize("what", SECRETS)
def test_a_state_that_differs_under_a_secret_key_does_not_show_it(what, names):
    names, tracer = [*names, SECRETS[what]], Tracer("paths", store="memory")
    state = under(names, {"n": 1})
    with tracer.capture() as captured, tracer.span("agent"):
        tracer.state("db", lambda: state)
        state = under(names, {"n": 2})
    tracer.shutdown()
    example = Example(expected_state={"db": {"only": True}})
    score = tracer.redaction.score(StateScorer().score(example, captured.trace))
    assert score.value == 0
    check_shows_no_piece([score.reason, score.diff, str(score.details)], [LETTERS])
