"""DeepEval 4.3.1: tool correctness, exact, ordering, or neither."""

from tests.conformance.engine import compared, pair_agreement


def score(row):
    value = _score(row, _used_by_value)
    return float(value == 1.0) if row["config"].get("strict_mode") else value


def ours(row):
    """The same question, each call used once and under the optimal pairing."""
    return _score(row, lambda expected, actual, rule: None)


def _score(row, flawed):
    config = row["config"]
    actual, expected = map(_whole, row["actual"]), map(_whole, row["expected"])
    actual, expected = list(actual), list(expected)
    params = config["evaluation_params"]
    if config["should_exact_match"]:
        return float(compared(expected, actual, "exact", lambda e, a: _same(e, a, params)).holds)
    if not expected:
        return float(not actual)

    def rule(e, a):
        return _weight(e, a, params)

    if config["should_consider_ordering"]:
        return compared(expected, actual, "lcs", rule, credit="partial").coverage
    found = flawed(expected, actual, rule)
    return compared(expected, actual, "contains", rule, credit="partial").coverage if found is None else found


def _used_by_value(expected, actual, rule):
    """Two flaws: the best call left is taken, also where another needs it more; equal calls count once."""
    used, total = [], 0.0
    for want in expected:
        left = [call for call in actual if call["name"] == want["name"] and call not in used]
        weights = [pair_agreement(want, call, rule) for call in left]
        best = max(weights, default=0.0)
        if best > 0:
            used.append(left[weights.index(best)])
            total += best
    return total / len(expected)


def _whole(call):
    """The call with all that is compared of it among its arguments."""
    arguments = None if call.get("args_none") else call["args"]
    told = {"input": arguments, "output": call.get("output"), "type": call.get("type")}
    return {"name": call["name"], "args": told}


def _same(expected, actual, params):
    return (
        ("input_parameters" not in params or expected["input"] == actual["input"])
        and ("output" not in params or expected["output"] == actual["output"])
        and expected["type"] == actual["type"]
    )


def _weight(expected, actual, params):
    if expected["type"] != actual["type"]:
        return 0.0
    if "output" in params and expected["output"] != actual["output"]:
        return 0.0
    return _similarity(expected["input"], actual["input"]) if "input_parameters" in params else 1.0


def _similarity(expected, actual):
    """Equal is 1, else the share of keys with equal values; None beside arguments raises, as there."""
    if expected == actual:
        return 1.0
    keys = expected.keys() | actual.keys()
    total = 0.0
    for key in expected.keys() & actual.keys():
        one, other = expected[key], actual[key]
        if one == other:
            total += 1
        elif isinstance(one, dict) and isinstance(other, dict):
            total += _similarity(one, other)
    return total / len(keys)
