"""What a call's result, log and attributes repeat of the secrets among its arguments."""

import pytest

from agenttrace import Tracer
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
