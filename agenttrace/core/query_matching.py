"""Whether a trace matches a query: what every index has to agree with."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from agenttrace.core.query import (
    Called,
    Compared,
    Holds,
    Identified,
    Labelled,
    Measure,
    Operator,
    Present,
    Query,
    Scored,
    Started,
    Term,
    Words,
)
from agenttrace.core.trace_facts import SearchedTrace, TraceFacts, field_text, number_text
from agenttrace.core.words import stands_in, words_of

_COMPARE: Mapping[Operator, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}

MEASURED: Mapping[Measure, Callable[[TraceFacts], float | None]] = {
    "dur": lambda facts: facts.duration_ns,
    "cost": lambda facts: facts.cost,
    "spans": lambda facts: facts.spans,
    "tokens": lambda facts: facts.tokens,
    "calls": lambda facts: len(facts.calls),
    "errors": lambda facts: facts.errors,
    "looped": lambda facts: facts.looped,
}


def matches(query: Query, trace: SearchedTrace) -> bool:
    """Whether all terms of a query hold for a trace."""
    return all(holds(term, trace) for term in query)


def holds(term: Term, trace: SearchedTrace) -> bool:
    """Whether a term holds for a trace."""
    return _holds(term, trace) != term.negated


def _holds(term: Term, trace: SearchedTrace) -> bool:
    facts = trace.facts
    match term:
        case Words():
            return stands_in(words_of(term.text), trace.words)
        case Labelled():
            return not set(term.values).isdisjoint(facts.labels.get(term.key, ()))
        case Present():
            return bool(facts.labels.get(term.key))
        case Identified():
            return facts.trace_id.startswith(term.prefix)
        case Compared():
            return _compares(MEASURED[term.measure](facts), term.operator, term.number)
        case Scored():
            return any(
                _compares(score.value, term.operator, term.number)
                for score in facts.scores
                if term.name in (None, score.name)
            )
        case Called():
            return is_subsequence(term.names, [call.name for call in facts.calls])
        case Holds():
            return any(field in trace.fields for field in fields_of(term))
        case Started():
            return (facts.start_ns >= term.moment_ns) == (term.key == "since")


def fields_of(term: Holds) -> list[str]:
    """The fields one of which a trace must have for a term to hold."""
    texts = dict.fromkeys(text for value in term.values for text in (value, number_text(value)))
    return [field_text(term.side, term.name, text) for text in texts]


def is_subsequence(names: tuple[str, ...], calls: list[str]) -> bool:
    """Whether calls have these names in this order, perhaps with others in between."""
    remaining = iter(calls)
    return all(name in remaining for name in names)


def _compares(number: float | None, how: Operator, other: float) -> bool:
    return number is not None and _COMPARE[how](number, other)
