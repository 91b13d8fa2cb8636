"""Settings: arguments, then OpenTelemetry's variables, then the defaults."""

from __future__ import annotations

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.exporters.otlp_settings import settings

SECRET = "sk-VERYSECRETKEY123"


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch):
    import os

    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)


def test_the_defaults_are_a_collector_on_this_machine():
    found = settings()
    assert found.urls == {
        "traces": "http://localhost:4318/v1/traces",
        "logs": "http://localhost:4318/v1/logs",
    }
    assert (found.protocol, found.compression, found.timeout, found.content) == (
        "http/protobuf",
        "gzip",
        10.0,
        True,
    )
    assert found.headers == {}


@pytest.mark.parametrize(
    "endpoint",
    ["https://host/otlp", "https://host/otlp/", "https://host/otlp/v1/traces", "https://host/otlp/v1/logs"],
)
def test_an_endpoint_is_the_address_with_or_without_its_path(endpoint):
    assert settings(endpoint).urls == {
        "traces": "https://host/otlp/v1/traces",
        "logs": "https://host/otlp/v1/logs",
    }


def test_the_environment_says_what_arguments_do_not(monkeypatch):
    for name, value in {
        "ENDPOINT": "http://a:1/x",
        "TRACES_ENDPOINT": "http://b:2/own",
        "HEADERS": f"authorization=Bearer%20{SECRET}, X-Team = support ,",
        "PROTOCOL": "http/json",
        "COMPRESSION": "none",
        "TIMEOUT": "2500",
    }.items():
        monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "NO_CONTENT")
    found = settings()
    assert found.urls == {"traces": "http://b:2/own", "logs": "http://a:1/x/v1/logs"}
    assert found.headers == {"authorization": f"Bearer {SECRET}", "x-team": "support"}
    assert (found.protocol, found.compression, found.timeout) == ("http/json", "none", 2.5)
    assert found.content is False
    given = settings(
        "http://c", headers={}, protocol="http/protobuf", compression="gzip", timeout=1, content=True
    )
    assert given.urls["traces"] == "http://c/v1/traces"
    assert (given.headers, given.protocol, given.compression, given.timeout, given.content) == (
        {},
        "http/protobuf",
        "gzip",
        1.0,
        True,
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"endpoint": "collector:4318"}, "must begin with http"),
        ({"endpoint": "http://169.254.169.254"}, "clouds keep credentials"),
        ({"endpoint": f"http://host/?key={SECRET}"}, "query"),
        ({"endpoint": f"http://me:{SECRET}@host"}, "a user"),
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
        settings(**wrong)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("TIMEOUT", "soon", "milliseconds, got 'soon'"), ("PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_PROTOCOL")],
)
def test_a_wrong_variable_is_named(monkeypatch, name, value, message):
    monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)
    with pytest.raises(ConfigError, match=message):
        settings()


def test_headers_are_in_no_repr():
    assert SECRET not in repr(settings(headers={"x-key": SECRET}))
