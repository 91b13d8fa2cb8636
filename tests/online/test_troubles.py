"""Troubles of recording are told to the alerts: a store in memory, a dead collector, what was dropped."""

import json
import socket
import sqlite3
import time

import pytest

from agenttrace import Tracer
from agenttrace.core.losses import LOSSES, Trouble
from agenttrace.exporters import OTLPExporter
from agenttrace.online import trouble_watch
from agenttrace.online.alerts import log_alert, webhook
from agenttrace.online.trouble_watch import TroubleWatch


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(trouble_watch, "PAUSE", 0.05)
    monkeypatch.setattr(trouble_watch, "PATIENCE", 0.2)


def told(alerts, *causes):
    """The alerts by cause, once all of these are there."""
    deadline = time.monotonic() + 20
    while not {alert.cause for alert in alerts} >= set(causes):
        assert time.monotonic() < deadline, alerts
        time.sleep(0.01)
    return {alert.cause: alert for alert in alerts}


def record(tracer, count=1):
    call = tracer.observe(lambda n: n)
    for number in range(count):
        call(number)


class TestAWatch:
    NOT_SENT = Trouble("not_sent http://x traces", "traces are not taken", "look")
    MEMORY = Trouble("memory", "in memory", "mend it")

    def test_tells_each_trouble_once_until_it_is_over_and_back(self):
        now = [self.MEMORY]
        watch = TroubleWatch(lambda: now, "shop")
        assert [alert.cause for alert in watch.check(0.0)] == ["memory"]
        assert watch.check(10.0) == []
        now.clear()
        assert watch.check(20.0) == []
        now.append(self.MEMORY)
        (again,) = watch.check(30.0)
        assert again.to_dict() == {
            "kind": "trouble",
            "cause": "memory",
            "text": "in memory",
            "remedy": "mend it",
            "project": "shop",
        }
        assert str(again) == "recording of project shop is in trouble: in memory; to do: mend it"

    def test_tells_of_a_collector_when_it_has_taken_nothing_for_a_minute(self):
        watch = TroubleWatch(lambda: [self.NOT_SENT], "shop")
        assert watch.check(0.0) == []
        assert watch.check(59.0) == []
        assert [alert.cause for alert in watch.check(61.0)] == ["not_sent"]
        assert watch.check(200.0) == []

    def test_has_nothing_to_look_at_where_nobody_is_to_be_told(self):
        assert TroubleWatch(None, "shop").pause is None


def test_a_store_in_memory_is_told_once(tmp_path, at_once, loopback, caplog):
    path = tmp_path / "traces.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs (a)")
    db.close()
    alerts = []
    tracer = Tracer("shop", store=path, alerts=[alerts.append, webhook(loopback.url), log_alert])
    record(tracer, 3)
    alert = told(alerts, "memory")["memory"]
    assert "another application's database" in alert.text
    assert "agenttrace doctor" in alert.remedy
    tracer.shutdown()
    assert [one.cause for one in alerts] == ["memory"]
    assert loopback.received == [alert.to_dict()]
    assert json.dumps(alert.to_dict())
    assert caplog.text.count("recording of project shop is in trouble") == 1


def test_a_dead_collector_is_told_once(tmp_path, at_once):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1/traces"
        alerts = []
        exporter = OTLPExporter(address)
        tracer = Tracer("shop", store=tmp_path / "t.db", exporters=[exporter], alerts=[alerts.append])
        record(tracer)
        tracer.flush()
        alert = told(alerts, "not_sent")["not_sent"]
        assert address.removesuffix("/v1/traces") in alert.text
        assert "collector" in alert.remedy
        record(tracer)
        tracer.shutdown()
    assert [one.cause for one in alerts] == ["not_sent"]


def test_what_was_dropped_is_told_once(tmp_path, at_once):
    alerts = []
    tracer = Tracer("shop", store=tmp_path / "t.db", queue_limit=1, alerts=[alerts.append])
    with tracer.span("root"):
        record(tracer, 500)
    alert = told(alerts, "queue_full")["queue_full"]
    assert LOSSES["queue_full"].text in alert.text
    record(tracer, 500)
    tracer.shutdown()
    assert [one.cause for one in alerts] == ["queue_full"]


def test_sound_recording_tells_nothing_and_no_store_or_exporter_of_the_user_s_breaks_the_look(
    tmp_path, at_once, monkeypatch
):
    from agenttrace.tracing.troubles import recording_troubles

    class Odd:
        def write(self, batch):
            """Take it."""

        def flush(self, timeout):
            return True

        def close(self):
            """Nothing."""

        def health(self):
            raise SystemExit(3)

    for store in ("memory", tmp_path / "t.db", Odd()):
        tracer = Tracer("shop", store=store)
        record(tracer, 3)
        tracer.flush()
        assert list(recording_troubles(tracer._pipeline)) == []
        tracer.shutdown()


def test_a_tracer_without_alerts_has_no_thread_for_them(tmp_path):
    tracer = Tracer("shop", store=tmp_path / "t.db")
    record(tracer)
    assert tracer._online is None
    tracer.shutdown()
