"""UiPath's own cases, given as OpenTelemetry spans to the evaluators in UiPath's shape."""

import asyncio
import json
from collections import Counter

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from agenttrace.integrations.uipath import (
    AgentExecution,
    ToolCallArgsEvaluator,
    ToolCallCountEvaluator,
    ToolCallOrderEvaluator,
    ToolCallOutputEvaluator,
)
from tests.conformance.cases import rows, told
from tests.conformance.differences import EVALUATORS, LCS, RAISES

KINDS = {
    "tool-call-order": ToolCallOrderEvaluator,
    "tool-call-count": ToolCallCountEvaluator,
    "tool-call-args": ToolCallArgsEvaluator,
    "tool-call-output": ToolCallOutputEvaluator,
}

pytestmark = pytest.mark.shared


def tool_call_rows():
    return [row for row in rows("uipath_cases") + rows("uipath_edge_cases") if row["evaluator"] in KINDS]


def compared_rows():
    return [row for row in tool_call_rows() if "depends_on" not in row]


def spans_of(row):
    """The row's spans, one after the other; plain calls as UiPath's instrumentation records them."""
    attributes = row.get("spans")
    if attributes is None:
        attributes = [
            {
                "tool.name": call["name"],
                "input.value": json.dumps(call.get("args") or {}),
                "output.value": json.dumps({"content": call.get("output", "")}),
            }
            for call in row["actual_calls"]
        ]
    return [
        ReadableSpan(name="span", start_time=at, end_time=at + 1, attributes=one)
        for at, one in enumerate(attributes)
    ]


def evaluated(row):
    """The result, or that criteria or configuration are refused."""
    execution = AgentExecution(agent_input={}, agent_output={}, agent_trace=spans_of(row))
    try:
        evaluator = KINDS[row["evaluator"]](id="case", config=row["config"])
        return asyncio.run(evaluator.validate_and_evaluate_criteria(execution, row["criteria"]))
    except ValueError:
        return RAISES


def test_only_rows_that_depend_on_rewritten_names_or_ids_are_left_out():
    everything = tool_call_rows()
    left_out = [row for row in everything if "depends_on" in row]
    assert (len(everything), len(left_out)) == (228, 19)
    assert {word for row in left_out for word in row["depends_on"]} <= {"name-sanitising", "tool-id"}
    print(f"{len(left_out)} of {len(everything)} rows left out: names are exact here, ids are not compared")


def test_scores_are_uipath_s_or_stand_in_the_table():
    used = Counter()
    for row in compared_rows():
        result = evaluated(row)
        found = result if result == RAISES else result.score
        recorded = RAISES if row["score"] is None else row["score"]
        if found != RAISES and recorded != RAISES and found == pytest.approx(recorded, abs=1e-9):
            continue
        if found == recorded:
            continue
        entries = [n for n, entry in enumerate(EVALUATORS) if entry.covers(row) and entry.ours == found]
        assert entries, (found, told(row))
        used[entries[0]] += 1
    assert set(used) == set(range(len(EVALUATORS))), "an entry of the table that no row needs"
    print(f"{len(compared_rows())} rows compared, {used.total()} of them in the table of differences")


def test_the_lcs_is_uipath_s_own_ties_included():
    compared = Counter()
    for row in compared_rows():
        if row["evaluator"] != "tool-call-order" or "lcs" not in (row["details"] or {}):
            continue
        result = evaluated(row)
        if result == RAISES:
            continue
        if result.details.lcs == row["details"]["lcs"]:
            compared["same"] += 1
        elif row["config"].get("strict"):
            assert row["details"]["lcs"] == [], told(row)
            compared["strict"] += 1
        else:
            assert any(call.get("id") for call in row["actual_calls"]), told(row)
            compared["ids"] += 1
    assert set(compared) - {"same"} == set(LCS)
    assert compared["same"] > 30
