"""Ragas 0.4.3: tool call accuracy, tool call F1."""

import json

from tests.conformance.engine import compared, equal, pair_agreement, unique


def score(row):
    if row["metric"] == "tool_call_f1":
        return _f1(unique(row["actual"], _frozen), unique(row["expected"], _frozen))
    pairs = _sorted if not row["config"]["strict_order"] else list
    return _accuracy(pairs(row["actual"]), pairs(row["expected"]))


def ours(row):
    """Duplicates count; without an order, the optimal pairing instead of sorting."""
    actual, expected = row["actual"], row["expected"]
    if row["metric"] == "tool_call_f1":
        return _f1(actual, expected)
    if row["config"]["strict_order"]:
        return _accuracy(actual, expected)
    comparison = compared(expected, actual, "any_order", _share, credit="partial")
    full = len(comparison.pairs) == len(actual) == len(expected)
    return comparison.coverage if full else float(not actual and not expected)


def _f1(actual, expected):
    if not actual and not expected:
        return 0.0  # the package's own; for us nothing expected and nothing done is 1
    return round(compared(expected, actual, "any_order", equal).f1, 4)


def _accuracy(actual, expected):
    if [call["name"] for call in actual] != [call["name"] for call in expected]:
        return 0.0
    if not expected:
        return 1.0
    pairs = zip(expected, actual, strict=True)
    return sum(pair_agreement(e, a, _share) for e, a in pairs) / len(expected)


def _share(expected, actual):
    """The share of expected arguments whose text is the same; others are free."""
    if not expected:
        return float(not actual)
    return sum(str(actual.get(key)) == str(value) for key, value in expected.items()) / len(expected)


def _sorted(calls):
    return sorted(
        calls,
        key=lambda call: (
            call["name"],
            *(str(part) for item in sorted(call["args"].items()) for part in item),
        ),
    )


def _frozen(call):
    """The call's identity; 1, 1.0 and true are one, as they hash the same in Python."""
    return call["name"], json.dumps(call["args"], sort_keys=True).replace("true", "1").replace("1.0", "1")
