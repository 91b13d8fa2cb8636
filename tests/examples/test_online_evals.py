"""The online evaluation example, and the model on loopback that it can run on."""

import importlib
import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from agenttrace.store import open_store

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def local_judge():
    sys.path.insert(0, str(EXAMPLES))
    yield importlib.import_module("local_judge")
    sys.path.remove(str(EXAMPLES))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The example, run as a user without a key runs it; its output and where it stored."""
    pytest.importorskip("openai", reason="the example calls a model through the package openai")
    where = tmp_path_factory.mktemp("online") / "traces.db"
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / "online_evals.py")],
        env={"AGENTTRACE_STORE": str(where), "PATH": "", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, open_store(where)


def test_the_example_prints_the_scores_on_their_spans(finished):
    output, _ = finished
    assert "the agent answered: You said: Hello world!" in output
    assert "✓ Answer Relevancy: 1.0 (threshold 0.5)  1 of 1 statements are relevant to the input." in output
    assert "'asked': 2, 'pending': 0, 'scored': 2" in output


def test_the_scores_are_stored_on_the_spans_that_they_are_about(finished):
    _, store = finished
    (summary,) = store.traces(project="my_project")
    trace = store.trace(summary.trace_id)
    names = {span.span_id: span.name for span in trace.spans}
    landed = {names[span_id]: (score.name, score.value) for span_id, score in store.scores(trace.trace_id)}
    assert landed == {"main": ("Answer Relevancy", 1.0), "my_tool": ("Contains", 1.0)}


def test_the_model_call_of_the_wrapped_client_is_a_span(finished):
    _, store = finished
    (summary,) = store.traces(project="my_project")
    (call,) = [span for span in store.trace(summary.trace_id).spans if span.span_type == "llm"]
    assert call.input["messages"] == [{"role": "user", "content": "Hello world!"}]
    assert call.output["text"] == "You said: Hello world!"


def test_the_local_model_speaks_the_chat_protocol(local_judge):
    judge = local_judge.LocalJudge().start()
    body = json.dumps({"model": "any", "messages": [{"role": "user", "content": "hi"}]}).encode()
    with urllib.request.urlopen(f"{judge.url}/chat/completions", body) as answer:
        reply = json.load(answer)
    judge.stop()
    assert reply["object"] == "chat.completion"
    assert reply["choices"][0]["message"] == {"role": "assistant", "content": "You said: hi"}
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert set(reply["usage"]) == {"prompt_tokens", "completion_tokens", "total_tokens"}


@pytest.mark.parametrize(
    ("claim", "text", "verdict"),
    [
        ("A refund within 30 days.", "A refund within 44 days.", "no"),
        ("A refund within 30 days.", "We refund for 30 days.", "yes"),
        ("A refund.", "A refund within 44 days.", "yes"),
    ],
)
def test_the_local_model_finds_a_number_that_differs(local_judge, claim, text, verdict):
    assert local_judge.contradiction(claim, text)["verdict"] == verdict
