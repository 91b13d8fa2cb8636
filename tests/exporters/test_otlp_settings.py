"""Settings: arguments, then OpenTelemetry's variables, then the defaults."""

from __future__ import annotations

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.exporters.otlp_settings import content_setting, signal_settings

SECRET = "sk-VERYSECRETKEY123"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch):
    import os

    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def urls(endpoint=None):
    found = {kind: signal_settings(kind, endpoint) for kind in ("traces", "logs")}
    return {kind: None if one is None else one.url for kind, one in found.items()}


def test_the_defaults_are_a_collector_on_this_machine():
    found = signal_settings("traces")
    assert urls() == {"traces": "http://localhost:4318/v1/traces", "logs": "http://localhost:4318/v1/logs"}
    assert (found.protocol, found.compression, found.timeout) == ("http/protobuf", "gzip", 10.0)
    assert found.headers == {}
    assert content_setting(None) is True


@pytest.mark.parametrize(
    "endpoint",
    ["https://host/otlp", "https://host/otlp/", "https://host/otlp/v1/traces", "https://host/otlp/v1/logs"],
)
def test_an_endpoint_is_the_address_with_or_without_its_path(endpoint):
    assert urls(endpoint) == {
        "traces": "https://host/otlp/v1/traces",
        "logs": "https://host/otlp/v1/logs",
    }


def test_the_environment_says_what_arguments_do_not(monkeypatch):
    for name, value in {
        "ENDPOINT": "http://a:1/x",
        "TRACES_ENDPOINT": "http://b:2/own",
        "HEADERS": f"authorization=Bearer%20{SECRET}, X-Team = support ,",
        "LOGS_HEADERS": "x-team=logs",
        "PROTOCOL": "http/json",
        "COMPRESSION": "none",
        "TIMEOUT": "2500",
        "TRACES_TIMEOUT": "500",
    }.items():
        monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "NO_CONTENT")
    traces, logs = signal_settings("traces"), signal_settings("logs")
    assert urls() == {"traces": "http://b:2/own", "logs": "http://a:1/x/v1/logs"}
    assert traces.headers == {"authorization": f"Bearer {SECRET}", "x-team": "support"}
    assert logs.headers == {"x-team": "logs"}
    assert (traces.protocol, traces.compression, traces.timeout) == ("http/json", "none", 0.5)
    assert logs.timeout == 2.5
    assert content_setting(None) is False
    assert content_setting(True) is True
    given = signal_settings(
        "traces", "http://c", headers={}, protocol="http/protobuf", compression="gzip", timeout=1
    )
    assert given.url == "http://c/v1/traces"
    assert given.headers == {}
    assert (given.protocol, given.compression, given.timeout) == ("http/protobuf", "gzip", 1.0)


@pytest.mark.parametrize(("given", "other"), [("traces", "logs"), ("logs", "traces")])
def test_an_address_for_one_signal_sends_the_other_nowhere(monkeypatch, given, other):
    monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{given.upper()}_ENDPOINT", "http://host/own")
    assert urls() == {given: "http://host/own", other: None}


def test_a_collectors_words_are_shown_without_the_headers():
    found = signal_settings("traces", headers={"authorization": f"Bearer {SECRET}", "x-team": "support"})
    assert found.mask(f"bad key {SECRET} (Bearer {SECRET}) of support") == "bad key *** (***) of ***"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"endpoint": "collector:4318"}, "must begin with http"),
        ({"endpoint": "http://169.254.169.254"}, "clouds keep credentials"),
        ({"endpoint": f"http://host/?key={SECRET}"}, "query"),
        ({"endpoint": f"http://me:{SECRET}@host"}, "a user"),
        ({"endpoint": 4318}, "an address such as"),
        ({"endpoint": "http://ho st:4318"}, "usable address"),
        ({"headers": "a=b"}, "a mapping"),
        ({"headers": {"Content-Length": "3"}}, "the exporter itself sets"),
        ({"protocol": "grpc"}, "4318"),
        ({"compression": "zstd"}, "gzip, deflate, none; got 'zstd'"),
        ({"timeout": 0}, "above 0"),
        ({"timeout": float("inf")}, "above 0"),
        ({"timeout": True}, "above 0"),
        ({"headers": {"x key": SECRET}}, "a name that no header has"),
        ({"headers": {"x-key": f"{SECRET}\nx-evil: 1"}}, "'x-key'.*on one line"),
        ({"headers": {"x-key": f"{SECRET}é"}}, "'x-key'.*on one line"),
        ({"headers": {"x-key": None}}, "'x-key'.*on one line"),
    ],
)
def test_what_cannot_work_is_an_error_that_shows_no_secret(wrong, message):
    with pytest.raises(ConfigError, match=message) as caught:
        signal_settings("traces", **wrong)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("TIMEOUT", "soon", "milliseconds above 0, got 'soon'"),
        ("TIMEOUT", "0", "OTEL_EXPORTER_OTLP_TIMEOUT is .* got '0'"),
        ("HEADERS", "novalue", "name=value"),
        ("PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL"),
    ],
)
def test_a_wrong_variable_is_named(monkeypatch, name, value, message):
    monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)
    with pytest.raises(ConfigError, match=message):
        signal_settings("traces")


def test_headers_are_in_no_repr():
    assert SECRET not in repr(signal_settings("traces", headers={"x-key": SECRET}))


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("", True),
        ("true", True),
        ("SPAN_AND_EVENT", True),
        ("false", False),
        ("NO_CONTENT", False),
        ("0", False),
    ],
)
def test_whether_content_is_sent_is_told_by_opentelemetrys_words(monkeypatch, value, content):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value)
    assert content_setting(None) is content


@pytest.mark.parametrize("value", ["fasle", "off", "no"])
def test_a_misspelt_word_about_content_is_an_error_and_sends_nothing(monkeypatch, value):
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value)
    with pytest.raises(ConfigError, match="false, 0, no_content"):
        content_setting(None)
    with pytest.raises(ConfigError, match="content is True or False"):
        content_setting(value)


def test_compressions_are_known_in_any_case():
    assert signal_settings("traces", compression="GZIP").compression == "gzip"
