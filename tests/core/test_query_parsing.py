"""The text of a query is read whole, or not at all; what it means writes itself as it was typed."""

import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from query_terms import any_queries

from agenttrace.core.errors import QueryError
from agenttrace.core.query import (
    Called,
    Compared,
    Holds,
    Identified,
    Labelled,
    Present,
    Query,
    Scored,
    Started,
    Words,
)
from agenttrace.core.query_parsing import MOST_CHARACTERS, MOST_TERMS, parse

NOW = datetime(2025, 6, 3, 12, tzinfo=timezone(timedelta(hours=2)))


def only(text):
    (term,) = parse(text, NOW)
    return term


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("refund", Words("refund")),
        ("Hello,", Words("Hello,")),
        ("order-7", Words("order-7")),
        ('"two words"', Words("two words")),
        (r'"say \"no\" \\ \n"', Words('say "no" \\ \\n')),
        ("customer:acme", Labelled("customer", ("acme",))),
        ('customer:acme,"Big, Corp"', Labelled("customer", ("acme", "Big, Corp"))),
        ("-tag:canary", Labelled("tag", ("canary",), negated=True)),
        ("customer:*", Present("customer")),
        ('customer:"*"', Labelled("customer", ("*",))),
        ("tool:refund", Labelled("tool", ("refund",))),
        ("failed:refund", Labelled("failed", ("refund",))),
        ("errored:Brevity", Labelled("errored", ("Brevity",))),
        ("release:2.5.0", Labelled("metadata.release", ("2.5.0",))),
        ("metadata.status:7", Labelled("metadata.status", ("7",))),
        ('metadata."my key":7', Labelled("metadata.my key", ("7",))),
        ("verdict:failed", Labelled("verdict", ("failed",))),
        ("is:open", Labelled("status", ("open",))),
        ("is:scored", Present("scorer")),
        ("id:6D09", Identified("6d09")),
        ("dur>2s", Compared("dur", ">", "2s", 2e9)),
        ("duration>=1.5ms", Compared("dur", ">=", "1.5ms", 1.5e6)),
        ("dur<1m", Compared("dur", "<", "1m", 6e10)),
        ("dur=3", Compared("dur", "=", "3", 3e9)),
        ("cost>.05", Compared("cost", ">", ".05", 0.05)),
        ("spans>100", Compared("spans", ">", "100", 100)),
        ("tokens<=1e3", Compared("tokens", "<=", "1e3", 1000)),
        ("calls>3", Compared("calls", ">", "3", 3)),
        ("looped:3", Compared("looped", ">=", "3", 3)),
        ("score<0.5", Scored(None, "<", "0.5", 0.5)),
        ('score:"Tool Order"<0.7', Scored("Tool Order", "<", "0.7", 0.7)),
        ("-score:Faithfulness>=1", Scored("Faithfulness", ">=", "1", 1, negated=True)),
        ('score:"Tool Order"', Labelled("scorer", ("Tool Order",))),
        ('calls:"lookup > refund"', Called(("lookup", "refund"))),
        ("calls:lookup>refund", Called(("lookup", "refund"))),
        ("input.order_id:7", Holds("input", "order_id", ("7",))),
        ("output.success:0,false", Holds("output", "success", ("0", "false"))),
        ('input."order id":7', Holds("input", "order id", ("7",))),
    ],
)
def test_a_term_is_read_as_what_it_says(text, term):
    assert only(text) == term


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("since:2d", "2025-06-01T12:00:00+02:00"),
        ("since:12h", "2025-06-03T00:00:00+02:00"),
        ("since:30m", "2025-06-03T11:30:00+02:00"),
        ("since:2025-06-01", "2025-06-01T00:00:00+02:00"),
        ("until:2025-06-01", "2025-06-02T00:00:00+02:00"),
        ("since:today", "2025-06-03T00:00:00+02:00"),
        ("until:yesterday", "2025-06-03T00:00:00+02:00"),
        ("since:09:30", "2025-06-03T09:30:00+02:00"),
        ("since:2025-06-01T14:30", "2025-06-01T14:30:00+02:00"),
        ("until:2025-06-01T14:30:05Z", "2025-06-01T14:30:05+00:00"),
    ],
)
def test_times_are_counted_from_the_clock_that_is_handed_in(text, moment):
    ns = int(datetime.fromisoformat(moment).timestamp()) * 10**9
    key, _, written = text.partition(":")
    assert only(text) == Started(key, written, ns)


def test_without_a_clock_the_present_moment_counts():
    before = datetime.now(UTC).timestamp() * 1e9
    (term,) = parse("since:0s")
    assert before - 1e9 <= term.moment_ns <= datetime.now(UTC).timestamp() * 1e9


@pytest.mark.parametrize(
    ("text", "says", "position"),
    [
        (
            "custmer:acme",
            "did you mean 'customer'? A metadata key of that name is written metadata.custmer:",
            0,
        ),
        ("a dur:2s", "dur is a number; wanted a comparison such as dur>2s", 2),
        ("dur>", "wanted a number with a unit", 0),
        ("dur>2parsec", "(µs, ms, s, m, h)", 0),
        ("cost>1s", "wanted a number, such as cost>0.05", 0),
        ("cost>1e99", "too large", 0),
        ("cost>1e999", "too large", 0),
        ("status:eror", "did you mean 'error'?", 0),
        ("is:opn", "did you mean 'open'?", 0),
        ("statuss>2", "write status:error", 0),
        ("lenght>2", "there is no number 'lenght'", 0),
        ("costs>2", "did you mean 'cost'?", 0),
        ("score>2", "a number from 0 to 1", 0),
        ("score:", "wanted a scorer", 6),
        ("customer:", "wanted a value after customer:, such as customer:acme", 9),
        ("customer:a,", "wanted a value after customer:", 11),
        ("customer:*,acme", "customer:* is any customer", 0),
        ('a "open', "the quote is not closed", 2),
        ('customer:a"b"', "in quotes", 10),
        ('foo"bar"', "a quote stands at the beginning", 3),
        ("-", "the term that is not to hold", 0),
        ("- a", "the term that is not to hold", 0),
        ("???", "letters or digits", 0),
        (":a", "wanted a word", 0),
        ("since:whenever", "a date (2025-06-01", 0),
        ("since:2025-13-01", "a date (2025-06-01", 0),
        ("since:999999w", "a date (2025-06-01", 0),
        ("since:1d,2d", "takes one value", 0),
        ('calls:"a >"', "names of tools in order", 0),
        ("id:xyz", "the first digits", 0),
        ("input.x:" + "y" * 65, "at most 64 characters", 0),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_place_and_remedy(text, says, position):
    with pytest.raises(QueryError) as caught:
        parse(text, NOW)
    assert says in str(caught.value)
    assert caught.value.position == position
    assert f"(character {position + 1})" in str(caught.value)


def test_a_query_is_bounded():
    assert len(parse("a " * MOST_TERMS)) == MOST_TERMS
    with pytest.raises(QueryError, match="more than 20 terms"):
        parse("a " * (MOST_TERMS + 1))
    with pytest.raises(QueryError, match="1,001 characters"):
        parse("a" * (MOST_CHARACTERS + 1))


def test_no_text_is_every_trace():
    assert parse("  ") == Query()
    assert str(Query()) == ""


@given(any_queries)
def test_a_query_reads_back_from_its_text(query):
    assert parse(str(query), NOW) == query


@given(st.text(max_size=40))
def test_a_text_is_read_or_refused_and_what_was_read_writes_itself(text):
    try:
        query = parse(text, NOW)
    except QueryError as error:
        place = error.position
    else:
        place = 0
        assert parse(str(query), NOW) == query
    assert 0 <= place <= len(text)


ALPHABET = st.sampled_from([*'ab:"\\-,<>=.* 12', "dur", "since", "score", "calls", "metadata.", "input."])


@given(st.lists(ALPHABET, max_size=14).map("".join))
def test_texts_of_signs_are_read_or_refused(text):
    test_a_text_is_read_or_refused_and_what_was_read_writes_itself.hypothesis.inner_test(text)


def test_a_query_can_be_narrowed_and_freed_of_a_key():
    query = parse("customer:acme tool:refund -customer:*", NOW)
    assert str(query.without("customer")) == "tool:refund"
    assert str(query.and_(Words("x"))) == "customer:acme tool:refund -customer:* x"


@pytest.mark.parametrize(
    ("text", "place"),
    [("tool:refund OR tool:notify", 12), ("a AND b", 2), ("NOT tool:refund", 0), ("a -OR", 2)],
)
def test_a_word_that_joins_terms_elsewhere_is_an_error_that_says_what_to_write(text, place):
    with pytest.raises(QueryError) as caught:
        parse(text, NOW)
    assert caught.value.position == place
    said = str(caught.value)
    for part in ("all terms must hold", "tool:refund,notify", "-term excludes"):
        assert part in said


def test_a_joining_word_in_quotes_or_in_small_letters_is_a_word():
    assert only('"OR"') == Words("OR")
    assert str(only('"OR"')) == '"OR"'
    assert only("or") == Words("or")
    assert only("ORDER") == Words("ORDER")
    assert only("tool:OR") == Labelled("tool", ("OR",))
    assert only('-"NOT"') == Words("NOT", negated=True)
    assert parse(str(Query((Words("AND"),))), NOW) == Query((Words("AND"),))
