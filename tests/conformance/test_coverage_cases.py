"""Function call coverage, counted as multisets, on every row."""

import pytest

from agenttrace import Example, FunctionCallCoverageScorer
from tests.conformance.cases import rows, told

pytestmark = pytest.mark.shared


def test_all_six_numbers_of_every_row():
    compared = 0
    for row in rows("coverage_cases"):
        scorer = FunctionCallCoverageScorer(row["criteria"]["function_calls"], mode=row["config"]["mode"])
        score = scorer.score(Example(tools_called=row["actual_calls"]))
        assert score.details == pytest.approx(row["expected"]), told(row)
        assert score.value == row["expected"]["all_required_calls_made"]
        compared += 1
    assert compared == 64
    print(f"{compared} rows compared")
