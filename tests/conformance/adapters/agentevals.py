"""agentevals 0.0.9: trajectory match strict, unordered, subset, superset."""

from tests.conformance.engine import compared, covers_greedily, equal


def score(row):
    config, actual, expected = row["config"], row["actual"], row["expected"]
    mode = config["trajectory_match_mode"]
    rule = _rule(config)
    if mode == "strict":
        return _strict(config, actual, expected, rule)
    # The side that is looked through is the reference of the argument modes, so that in mode "subset" they
    # mean the opposite: that is the package's own doing.
    forth = covers_greedily(expected, actual, rule)
    back = covers_greedily(actual, expected, rule)
    return {"superset": forth, "subset": back, "unordered": forth and back}[mode]


def ours(row):
    """The same question with the optimal pairing and the argument modes as they are called."""
    config, actual, expected = row["config"], row["actual"], row["expected"]
    mode = {"strict": "exact", "superset": "contains", "subset": "only", "unordered": "any_order"}
    rule = _rule(config)
    return compared(expected, actual, mode[config["trajectory_match_mode"]], rule).holds


def _strict(config, actual, expected, rule):
    if config.get("roles_actual") != config.get("roles_expected"):
        return False
    messages = [_messages(calls) for calls in (actual, expected)]
    return len(messages[0]) == len(messages[1]) and all(
        len(made) == len(wanted) and covers_greedily(wanted, made, rule)
        for made, wanted in zip(*messages, strict=True)
    )


def _messages(calls):
    """The calls of each assistant message; a call without a step is a message of its own."""
    steps = {}
    for number, call in enumerate(calls):
        steps.setdefault(call.get("step", f"alone {number}"), []).append(call)
    return list(steps.values())


def _rule(config):
    overrides = config.get("tool_args_match_overrides") or {}
    general = config["tool_args_match_mode"]
    return {
        None: _one_rule(general),
        **{name: _one_rule(rule or general) for name, rule in overrides.items()},
    }


def _one_rule(rule):
    if isinstance(rule, list):
        return lambda wanted, offered: all(_at(wanted, path) == _at(offered, path) for path in rule)
    return {
        "exact": equal,
        "ignore": lambda wanted, offered: True,
        "subset": lambda wanted, offered: all(k in wanted and wanted[k] == v for k, v in offered.items()),
        "superset": lambda wanted, offered: all(k in offered and offered[k] == v for k, v in wanted.items()),
    }[rule]


def _at(value, path):
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
