"""Searches with the user's regular expressions, none of which can stop the process."""

from __future__ import annotations

import re
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.core.errors import ScorerError
from agenttrace.process import bounded_search as searches
from agenttrace.process.bounded_search import MOST_STEPS, bounded_search, checked_seconds, compiled, is_short
from agenttrace.process.search_process import SearchProcess

EVIL = [
    (r"(a+)+$", "a" * 30 + "!"),
    (r"(a|aa)+$", "a" * 50 + "!"),
    (r"(.*a){15}$", "a" * 60 + "!"),
    (r"^(\w+\s?)*$", "word " * 20 + "!"),
    (r"([a-zA-Z0-9]+)*@", "a" * 40),
    (r"(x+x+)+y", "x" * 40),
]


@pytest.mark.parametrize(("pattern", "text"), EVIL)
def test_a_search_that_takes_too_long_is_an_error_that_says_so(pattern, text):
    with pytest.raises(ScorerError) as caught:
        bounded_search(re.compile(pattern), text, seconds=0.1)
    assert f"found no answer within 0.1 s in a text of {len(text)} characters" in str(caught.value)
    assert str(caught.value).startswith(f"/{pattern}/")


def test_other_threads_go_on_while_a_search_takes_too_long():
    rounds, ended = 0, threading.Event()

    def count():
        nonlocal rounds
        while not ended.wait(0.001):
            rounds += 1

    counter = threading.Thread(target=count)
    counter.start()
    with pytest.raises(ScorerError):
        bounded_search(re.compile(EVIL[0][0]), EVIL[0][1])
    ended.set()
    counter.join()
    assert rounds > 20


@pytest.mark.parametrize(
    ("pattern", "text", "found", "matched"),
    [
        (r"(\d+) EUR", "It costs 12 EUR.", (9, 15), None),
        (r"(?i)(paris|rome)", "ROME", (0, 4), (0, 4)),
        (r"(?=(a))\1*", "aaa", (0, 3), (0, 3)),
        (r"(b)?", "", (0, 0), (0, 0)),
    ],
)
def test_the_answer_is_that_of_re(pattern, text, found, matched):
    assert bounded_search(re.compile(pattern), text) == found
    assert bounded_search(re.compile(pattern), text, "fullmatch") == matched


pieces = st.recursive(
    st.sampled_from(["a", "b", ".", r"\w", r"\b", "[ab]", "[^a]", "^", "$", "é", "\ud800", "\n"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        inner.map(lambda piece: f"({piece})"),
        inner.map(lambda piece: f"(?:{piece}){{0,2}}"),
        inner.map(lambda piece: f"(?!{piece})"),
    ),
    max_leaves=6,
)
texts = st.text(st.sampled_from("ab é\n\ud800\udc00\U00010000"), max_size=8)


@given(pieces, texts, st.sampled_from(["search", "fullmatch"]), st.booleans())
def test_the_child_process_finds_what_re_finds(pattern, text, method, ignore_case):
    ready = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    match = getattr(ready, method)(text)
    assert searches._search_in_child(ready, text, method, 5.0) == (match and match.span())


ungrouped = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", ".", r"\w", "[ab]", "[^b]"]),
        st.sampled_from(["", "*", "+", "?", "*?", "{2,}", "{1,3}"]),
    ).map("".join),
    max_size=5,
).map("".join)


@given(ungrouped, st.sampled_from(["a", "ab", "b"]), st.booleans())
def test_what_is_searched_on_the_spot_never_takes_long(pattern, letters, ignore_case):
    """The longest text of its kind that is taken to be short for the pattern, and that does not match."""
    pattern += "!"
    size = 1
    while size < 100_000 and is_short(pattern, "x" * (size * 2)):
        size *= 2
    text = (letters * size)[:size]
    began = time.thread_time()
    re.compile(pattern, re.IGNORECASE if ignore_case else 0).search(text)
    assert time.thread_time() - began < 0.5


@pytest.mark.parametrize(
    ("pattern", "size", "short"),
    [
        ("Paris", 1_000, True),
        (r"^A\d+$", 100, True),
        (r"\d+ EUR", 100, True),
        ("Paris", MOST_STEPS, False),
        (r"\d+ EUR", 10_000, False),
        ("a*a*a*a*a*b", 100, False),
        ("(a)", 1, False),
        ("+" * 10_000, 10_000, False),
    ],
)
def test_only_a_pattern_without_groups_in_a_short_text_is_searched_on_the_spot(pattern, size, short):
    assert is_short(pattern, "x" * size) is short


def test_a_result_is_cached_and_an_error_is_not(monkeypatch):
    searched = []

    class Counting(SearchProcess):
        def find(self, method, pattern, text, seconds):
            searched.append(text)
            if text == "evil":
                raise TimeoutError
            return (0, 1)

    process = Counting()
    monkeypatch.setattr(searches, "search_process", process)
    searches._cached_search.cache_clear()
    pattern = re.compile("(remembered)")
    long = "x" * 10_000
    for _ in range(2):
        assert bounded_search(pattern, "once") == (0, 1)
        assert bounded_search(pattern, long) == (0, 1)
        with pytest.raises(ScorerError):
            bounded_search(pattern, "evil")
    searches._cached_search.cache_clear()
    assert searched == ["once", long, "evil", long, "evil"]


@pytest.mark.parametrize("path", ["", None, "/usr/bin/true", "/nowhere/python3", "/usr/bin/uwsgi"])
def test_without_a_child_process_only_what_is_short_is_searched(monkeypatch, path):
    process = SearchProcess()
    monkeypatch.setattr(searches, "search_process", process)
    monkeypatch.setattr(sys, "executable", path)
    with pytest.raises(ScorerError, match=r"^/\(a\)/ is not searched.*no process could be started"):
        bounded_search(re.compile("(a)"), "a text that nobody asked about")
    assert bounded_search(re.compile("a"), "ba") == (1, 2)


def test_an_executable_that_is_no_python_is_noticed(monkeypatch, tmp_path):
    for name, body in (("python-echo", "echo hello >&0"), ("python-exit", "exit 3")):
        fake = tmp_path / name
        fake.write_text(f"#!/bin/sh\n{body}\n")
        fake.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(fake))
        with pytest.raises(ChildProcessError, match="began to run no Python"):
            SearchProcess().find("search", re.compile("(a)"), "a", 0.5)


@pytest.mark.parametrize("seconds", [0, -1, 61, float("nan"), float("inf"), True, "1", None])
def test_a_time_is_a_number_of_seconds_above_0_and_at_most_60(seconds):
    with pytest.raises(ScorerError, match="R: timeout is a number of seconds above 0, at most 60, got"):
        checked_seconds(seconds, "R")
    assert checked_seconds(2, "R") == 2.0


@pytest.mark.parametrize("pattern", ["(", 3, b"a", "a{99999999999999}", "(" * 5_000 + ")" * 5_000])
def test_what_is_no_regular_expression_for_text_is_a_value_error(pattern):
    with pytest.raises(ValueError):
        compiled(pattern)
