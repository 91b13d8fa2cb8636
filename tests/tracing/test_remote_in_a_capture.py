"""A trace that is captured here and comes back through headers stays in its capture."""

import contextvars
import os
import threading

import pytest
from stored import stored, tree

from agenttrace.core.example import Example
from agenttrace.evaluation import assert_test
from agenttrace.scorers import ToolOrderScorer
from agenttrace.tracer import Tracer


class Service:
    """The agent's own service: a tool behind headers, on a thread that knows nothing of the caller."""

    def __init__(self, tracer):
        self.tracer = tracer
        self.search = tracer.observe(self._search, name="search", span_type="tool")

    def _search(self, city):
        return f"sun in {city}"

    def answer(self, headers, city):
        answers = []

        def serve():
            with self.tracer.extract(headers):
                answers.append(self.search(city))

        thread = threading.Thread(target=contextvars.Context().run, args=(serve,))
        thread.start()
        thread.join()
        return answers[0]


@pytest.fixture
def agent(tracer):
    service = Service(tracer)

    @tracer.observe(span_type="agent")
    def agent(city):
        return service.answer(tracer.inject({}), city)

    return agent


def test_a_right_agent_that_calls_its_own_service_passes(tracer, agent):
    example = Example(
        input={"city": "Paris"}, expected_tools=[{"tool_name": "search", "parameters": {"city": "Paris"}}]
    )
    (result,) = assert_test([example], [ToolOrderScorer()], function=agent, tracer=tracer)
    assert result.success


def test_calls_behind_the_header_stand_under_the_call_that_sent_it(tracer, agent):
    with tracer.capture() as captured:
        agent("Paris")
    assert tree(captured.trace.spans) == {"agent": None, "search": "agent"}
    assert [span.index for span in captured.trace.spans] == [1, 2]
    assert len({span.span_key for span in captured.trace.spans}) == 2


def test_the_store_has_the_same_spans(tracer, agent):
    with tracer.capture() as captured:
        agent("Paris")
    assert [s.to_dict() for s in stored(tracer)] == [s.to_dict() for s in captured.trace.spans]


def test_the_service_may_have_a_tracer_of_its_own(tracer):
    other = Tracer("service", store="memory")
    service = Service(other)
    with tracer.capture() as captured, tracer.span("agent"):
        service.answer(tracer.inject({}), "Paris")
    assert tree(captured.trace.spans) == {"agent": None, "search": "agent"}
    other.shutdown()


def test_it_goes_on_through_several_services(tracer):
    service = Service(tracer)

    @tracer.observe(span_type="tool")
    def gateway(headers):
        with tracer.extract(headers), tracer.span("inner"):
            return service.answer(tracer.inject({}), "Paris")

    with tracer.capture() as captured, tracer.span("agent"):
        gateway(tracer.inject({}))
    assert tree(captured.trace.spans) == {
        "agent": None,
        "gateway": "agent",
        "inner": "agent",
        "search": "inner",
    }


def test_many_requests_at_once_keep_their_callers(tracer):
    service = Service(tracer)

    @tracer.observe(span_type="agent")
    def caller(number):
        return service.answer(tracer.inject({}), f"city {number}")

    with tracer.capture() as captured:
        threads = [threading.Thread(target=caller, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    by_key = captured.trace.by_key
    calls = captured.trace.tool_calls
    assert len(calls) == 20
    assert len(by_key) == len(captured.trace.spans) == 40
    for span in captured.trace.spans:
        if span.name == "search":
            assert span.input["city"] == f"city {by_key[span.parent_key].input['number']}"


def test_what_the_service_says_of_the_trace_is_said_of_the_captured_one(tracer):
    with (
        tracer.capture() as captured,
        tracer.span("agent"),
        tracer.extract(tracer.inject({})),
        tracer.span("service"),
    ):
        tracer.set_session_id("s-1")
        tracer.set_tags(["urgent"])
    assert (captured.trace.session_id, captured.trace.tags) == ("s-1", ("urgent",))


def test_after_the_capture_the_header_is_that_of_a_remote_trace(tracer):
    with tracer.capture() as captured, tracer.span("agent"):
        headers = tracer.inject({})
    Service(tracer).answer(headers, "Paris")
    assert tree(captured.trace.spans) == {"agent": None}
    assert tree(stored(tracer)) == {"agent": None, "search": "agent"}


def test_a_call_that_ends_after_the_capture_is_stored(tracer):
    entered, captured_all = threading.Event(), threading.Event()

    def serve(headers):
        with tracer.extract(headers), tracer.span("late"):
            entered.set()
            assert captured_all.wait(60)

    with tracer.capture() as captured, tracer.span("agent"):
        thread = threading.Thread(target=contextvars.Context().run, args=(serve, tracer.inject({})))
        thread.start()
        assert entered.wait(60)
    captured_all.set()
    thread.join()
    assert tree(captured.trace.spans) == {"agent": None}
    assert tree(stored(tracer)) == {"agent": None, "late": "agent"}


def test_of_two_captures_each_gets_its_own(tracer):
    service = Service(tracer)
    with tracer.capture() as outer, tracer.span("outer"):
        headers = tracer.inject({})
        with tracer.capture() as inner, tracer.span("inner"):
            service.answer(headers, "Paris")
            service.answer(tracer.inject({}), "Oslo")
    assert tree(outer.trace.spans) == {"outer": None, "search": "outer"}
    assert tree(inner.trace.spans) == {"inner": None, "search": "inner"}


def test_a_caller_that_says_not_to_record_is_followed(tracer, agent):
    with tracer.capture() as captured, tracer.span("agent"):
        headers = {"traceparent": tracer.inject({})["traceparent"][:-2] + "00"}
        Service(tracer).answer(headers, "Paris")
    assert tree(captured.trace.spans) == {"agent": None}


def test_a_capture_that_raised_is_forgotten(tracer):
    from agenttrace.tracing.context import captured_scopes

    with tracer.capture(), tracer.span("agent") as agent:
        assert int(agent.trace_id, 16) in captured_scopes
    with pytest.raises(ZeroDivisionError), tracer.capture(), tracer.span("agent") as agent:
        1 / 0  # noqa: B018
    assert int(agent.trace_id, 16) not in captured_scopes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_goes_on_with_ids_of_its_own(tracer):
    import multiprocessing

    def serve(headers, connection):
        with tracer.extract(headers), tracer.span("child") as span:
            connection.send((span.trace_id, span.span_id, span.parent_id))

    with tracer.capture() as captured, tracer.span("agent") as agent:
        ours, theirs = multiprocessing.Pipe()
        child = multiprocessing.get_context("fork").Process(target=serve, args=(tracer.inject({}), theirs))
        child.start()
        child.join()
        with tracer.span("mine") as mine:
            pass
    trace_id, span_id, parent_id = ours.recv()
    assert (trace_id, parent_id) == (captured.trace.trace_id, agent.span_id)
    assert span_id not in (agent.span_id, mine.span_id)
