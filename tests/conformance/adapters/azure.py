"""Azure AI Evaluation 1.18.10: task navigation efficiency, with precision, recall and F1."""

import json

from tests.conformance.engine import compared

MODES = {"exact_match": "exact", "in_order_match": "in_order", "any_order_match": "contains"}


def score(row):
    if not row["expected"]:
        raise ValueError("expected_actions cannot be empty")
    rule = _same_text if row["config"]["params"] else None
    mode = MODES[row["config"]["matching_mode"]]
    return float(compared(row["expected"], row["actual"], mode, rule).holds)


ours = score


def extra(row):
    """Precision, recall and F1 over the multisets."""
    rule = _same_text if row["config"]["params"] else None
    comparison = compared(row["expected"], row["actual"], "any_order", rule)
    return {
        "precision_score": comparison.precision,
        "recall_score": comparison.coverage,
        "f1_score": comparison.f1,
    }


def _same_text(expected, actual):
    """Values are compared as their text."""
    return _texts(expected) == _texts(actual)


def _texts(arguments):
    return {
        key: json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else str(value)
        for key, value in arguments.items()
    }
