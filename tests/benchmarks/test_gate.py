"""The gate counts, compares, and fails where a path is dearer than accepted."""

import subprocess
import sys

import pytest

from benchmarks import counters, gate
from benchmarks.counters import COUNTERS, CountingFailed, PerfEvent, missing
from benchmarks.instructions import Accepted, Count, Figure, read
from benchmarks.options import root

REFERENCES = {"bytecodes": 10_000}


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """Run the gate with options on a count; the figures lie in a file of this test."""
    figures = tmp_path / "instructions.json"
    figures.write_text('{"builds": []}')
    monkeypatch.setattr(gate, "FIGURES", figures)
    monkeypatch.setattr(gate, "missing", lambda counter: None)

    def run(*options, references=REFERENCES, **paths):
        monkeypatch.setattr(sys, "argv", ["gate.py", *options])
        count = Count("3.11", "callgrind", "a build", references, paths)
        monkeypatch.setattr(gate, "count_all", lambda counter: count)
        return gate.main()

    return run


def test_an_unknown_build_is_said_and_does_not_fail(counted, capsys):
    assert counted(sync=7_000) == 0
    printed = capsys.readouterr().out
    assert "NO FIGURES" in printed
    assert "make gate-accept" in printed


def test_a_known_version_of_another_build_is_said_with_how_far_it_is_off(counted, capsys):
    counted("--accept", sync=7_000)
    assert counted(sync=99_000, references={"bytecodes": 11_000}) == 0
    assert "are 10.0% off" in capsys.readouterr().out


def test_the_gate_fails_where_a_path_is_above_its_figure_until_that_is_accepted(counted, capsys):
    assert counted("--accept", sync=7_000) == 0
    assert counted(sync=7_200) == 0
    assert counted(sync=7_400) == 1
    assert "**above**" in capsys.readouterr().out
    assert counted("--accept", sync=7_400) == 1
    assert "Say why" in capsys.readouterr().out
    assert counted("--accept", "it does more", sync=7_400) == 0
    assert counted(sync=7_400) == 0
    (build,) = read(gate.FIGURES)
    assert [one.why for one in build.paths["sync"].raises] == ["it does more"]


def test_without_a_counter_the_gate_is_skipped_visibly(monkeypatch, capsys):
    monkeypatch.setattr(gate, "missing", lambda counter: f"no {counter}")
    monkeypatch.setattr(sys, "argv", ["gate.py"])
    assert gate.main() == 0
    assert "SKIPPED" in (printed := capsys.readouterr().out)
    assert "no callgrind" in printed
    monkeypatch.setattr(sys, "argv", ["gate.py", "--which"])
    assert gate.main() == 1


def test_a_count_that_fails_fails_the_gate(monkeypatch, counted, capsys):
    def failing(counter):
        raise CountingFailed("the process died")

    counted(sync=7_000)
    monkeypatch.setattr(gate, "count_all", failing)
    assert gate.main() == 1
    assert "the process died" in capsys.readouterr().out


def test_the_table_has_a_row_for_each_path():
    count = Count("3.11", "callgrind", "a build", REFERENCES, {"sync": 7_000, "new": 5})
    accepted = Accepted("3.11", "callgrind", "a build", REFERENCES, {"sync": Figure(6_900)})
    lines = gate.judge(count, accepted)
    text = gate.report(count, [accepted], lines)
    assert "| sync | 7,000 |    6,900 |   7,127 |          1.014 |    within |" in text
    assert "| new  |  5.00 |        — |       — |              — | no figure |" in text


def test_what_a_block_costs_besides_its_operations_falls_out():
    # Two pairs of blocks of 10 and 20: 500 for the block, 7 for an operation; 5 between the blocks.
    blocks = [("sync", 10), ("sync", 20)] * 2
    readings, total = [], 0
    for _, size in blocks:
        readings += [total + 5, total + 5 + 500 + 7 * size]
        total = readings[-1]
    assert gate.costs(blocks, readings) == {"sync": 7.0}


def test_the_bare_call_is_taken_off():
    assert gate.over_bare({"sync": 8_000.0, "sync, bare": 1_000.0, "loop": 5.0}) == {
        "sync": 7_000.0,
        "loop": 5.0,
    }


def test_a_block_without_a_reading_is_no_count():
    with pytest.raises(CountingFailed, match="2 blocks have 3 readings"):
        gate.costs([("sync", 1), ("sync", 2)], [1, 2, 3])


@pytest.mark.parametrize("counter", COUNTERS)
def test_a_loop_of_twice_as_many_turns_takes_twice_the_instructions(counter):
    if reason := missing(counter):
        pytest.skip(reason)
    printed, readings = counters.run(counter, "tests.benchmarks.counted_loop")
    blocks = printed["blocks"]
    taken = [end - begin for begin, end in zip(readings[::2], readings[1::2], strict=True)]
    loops = [
        (taken[position + 1] / taken[position], taken[position] / size)
        for position, (name, size) in enumerate(blocks)
        if position % 2 == 0
    ]
    assert loops
    assert all(1.9 < ratio < 2.1 for ratio, _ in loops)
    assert all(1_000 < cost < 1_000_000 for _, cost in loops)


def test_a_counter_of_the_system_is_read_at_each_mark(monkeypatch):
    # The time of the task stands in for instructions, which few virtual machines count.
    monkeypatch.setattr(counters, "_INSTRUCTIONS", (1, 1))
    try:
        meter = PerfEvent(inherit=True)
    except CountingFailed as reason:
        pytest.skip(str(reason))
    for _ in range(3):
        sum(range(10_000))
        meter.mark()
    first, second, third = meter.readings()
    meter.close()
    assert 0 < first < second < third


def test_a_counter_that_did_not_run_all_the_time_is_no_counter(monkeypatch):
    meter = object.__new__(PerfEvent)
    meter._marks = [counters.struct.pack("=QQQ", 1_000, 50, 40)]
    with pytest.raises(CountingFailed, match="40 of 50"):
        meter.readings()


def test_the_counted_process_gets_no_setting_that_changes_python_or_agenttrace():
    variables = {
        "PATH": "/bin",
        "PYTHONPATH": "here",
        "PYTHONMALLOC": "debug",
        "AGENTTRACE_ENABLED": "0",
        "VALGRIND_OPTS": "--tool=none",
    }
    assert counters._environment(variables) == {"PATH": "/bin", "PYTHONPATH": "here", "PYTHONHASHSEED": "0"}


def test_a_process_that_fails_is_told_with_its_last_words():
    with pytest.raises(CountingFailed, match="no_such_group"):
        counters.run("perf_event", gate.MODULE, "no_such_group")


@pytest.mark.parametrize("group", gate.GROUPS)
def test_every_group_has_pairs_of_blocks_and_stores_what_it_says(group):
    done = subprocess.run(
        [sys.executable, "-m", gate.MODULE, "callgrind", group],
        cwd=root(),
        env=counters._environment(counters.os.environ),
        capture_output=True,
        text=True,
        check=True,
    )
    blocks = counters.json.loads(done.stdout)["blocks"]
    assert blocks
    for (name, size), (same, larger) in zip(blocks[::2], blocks[1::2], strict=True):
        assert (same, larger) == (name, 2 * size)
