"""The table in docs/coverage.md: what four kinds of expectations notice of damage to real runs."""

import gzip
import json
import re
from pathlib import Path

import pytest

from agenttrace import Example, ToolOrderScorer, Trace, expect, run_evaluation
from agenttrace.core.mutation_score import Tally
from agenttrace.expectations import expectation_of
from agenttrace.suite import mutation_score

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
FILES = ("tau_bench_airline_gpt-4o", "tau_bench_retail_grok-3_faults", "tau2_airline_trajectories")
FORMS = ("names in order", "with arguments", "with guards", "the exact run")
KINDS = ("dropped", "repeated", "swapped", "argument", "invented", "unasked", "failed", "succeeded")


def successes(file):
    path = DATA / f"{file}.jsonl.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [run for run in map(json.loads, lines) if run["reward"] == 1 and run["actual"]]


def expectations(run, writes):
    """What a test of this task expects, in four forms; the exact run has no mode of its own."""
    names = [call["name"] for call in run["expected"]]
    calls = [{"tool_name": call["name"], "parameters": call["args"]} for call in run["expected"]]
    counts = {name: names.count(name) for name in names if name in writes}
    failures = sum("error" in call for call in run["actual"])
    guards = expect(calls, at_most=counts, never=sorted(writes - {*names}), tool_errors=failures)
    return dict(
        zip(FORMS, (names, calls, guards, expectation_of(Trace.from_calls(run["actual"]))), strict=True)
    )


def measured():
    """The tallies by form and kind over the successful runs that pass in every form, and their number."""
    tallies = {form: dict.fromkeys((*KINDS, "all"), Tally()) for form in FORMS}
    number = 0
    for file in FILES:
        runs = successes(file)
        calls = [call for run in runs for call in (*run["actual"], *run["expected"])]
        writes = {call["name"] for call in calls if call.get("kind") == "write"}
        reports = {}
        for form in FORMS:
            scorer = ToolOrderScorer(exact_match=form == "the exact run")
            rows = [
                Example(tools_called=run["actual"], expected_tools=expectations(run, writes)[form])
                for run in runs
            ]
            reports[form] = run_evaluation(rows, [scorer]), scorer
        passing = [n for n in range(len(runs)) if all(made[n].success for made, _ in reports.values())]
        number += len(passing)
        for form, (made, scorer) in reports.items():
            score = mutation_score(
                [made[n] for n in passing], [scorer], kinds=KINDS, per_run=12, most=100_000, suggest=False
            )
            assert score.runs == len(passing)
            for kind, tally in (*score.kinds.items(), ("all", score.total)):
                tallies[form][kind] += tally
    return tallies, number


def table():
    """The figures of the page: by kind, the number of damaged runs, then the percentages by form."""
    text = (ROOT / "docs" / "coverage.md").read_text()
    rows = re.findall(r"^\| `?(\w+)`? \|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$", text, re.M)
    figures = {kind: [re.sub(r"\D", "", cell) for cell in cells] for kind, *cells in rows}
    return {kind: [int(figure) for figure in cells] for kind, cells in figures.items() if all(cells)}


@pytest.mark.shared
def test_the_table_of_the_page_is_what_is_measured():
    tallies, number = measured()
    page = table()
    assert f"{number} successful runs" in (ROOT / "docs" / "coverage.md").read_text()
    assert set(page) == {*KINDS, "all"}
    for kind, (total, *percentages) in page.items():
        for form, percent in zip(FORMS, percentages, strict=True):
            assert tallies[form][kind].total == total
            assert abs(tallies[form][kind].percent - percent) <= 0.51, (kind, form)
