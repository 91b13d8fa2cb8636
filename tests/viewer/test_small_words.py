"""Small words on pages: commands that can be pasted, numbers that agree, links that stand apart."""

from __future__ import annotations

import html
import re
import shlex

import pytest

from agenttrace.core.query_parsing import parse
from agenttrace.reports.agreement import agreement_lines
from agenttrace.store import SQLiteStore
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.run_page import run_page
from agenttrace.viewer.trace_page import trace_page


def command_of(reads):
    (facts,) = reads.traces.search(parse(""), limit=1).traces
    _, text = trace_page(reads, {"id": facts.trace_id})
    found = re.search(r'<pre id="example-command"[^>]*>(.*?)</pre>', text, re.S)
    assert found is not None
    return shlex.split(html.unescape(found[1]))


def test_the_command_beside_an_example_names_a_store_that_is_not_the_usual_one(reads):
    assert command_of(reads)[-2:] == ["--store", reads.path]


def test_the_command_beside_an_example_names_no_store_where_it_is_the_usual_one(own_shop, monkeypatch):
    monkeypatch.setenv("AGENTTRACE_STORE", str(own_shop))
    assert "--store" not in command_of(Reads.of(SQLiteStore(own_shop)))


@pytest.mark.parametrize(("cases", "said"), [(1, "1 case says little"), (2, "2 cases say little")])
def test_few_cases_are_told_in_the_right_number(cases, said):
    table = {"both_pass": cases, "only_scorer_passes": 0, "only_people_pass": 0, "both_fail": 0}
    data = {"scorer": "S", "cases": cases, "table": table, "agreement": 1.0, "kappa": None}
    lines = agreement_lines({**data, "kappa_low": -1.0, "kappa_high": 1.0, "differing": []})
    assert said in "\n".join(line.text for line in lines)


def test_the_link_to_a_trial_and_the_one_to_judge_it_stand_apart(reads):
    run = reads.store.runs(limit=1)[0]
    _, text = run_page(reads, {"id": run.run_id})
    assert re.search(r"</code></a> · <a href=\"/review", text)
