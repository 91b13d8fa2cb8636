"""Strands evals 1.7.0: exact, in-order and any-order match of names."""

from tests.conformance.engine import compared, fits, unique


def score(row):
    actual, expected = row["actual"], row["expected"]
    if row["metric"] == "exact_match_scorer":
        held = sum(fits(e, a) for e, a in zip(expected, actual, strict=False))
        return held / len(expected)  # ZeroDivisionError without expectations, as in the package
    if not expected:
        return 1.0
    if row["metric"] == "in_order_match_scorer":
        return max(k for k in range(len(expected) + 1) if k == 0 or _leads(expected[:k], actual)) / len(
            expected
        )
    # A flaw: a tool that is expected twice counts once, and is divided by two.
    return compared(unique(expected, lambda call: call["name"]), actual, "contains").matched / len(expected)


def ours(row):
    """Duplicates count; in order, the longest common subsequence instead of the longest prefix."""
    actual, expected = row["actual"], row["expected"]
    if row["metric"] == "exact_match_scorer":
        return score(row)
    if not expected:
        return 1.0
    mode = "lcs" if row["metric"] == "in_order_match_scorer" else "contains"
    return compared(expected, actual, mode).coverage


def _leads(expected, actual):
    return compared(expected, actual, "in_order").holds
