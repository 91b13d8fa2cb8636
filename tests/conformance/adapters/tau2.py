"""tau2-bench: the action reward."""

from tests.conformance.engine import compared


def score(row):
    return float(all(per_expected(row)))


def per_expected(row):
    """A flaw: each expected call is looked for alone, so that one call may serve two."""
    return [compared([want], row["actual"], "contains", _rule(row)).holds for want in row["expected"]]


def ours(row):
    """Each call serves one expected call."""
    if not row["expected"]:
        return 1.0
    return float(compared(row["expected"], row["actual"], "contains", _rule(row)).holds)


def _rule(row):
    if row["config"]["compare_args"] == []:
        return None
    # What is compared are the keys that the call has: an expected argument that it leaves out is not missed.
    return lambda expected, actual: {k: v for k, v in expected.items() if k in actual} == actual
