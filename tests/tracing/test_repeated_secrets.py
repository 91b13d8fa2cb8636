"""What a call's result, log and attributes repeat of the secrets among its arguments."""

import pytest

from agenttrace import Tracer
from agenttrace.core.digests import secret_digest
from agenttrace.core.semconv import LOGS

PASSWORD, TOKEN = "hunter2Blue9", "abc123def456ghi7"


def test_a_result_is_recorded_without_the_secrets_of_the_arguments():
    tracer = Tracer("repeated", store="memory")

    @tracer.observe(span_type="tool")
    def connect(user, password, headers):
        tracer.log(f"as {user} with {password}")
        tracer.update_current_span(attributes={"used": [f"key {password}"]})
        return {"echo": f"{user}:{password}", "sent": [headers["Authorization"]], "count": 3}

    with tracer.capture() as captured:
        connect("ann", PASSWORD, {"Authorization": f"Bearer {TOKEN}"})
    (call,) = captured.trace.tool_calls
    assert call.output == {"echo": "ann:[redacted]", "sent": ["[redacted]"], "count": 3}
    (span,) = captured.trace.spans
    assert span.attributes["used"] == ["key [redacted]"]
    assert span.attributes[LOGS][0]["message"] == "as ann with [redacted]"


def test_a_result_that_was_redacted_is_still_compared_with_what_was_returned():
    tracer = Tracer("repeated", store="memory")

    @tracer.observe(span_type="tool")
    def echo(password):
        return f"ok {password}"

    with tracer.capture() as captured:
        echo(PASSWORD)
    (call,) = captured.trace.tool_calls
    assert call.output == "ok [redacted]"
    assert call.output.digest is not None


def test_words_numbers_and_dates_of_a_secret_stay_in_the_result():
    tracer = Tracer("repeated", store="memory")

    @tracer.observe(span_type="tool")
    def log_in(user, password, credentials):
        return ["welcome admin on 2025-06-01", 10**20]

    with tracer.capture() as captured:
        log_in("admin", "admin", {"since": "2025-06-01", "number": 10**20})
    (call,) = captured.trace.tool_calls
    assert call.output == ["welcome admin on 2025-06-01", 10**20]


@pytest.mark.parametrize("name", ["get_password", "createApiKey", "vault.fetch_access_token", "make_token"])
def test_what_a_call_returns_is_a_secret_where_its_name_says_so(name):
    tracer = Tracer("returned", store="memory")
    returns = tracer.observe(lambda user: PASSWORD, span_type="tool", name=name)
    with tracer.capture() as captured:
        returns("ann")
    (call,) = captured.trace.tool_calls
    assert call.output == "[redacted]"


@pytest.mark.parametrize(
    ("name", "output"),
    [("get_password", "unknown"), ("check_password", "ok12345"), ("get_page", PASSWORD), ("get_token", None)],
)
def test_any_other_result_stays(name, output):
    tracer = Tracer("returned", store="memory")
    returns = tracer.observe(lambda user: output, span_type="tool", name=name)
    with tracer.capture() as captured:
        returns("ann")
    (call,) = captured.trace.tool_calls
    assert call.output == output


def test_keys_of_a_result_and_the_name_of_a_span_repeat_no_secret_argument():
    tracer = Tracer("repeated", store="memory")

    @tracer.observe(span_type="tool")
    def check(password):
        tracer.current_span().set_name(f"check {password}")
        return {password: "valid", "deep": [{f"{password}!": 1, password: 2}]}

    with tracer.capture() as captured:
        check(PASSWORD)
    (span,) = captured.trace.spans
    assert span.output == {"[redacted]": "valid", "deep": [{"[redacted]!": 1, "[redacted]": 2}]}
    assert span.name == "check [redacted]"


TOLD = {
    "by_name": {"password": PASSWORD},
    "in_a_text": {"question": f"Please sign me in, my password is {PASSWORD}, and buy two tickets."},
    "below": {"settings": {"users": [{"name": "ann", "password": PASSWORD}]}},
    "beside": {"name": "password", "value": PASSWORD},
}


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    return "memory" if request.param == "memory" else tmp_path / "traces.db"


@pytest.mark.parametrize("told", TOLD.values(), ids=list(TOLD))
def test_calls_that_a_caller_makes_repeat_no_secret_of_its_arguments(store, told):
    tracer = Tracer("callers", store=store)

    @tracer.observe(span_type="tool")
    def type_text(text, page=3):
        return {"typed": [text]}

    @tracer.observe
    def step(number):
        type_text(PASSWORD)
        type_text("hello, is there anybody?")
        return number

    @tracer.observe
    def agent(**told):
        step(1)
        step(2)

    agent(**told)
    tracer.flush()
    (trace,) = tracer.store.iter_traces()
    calls = trace.tool_calls
    assert [call.output["typed"] for call in calls] == [["[redacted]"], ["hello, is there anybody?"]] * 2
    assert [call.arguments["text"] for call in calls] == ["[redacted]", "hello, is there anybody?"] * 2
    tracer.shutdown()


def test_a_repeated_secret_of_a_caller_is_still_compared_with_what_was_passed():
    tracer = Tracer("callers", store="memory")
    tool = tracer.observe(lambda text: None, span_type="tool", name="type_text")
    agent = tracer.observe(lambda password: tool(password), name="agent")
    with tracer.capture() as captured:
        agent(PASSWORD)
    (call,) = captured.trace.tool_calls
    assert call.arguments["text"] == "[redacted]"
    assert call.arguments["text"].digest == secret_digest(PASSWORD)


@pytest.mark.parametrize("value", ["admin", "2025-06-01", "ann@example.org", "reading"])
def test_words_dates_and_addresses_that_a_caller_was_given_as_a_secret_stay_in_its_calls(value):
    tracer = Tracer("callers", store="memory")
    tool = tracer.observe(lambda text: None, span_type="tool", name="type_text")
    agent = tracer.observe(lambda password: tool(f"for {value}"), name="agent")
    with tracer.capture() as captured:
        agent(value)
    (call,) = captured.trace.tool_calls
    assert call.arguments["text"] == f"for {value}"


def test_a_secret_of_the_outermost_caller_is_taken_out_of_calls_far_within_it(store):
    tracer = Tracer("callers", store=store)
    deepest = 150

    @tracer.observe(span_type="tool")
    def nested(depth, note):
        if depth < deepest:
            nested(depth + 1, note)
            nested(deepest, f"also {note}")

    tracer.observe(lambda password: nested(1, password), name="agent")(PASSWORD)
    tracer.flush()
    (trace,) = tracer.store.iter_traces()
    notes = [call.arguments["note"] for call in trace.tool_calls]
    assert len(notes) == 2 * deepest - 1
    assert {str(note) for note in notes} == {"[redacted]", "also [redacted]"}
    tracer.shutdown()
