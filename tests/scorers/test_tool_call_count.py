import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.span import Span
from agenttrace.core.trace import Trace
from agenttrace.scorers import ToolCallCountScorer


def scored(counts, actual, **options):
    return ToolCallCountScorer(counts, **options).score(Example(tools_called=list(actual)))


@pytest.mark.parametrize(
    ("word", "holds"),
    [
        ("=", [False, True, False]), ("==", [False, True, False]), ("!=", [True, False, True]),
        (">", [False, False, True]), (">=", [False, True, True]),
        ("<", [True, False, False]), ("<=", [True, True, False]),
    ],
)  # fmt: skip
def test_every_operator_compares_actual_with_expected(word, holds):
    assert [scored({"a": (word, 1)}, "a" * made).value for made in (0, 1, 2)] == [float(h) for h in holds]


def test_the_score_is_the_share_of_counts_that_hold():
    score = scored({"a": (">=", 1), "b": ("=", 2)}, "aab")
    assert score.value == 0.5
    assert score.reason == "1 of 2 counts hold; b: 1, wanted = 2"
    assert score.details == {
        "a": {"actual": 2, "operator": ">=", "expected": 1, "held": True},
        "b": {"actual": 1, "operator": "=", "expected": 2, "held": False},
    }


def test_strict_is_all_or_nothing_and_still_tells_every_tool():
    score = scored({"a": ("=", 1), "b": ("=", 1)}, "a", strict=True)
    assert (score.value, len(score.details)) == (0.0, 2)
    assert score.reason.endswith("strict: 0 unless all")
    assert scored({"a": ("=", 1)}, "a", strict=True).value == 1.0


@pytest.mark.parametrize("count", [("=", 0), ("<=", 3), ("<", 1), (">=", 0), ("!=", 1)])
def test_a_tool_that_was_never_called_counts_0_also_without_any_calls(count):
    assert scored({"delete": count}, []).value == 1.0
    assert scored({"delete": count}, ["other"]).value == 1.0


def test_other_tools_are_free():
    assert scored({"a": ("=", 1)}, "abbb").value == 1.0


def test_counts_read_from_json_are_lists():
    assert scored({"a": ["=", 1]}, "a").value == 1.0


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({}, "counts maps tools"),
        (None, "counts maps tools"),
        ([("a", "=", 1)], "counts maps tools"),
        ({"a": 1}, r"is \(operator, number\), got 1"),
        ({"a": ("=", 1, 2)}, "operator, number"),
        ({"a": ("=>", 1)}, "unknown operator '=>' for 'a'"),
        ({"a": (1, "=")}, "unknown operator 1"),
        ({"a": ([], 1)}, "unknown operator"),
        ({"a": ("=", -1)}, "whole number from 0, got -1"),
        ({"a": ("=", 1.5)}, "whole number"),
        ({"a": ("=", True)}, "whole number"),
        ({"a": ("=", "1")}, "whole number"),
        ({7: ("=", 1)}, "by a tool's name, got 7"),
        ({"delete_*": ("=", 0)}, "by a tool's whole name, got 'delete_"),
    ],
)
def test_counts_that_cannot_be_understood_are_refused_when_built(counts, said):
    with pytest.raises(ScorerError, match=said):
        ToolCallCountScorer(counts)


def test_counts_out_of_scope_are_left_out():
    score = scored({"read": ("=", 5), "write": ("=", 1)}, ["write"], tools="write")
    assert (score.value, list(score.details)) == (1.0, ["write"])
    assert scored({"read": ("=", 5)}, ["write"], tools="write").value == 1.0


def test_a_count_that_holds_of_a_tool_that_nobody_knows_is_told_as_vacuous():
    offered = {"tools": [{"name": "refund"}, {"name": "search"}]}
    asked = Span(trace_key=1, span_key=1, name="chat", span_type="llm", start_ns=0, input=offered)
    counts = {"refnd": ("<=", 1), "refund": ("<=", 1), "serch": (">=", 1)}
    score = ToolCallCountScorer(counts, threshold=0.5).score(Example(), Trace([asked]))
    assert (score.outcome, score.details["vacuous"]) == ("passed", ["refnd"])
    assert "vacuous, no known tool has such a name: refnd" in score.reason
