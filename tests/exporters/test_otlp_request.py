"""Spans or scores as the request that takes them to an OTLP receiver."""

import asyncio
import logging

import pytest

from agenttrace.core.score import Score
from agenttrace.core.span import Frame, Span, SpanError
from agenttrace.exporters.otlp_request import log_request, resource_from_environment, trace_request
from agenttrace.version import __version__

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def span_of(**fields):
    return Span(**{"trace_key": 1, "span_key": 2, "name": "search", "project": "travel", **fields})


def values_of(entries):
    """A list of keys with values as a dict."""
    return {entry["key"]: next(iter(entry["value"].values())) for entry in entries}


def only_span(span, content=True):
    (resource,) = trace_request([span], resource={}, content=content)["resource_spans"]
    (scope,) = resource["scope_spans"]
    (written,) = scope["spans"]
    return written


def only_event(score, trace_id=TRACE, span_id=SPAN, **options):
    scores = [(trace_id, span_id, score)]
    options = {"project": "travel", "resource": {}, "content": True, **options}
    (resource,) = log_request(scores, [5], **options)["resource_logs"]
    (scope,) = resource["scope_logs"]
    (written,) = scope["log_records"]
    return written


def test_a_span_is_written_with_its_ids_its_times_and_its_operation():
    span = span_of(parent_key=3, span_type="tool", start_ns=10, end_ns=20)
    written = only_span(span)
    attributes = values_of(written.pop("attributes"))
    assert written == {
        "trace_id": bytes(15) + b"\1",
        "span_id": bytes(7) + b"\2",
        "parent_span_id": bytes(7) + b"\3",
        "name": "execute_tool search",
        "kind": 1,
        "start_time_unix_nano": 10,
        "end_time_unix_nano": 20,
        "status": {"code": 1},
    }
    assert attributes["gen_ai.tool.name"] == attributes["agenttrace.name"] == "search"


def test_a_root_has_no_parent():
    assert "parent_span_id" not in only_span(span_of())


def test_a_call_to_a_model_is_a_clients():
    assert only_span(span_of(span_type="llm"))["kind"] == 3


def test_a_time_before_1970_or_beyond_64_bits_is_zero():
    written = only_span(span_of(start_ns=-1, end_ns=2**64))
    assert (written["start_time_unix_nano"], written["end_time_unix_nano"]) == (0, 0)


def test_the_spans_of_each_project_have_a_resource_of_their_own():
    spans = [span_of(project="a"), span_of(project="b"), span_of(project="a")]
    request = trace_request(spans, resource={"host.name": "h"}, content=True)
    found = {
        values_of(one["resource"]["attributes"])["agenttrace.project"]: one
        for one in request["resource_spans"]
    }
    assert {project: len(one["scope_spans"][0]["spans"]) for project, one in found.items()} == {
        "a": 2,
        "b": 1,
    }
    assert values_of(found["a"]["resource"]["attributes"]) == {
        "host.name": "h",
        "service.name": "a",
        "agenttrace.project": "a",
        "openinference.project.name": "a",
        "telemetry.sdk.name": "agenttrace",
        "telemetry.sdk.language": "python",
        "telemetry.sdk.version": __version__,
    }
    (written,) = found["a"]["scope_spans"]
    assert written["scope"] == {"name": "agenttrace", "version": __version__}
    assert written["schema_url"] == "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"


def test_the_service_is_called_what_the_resource_says():
    request = trace_request([span_of()], resource={"service.name": "booking"}, content=True)
    resource = values_of(request["resource_spans"][0]["resource"]["attributes"])
    assert (resource["service.name"], resource["agenttrace.project"]) == ("booking", "travel")


def test_a_project_without_a_name_is_an_unknown_service():
    request = trace_request([span_of(project="")], resource={}, content=True)
    assert (
        values_of(request["resource_spans"][0]["resource"]["attributes"])["service.name"] == "unknown_service"
    )


def test_no_spans_make_an_empty_request():
    assert trace_request([], resource={}, content=True) == {"resource_spans": []}


def test_an_error_is_a_status_and_an_event_with_the_traceback():
    frames = (Frame("app.py", 3, "main"), Frame("app.py", 9, "book"))
    error = SpanError("app.NotFound", "no such flight", frames)
    written = only_span(span_of(status="error", error=error, end_ns=20))
    assert written["status"] == {"code": 2, "message": "no such flight"}
    (event,) = written["events"]
    assert (event["name"], event["time_unix_nano"]) == ("exception", 20)
    assert values_of(event["attributes"]) == {
        "exception.type": "app.NotFound",
        "exception.message": "no such flight",
        "exception.stacktrace": "Traceback (most recent call last):\n"
        '  File "app.py", line 3, in main\n'
        '  File "app.py", line 9, in book\n'
        "app.NotFound: no such flight",
    }


def test_an_error_whose_traceback_a_nested_span_has_says_only_itself():
    written = only_span(span_of(status="error", error=SpanError("ValueError", "no")))
    assert values_of(written["events"][0]["attributes"])["exception.stacktrace"] == "ValueError: no"


def test_without_content_an_error_keeps_only_its_type():
    written = only_span(span_of(status="error", error=SpanError("ValueError", "secret")), content=False)
    assert written["status"] == {"code": 2, "message": ""}
    assert values_of(written["events"][0]["attributes"]) == {"exception.type": "ValueError"}
    assert values_of(written["attributes"])["error.type"] == "ValueError"


def test_a_call_that_was_cancelled_is_neither_a_success_nor_an_error(run):
    def waits():
        raise asyncio.CancelledError

    (span,) = run(waits, raises=asyncio.CancelledError)
    written = only_span(span)
    assert "status" not in written
    assert values_of(written["attributes"])["agenttrace.status"] == "cancelled"


def test_a_score_is_an_event_of_its_span():
    score = Score.of("faithfulness", 0.75, 0.7, reason="3 of 4 claims")
    event = only_event(score)
    assert values_of(event.pop("attributes")) == {
        "gen_ai.evaluation.name": "faithfulness",
        "gen_ai.evaluation.score.value": 0.75,
        "gen_ai.evaluation.score.label": "passed",
        "gen_ai.evaluation.explanation": "3 of 4 claims",
        "agenttrace.evaluation.outcome": "passed",
        "agenttrace.evaluation.threshold": 0.7,
        "agenttrace.evaluation.range": "0 to 1",
        "agenttrace.evaluation.lower_is_better": False,
    }
    assert event == {
        "time_unix_nano": 5,
        "observed_time_unix_nano": 5,
        "severity_number": 9,
        "severity_text": "INFO",
        "event_name": "gen_ai.evaluation.result",
        "body": {"string_value": "faithfulness: passed 0.75"},
        "trace_id": bytes.fromhex(TRACE),
        "span_id": bytes.fromhex(SPAN),
    }


def test_the_event_of_a_score_says_the_versions_the_judge_and_the_cost():
    versions = {"scorer_version": "3", "dataset_version": 2, "other": "x"}
    event = only_event(Score.of("faithfulness", 0.75, 0.7, metadata=versions, model="gpt-5", cost=0.01))
    attributes = values_of(event["attributes"])
    names = ("scorer_version", "dataset_version", "model", "cost")
    assert [attributes[f"agenttrace.evaluation.{name}"] for name in names] == ["3", 2, "gpt-5", 0.01]
    assert "agenttrace.evaluation.other" not in attributes


def test_scores_come_under_the_resource_of_their_project():
    request = log_request([], [], project="travel", resource={"a": 1}, content=True)
    resource = values_of(request["resource_logs"][0]["resource"]["attributes"])
    assert (resource["service.name"], resource["a"]) == ("travel", 1)


def test_a_score_that_was_skipped_has_no_value():
    event = only_event(Score.skipped("faithfulness", 0.7, "no context"))
    attributes = values_of(event["attributes"])
    assert attributes["gen_ai.evaluation.score.label"] == "skipped"
    assert "gen_ai.evaluation.score.value" not in attributes
    assert event["body"] == {"string_value": "faithfulness: skipped"}


def broken():
    """The score of a scorer that raises."""
    try:
        raise ValueError("secret")
    except ValueError as error:
        return Score.errored("judge", 0.5, error)


@pytest.mark.parametrize(
    ("score", "error_type"),
    [
        (broken(), "ValueError"),
        (Score.errored("judge", 0.5, "Traceback (most …):\napp.Bad: x", "app.Bad: x"), "app.Bad"),
        (Score.errored("judge", 0.5, "Timeout: no answer within 3 s"), "_OTHER"),
        (Score.errored("judge", 0.5, "Traceback …", "no type here: x"), "_OTHER"),
    ],
)
def test_a_score_that_could_not_be_given_is_a_warning_with_the_type_of_what_broke(score, error_type):
    event = only_event(score)
    assert (event["severity_number"], event["severity_text"]) == (13, "WARN")
    assert values_of(event["attributes"])["error.type"] == error_type


def test_without_content_a_score_gives_no_reason():
    event = only_event(broken(), content=False)
    assert "secret" not in str(event)


def test_a_score_of_a_whole_trace_has_no_span():
    assert only_event(Score.of("f", 1, 0.5), span_id=None)["span_id"] == b""


@pytest.mark.parametrize("trace_id", ["", "xyz", "abcd", TRACE + "00"])
def test_an_id_that_is_none_is_left_out_and_costs_nothing_else(trace_id):
    event = only_event(Score.of("f", 1, 0.5), trace_id=trace_id)
    assert (event["trace_id"], event["span_id"]) == (b"", bytes.fromhex(SPAN))


@pytest.fixture
def environment(monkeypatch):
    def environment(attributes=None, service=None):
        for name, value in (("OTEL_RESOURCE_ATTRIBUTES", attributes), ("OTEL_SERVICE_NAME", service)):
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)
        return resource_from_environment()

    return environment


def test_an_environment_that_says_nothing_gives_an_empty_resource(environment):
    assert environment() == environment("", " ") == {}


def test_the_resource_is_read_from_the_environment(environment):
    assert environment(" deployment.environment = prod ,team=a%2Cb%20c,url=x=y,empty=,") == {
        "deployment.environment": "prod",
        "team": "a,b c",
        "url": "x=y",
        "empty": "",
    }


def test_the_services_own_variable_comes_first(environment):
    assert environment("service.name=a,b=c", "booking") == {"service.name": "booking", "b": "c"}
    assert environment("service.name=a") == {"service.name": "a"}


def test_malformed_entries_are_skipped_with_one_warning(environment, caplog):
    with caplog.at_level(logging.WARNING, "agenttrace"):
        assert environment("nonsense,a=b,=c") == {"a": "b"}
    (record,) = caplog.records
    assert record.getMessage() == (
        "OTEL_RESOURCE_ATTRIBUTES: got 'nonsense', '=c', wanted key=value; such entries are skipped"
    )
