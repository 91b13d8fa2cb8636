"""promptfoo 0.121.20: trajectory:tool-sequence, tool-used, tool-args-match, tool-call-f1."""

from fnmatch import fnmatchcase

from agenttrace.expectations.values import agreement
from tests.conformance.engine import compared, fits, unique


def score(row):
    return _score(row, lambda calls: unique(calls, lambda call: call["name"]))


def ours(row):
    """Duplicates count."""
    return _score(row, list)


def _score(row, once):
    config = row["config"]
    if not row["expected"]:
        raise ValueError("at least one expected tool is required")
    if row["metric"] == "tool-call-f1":
        return compared(once(row["expected"]), once(row["actual"]), "any_order").f1
    actual, expected = _lower(row["actual"]), _lower(row["expected"])
    if row["metric"] == "trajectory:tool-sequence":
        return int(compared(expected, actual, config["mode"]).holds)
    if row["metric"] == "trajectory:tool-used":
        used = compared(once(expected), actual, "contains")
        return int(used.matched == 0 if config["inverse"] else used.holds)  # the inverse: none of them
    (wanted,) = expected
    return int(any(fits(wanted, call, _rule(config)) for call in actual))


def _lower(calls):
    return [{"name": call["name"].lower(), "args": call["args"]} for call in calls]


def _rule(config):
    """Equality is JSON's; defaults are left out of the actual call only, ignored keys of both."""
    ignored, defaults = config.get("ignore", []), config.get("defaults", {})
    mode = "listed" if config["mode"] == "partial" else "exact"

    def kept(arguments):
        return {k: v for k, v in arguments.items() if not any(fnmatchcase(k, glob) for glob in ignored)}

    def rule(expected, actual):
        told = {k: v for k, v in kept(actual).items() if k not in defaults or agreement(defaults[k], v) < 1}
        return agreement(kept(expected), told, mode=mode) == 1.0

    return rule
