"""Agents that record in other processes: their spans join the run's trace, and are scored as local ones."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ProcessPoolExecutor

import pytest

from agenttrace import (
    ConfigError,
    EvaluationFailed,
    Example,
    Score,
    ToolOrderScorer,
    Tracer,
    assert_test,
    assert_test_async,
    call,
    run_evaluation,
)
from agenttrace.client import Client
from agenttrace.remote_agents import OTLPEndpoint
from agenttrace.store import MemoryStore


class Anything:
    """A scorer that passes whatever it is shown."""

    name = "Anything"
    threshold = 0.5

    def score(self, example, trace):
        return Score(self.name, 1.0, self.threshold, "passed")


ANYTHING = Anything()
SENDS = """
import json, os, sys, urllib.request

def send(spans, trace, parent, signal="TRACES"):
    rows = []
    for number, (name, arguments) in enumerate(spans, 1):
        row = {
            "traceId": trace, "spanId": os.urandom(8).hex(), "name": "execute_tool " + name,
            "startTimeUnixNano": str(10**18 + number * 1000),
            "endTimeUnixNano": str(10**18 + number * 1000 + 10),
            "attributes": [
                {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
                {"key": "gen_ai.tool.name", "value": {"stringValue": name}},
                {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": json.dumps(arguments)}},
            ],
        }
        if parent:
            row["parentSpanId"] = parent
        rows.append(row)
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": rows}]}]}).encode()
    headers = dict(one.split("=") for one in os.environ["OTEL_EXPORTER_OTLP_HEADERS"].split(","))
    headers["content-type"] = "application/json"
    address = os.environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.open(urllib.request.Request(address, body, headers), timeout=60).read()

_, trace, parent, _ = os.environ["TRACEPARENT"].split("-")
city = sys.argv[1]
"""
GOES_ON = (
    SENDS + 'send([("search", {"q": city}), ("book", {"city": city})], trace, parent)\nprint("booked", city)'
)
BEGINS_ANEW = SENDS + 'send([("search", {"q": city}), ("book", {"city": city})], "ab" * 16, "")'
SILENT = "print('done')"


def child(code, *arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def expecting(*cities, nights=None):
    return [
        Example(
            name=city, input={"city": city}, expected_tools=[call("search", q=city), call("book", city=city)]
        )
        for city in cities
    ]


def agent_of(code):
    def agent(city, *, otlp):
        return child(code, city, **otlp.environment)

    return agent


def test_the_calls_of_a_child_process_are_asserted_on_like_local_ones():
    report = assert_test(expecting("Paris"), [ToolOrderScorer()], function=agent_of(GOES_ON), otlp=True)
    [result] = report.results
    assert result.example.actual_output == "booked Paris"
    assert [span.parent_key for span in result.trace.spans] == [None, None]
    assert [one.arguments for one in result.trace.tool_calls] == [{"q": "Paris"}, {"city": "Paris"}]


def test_a_child_process_that_called_something_else_fails():
    with pytest.raises(EvaluationFailed, match="book"):
        assert_test(
            [Example(input={"city": "Paris"}, expected_tools=[call("book", city="Rome")])],
            [ToolOrderScorer()],
            function=agent_of(GOES_ON),
            otlp=True,
        )


def test_an_agent_that_begins_its_own_trace_is_known_by_the_token_of_its_run():
    report = assert_test(
        expecting("Paris", "Rome", "Oslo"),
        [ToolOrderScorer()],
        function=agent_of(BEGINS_ANEW),
        otlp=True,
        concurrency=3,
    )
    assert len({result.trace.trace_id for result in report}) == 3


def test_an_async_agent_gets_its_environment_and_several_examples_stay_apart():
    async def agent(city, *, otlp):
        return await asyncio.to_thread(child, GOES_ON, city, **otlp.environment)

    cities = [f"city {number}" for number in range(8)]

    async def run():
        return await assert_test_async(
            expecting(*cities), [ToolOrderScorer()], function=agent, otlp=True, concurrency=4
        )

    report = asyncio.run(run())
    assert [result.trace.tool_calls[0].arguments["q"] for result in report] == cities


def test_remote_spans_stand_under_the_local_call_that_started_them_and_between_local_ones():
    tracer = Tracer("travel", store="memory")

    @tracer.observe(span_type="tool")
    def look_up(city):
        return city

    @tracer.observe(span_type="agent")
    def agent(city, *, otlp):
        look_up(city)
        return child(GOES_ON.replace("10**18", str(time.time_ns())), city, **otlp.environment)

    expected = [call("look_up", city="Paris"), call("search", q="Paris"), call("book", city="Paris")]
    example = Example(input={"city": "Paris"}, expected_tools=expected)
    report = assert_test([example], [ToolOrderScorer()], function=agent, otlp=True, tracer=tracer)
    spans = report.results[0].trace.spans
    assert [span.name for span in spans] == ["agent", "look_up", "search", "book"]
    assert {span.parent_key for span in spans[1:]} == {spans[0].span_key}
    tracer.shutdown()


def test_the_remote_spans_are_stored_without_secrets_under_the_trace_of_the_result():
    store = MemoryStore()
    tracer = Tracer("travel", store=store)
    code = GOES_ON.replace('{"q": city}', '{"q": city, "api_key": "sk-ant-REDACTED"}')
    report = run_evaluation(
        [Example(input={"city": "Paris"})], [ANYTHING], function=agent_of(code), otlp=True, tracer=tracer
    )
    tracer.shutdown()
    trace = store.trace(report.results[0].trace_id)
    assert [span.name for span in trace.spans] == ["search", "book"]
    assert {span.project for span in trace.spans} == {"travel"}
    assert "sk-ant" not in str([(span.input, span.attributes) for span in trace.spans])


def test_an_agent_that_sends_nothing_is_errored_and_says_where_to_look():
    with OTLPEndpoint(wait=0.2) as endpoint:
        report = run_evaluation(
            [Example(input={"city": "Paris"}), Example(input={"city": "Paris"}, expected_tools=[])],
            [ANYTHING],
            function=lambda city: child(SILENT),
            otlp=endpoint,
        )
    assert [result.outcome for result in report] == ["errored", "errored"]
    for result in report:
        assert "no spans arrived within 0.2 s" in result.error
        assert "is OTEL_EXPORTER_OTLP_ENDPOINT set" in result.error


def test_the_wait_for_an_agent_that_sends_nothing_ends_with_the_timeout():
    with OTLPEndpoint(wait=3600) as endpoint:
        report = run_evaluation(
            [Example(input="x")], [ANYTHING], function=lambda text: text, otlp=endpoint, timeout=0.5
        )
    assert report.results[0].outcome == "errored"


def test_an_agent_that_raises_fails_and_is_not_called_errored():
    def agent(text, *, otlp):
        raise RuntimeError("the agent broke")

    report = run_evaluation([Example(input="x")], [ANYTHING], function=agent, otlp=True)
    assert report.results[0].outcome == "failed"
    assert "the agent broke" in report.results[0].error


def test_what_arrived_before_a_timeout_is_in_the_trace():
    def agent(city, *, otlp):
        child(GOES_ON, city, **otlp.environment)
        threading.Event().wait(3600)

    report = run_evaluation(
        [Example(input={"city": "Paris"})], [ANYTHING], function=agent, otlp=True, timeout=20, concurrency=1
    )
    assert report.results[0].outcome == "failed"
    assert [one.name for one in report.results[0].trace.tool_calls] == ["search", "book"]


def post(address, headers, body):
    request = urllib.request.Request(
        f"{address}/v1/traces", json.dumps(body).encode(), {**headers, "content-type": "application/json"}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(request, timeout=60).status


def spans(traceparent, *names, parent=None, numbers=None):
    _, trace, caller, _ = traceparent.split("-")
    rows = [
        {
            "traceId": trace,
            "spanId": f"{number:016x}",
            "parentSpanId": parent or caller,
            "name": name,
            "startTimeUnixNano": str(10**18 + number),
            "endTimeUnixNano": str(10**18 + number + 1),
            "attributes": [{"key": "openinference.span.kind", "value": {"stringValue": "TOOL"}}],
        }
        for number, name in zip(numbers or range(1, 100), names, strict=False)
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": rows}]}]}


def token_of(environment):
    return dict([environment["OTEL_EXPORTER_OTLP_HEADERS"].split("=")])


def test_a_server_that_was_started_before_gets_its_trace_by_the_header_of_each_request():
    """It exports after it has answered, and on a connection of its own."""
    with OTLPEndpoint() as endpoint:
        token = token_of(endpoint.environment)
        assert "TRACEPARENT" not in endpoint.environment
        senders = []

        def answered(traceparent, name):
            def export():
                time.sleep(0.3)
                post(endpoint.endpoint, token, spans(traceparent, name))

            senders.append(threading.Thread(target=export))
            senders[-1].start()

        def agent(city, *, otlp):
            answered(otlp.headers["traceparent"], f"visit {city}")

        examples = [
            Example(input={"city": city}, expected_tools=[call(f"visit {city}")])
            for city in ("Paris", "Rome")
        ]
        assert_test(examples, [ToolOrderScorer()], function=agent, otlp=endpoint, concurrency=2)
        for sender in senders:
            sender.join(60)


def test_a_part_whose_parent_has_not_come_is_waited_for_longer():
    with OTLPEndpoint(pause=0.1, wait=60) as endpoint:
        token = token_of(endpoint.environment)
        senders = []

        def agent(text, *, otlp):
            caller = otlp.headers["traceparent"]
            post(otlp.endpoint, token, spans(caller, "inner", parent=f"{7:016x}"))

            def export():
                time.sleep(0.6)
                post(endpoint.endpoint, token, spans(caller, "outer", numbers=[7]))

            senders.append(threading.Thread(target=export))
            senders[-1].start()

        report = run_evaluation([Example(input="x")], [ANYTHING], function=agent, otlp=endpoint)
        senders[0].join(60)
    by_name = {span.name: span for span in report.results[0].trace.spans}
    assert by_name["inner"].parent_key == by_name["outer"].span_key
    assert by_name["outer"].parent_key is None


def test_a_request_that_comes_twice_and_spans_of_another_trace_change_nothing():
    with OTLPEndpoint(wait=1) as endpoint:
        token = token_of(endpoint.environment)

        def agent(text, *, otlp):
            for _ in range(2):
                post(otlp.endpoint, token, spans(otlp.headers["traceparent"], "search"))
            post(otlp.endpoint, token, spans(f"00-{'cd' * 16}-{'ab' * 8}-01", "other"))

        report = run_evaluation([Example(input="x")], [ANYTHING], function=agent, otlp=endpoint)
    assert [span.name for span in report.results[0].trace.spans] == ["search"]


def test_requests_without_the_token_are_refused_and_the_errored_result_counts_them():
    refused = []

    def agent(text, *, otlp):
        for headers in ({}, {"x-agenttrace-run": "0" * 32}):
            with pytest.raises(urllib.error.HTTPError) as error:
                post(otlp.endpoint, headers, spans(otlp.headers["traceparent"], "search"))
            refused.append(error.value.code)
            error.value.close()

    with OTLPEndpoint(wait=0.2) as endpoint:
        report = run_evaluation([Example(input="x")], [ANYTHING], function=agent, otlp=endpoint)
    assert refused == [401, 401]
    assert "2 requests had no token of a run" in report.results[0].error


def test_spans_that_continue_no_run_are_counted_in_the_errored_result():
    with OTLPEndpoint(wait=0.2) as endpoint:
        token = token_of(endpoint.environment)

        def agent(text):
            post(endpoint.endpoint, token, spans(f"00-{'cd' * 16}-{'ab' * 8}-01", "search"))

        report = run_evaluation([Example(input="x")], [ANYTHING], function=agent, otlp=endpoint)
    assert "1 spans came that continue no traceparent" in report.results[0].error


def test_spans_that_come_after_the_run_reach_the_store():
    store = MemoryStore()
    tracer = Tracer("travel", store=store)
    callers = []
    with OTLPEndpoint(pause=0) as endpoint:
        token = token_of(endpoint.environment)

        def agent(text, *, otlp):
            callers.append(otlp.headers["traceparent"])
            post(otlp.endpoint, token, spans(callers[0], "early"))

        report = run_evaluation(
            [Example(input="x")], [ANYTHING], function=agent, otlp=endpoint, tracer=tracer
        )
        post(endpoint.endpoint, token, spans(callers[0], "late", numbers=[2]))
    tracer.shutdown()
    assert [span.name for span in report.results[0].trace.spans] == ["early"]
    assert {span.name for span in store.trace(report.results[0].trace_id).spans} == {"early", "late"}


def test_each_trial_has_a_trace_of_its_own():
    report = assert_test(
        expecting("Paris"), [ToolOrderScorer()], function=agent_of(GOES_ON), otlp=True, trials=3
    )
    assert len({result.trace.trace_id for result in report}) == 3


def test_a_client_passes_the_option_on():
    client = Client("travel", store="memory")
    report = client.assert_test(
        expecting("Paris"), [ToolOrderScorer()], function=agent_of(GOES_ON), otlp=True
    )
    assert report.results[0].outcome == "passed"


def test_the_thread_and_the_port_are_gone_after_the_evaluation():
    seen = []
    before = threading.enumerate()  # those of other tests may still end

    def agent(city, *, otlp):
        seen.append(otlp.endpoint)
        return child(GOES_ON, city, **otlp.environment)

    run_evaluation(expecting("Paris"), [ANYTHING], function=agent, otlp=True)
    ours = ("agenttrace-otlp", "agenttrace-intake")
    assert not [one for one in threading.enumerate() if one.name in ours and one not in before]
    with pytest.raises(urllib.error.URLError):
        post(seen[0], {}, {})


def test_a_request_made_by_inject_continues_the_run_without_the_argument():
    tracer = Tracer("travel", store="memory")
    with OTLPEndpoint() as endpoint:
        token = token_of(endpoint.environment)

        def agent(text):
            post(endpoint.endpoint, token, spans(tracer.inject({})["traceparent"], "search"))

        report = run_evaluation(
            [Example(input="x")], [ANYTHING], function=agent, otlp=endpoint, tracer=tracer
        )
    assert [span.name for span in report.results[0].trace.spans] == ["search"]
    assert report.results[0].trace.spans[0].parent_key is None
    tracer.shutdown()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"otlp": "http://127.0.0.1:4318", "function": print}, "otlp is True or an OTLPEndpoint, got str"),
        ({"otlp": True}, "give function="),
        ({"otlp": True, "function": print, "executor": "processes"}, "runs these in others"),
    ],
)
def test_an_option_that_cannot_work_is_refused_before_anything_runs(options, text):
    if options.get("executor"):
        with ProcessPoolExecutor(1) as executor, pytest.raises(ConfigError, match=text):
            run_evaluation([Example(input="x")], [ANYTHING], **{**options, "executor": executor})
        return
    with pytest.raises(ConfigError, match=text):
        run_evaluation([Example(input="x")], [ANYTHING], **options)


@pytest.mark.parametrize("seconds", [-1, "5", float("nan")])
def test_a_wait_that_is_no_number_of_seconds_is_refused(seconds):
    with pytest.raises(ConfigError, match="wait is a number of seconds from 0"):
        OTLPEndpoint(wait=seconds)


def test_a_function_that_takes_otlp_without_the_option_is_told_of_it():
    report = run_evaluation([Example(input={"city": "Paris"})], [ANYTHING], function=agent_of(GOES_ON))
    assert "otlp=True of the evaluation gives it otlp" in report.results[0].error


SDK = """
import os, sys
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagate import extract
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("agent")
caller = extract({"traceparent": os.environ["TRACEPARENT"]})
with tracer.start_as_current_span("agent", context=caller):
    for name in ("search", "book"):
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name,
                      "gen_ai.tool.call.arguments": '{"city": "%s"}' % sys.argv[1]}
        with tracer.start_as_current_span(f"execute_tool {name}", attributes=attributes):
            pass
provider.shutdown()
"""


def test_a_child_process_with_the_opentelemetry_sdk_is_asserted_on():
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    expected = [call("search", city="Paris"), call("book", city="Paris")]
    report = assert_test(
        [Example(input={"city": "Paris"}, expected_tools=expected)],
        [ToolOrderScorer()],
        function=agent_of(SDK),
        otlp=True,
    )
    names = [span.name for span in report.results[0].trace.spans]
    assert names == ["agent", "search", "book"]
