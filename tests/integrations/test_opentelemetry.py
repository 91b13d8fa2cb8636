"""Spans of a process's own OpenTelemetry provider, handed to a tracer and to captures."""

import json
import subprocess
import sys
import threading

import pytest
from opentelemetry.sdk.trace import TracerProvider

from agenttrace import (
    AgentTraceSpanProcessor,
    ConfigError,
    Example,
    ToolOrderScorer,
    Tracer,
    assert_test,
    call,
)
from agenttrace.core.report import EvaluationFailed

RESULT = "sunny"


@pytest.fixture
def tracer():
    tracer = Tracer("travel", store="memory", redact=["voucher"])
    yield tracer
    tracer.shutdown()


@pytest.fixture
def library(tracer):
    """The OpenTelemetry tracer of a library, whose provider hands its spans to ours."""
    provider = TracerProvider()
    provider.add_span_processor(AgentTraceSpanProcessor(tracer))
    yield provider.get_tracer("some.framework")
    provider.shutdown()


def tool(library, name="get_weather", **arguments):
    said = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    with library.start_as_current_span(f"execute_tool {name}", attributes=said) as span:
        span.set_attribute("gen_ai.tool.call.arguments", json.dumps(arguments))
        span.set_attribute("gen_ai.tool.call.result", RESULT)
        if arguments.get("city") == "Atlantis":
            raise ValueError("unknown city")


def agent(library, *cities):
    with library.start_as_current_span(
        "invoke_agent travel", attributes={"gen_ai.operation.name": "invoke_agent"}
    ):
        for city in cities:
            tool(library, city=city)
    return "done"


def only_trace(tracer):
    assert not tracer.flush().pending
    (summary,) = tracer.store.traces()
    return tracer.store.trace(summary.trace_id)


def test_spans_reach_the_store_under_their_own_ids(tracer, library):
    with library.start_as_current_span("root") as root:
        agent(library, "Paris")
    trace = only_trace(tracer)
    assert trace.trace_id == f"{root.get_span_context().trace_id:032x}"
    assert [(one.name, one.span_type, one.project) for one in trace.spans] == [
        ("root", "function", "travel"),
        ("travel", "agent", "travel"),
        ("get_weather", "tool", "travel"),
    ]
    assert [(c.name, c.arguments, c.output, c.agent) for c in trace.tool_calls] == [
        ("get_weather", {"city": "Paris"}, RESULT, "travel")
    ]


def test_a_failure_keeps_its_exception(tracer, library):
    with pytest.raises(ValueError):
        tool(library, city="Atlantis")
    assert str(only_trace(tracer).tool_calls[0].error) == "ValueError: unknown city"


def test_a_capture_sees_what_the_library_records_in_it(tracer, library):
    with tracer.capture() as captured:
        agent(library, "Paris", "Rome")
    agent(library, "Oslo")
    calls = [c.arguments["city"] for c in captured.trace.tool_calls]
    assert calls == ["Paris", "Rome"]
    assert captured.trace.name == "travel"
    assert {one.trace_id for one in captured.trace.spans} == {captured.trace.trace_id}


def test_assert_test_scores_the_calls_of_an_instrumented_agent(tracer, library):
    example = Example(input={"city": "Paris"}, expected_tools=[call("get_weather", city="Paris")])
    assert_test([example], [ToolOrderScorer()], function=lambda city: agent(library, city), tracer=tracer)
    wrong = Example(input={"city": "Paris"}, expected_tools=[call("get_weather", city="Rome")])
    with pytest.raises(EvaluationFailed):
        assert_test([wrong], [ToolOrderScorer()], function=lambda city: agent(library, city), tracer=tracer)


def test_a_span_that_began_before_the_capture_keeps_its_own_trace(tracer, library):
    with library.start_as_current_span("outside") as outside, tracer.capture() as captured:
        tool(library, city="Paris")
    assert [c.name for c in captured.trace.tool_calls] == ["get_weather"]
    tracer.flush()
    assert tracer.store.trace(f"{outside.get_span_context().trace_id:032x}").name == "outside"


def test_threads_of_the_library_belong_to_the_capture_by_their_parent(tracer, library):
    from opentelemetry import context

    def work(current):
        token = context.attach(current)
        tool(library, city="Paris")
        context.detach(token)

    quiet = Tracer("other", store="memory", context_in_threads=False)
    with tracer.capture() as captured, library.start_as_current_span("agent"):
        thread = threading.Thread(target=work, args=(context.get_current(),))
        thread.start()
        thread.join()
    quiet.shutdown()
    assert [c.path for c in captured.trace.tool_calls] == [("agent",)]


def test_a_decorated_tool_inside_the_library_s_span_is_the_same_call(tracer, library):
    @tracer.observe(span_type="tool")
    def get_weather(city, unit="celsius"):
        return RESULT

    with tracer.capture() as captured, tracer.span("agent", span_type="agent"):
        said = {"gen_ai.tool.name": "get_weather", "gen_ai.tool.call.arguments": '{"city": "Paris"}'}
        with library.start_as_current_span("execute_tool get_weather", attributes=said):
            get_weather("Paris")
        get_weather("Rome")
    assert [c.arguments for c in captured.trace.tool_calls] == [
        {"city": "Paris", "unit": "celsius"},
        {"city": "Rome", "unit": "celsius"},
    ]
    assert captured.trace.tool_calls[0].path == ("agent",)


def test_secrets_do_not_reach_the_store(tracer, library):
    tool(library, city="Paris", password="hunter2-hunter2", voucher="V-77")
    trace = only_trace(tracer)
    assert "hunter2" not in repr(trace.to_dict())
    assert "V-77" not in repr(trace.to_dict())
    assert trace.tool_calls[0].arguments["city"] == "Paris"


def test_a_redact_function_sees_each_argument():
    tracer = Tracer("travel", store="memory", redact=lambda name, value: "-" if name == "city" else value)
    provider = TracerProvider()
    provider.add_span_processor(AgentTraceSpanProcessor(tracer))
    tool(provider.get_tracer("x"), city="Paris", days=2)
    trace = only_trace(tracer)
    assert trace.tool_calls[0].arguments == {"city": "-", "days": 2}
    assert "Paris" not in repr(trace.to_dict())
    tracer.shutdown()


def test_nothing_is_recorded_where_the_tracer_is_off_or_the_trace_is_not_sampled(library, tracer):
    for other in (
        Tracer("off", store="memory", enabled=False),
        Tracer("none", store="memory", sample_rate=0),
    ):
        provider = TracerProvider()
        provider.add_span_processor(AgentTraceSpanProcessor(other))
        agent(provider.get_tracer("x"), "Paris")
        other.flush()
        assert other.store.traces() == []
        other.shutdown()


def test_whatever_breaks_in_here_does_not_reach_the_program(tracer):
    processor = AgentTraceSpanProcessor(tracer)
    processor.on_start(None)
    processor.on_end(None)
    assert tracer.stats()["recording_errors"] == 2
    assert processor.force_flush() is True
    assert processor.shutdown() is None


def test_a_span_that_cannot_be_read_is_counted_and_loses_no_other(tracer, library, monkeypatch):
    from agenttrace.integrations import opentelemetry

    read = opentelemetry._span
    monkeypatch.setattr(
        opentelemetry, "_span", lambda span, *rest: 1 / 0 if span.name == "bad" else read(span, *rest)
    )
    for name in ("bad", "good"):
        library.start_span(name).end()
    assert only_trace(tracer).name == "good"
    assert tracer.stats()["dropped"]["unreadable"] == 1


def test_without_a_tracer_it_is_the_first_one_s(tracer):
    provider = TracerProvider()
    provider.add_span_processor(AgentTraceSpanProcessor())
    agent(provider.get_tracer("x"), "Paris")
    assert provider.force_flush()
    with pytest.raises(ConfigError, match="tracer is a Tracer"):
        AgentTraceSpanProcessor("travel")


def test_a_span_stands_below_the_nearest_of_both_kinds(tracer, library):
    theirs = library.start_as_current_span("theirs")
    with library.start_as_current_span("before"), tracer.capture() as captured, tracer.span("ours"), theirs:
        with tracer.span("inner"):
            tool(library, city="Paris")
        tool(library, city="Rome")
    assert [call.path for call in captured.trace.tool_calls] == [("ours", "inner"), ("ours", "theirs")]


INSTRUMENTED = """
import sys
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from agenttrace import ConfigError, Tracer
from agenttrace.integrations.opentelemetry import instrument

def recorded(tracer):
    with tracer.capture() as captured:
        with trace.get_tracer("a.framework").start_as_current_span("work"):
            pass
    return [span.name for span in captured.trace.spans]

tracer = Tracer("travel", store="memory")
"""


def in_a_process_of_its_own(code):
    """The provider of a process can be set once."""
    command = [sys.executable, "-W", "error", "-c", INSTRUMENTED + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]


def test_instrument_makes_the_process_a_provider_where_it_has_none():
    in_a_process_of_its_own("""
provider = instrument(tracer)
assert provider is trace.get_tracer_provider()
assert recorded(tracer) == ["work"]
""")


def test_instrument_adds_to_the_provider_that_the_process_has():
    in_a_process_of_its_own("""
provider = TracerProvider()
trace.set_tracer_provider(provider)
assert instrument(tracer) is provider
assert recorded(tracer) == ["work"]
""")


def test_instrumented_twice_a_span_is_recorded_once():
    in_a_process_of_its_own("""
assert instrument(tracer) is instrument(tracer)
assert recorded(tracer) == ["work"]
""")


def test_a_provider_of_another_library_is_refused():
    in_a_process_of_its_own("""
trace.set_tracer_provider(trace.NoOpTracerProvider())
try:
    instrument(tracer)
except ConfigError as error:
    assert "NoOpTracerProvider" in str(error)
else:
    raise SystemExit("not refused")
""")


def test_instrument_takes_tracers_alone():
    in_a_process_of_its_own("""
try:
    instrument("travel")
except ConfigError as error:
    assert "Tracer" in str(error)
else:
    raise SystemExit("not refused")
assert not isinstance(trace.get_tracer_provider(), TracerProvider)
""")


def test_long_attributes_are_cut_and_say_so(tracer, library):
    text = "y" * 5_000_000
    with library.start_as_current_span("chat") as span:
        span.set_attribute("input.value", text)
        span.set_attribute("short", "y" * 100)
        span.add_event("said", {"content": text})
    trace = only_trace(tracer)
    (stored,) = trace.spans
    assert stored.attributes["short"] == "y" * 100
    assert 500_000 < len(stored.attributes["input.value"]) < 600_000
    assert stored.attributes["input.value"].endswith("chars]")
    assert len(json.dumps(stored.attributes)) < 3_000_000


def test_the_texts_of_spans_that_wait_are_bounded(library, tracer, monkeypatch):
    monkeypatch.setattr("agenttrace.tracing.pipeline.MAX_WEIGHT", 100_000)
    with tracer.span("outer"):
        for _ in range(5):
            with library.start_as_current_span("chat") as span:
                span.set_attribute("input.value", "y" * 60_000)
    assert tracer.stats()["values_dropped"] >= 1
    trace = only_trace(tracer)
    assert len(trace.spans) == 6
    assert tracer.stats()["queued_bytes"] == 0
