"""What a score's reason repeats of the secrets in its example's input."""

import pytest

from agenttrace import Example, Tracer, run_evaluation, scorer
from tests.stored_text import everything_in

PASSWORD = "hunter2Blue9"


@scorer
def says_what_it_saw(example, trace):
    return 0.0, f"got {example.input['password']} from {example.input['user']}"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "traces.db"


def test_a_reason_is_kept_without_the_secrets_of_the_input(path):
    tracer = Tracer("reasons", store=path)

    @tracer.observe(span_type="agent")
    def agent(user, password):
        return "ok"

    example = Example(input={"user": "ann", "password": PASSWORD})
    report = run_evaluation([example], [says_what_it_saw], function=agent, tracer=tracer)
    tracer.shutdown()
    assert report.results[0].scores[0].reason.startswith(f"got {PASSWORD} from ann")
    stored = everything_in(path)
    assert "got [redacted] from ann" in stored
    assert PASSWORD not in stored


def test_an_online_score_is_kept_without_the_secrets_of_the_input(path):
    tracer = Tracer("reasons", store=path)

    @tracer.observe(span_type="agent")
    def agent():
        example = Example(input={"user": "ann", "password": PASSWORD}, actual_output="ok")
        return tracer.async_evaluate([says_what_it_saw], example)

    agent()
    tracer.shutdown()
    stored = everything_in(path)
    assert "got [redacted] from ann" in stored
    assert PASSWORD not in stored
