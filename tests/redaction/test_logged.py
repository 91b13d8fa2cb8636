"""What the log says of errors raised by users' code, by stores and by collectors, holds no secret."""

import logging

import pytest

from agenttrace.process.said_once import SaidOnce
from agenttrace.redaction import without_secrets
from agenttrace.scorers import ExactMatchScorer
from agenttrace.store import MemoryStore
from agenttrace.tracer import Tracer

SECRET = "sk-proj-" + "Zq7TxW9bLm2NcV4rKs8D" * 2


def refuse(*_, **__):
    raise ValueError(f"401 of https://me:{SECRET}@collector.example with Authorization: Bearer {SECRET}")


class Exporter:
    def export(self, spans):
        refuse()


class Refusing(MemoryStore):
    """A store whose errors show what it was given."""

    def write(self, batch):
        refuse()


@pytest.fixture
def logged(caplog):
    """All that is logged, with tracebacks."""
    caplog.set_level(logging.DEBUG, "agenttrace")
    return lambda: caplog.text


@pytest.mark.parametrize("options", [{"exporters": [Exporter()]}, {"store": Refusing()}])
def test_an_error_of_an_exporter_or_a_store_is_logged_without_secrets(options, logged):
    tracer = Tracer("logged", **{"store": "memory", **options})
    tracer.observe(lambda: 1)()
    tracer.shutdown(timeout=5)
    assert "ValueError: 401 of https://" in logged()
    assert SECRET not in logged()


def test_an_error_of_a_callback_of_an_evaluation_is_logged_without_secrets(logged):
    tracer = Tracer("logged", store="memory")
    scorer = ExactMatchScorer()
    tracer.async_evaluate([scorer], actual_output="a", expected_output="a", on_result=refuse)
    tracer.wait_for_evaluations(timeout=60)
    tracer.shutdown(timeout=5)
    assert "on_result: ValueError: 401 of https://" in logged()
    assert SECRET not in logged()


def test_a_traceback_is_logged_without_secrets(logged):
    try:
        refuse()
    except ValueError as error:
        SaidOnce(without_secrets).warn("cause", "it failed", error, traceback="with")
    assert "Traceback (most recent call last)" in logged()
    assert "in refuse" in logged()
    assert SECRET not in logged()


def test_a_traceback_without_secrets_is_handed_to_the_log_as_it_is(caplog):
    error = ValueError("nothing secret")
    SaidOnce(without_secrets).warn("cause", "it failed", error, traceback="with")
    assert caplog.records[0].exc_info[1] is error
