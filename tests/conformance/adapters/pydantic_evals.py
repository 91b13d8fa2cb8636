"""pydantic-evals 2.62.0: tool correctness, trajectory match, argument correctness."""

from tests.conformance.engine import compared, equal, fits


def score(row):
    config, actual, expected = row["config"], row["actual"], row["expected"]
    if row["metric"] == "ToolCorrectness":
        return _correct(config, actual, expected)
    if row["metric"] == "TrajectoryMatch":
        return _trajectory(config["order"], actual, expected)
    return _arguments(config, actual, expected)


ours = score


def _correct(config, actual, expected):
    if config["allow_extra"] and not expected:
        return True
    return compared(expected, actual, "contains" if config["allow_extra"] else "any_order").holds


def _trajectory(order, actual, expected):
    if order == "exact":
        return compared(expected, actual, "exact").value
    return compared(expected, actual, "lcs" if order == "in_order" else "any_order").f1


def _arguments(config, actual, expected):
    """One call of the tool, the first or the last, with these arguments."""
    (wanted,) = expected
    calls = [call for call in actual if call["name"] == wanted["name"]]
    if not calls:
        return False
    rule = equal if config["match_mode"] == "exact" else _contained
    return fits(wanted, calls[0 if config["occurrence"] == "first" else -1], rule)


def _contained(expected, actual):
    return all(key in actual and actual[key] == value for key, value in expected.items())
