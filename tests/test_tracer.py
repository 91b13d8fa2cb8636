"""One project's recorder, as users hold it."""

import copy
import os
import subprocess
import sys
import threading

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.store import MemoryStore
from agenttrace.tracer import Tracer


@pytest.fixture
def tracer():
    tracer = Tracer("test", store="memory")
    yield tracer
    tracer.shutdown()


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"project_name": ""}, "project_name is a non-empty string"),
            ({"project_name": 5}, "project_name is a non-empty string"),
            ({"store": 5}, "store is a path, 'memory' or a Store"),
            ({"store": ""}, "a store is the path of a local file"),
            ({"store": "mysql://x"}, "got an address of another kind: mysql"),
            ({"sample_rate": 2}, "sample_rate is a number from 0"),
            ({"sample_rate": "1"}, "sample_rate is a number from 0"),
            ({"redact": "ssn"}, "redact is a list of names or a function"),
            ({"queue_limit": 0}, "queue_limit is a positive number"),
            ({"queue_limit": True}, "queue_limit is a positive number"),
        ],
    )
    def test_that_cannot_work_are_refused(self, settings, message):
        with pytest.raises(ConfigError, match=message):
            Tracer(**{"store": "memory", **settings})

    def test_make_nothing_before_the_first_trace(self, tmp_path):
        """In a process of its own: threads of other tests begin and end at any time."""
        code = (
            "import os, sys\n"
            "from agenttrace.tracer import Tracer\n"
            "tracer = Tracer('test', store='deep/traces.db')\n"
            "print(os.listdir('.'), len(sys._current_frames()))"
        )
        child = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path
        )
        assert child.stdout == "[] 1\n", child.stderr

    def test_store_where_they_say(self, tmp_path, monkeypatch):
        monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "env.db"))
        for tracer in (Tracer("by environment"), Tracer("by path", store=tmp_path / "path.db")):
            tracer.observe(lambda: 1)()
            assert tracer.shutdown()
        assert sorted(name for name in os.listdir(tmp_path) if name.endswith(".db")) == ["env.db", "path.db"]

    def test_name_the_project_of_every_span(self):
        store = MemoryStore()
        tracer = Tracer("my agent", store=store)
        tracer.observe(lambda: 1)()
        tracer.flush()
        assert [summary.project for summary in store.traces()] == ["my agent"]
        tracer.shutdown()


class TestSeveral:
    def test_tracers_keep_to_their_own_stores(self):
        """Scenario 40."""
        tracers = [Tracer(name, store="memory") for name in ("a", "b")]
        for tracer in tracers:
            tracer.observe(lambda: 1)()
        for tracer in tracers:
            assert tracer.flush().stored == 1
            tracer.shutdown()

    def test_tracers_may_be_made_in_threads(self):
        """Scenario 40."""
        made = []
        threads = [
            threading.Thread(target=lambda: made.append(Tracer("t", store="memory"))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for tracer in made:
            tracer.observe(lambda: 1)()
            assert tracer.flush().stored == 1
            tracer.shutdown()

    def test_a_call_belongs_to_the_trace_it_runs_in_whatever_its_tracer(self):
        first, second = Tracer("first", store="memory"), Tracer("second", store="memory")
        inner = second.observe(lambda: 1, name="inner")
        first.observe(lambda: inner(), name="outer")()
        assert (first.flush().stored, second.flush().stored) == (2, 0)
        first.shutdown()
        second.shutdown()


class TestAnAgentThatHoldsATracer:
    def test_can_be_copied(self, tracer):
        class Agent:
            def __init__(self):
                self.tracer, self.memory = tracer, [1]

        agent = Agent()
        made = copy.deepcopy(agent)
        assert made.tracer is copy.copy(tracer) is tracer
        assert made.memory is not agent.memory


def test_stats_tell_what_became_of_every_span(tracer):
    observed = tracer.observe(lambda password: "sk-" + "x" * 30)
    observed("p")
    tracer.flush()
    before = tracer.stats()["redacted"]  # with what the tools of other tests hold
    observed("p")
    tracer.flush()
    stats = tracer.stats()
    assert stats["written"] == 2
    assert stats["redacted"] - before == 2
    assert {"queued", "pending", "queued_bytes", "sampled_out", "recording_errors", "clock_jumps"} <= set(
        stats
    )
    reasons = ["queue_full", "unreadable", "rejected", "quarantined", "memory_full", "after_shutdown"]
    assert stats["dropped"] == dict.fromkeys(reasons, 0)


def test_its_text_names_the_project(tracer):
    assert repr(tracer) == "<Tracer 'test'>"


def test_a_wrong_exporter_or_switch_says_what_to_write():
    from agenttrace import ConfigError, OTLPExporter

    with pytest.raises(
        ConfigError, match=r"exporters holds the class OTLPExporter; make one: OTLPExporter\("
    ):
        Tracer("p", store="memory", exporters=[OTLPExporter])
    with pytest.raises(ConfigError, match="context_in_threads is True or False, got 'no'"):
        Tracer("p", store="memory", context_in_threads="no")
