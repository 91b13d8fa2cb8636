"""Recorded text moves no terminal's cursor and adds no line to a log."""

import json
import logging
import re

import pytest

from agenttrace import Score, Tracer

HOSTILE = "a\x9b31mb\x7fc\x85d\u202ee\u2066f\u2028g\u2029h\u200fi\ufeffj\x1b[2Jk\rl\ud800m"
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\u200e\u200f\ufeff]")


@pytest.fixture
def recorded(tmp_path):
    tracer = Tracer(project_name="p" + HOSTILE, store=str(tmp_path / "traces.db"))

    @tracer.observe(name="n" + HOSTILE)
    def tool(text):
        tracer.set_tags([HOSTILE])
        tracer.update_metadata({HOSTILE: HOSTILE})
        return {HOSTILE: text}

    with tracer.capture() as captured:
        tool(HOSTILE)
    tracer.flush()
    score = Score.of("s" + HOSTILE, 0.0, 1.0, reason=HOSTILE)
    tracer.store.write_scores([(captured.trace.trace_id, None, score)])
    tracer.shutdown()
    return captured.trace.trace_id


@pytest.mark.parametrize("words", [["traces", "list", "--json"], ["traces", "show", "--json"]], ids=" ".join)
def test_json_on_a_terminal_holds_no_control_characters(recorded, tmp_path, capsys, words):
    from agenttrace.cli.main import main

    with pytest.raises(SystemExit) as left:
        main([*words, "--store", str(tmp_path / "traces.db")])
    assert left.value.code == 0
    printed = capsys.readouterr().out
    assert CONTROLS.search(printed) is None
    assert HOSTILE.replace("\ud800", "\ufffd") in json.dumps(json.loads(printed), ensure_ascii=False) or (
        json.loads(printed)["name"] == "n" + HOSTILE.replace("\ud800", "\ufffd")
    )


def test_an_alert_in_the_log_is_one_line(caplog):
    from agenttrace.online.alerts import LowScore, log_alert

    score = Score.of("Judge", 0.0, 1.0, reason="fine\nWARNING root: all is lost " + HOSTILE)
    with caplog.at_level(logging.WARNING, "agenttrace.alerts"):
        log_alert(LowScore(score, "p", "1" * 32, None))
    (record,) = caplog.records
    assert CONTROLS.search(record.getMessage()) is None
    assert "\n" not in record.getMessage()


def test_a_warning_that_is_said_once_is_one_line(caplog):
    tracer = Tracer("log", store="memory")

    class Hostile(Exception):
        def __str__(self):
            return "no\nWARNING root: " + HOSTILE

    class Refusing:
        def export(self, spans):
            raise Hostile

        def flush(self, timeout):
            return True

        def close(self):
            pass

    tracer = Tracer("log", store="memory", exporters=[Refusing()])
    with caplog.at_level(logging.WARNING, "agenttrace"):
        tracer.observe(lambda: 1)()
        tracer.flush()
    tracer.shutdown()
    messages = [record.getMessage() for record in caplog.records]
    assert messages
    assert not [text for text in messages if "\n" in text or CONTROLS.search(text)]
