"""Scorers of one name are told apart by what they limit."""

from agenttrace.scorers import BudgetScorer
from agenttrace.scoring.distinct_names import with_distinct_names


def test_two_budgets_are_told_apart_by_their_limits():
    scorers = with_distinct_names([BudgetScorer(calls=8), BudgetScorer(calls=4), BudgetScorer(cost=0.5)])
    assert [scorer.name for scorer in scorers] == ["Budget", "Budget (calls=4)", "Budget (cost=0.5)"]
