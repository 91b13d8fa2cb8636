"""A trace that begins under a span of OpenTelemetry's shares its ids."""

import subprocess
import sys
import threading

import pytest
from opentelemetry import context, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from agenttrace import ConfigError, Tracer

otel = TracerProvider().get_tracer("tests")


@pytest.fixture
def tracer():
    tracer = Tracer("travel", store="memory")
    yield tracer
    tracer.shutdown()


def ids_of(span):
    return f"{span.get_span_context().trace_id:032x}", f"{span.get_span_context().span_id:016x}"


def begun(tracer):
    """The ids of the trace, the parent and the span of a root that begins here."""

    @tracer.observe(span_type="tool")
    def weather(city):
        span = tracer.current_span()
        return span.trace_id, span.parent_id, span.span_id

    return weather("Oslo")


def test_a_root_under_a_span_has_its_trace_and_that_span_as_parent(tracer):
    with otel.start_as_current_span("request") as span:
        trace_id, parent_id, span_id = begun(tracer)
        with tracer.span("plan") as plan:
            pass
    assert (trace_id, parent_id) == ids_of(span)
    assert (plan.trace_id, plan.parent_id) == ids_of(span)
    tracer.flush()
    stored = tracer.store.trace(trace_id)
    assert {one.parent_id for one in stored.spans} == {parent_id}
    assert span_id in {one.span_id for one in stored.spans}


def test_a_child_has_the_parent_that_called_it(tracer):
    @tracer.observe
    def agent():
        return tracer.current_span().span_id, begun(tracer)

    with otel.start_as_current_span("request") as span:
        agent_id, (trace_id, parent_id, _) = agent()
    assert trace_id == ids_of(span)[0]
    assert parent_id == agent_id


def test_without_a_current_span_a_trace_has_ids_of_its_own(tracer):
    with otel.start_as_current_span("request") as span:
        pass
    trace_id, parent_id, _ = begun(tracer)
    assert parent_id is None
    assert trace_id != ids_of(span)[0]


def test_one_may_opt_out():
    tracer = Tracer("travel", store="memory", join_opentelemetry=False)
    with otel.start_as_current_span("request") as span:
        trace_id, parent_id, _ = begun(tracer)
    tracer.shutdown()
    assert parent_id is None
    assert trace_id != ids_of(span)[0]


def test_opting_out_holds_for_calls_that_were_decorated_without_a_tracer():
    code = (
        "from agenttrace import Tracer, observe\n"
        "@observe\ndef f(): return tracer.current_span().parent_id\n"
        "tracer = Tracer('x', store='memory', join_opentelemetry=False)\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "with TracerProvider().get_tracer('t').start_as_current_span('request'): print(f())\n"
        "tracer.shutdown()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "None"


def test_a_span_that_is_not_sampled_is_no_parent(tracer):
    silent = TracerProvider(sampler=ALWAYS_OFF).get_tracer("tests")
    with silent.start_as_current_span("request"):
        assert begun(tracer)[1] is None


def test_a_span_of_a_remote_caller_is_a_parent(tracer):
    caller = SpanContext(trace_id=0xA, span_id=0xB, is_remote=True, trace_flags=TraceFlags(1))
    token = context.attach(trace.set_span_in_context(NonRecordingSpan(caller)))
    try:
        assert begun(tracer)[:2] == ("a".rjust(32, "0"), "b".rjust(16, "0"))
    finally:
        context.detach(token)


def test_a_capture_keeps_its_own_trace(tracer):
    with otel.start_as_current_span("request") as span, tracer.capture() as captured:
        begun(tracer)
    assert len(captured.trace.tool_calls) == 1
    assert captured.trace.trace_id != ids_of(span)[0]


def test_another_thread_is_under_no_span(tracer):
    results = []
    with otel.start_as_current_span("request"):
        thread = threading.Thread(target=lambda: results.append(begun(tracer)))
        thread.start()
        thread.join()
    assert results[0][1] is None


@pytest.mark.parametrize("broken", ["raises", "nonsense"])
def test_a_span_that_breaks_costs_nothing_but_its_ids(tracer, broken):
    class Nonsense:
        is_valid = True
        trace_flags = 1
        trace_id = "x"
        span_id = 1 << 70

    class Broken(NonRecordingSpan):
        def get_span_context(self):
            if broken == "raises":
                raise ValueError("no")
            return Nonsense

    token = context.attach(trace.set_span_in_context(Broken(trace.INVALID_SPAN_CONTEXT)))
    try:
        assert begun(tracer)[1] is None
    finally:
        context.detach(token)
    assert tracer.stats()["recording_errors"] == 0


def test_opentelemetry_is_not_imported_for_it():
    code = (
        "import sys; from agenttrace import Tracer; t = Tracer('x', store='memory')\n"
        "with t.span('a'): pass\n"
        "t.shutdown(); print(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "False"


def test_what_is_no_boolean_is_an_error():
    with pytest.raises(ConfigError, match="join_opentelemetry"):
        Tracer("travel", store="memory", join_opentelemetry="yes")
