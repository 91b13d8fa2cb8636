"""Queries and traces for the tests of queries: any, and such as match each other often."""

from __future__ import annotations

from hypothesis import strategies as st

from agenttrace.core import query as q
from agenttrace.core.query_matching import MEASURED
from agenttrace.core.words import words_of

NAMES = ["search", "refund", "lookup", "a b"]
CUSTOMERS = ["acme", "Big Corp", "*", 'x"y\\', ""]
LABEL_VALUES = {
    "status": ["ok", "error", "open", "cancelled", "abandoned"],
    "verdict": ["passed", "failed", "errored", "skipped", "none"],
}
OPERATORS = ["<", "<=", ">", ">=", "="]
texts = st.text(st.characters(codec="utf-8"), max_size=12)
negated = st.booleans()


def label_keys(metadata):
    own = st.sampled_from(q.LABELS)
    return st.one_of(own, metadata.map(lambda name: q.METADATA + name))


@st.composite
def labelled(draw, metadata, values):
    key = draw(label_keys(metadata))
    choices = LABEL_VALUES.get(key)
    of_key = values if choices is None else st.sampled_from(choices)
    several = draw(st.lists(of_key, min_size=1, max_size=3, unique=True))
    return q.Labelled(key, tuple(several), negated=draw(negated))


def amounts(*units):
    numbers = st.one_of(st.integers(0, 2000).map(str), st.floats(0, 100).map(lambda x: f"{x:.3f}"))
    return st.tuples(numbers, st.sampled_from(units))


UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "": 10**9}


@st.composite
def compared(draw):
    from fractions import Fraction

    measure = draw(st.sampled_from(sorted(MEASURED)))
    number, unit = draw(amounts(*UNITS) if measure == "dur" else amounts(""))
    scale = UNITS[unit] if measure == "dur" else 1
    operator = draw(st.sampled_from(OPERATORS))
    return q.Compared(
        measure, operator, number + unit, float(Fraction(number) * scale), negated=draw(negated)
    )


@st.composite
def scored(draw, names):
    amount = draw(st.sampled_from(["0", "0.5", ".25", "1", "0.75"]))
    name = draw(st.one_of(st.none(), names))
    return q.Scored(name, draw(st.sampled_from(OPERATORS)), amount, float(amount), negated=draw(negated))


def terms(*, names, words, values, metadata, fields):
    """Any term; what it asks for is drawn from these."""
    shown = names.map(str.strip).filter(lambda name: name and ">" not in name)
    return st.one_of(
        st.builds(q.Words, words.filter(words_of), negated=negated),
        labelled(metadata, values),
        st.builds(q.Present, label_keys(metadata), negated=negated),
        st.builds(q.Identified, st.text("0123456789abcdef", min_size=4, max_size=32), negated=negated),
        compared(),
        scored(names.filter(bool)),
        st.builds(q.Called, st.lists(shown, min_size=1, max_size=3).map(tuple), negated=negated),
        st.builds(
            q.Holds,
            st.sampled_from(q.SIDES),
            fields,
            st.lists(values, min_size=1, max_size=2, unique=True).map(tuple),
            negated=negated,
        ),
    )


any_terms = terms(
    names=texts, words=texts, values=texts, metadata=texts.filter(bool), fields=texts.filter(bool)
)
any_queries = st.lists(any_terms, max_size=5).map(lambda several: q.Query(tuple(several)))
