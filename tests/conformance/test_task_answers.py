"""Answers of BFCL and NESTFUL as expectations: each accepts an allowed answer and rejects every mutated one.

By default a fixed share of the mutations is tried for each task; AGENTTRACE_ALL_MUTATIONS=1 tries them all.
"""

import json
import os
from collections import Counter

import pytest

from agenttrace import Example, ToolOrderScorer
from tests.conformance.answers import (
    arguments,
    bfcl_expectation,
    mutations,
    nestful_expectation,
    nestful_run,
    tasks,
)

ALL = os.environ.get("AGENTTRACE_ALL_MUTATIONS") == "1"

pytestmark = pytest.mark.shared


def accepted(expectation, calls):
    """Whether the run passes, by an expectation that went through JSON."""
    example = Example(expected_tools=json.loads(json.dumps(expectation)), tools_called=calls)
    return ToolOrderScorer().score(example, None).passed


def tried(calls, required):
    """The mutations to try: all, or the first of each kind."""
    seen = set()
    for kind, mutated in mutations(calls, required):
        if ALL or kind not in seen:
            seen.add(kind)
            yield kind, mutated


def check(expectation, runs, required, counts, task):
    for calls in runs:
        assert accepted(expectation, calls), (task["task_id"], expectation, calls)
        counts["accepted"] += 1
    for kind, mutated in tried(runs[0], required):
        assert not accepted(expectation, mutated), (task["task_id"], kind, expectation, mutated)
        counts[kind] += 1


def test_every_answer_of_bfcl_accepts_its_own_and_rejects_mutated_ones():
    counts = Counter()
    for task in tasks("bfcl_v1_tasks"):
        if not task["expected"]:
            counts["tasks without a call"] += 1
            assert accepted([], [])
            assert not accepted([], ["anything"])
            continue
        counts["tasks"] += 1
        runs = [
            [
                {"name": call["name"], "args": arguments(call["args_any"], brief=brief)}
                for call in task["expected"]
            ]
            for brief in (False, True)
        ]
        required = [
            [key for key, values in call["args_any"].items() if "" not in values] for call in task["expected"]
        ]
        check(bfcl_expectation(task), [*runs, runs[0][::-1]], required, counts, task)
    print(dict(counts))
    assert (counts["tasks"], counts["tasks without a call"]) == (1000, 240)
    assert counts["accepted"] == 3000


def test_every_answer_of_nestful_accepts_its_own_and_rejects_mutated_ones():
    counts = Counter()
    for task in tasks("nestful_tasks"):
        counts["tasks"] += 1
        run = nestful_run(task)
        check(nestful_expectation(task), [run], [list(call["args"]) for call in run], counts, task)
    print(dict(counts))
    assert counts["tasks"] == counts["accepted"] == 300


def test_a_reference_of_nestful_must_come_from_its_own_earlier_call():
    rejected = 0
    for task in tasks("nestful_tasks"):
        run, expectation = nestful_run(task), nestful_expectation(task)
        referring = [number for number, call in enumerate(expectation) if "$ref" in json.dumps(call)]
        for number in referring:
            forgotten = [{**call, "output": None} for call in run[:number]] + run[number:]
            assert not accepted(expectation, forgotten), task["task_id"]
            rejected += 1
    print(f"{rejected} calls whose values no earlier result holds")
    assert rejected > 300
