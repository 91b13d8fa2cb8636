"""The engine as adapters use it: calls as ``{"name", "args"}``, an argument rule as a plain function."""

from agenttrace.core.trace import Trace
from agenttrace.expectations.pattern import Call
from agenttrace.matching.compare import compare


def compared(expected, actual, mode, rule=None, credit="full"):
    """Compare; `rule(expected arguments, actual arguments)` says whether, or how far, arguments agree.

    A mapping holds rules by tool, under None that of all others. Without a rule only names are compared.
    """
    calls = Trace.from_calls(
        [{"name": call["name"], "arguments": call["args"]} for call in actual]
    ).tool_calls
    path = [
        Call(name=call["name"], arguments=call["args"]) if rule else Call(name=call["name"])
        for call in expected
    ]
    comparators = {call["name"]: _rule_of(rule, call["name"]) for call in expected} if rule else None
    return compare(path, calls, mode=mode, credit=credit, comparators=comparators)


def _rule_of(rule, name):
    return rule.get(name) or rule[None] if isinstance(rule, dict) else rule


def pair_agreement(expected, actual, rule):
    """How far one call agrees with another of the same name."""
    return compared([expected], [actual], "contains", rule, credit="partial").arguments


def fits(expected, actual, rule=None):
    """Whether one call is another: the same name, agreeing arguments."""
    return compared([expected], [actual], "exact", rule).holds


def equal(expected, actual):
    """Python's own equality: True is 1, 1 is 1.0."""
    return expected == actual


def unique(calls, key):
    """The first call of each key: how peers collapse duplicates."""
    kept = {}
    for call in calls:
        kept.setdefault(key(call), call)
    return list(kept.values())


def covers_greedily(wanted, offered, rule):
    """A flaw of peers: each wanted call takes the first that fits it, also where another needs it more."""
    left = list(offered)
    for want in wanted:
        found = next((offer for offer in left if fits(want, offer, rule)), None)
        if found is None:
            return False
        left = [offer for offer in left if offer is not found]
    return True
