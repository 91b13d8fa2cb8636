"""The counts of a store as OpenMetrics text, and as the text of ``agenttrace health``."""

import re

from agenttrace.core.watch import ScoreCounts, TraceCounts, WriterState
from agenttrace.reports.openmetrics import openmetrics_text

SAMPLE = re.compile(r'^[a-z_]+(\{([a-z_]+="(\\.|[^"\\\n])*",?)*\})? -?[0-9.e+-]+$')


def writer(pid, *, ended=None, seen=1_000, **counts):
    return WriterState(
        writer_id=str(pid), machine="m", pid=pid, program="app", started_ns=0, seen_ns=seen, ended_ns=ended,
        counts=counts,
    )  # fmt: skip


def text(**changed):
    parts = {
        "writers": [writer(1, written=5, queue_full=2), writer(2, written=7), writer(3, ended=9, written=1)],
        "scores": [
            ScoreCounts(project="shop", name='Say "hi"\n\\', passed=3, failed=1, errored=2, total=3.5)
        ],
        "traces": [TraceCounts(project="shop", traces=4)],
        "costs": {"shop": 1.25},
        "failures": {("shop", "back"): 1},
    }
    return openmetrics_text(*{**parts, **changed}.values(), now_ns=2_000)


def test_the_numbers_are_those_of_all_processes_together():
    lines = text().splitlines()
    for line in (
        "agenttrace_writers 2",
        "agenttrace_spans_written 13",
        'agenttrace_spans_dropped{reason="queue_full"} 2',
        'agenttrace_traces{project="shop"} 4',
        'agenttrace_traces_cost_dollars{project="shop"} 1.25',
        'agenttrace_scores{project="shop",scorer="Say \\"hi\\"\\n\\\\",outcome="errored"} 2',
        'agenttrace_scores_mean{project="shop",scorer="Say \\"hi\\"\\n\\\\"} 0.875',
        'agenttrace_failures{project="shop",state="back"} 1',
    ):
        assert line in lines


def test_it_is_openmetrics():
    lines = text().splitlines()
    assert lines[-1] == "# EOF"
    assert text().endswith("\n")
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(families) == len(set(families))
    current = None
    for line in lines[:-1]:
        if line.startswith("# TYPE"):
            current = line.split()[2]
        elif line.startswith("# HELP"):
            assert line.split()[2] == current
        else:
            assert SAMPLE.match(line), line
            assert re.match(r"[a-z_]+", line)[0] == current


def test_an_empty_store_has_text_too():
    assert "agenttrace_spans_written 0" in text(writers=[], scores=[], traces=[], costs={}, failures={})


def test_control_characters_in_a_name_are_codes_since_the_text_is_printed_in_terminals_too():
    written = text(traces=[TraceCounts(project="\x1b]0;x\x07\r\n\u202e")])
    assert not set(written) & set("\x1b\x07\r\u202e")
    assert 'project="\\\\x1b]0;x\\\\x07\\\\x0d\\n\\\\u202e"' in written


def test_a_cost_that_is_not_known_is_left_out_and_never_said_to_be_0():
    scores = [
        ScoreCounts(project="shop", name="Priced", passed=1, cost=0.25),
        ScoreCounts(project="shop", name="Unpriced", passed=1),
    ]
    costs = [line for line in text(scores=scores).splitlines() if line.startswith("agenttrace_scores_cost")]
    assert costs == ['agenttrace_scores_cost_dollars{project="shop",scorer="Priced"} 0.25']
