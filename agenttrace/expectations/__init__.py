"""Say what should happen."""

from agenttrace.core.tool_call import ANY
from agenttrace.expectations.expectation import Attempts, Expectation, Mode, Severity, expect, expectation_of
from agenttrace.expectations.nested_matchers import default, has, length, not_, one_of
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.pattern import Pattern, any_of, call, many, opt, par, seq
from agenttrace.expectations.references import ref
from agenttrace.expectations.scalar_matchers import ABSENT, approx, gt, gte, lt, lte, re_, semantic, type_
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
