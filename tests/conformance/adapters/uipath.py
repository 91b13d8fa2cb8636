"""UiPath 2.14.44: tool call order, args and count, as its package computes them."""

import operator
from collections import Counter

from agenttrace.core.example import Example
from agenttrace.scorers import ToolCallArgsScorer, ToolCallCountScorer, ToolCallOrderScorer
from tests.conformance.engine import compared, fits

OPERATORS = {"==": operator.eq, ">=": operator.ge, "<=": operator.le}


def score(row):
    config, actual, expected = row["config"], row["actual"], row["expected"]
    if not actual or not expected:
        return float(not actual and not expected)  # before anything else is looked at
    if row["metric"] == "tool_call_order":
        value = compared(expected, actual, "exact" if config["strict"] else "lcs").value
    elif row["metric"] == "tool_call_count":
        value = _counted(config, actual, expected)
    else:
        value = _first_fit(actual, expected)
    return float(value == 1.0) if config["strict"] else value


def ours(row):
    """The scorers themselves."""
    config, expected = row["config"], row["expected"]
    example = Example(tools_called=row["actual"])
    if row["metric"] == "tool_call_order":
        scorer = ToolCallOrderScorer([call["name"] for call in expected], config["strict"])
    elif row["metric"] == "tool_call_count":
        wanted = Counter(call["name"] for call in expected)
        counts = {name: (config["comparator"], count) for name, count in wanted.items()}
        scorer = ToolCallCountScorer(counts, config["strict"])
    else:
        calls = [{"name": call["name"], "args": call["args"]} for call in expected]
        scorer = ToolCallArgsScorer(calls, config["strict"], "listed" if config["subset"] else "exact")
    return scorer.score(example).value


def _counted(config, actual, expected):
    made, wanted = (Counter(call["name"] for call in calls) for calls in (actual, expected))
    holds = OPERATORS[config["comparator"]]
    return sum(holds(made[name], count) for name, count in wanted.items()) / len(wanted)


def _first_fit(actual, expected):
    """Two flaws: the first call that fits is taken, and extra arguments are free whatever `subset` says."""
    left, matched = list(actual), 0
    for want in expected:
        found = next((call for call in left if fits(want, call, _contained)), None)
        if found is not None:
            matched += 1
            left = [call for call in left if call is not found]
    return matched / len(expected)


def _contained(expected, actual):
    return all(key in actual and actual[key] == value for key, value in expected.items())
