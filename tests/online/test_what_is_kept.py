"""What a stored score of an online evaluation says of how it came about: options, example, evidence."""

from agenttrace import Tracer, call, re_
from agenttrace.judges import AnswerRelevancyScorer, FakeChatModel
from agenttrace.scorers import ToolOrderScorer


def stored_scores(tracer):
    assert tracer.wait_for_evaluations(timeout=60)
    tracer.flush()
    (trace,) = tracer.store.traces(limit=1)
    return [score for _, score in tracer.store.scores(trace.trace_id)]


def agent_of(tracer, **evaluation):
    @tracer.observe(span_type="agent")
    def agent(question):
        tracer.async_evaluate(**evaluation)
        return "fine"

    agent("where is it?")


def test_an_online_score_keeps_the_expectation_the_judged_fields_and_the_options(tmp_path):
    tracer = Tracer("kept", store=tmp_path / "t.db")
    tracer.observe(span_type="tool", name="find")(lambda **_: None)
    agent_of(
        tracer,
        scorers=[ToolOrderScorer(parameters="listed", exact_match=True)],
        input={"question": "where?", "password": "hunter2"},
        actual_output="x" * 50_000,
        expected_tools=[call("find", id=re_("^7"))],
    )
    (score,) = stored_scores(tracer)
    assert score.options == {"exact_match": True, "parameters": "listed"}
    assert score.example["input"] == {"question": "where?", "password": "[redacted]"}
    assert score.example["expected_tools"] == [{"tool_name": "find", "parameters": {"id": {"$re": "^7"}}}]
    assert len(score.example["actual_output"]) < 10_000
    assert score.details["rows"][0]["kind"] == "missing"
    tracer.shutdown()


def test_the_score_that_the_handle_gives_holds_no_copy_of_the_example():
    tracer = Tracer("kept", store="memory")
    handle = tracer.async_evaluate([ToolOrderScorer()], tools_called=["a"], expected_tools=["a"])
    (score,) = handle.result(60)
    assert (dict(score.example), dict(score.options)) == ({}, {})
    tracer.shutdown()


def test_the_stored_score_of_a_judge_has_what_it_saw_and_replied_without_secrets(tmp_path):
    tracer = Tracer("kept", store=tmp_path / "t.db")
    verdicts = {"verdicts": [{"reason": "it says so", "verdict": "yes"}]}
    model = FakeChatModel(lambda asked: {"items": ["It is free."]} if "items" in asked.fields else verdicts)
    agent_of(
        tracer,
        scorers=[AnswerRelevancyScorer(model=model, votes=2)],
        input='{"question": "Is it free?", "api_key": "k-8472"}',
        actual_output="It is free.",
    )
    (score,) = stored_scores(tracer)
    evidence = score.evidence
    assert "Is it free?" in evidence["blocks"]["input"]
    assert "k-8472" not in evidence["blocks"]["input"]
    first, second = evidence["votes"]
    assert (first["value"], len(first["questions"]), len(second["questions"])) == (1.0, 2, 2)
    assert "It is free." in first["questions"][0]["replies"][0]
    tracer.shutdown()
