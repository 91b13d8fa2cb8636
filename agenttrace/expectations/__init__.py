"""Say what should happen."""

from agenttrace.core.tool_call import ANY
from agenttrace.expectations.expectation import Attempts, Expectation, Mode, Severity, expect
from agenttrace.expectations.from_run import expectation_of
from agenttrace.expectations.matchers import (
    ABSENT,
    approx,
    default,
    gt,
    gte,
    has,
    length,
    lt,
    lte,
    not_,
    one_of,
    re_,
    ref,
    semantic,
    type_,
)
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.pattern import Pattern, any_of, call, many, opt, par, seq
from agenttrace.expectations.values import Difference, agreement, differences

__all__ = [
    "ABSENT",
    "ANY",
    "Attempts",
    "Difference",
    "Expectation",
    "Mode",
    "Pattern",
    "Severity",
    "agreement",
    "any_of",
    "approx",
    "call",
    "default",
    "differences",
    "expect",
    "expectation_of",
    "gt",
    "gte",
    "has",
    "length",
    "lt",
    "lte",
    "many",
    "not_",
    "one_of",
    "opt",
    "par",
    "parse_expectation",
    "re_",
    "ref",
    "semantic",
    "seq",
    "type_",
]
