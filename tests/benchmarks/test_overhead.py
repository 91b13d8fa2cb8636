"""The overhead benchmark runs, on tiny counts; its times are nobody's concern here."""

import json
import threading

import pytest

from benchmarks import callers_side, loads, overhead, rescoring, storing
from benchmarks.callers_side import Effort, measure_all, measure_case, measure_threads
from benchmarks.cases import CASES
from benchmarks.memory import growth, queued_bytes
from benchmarks.ours import recording_alone, with_sqlite
from benchmarks.peers.by_hand import observe_by_hand
from benchmarks.processes import measure_processes
from benchmarks.subject import BARE
from tests.benchmarks import sample

TINY = Effort(blocks=1, calls=2, seconds=0.0, thread_calls=3)
LIGHT = [case for case in CASES if not case.heavy]


@pytest.fixture
def stored(tmp_path):
    subject, tracer = with_sqlite(tmp_path)
    yield subject, tracer
    tracer.shutdown()


@pytest.mark.parametrize("case", LIGHT, ids=lambda case: case.name)
def test_each_case_makes_the_spans_it_says(case, stored):
    subject, tracer = stored
    measure_case(subject, case, TINY)
    subject.flush()
    blocks = tracer.stats()["written"] / (1 + TINY.calls * case.spans)
    assert blocks == int(blocks) >= 1


def test_every_light_case_is_measured_on_a_bare_subject_too():
    found = measure_all(BARE, TINY, heavy=False)
    assert list(found) == [case.name for case in LIGHT]


def test_recording_alone_leaves_nothing_behind():
    subject, tracer = recording_alone()
    measure_case(subject, CASES[0], TINY)
    assert tracer.stats()["queued"] == 0
    assert tracer.stats()["written"] == 0


def test_threads_are_measured_and_all_their_calls_are_stored(stored, monkeypatch):
    subject, tracer = stored
    started = []

    class Thread(threading.Thread):
        def __init__(self, *args, target=None, **options):
            super().__init__(*args, target=target, **options)
            if getattr(target, "__module__", None) == callers_side.__name__:  # others start threads, too
                started.append(self)

    monkeypatch.setattr(callers_side.threading, "Thread", Thread)
    assert measure_threads(subject, TINY) is not None
    assert tracer.stats()["written"] % (8 * (TINY.thread_calls + 1)) == 0
    assert len(started) >= 8
    assert not any(thread.is_alive() for thread in started)


def test_a_burst_and_a_paced_load_lose_nothing(stored):
    subject, tracer = stored
    burst = storing.measure_storing(subject, spans=300, seconds=5.0)
    assert (burst.spans, burst.lost) == (300, 0.0)
    already = tracer.stats()["written"]
    made = storing.paced(subject, per_second=10_000, seconds=0.02)
    subject.flush()
    assert tracer.stats()["written"] - already == made


def test_processes_on_one_file_store_every_span(tmp_path):
    together = measure_processes(tmp_path, processes=2, spans_each=100)
    assert together.made == together.stored == 200


def test_memory_is_counted_for_a_span_and_for_many(tmp_path):
    assert 0 < queued_bytes(calls=50) < 10_000
    assert growth(tmp_path, spans=1).spans == 100_000


def test_wrapping_by_hand_notes_input_and_output():
    noted = []

    class Block:
        def __enter__(self):
            return "span"

        def __exit__(self, *_):
            return None

    def tool(city, days=3):
        return city

    observed = observe_by_hand(
        tool, lambda name: Block(), lambda span, what, text: noted.append((what, text))
    )
    assert observed("Paris") == "Paris"
    assert noted == [("input", '{"city": "Paris", "days": 3}'), ("output", '"Paris"')]


def test_the_report_has_a_row_for_each_case_and_each_peer():
    text = overhead.report(sample.overhead())
    assert all(f"| {case.name}" in text for case in CASES)
    assert "| other" in text
    assert "- other 1.0: as it is" in text
    assert "- missing: not measured, not installed" in text


def test_the_table_of_payloads_names_each_size_and_what_peers_do():
    text = overhead.report(sample.overhead())
    assert all(f" {size} |" in text for size in loads.PAYLOADS)
    assert "| app that never rests |" in text
    assert "Peers do, and agenttrace does not" in text


def test_each_load_is_measured_and_nothing_of_it_is_lost(stored, monkeypatch):
    for module in (loads, storing):  # traces of ten spans: a hundred of 100 KB each are long in storing
        monkeypatch.setattr(module, "PER_ROOT", 10)
    subject, _ = stored
    found = loads.measure_loads(subject, seconds=0.0, functions=3)
    assert list(found["payloads"]) == list(loads.PAYLOADS)
    assert {load["lost"] for load in found["payloads"].values()} <= {0.0, None, 1.0}
    assert found["decorating_us"] > 0


@pytest.mark.parametrize(("size", "least", "most"), [("4 KB", 3_900, 4_400), ("9 KB", 8_500, 9_500)])
def test_a_payload_has_the_size_that_it_is_named_by(size, least, most):
    given = []

    def observe(function):
        return lambda value: given.append(value)

    loads._case(loads.PAYLOADS[size]).make(observe)()
    assert least <= len(json.dumps(given[0])) <= most


def test_the_table_of_scoring_anew_says_from_how_many_it_is_worked_out():
    row = {"seconds": 8e-5, "instructions": None}
    names = ["read in a stream and scored: passes", "read one by one"]
    text = rescoring.report({"traces": 1_000, "spans": 10, "rows": dict.fromkeys(names, row)})
    assert "80 s, worked out from 1,000" in text


def test_the_traces_that_are_scored_anew_pass_or_fail_as_they_should(tmp_path):
    store = rescoring.SQLiteStore(tmp_path / "traces.db")
    rescoring.fill(store, 30)
    assert rescoring._score(store, rescoring._example(-1), passes=True) == 30
    assert rescoring._score(store, rescoring._example(4), passes=False, most=7) == 7
    store.close()
