"""MLflow 3.18.0: tool call correctness by exact matching."""

import json

from tests.conformance.engine import compared, unique


def score(row):
    config, actual, expected = row["config"], row["actual"], row["expected"]
    if not expected:
        raise ValueError("exact matching requires expectations")
    if config["should_consider_ordering"]:
        return _word(compared(expected, actual, "exact", _rule(config)).holds)
    if len(actual) != len(expected):
        return "no"
    # A flaw: what is compared are sets, so that two calls and one stand for one and two.
    key = _key(config)
    wanted, made = unique(expected, key), unique(actual, key)
    return _word(compared(wanted, made, "any_order", _rule(config)).holds)


def ours(row):
    """Without an order, the same multiset."""
    mode = "exact" if row["config"]["should_consider_ordering"] else "any_order"
    return _word(compared(row["expected"], row["actual"], mode, _rule(row["config"])).holds)


def _rule(config):
    return _same_text if config["include_arguments"] else None


def _same_text(expected, actual):
    return json.dumps(expected, sort_keys=True) == json.dumps(actual, sort_keys=True)


def _key(config):
    if not config["include_arguments"]:
        return lambda call: call["name"]
    return lambda call: (call["name"], json.dumps(call["args"], sort_keys=True))


def _word(holds):
    return "yes" if holds else "no"
