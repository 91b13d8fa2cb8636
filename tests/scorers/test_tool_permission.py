import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.trace import Trace
from agenttrace.scorers import ToolPermissionScorer


def scored(called, **options):
    return ToolPermissionScorer(**options).score(Example(tools_called=called))


def test_the_score_is_the_share_of_permitted_calls():
    score = scored(["read_a", "delete_b", "read_c", "delete_d"], deny=["delete_*"])
    assert score.value == 0.5
    assert score.reason == "2 of 4 calls permitted; not: delete_b (call 2), delete_d (call 4)"
    assert score.details == {"permitted": 2, "calls": 4, "refused": [1, 3]}


def test_with_an_allow_list_nothing_else_is_permitted():
    assert scored(["read_a", "write_b"], allow=["read_*"]).value == 0.5
    assert scored(["read_a"], allow=[]).value == 0.0


def test_deny_goes_before_allow():
    assert scored(["read_secret"], allow="*", deny="*_secret").value == 0.0


def test_no_calls_are_permitted_calls():
    assert scored([], deny="x").value == 1.0


def test_a_failed_attempt_was_made_all_the_same():
    assert scored([{"name": "delete", "error": "refused"}], deny="delete").value == 0.0


def test_an_alias_does_not_get_past():
    assert scored(["rm"], deny="rm", names={"rm": "delete"}).value == 0.0
    assert scored(["rm"], deny="delete", names={"rm": "delete"}).value == 0.0


def test_a_deny_that_no_tool_has_is_told_as_vacuous():
    trace = Trace(Trace.from_calls(["read"]).spans, tools={"erase": ToolDefinition(name="erase")})
    score = ToolPermissionScorer(deny=["delete_*", "erase"]).score(Example(), trace)
    assert (score.value, score.details["vacuous"]) == (1.0, ["delete_*"])
    assert "vacuous, no known tool has such a name: delete_*" in score.reason


@pytest.mark.parametrize("given", [{}, {"deny": []}, {"deny": [""]}, {"allow": [7]}])
def test_what_permits_everything_or_cannot_be_read_is_refused(given):
    with pytest.raises(ScorerError, match=r"needs allow or deny|names and globs"):
        ToolPermissionScorer(**given)
