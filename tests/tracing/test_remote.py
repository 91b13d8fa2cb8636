"""A trace goes on in another process; nothing that a caller sends can do more than that."""

import pytest
from stored import stored, tree

from agenttrace.tracer import Tracer
from agenttrace.tracing.context import current
from agenttrace.tracing.remote import read_traceparent

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GOOD = f"00-{TRACE}-{SPAN}-01"


@pytest.fixture
def work(tracer):
    return tracer.observe(lambda: None, name="work")


def test_what_is_injected_can_be_extracted(tracer, work):
    with tracer.span("client") as client:
        headers = tracer.inject({"accept": "x"})
    with tracer.extract(headers):
        work()
    assert headers["accept"] == "x"
    assert tree(stored(tracer)) == {"client": None, "work": "client"}
    assert {span.trace_id for span in stored(tracer)} == {client.trace_id}


def test_outside_of_calls_nothing_is_injected(tracer):
    assert tracer.inject({}) == {}


def test_what_is_sampled_out_here_is_not_claimed_elsewhere():
    tracer = Tracer("sampled", store="memory", sample_rate=0)
    with tracer.span("x"):
        assert tracer.inject({"traceparent": GOOD}) == {}
    tracer.shutdown()


def test_a_caller_that_does_not_sample_is_followed(tracer, work):
    with tracer.extract({"traceparent": GOOD[:-2] + "00"}):
        work()
    assert stored(tracer) == []


def test_the_name_of_the_header_may_be_written_in_any_way(tracer, work):
    with tracer.extract({"TraceParent": GOOD}):
        work()
    (span,) = stored(tracer)
    assert (span.trace_id, span.parent_id) == (TRACE, SPAN)


@pytest.mark.parametrize(
    "value",
    [
        *("", "00", "nonsense", GOOD + "-extra", "ff" + GOOD[2:], f"00-{'0' * 32}-{SPAN}-01"),
        *(
            f"00-{TRACE}-{'0' * 16}-01",
            f"00-{TRACE[:-1]}-{SPAN}-01",
            f"00-{TRACE}-{SPAN}-0g",
            GOOD.replace("-", "_"),
        ),
        f"cc-{TRACE}-{SPAN}-01-" + "x" * 1_000_000,  # well formed, as far as a later version may go on
        *("00-" + "４" * 32 + f"-{SPAN}-01", GOOD + "\n" + GOOD, "x" * 1_000_000, 7, b"00", [GOOD, SPAN]),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_malformed_or_oversized_values_change_nothing(tracer, work, value):
    """Scenario 46."""
    with pytest.raises(ValueError):
        read_traceparent({"traceparent": value})
    with tracer.extract({"traceparent": value}):
        work()
    (span,) = stored(tracer)
    assert (span.parent_key, span.trace_id == TRACE) == (None, False)


def test_a_later_version_of_the_header_is_read_as_far_as_it_is_known():
    assert read_traceparent({"traceparent": f"cc-{TRACE}-{SPAN}-01-what-comes"}) == (
        int(TRACE, 16),
        int(SPAN, 16),
        True,
    )


def test_baggage_is_not_looked_at(tracer, work):
    """Scenario 46."""
    headers = {
        "baggage": "a=" + "x" * 1_000_000 + ",endpoint=http://evil.example,project=stolen",
        "tracestate": "endpoint=http://evil.example",
        "traceparent": GOOD,
    }
    with tracer.extract(headers):
        work()
        assert tracer.inject({}).keys() == {"traceparent"}
    (span,) = stored(tracer)
    assert (span.project, span.attributes) == ("test", {})


def test_names_that_are_neither_text_nor_bytes_are_passed_over():
    assert read_traceparent({None: GOOD, 5: GOOD}) is None


def test_the_context_is_put_back(tracer):
    with tracer.extract({"traceparent": GOOD}):
        assert current.get() is not None
    assert current.get() is None
