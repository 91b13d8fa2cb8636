"""Patterns whose search could not be ended are refused; ordinary ones are not."""

import re
import time

import pytest

from agenttrace import Redaction
from agenttrace.core.errors import ConfigError
from agenttrace.redaction.backtracking import runs_away

RUNAWAY = [
    r"(a+)+b",
    r"(a*)*b",
    r"(a|a)*b",
    r"(a|aa)+b",
    r"(\w+\s?)*!",
    r"(.*a){20}",
    r"([a-z]+[0-9]*)+!",
    r"(?:[a-zA-Z0-9]+)*@",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(\w\d?)*!",
    r"((ab)*)*c",
    r"(a?){30}b",
    r"(\w|\d\d)+!",
    r"(?:(?:x+x+)+y)",
    r"(?=(a+)+b)x",
    r"(?i)([A-Z]+)*9",
    r"token=((\S+)+);",
]

ORDINARY = [
    r"ACME-[0-9]{6,}",
    r"\bemp_[a-z0-9]+(?:-[a-z0-9]+)*\b",
    r"(?:\d{4}[ -]?){3}\d{4}",
    r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b",
    r"(?i)employee (?:no|number)[.:]? *\d+",
    r"[\w.+-]+@acme\.example",
    r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}",
    r"(\"[^\"]*\",)+",
    r"(?:\w+\.)+internal",
    r"(?:key|keys|token)=\S+",
    r"x(a+)++b",
    r"(?>a+)+b",
    r"(?:a|b|c)+",
    r"(?P<prefix>sk|pk)_(?:live|test)_[A-Za-z0-9]{24,}",
    r"-----BEGIN [A-Z ]+-----[^-]+-----END [A-Z ]+-----",
]


@pytest.mark.parametrize("pattern", RUNAWAY)
def test_a_pattern_that_may_run_away_is_refused_with_what_to_do(pattern):
    with pytest.raises(ConfigError, match="repetition inside a repetition"):
        Redaction(shapes=[pattern])


@pytest.mark.parametrize("pattern", ORDINARY)
def test_an_ordinary_pattern_is_taken(pattern):
    Redaction(shapes=[pattern])


@pytest.mark.parametrize("pattern", ORDINARY)
def test_no_pattern_that_is_taken_takes_long(pattern):
    texts = [
        part * 2_000 for part in ("a", "0", "a1-", "1234 ", "ab:", '"a",', "x.y", "A", "key", "-", "aA ")
    ]
    began = time.process_time()
    for text in texts:
        re.search(pattern, text + "!")
    assert time.process_time() - began < 30  # a runaway would not end at all


def test_what_a_pattern_does_outside_of_repetitions_is_not_looked_at():
    assert not runs_away(
        re.compile(r"a+a+a+b")
    )  # slow in a long text, but not twice as slow with each letter


@pytest.mark.parametrize(
    "part",
    [
        *("/usr/lib/password:/usr/bin/token:", "://a:password", "/a/b/password:/c/d/password:/e"),
        *("token::", "auth:", "secret::Secret::", "secrets:--"),
    ],
)
def test_a_long_word_with_very_many_names_is_gone_through_once(part):
    def cost(length):
        redaction, start = Redaction(), time.process_time()
        redaction.text("x", (part * (length // len(part) + 1))[:length])
        return time.process_time() - start

    small, large = (min(cost(length) for _ in range(2)) for length in (16_000, 128_000))
    assert large < 24 * small + 0.05  # quadratic would be 64 times as much


@pytest.mark.parametrize("before", ["", "statement: ", "Set-Cookie: ", "&quot;"])
def test_rows_below_many_heads_of_copy_are_gone_through_once(before):
    def cost(length):
        redaction, start = Redaction(), time.process_time()
        heads, rows = f"{before}COPY u (a, password) FROM stdin\n", "name\tann\n"
        redaction.text("x", (heads * length)[: length // 2] + (rows * length)[: length // 2])
        return time.process_time() - start

    small, large = (min(cost(length) for _ in range(2)) for length in (16_000, 128_000))
    assert large < 24 * small + 0.05  # quadratic would be 64 times as much
