"""Seventy recorded payloads of real frameworks: the calls in them, with what the payload holds of each."""

import json
from pathlib import Path

import pytest

from agenttrace import traces_from_otlp
from agenttrace.core.marks import cause_of

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (DATA / "otlp").is_dir(), reason="the recorded payloads are not here"),
]


def _json(name):
    path = DATA / name
    return json.loads(path.read_text()) if path.exists() else {}


EXPECTED = _json("otlp/EXPECTED_tool_calls.json")
FRAMEWORKS = {entry["file"]: entry for entry in _json("otlp_frameworks/INDEX.json")}

WRITTEN_OTHERWISE = {
    # In both, the expectation is what stands in the attribute, and we read what the tool was called with.
    (
        "strands_smolagents_live_spans",
        "arguments",
    ): "smolagents' own args and kwargs, by the names in its schema",
    ("TestAgents__test_tool_calling_agent", "arguments"): "the same",
    ("TestRuns__test_multiagents", "arguments"): "the same",
    (
        "strands_openai_agents_openinference_adot",
        "arguments",
    ): "a handoff, whose one value has no name: input",
    ("strands_adk_live_spans", "output"): "ADK puts whatever is no mapping under result",
    (
        "strands_autogen_live_spans",
        "arguments",
    ): "AutoGen records none: not recorded, where the list says null",
}
NO_CALL = {"(merged tools)": "ADK sums up parallel calls, which have spans of their own"}
WITHOUT_CONTENT = ("autogen-native.json", "mcp-native.json")


def calls_of(path):
    return [call for trace in traces_from_otlp(path) for call in trace.tool_calls]


def is_listed(file, what):
    return any(part in file and what == field for part, field in WRITTEN_OTHERWISE)


@pytest.mark.parametrize("file", EXPECTED)
def test_every_call_of_a_recorded_payload_is_read(file):
    calls = {call.span_id: call for call in calls_of(DATA / "otlp" / file)}
    for expected in EXPECTED[file]["tool_calls"]:
        if expected["name"] in NO_CALL:
            assert expected["span"] not in calls
            continue
        call = calls[expected["span"]]
        assert call.name == expected["name"]
        assert (call.error is not None) == (expected["status"] == 2)
        if not is_listed(file, "arguments"):
            assert call.arguments == expected["args"]
        if not is_listed(file, "output"):
            assert call.output == expected["output"]


@pytest.mark.parametrize("file", EXPECTED)
def test_other_calls_are_what_models_asked_for_and_no_span_shows(file):
    spans = {expected["span"] for expected in EXPECTED[file]["tool_calls"]}
    others = [call for call in calls_of(DATA / "otlp" / file) if call.span_id not in spans]
    assert {call.status for call in others} <= {"requested", "answered"}


def test_what_is_written_otherwise_is_listed_for_a_reason():
    """Each row of the table is still needed."""
    for part, field in WRITTEN_OTHERWISE:
        files = [file for file in EXPECTED if part in file]
        word = "args" if field == "arguments" else "output"
        spans = {e["span"]: e[word] for file in files for e in EXPECTED[file]["tool_calls"]}
        calls = [call for file in files for call in calls_of(DATA / "otlp" / file) if call.span_id in spans]
        assert any(getattr(call, field) != spans[call.span_id] for call in calls)


@pytest.mark.parametrize("file", FRAMEWORKS)
def test_every_framework_s_run_is_read(file):
    expected = FRAMEWORKS[file]["expected_tool_calls"]
    calls = [call for call in calls_of(DATA / "otlp_frameworks" / file) if call.name != "final_answer"]
    assert len(calls) % len(expected) == 0  # some recorded the run twice
    for at in range(0, len(calls), len(expected)):
        run = calls[at : at + len(expected)]
        assert sorted(call.name for call in run) == sorted(one["name"] for one in expected)
        for one in expected:
            if file in WITHOUT_CONTENT:
                assert {cause_of(call.arguments) for call in run} == {"not recorded"}
                break
            matching = [
                call
                for call in run
                if call.name == one["name"] and one["args"].items() <= call.arguments.items()
            ]
            assert matching, one
            if matching[0].status not in ("requested", "answered"):  # then no span tells whether it failed
                assert matching[0].failed is one.get("error", False)
        outputs = [call.output for call in run if call.name == "book_hotel"]
        if outputs[0] is not None:
            assert outputs[0]["hotel"] == "Hotel Paris"


@pytest.mark.parametrize("file", FRAMEWORKS)
def test_the_order_is_that_in_which_the_model_asked(file):
    if file == "crewai-openinference.json":
        pytest.skip("its spans show no request of the model, and it ran the second call first")
    names = [(call.name, call.arguments.get("city")) for call in calls_of(DATA / "otlp_frameworks" / file)][
        :3
    ]
    if file not in WITHOUT_CONTENT:
        assert names == [("get_weather", "Paris"), ("get_weather", "Atlantis"), ("book_hotel", "Paris")]
