"""Say what should happen, and compare it with what did."""

from agenttrace.core.tool_call import ANY
from agenttrace.expectations.answers import Answers, Ask, judged
from agenttrace.expectations.compare import compare
from agenttrace.expectations.comparison import Comparison
from agenttrace.expectations.expectation import Expectation, Mode, Severity, expect
from agenttrace.expectations.explain import Line, explain, explain_lines
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
from agenttrace.expectations.rows import Row
from agenttrace.expectations.selection import Attempts, Selection
from agenttrace.expectations.values import Difference, agreement, differences

__all__ = [
    "ABSENT",
    "ANY",
    "Answers",
    "Ask",
    "Attempts",
    "Comparison",
    "Difference",
    "Expectation",
    "Line",
    "Mode",
    "Pattern",
    "Row",
    "Selection",
    "Severity",
    "agreement",
    "any_of",
    "approx",
    "call",
    "compare",
    "default",
    "differences",
    "expect",
    "expectation_of",
    "explain",
    "explain_lines",
    "gt",
    "gte",
    "has",
    "judged",
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
