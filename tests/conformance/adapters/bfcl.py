"""BFCL 2026.3.23: the AST checker, one call or parallel calls."""

from tests.conformance.engine import compared, covers_greedily

TYPES = {"string": str, "integer": int, "float": float, "boolean": bool, "array": list, "dict": dict}
DROPPED = str.maketrans({**dict.fromkeys(" ,./-_*^`", ""), "'": '"'})


def score(row):
    rules = _rules(row)
    expected, actual = row["expected"], row["actual"]
    if len(expected) != len(actual):
        return False
    if row["config"]["category"] == "parallel":
        return covers_greedily(expected, actual, rules)
    return compared(expected, actual, "exact", rules).holds


def ours(row):
    """Parallel calls under the optimal pairing."""
    mode = "any_order" if row["config"]["category"] == "parallel" else "exact"
    return compared(row["expected"], row["actual"], mode, _rules(row)).holds


def _rules(row):
    return {function["name"]: _rule(function["parameters"]) for function in row["config"]["functions"]}


def _rule(parameters):
    known = parameters["properties"]

    def rule(allowed, given):
        return (
            all(name in given for name in parameters["required"])
            and all(name in known and name in allowed for name in given)
            and all(name in given or "" in values for name, values in allowed.items())
            and all(_is_allowed(value, allowed[name], known[name]) for name, value in given.items())
        )

    return rule


def _is_allowed(value, allowed, kind):
    wanted = TYPES[kind["type"]]
    if wanted is float and type(value) is int:
        value = float(value)
    if type(value) is not wanted:
        # A text is let through as the name of a variable where the allowed values are texts too.
        return (
            type(value) is str
            and any(type(a) is str and a for a in allowed)
            and _plain(value) in map(_plain, allowed)
        )
    if wanted is dict:
        return any(_dict(value, a) for a in allowed if isinstance(a, dict))
    if wanted is list and kind["items"]["type"] == "dict":
        return any(len(a) == len(value) and all(map(_dict, value, a)) for a in allowed if isinstance(a, list))
    return _plain(value) in map(_plain, allowed)


def _dict(value, allowed):
    return (
        isinstance(value, dict)
        and all(key in allowed and _plain(item) in map(_plain, allowed[key]) for key, item in value.items())
        and all(key in value or "" in values for key, values in allowed.items())
    )


def _plain(value):
    if isinstance(value, str):
        return value.translate(DROPPED).lower()
    return [_plain(item) for item in value] if isinstance(value, list) else value
