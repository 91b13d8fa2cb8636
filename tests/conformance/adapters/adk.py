"""Google ADK 2.13.0: tool trajectory EXACT, IN_ORDER, ANY_ORDER, the mean over turns."""

from tests.conformance.engine import compared, equal

MODES = {"EXACT": "exact", "IN_ORDER": "in_order", "ANY_ORDER": "contains"}


def score(row):
    turns = list(
        zip(
            row.get("actual_turns", [row["actual"]]),
            row.get("expected_turns", [row["expected"]]),
            strict=True,  # ValueError for unequal numbers of turns, as in the package
        )
    )
    if not turns:
        return None
    return sum(_turn(row["config"], actual, expected) for actual, expected in turns) / len(turns)


ours = score


def _turn(config, actual, expected):
    kind = config["match_type"]
    if not expected and kind != "EXACT":
        return 1.0  # nothing expected is nothing to miss; our modes say that nothing is to be called
    rule = None if config["ignore_args"] else equal
    return float(compared(expected, actual, MODES[kind], rule).holds)
