"""judgeval's rows of tool dependencies and of JSON correctness."""

import pytest
from pydantic import create_model

from agenttrace import Example
from agenttrace.scorers import JSONCorrectnessScorer, ToolDependencyScorer
from tests.conformance.cases import rows, told

TYPES = {"str": str, "int": int}

pytestmark = pytest.mark.shared


def rows_of(scorer):
    return [row for row in rows("judgeval_cases") if row["scorer"] == scorer]


def test_tool_dependencies():
    found = rows_of("ToolDependencyScorer")
    for row in found:
        calls = [{"name": call["tool_name"], "agent": call["agent_name"]} for call in row["actual"]]
        example = Example(tools_called=calls, expected_tools=row["expected"])
        assert ToolDependencyScorer().score(example).value == row["score"], told(row)
    assert len(found) == 2


def test_json_correctness():
    found = rows_of("JSONCorrectnessScorer")
    for row in found:
        fields = {name: (TYPES[kind], ...) for name, kind in row["config"]["json_schema"].items()}
        scorer = JSONCorrectnessScorer(create_model("Answer", **fields), row["config"]["threshold"])
        assert scorer.score(Example(actual_output=row["actual"])).value == row["score"], told(row)
    assert len(found) == 2
