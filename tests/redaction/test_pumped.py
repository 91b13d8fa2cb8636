"""Texts that repeat one thing many times: the search for secrets comes to an end in each.

An expression with two ways through the same characters takes twice as long with each repetition: forty
of them never end. What stands before brings the search to the expression; what is behind lets it fail there.
"""

import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pumping import expressions_of, pumped

from agenttrace import redaction
from agenttrace.redaction import Redaction

NEVER = 20.0
"""Seconds on the processor that no text of a few thousand characters takes; the search is stopped then."""

BEFORE = [
    *("", "password=", "password: ", 'password = "', "'password': '", '"password": "', 'password\\": \\"'),
    *("password is ", "**password**: ", "<password>", "<input name='password' value='", "Password | "),
    *(
        'tool --password "',
        "tool --password '",
        "tool --password $'",
        "mysql -p",
        'mysql -p"',
        "curl -u ann:",
    ),
    *('curl -H "Authorization: ', "Authorization: Bearer ", "Set-Cookie: a=", "https://ann:", "?password="),
    *(
        'name: DB_PASSWORD\nvalue: "',
        "- name: password\n  value: '",
        "password: |\n  ",
        "passwords:\n- ",
        "+ ",
    ),
    *("INSERT INTO users (password) VALUES ('", "COPY users (password) FROM stdin;\n", "IDENTIFIED BY '"),
    *(
        "Duplicate entry '",
        "Key (password)=(",
        "[SQL: x (password)] [parameters: ('",
        "crypt('",
        "x.fill('#password', '",
    ),
    *(
        "user,password\nann,",
        "| user | password |\n|---|---|\n| ann | ",
        "user password\nann ",
        '[["user", "password"], ["',
    ),
    *(
        "password or ",
        "getenv('PASSWORD', ",
        "password: str = Field(",
        'variable "password" { default = "',
        "password += ",
    ),
    *(
        'data: {"password": "',
        "{'x': \"password='",
        "eyJ",
        "sk-",
        "ghp_",
        "-----BEGIN RSA PRIVATE KEY-----\n",
    ),
    *(
        "line 1: password=",
        "12\tpassword: ",
        "web_1 | password: ",
        "Enter password for ",
        "token = ",
        "a.password.b = ",
    ),
]
UNITS = [
    *(
        "A",
        "b",
        "9",
        "Ab",
        "a1",
        "aB1_",
        "_",
        "-",
        "--",
        ".",
        "a.",
        "/",
        "\\",
        "\\\\",
        "\\n",
        '\\"',
        "\\'",
        "\\u0061",
    ),
    *(
        "'",
        "''",
        '"',
        '""',
        "'\\''",
        "'\"'\"'",
        "`",
        "(",
        ")",
        "()",
        "[",
        "]",
        "[]",
        "{",
        "}",
        "{}",
        "({[",
        "<",
        ">",
    ),
    *(
        "<a>",
        "</a>",
        "&quot;",
        "&#39;",
        "%3A",
        "%",
        "$",
        "${",
        "$(",
        "#",
        "@",
        "=",
        "==",
        ":",
        "::",
        ";",
        ",",
        ", ",
    ),
    *(
        "|",
        "| ",
        "+",
        "*",
        "**",
        "!",
        "?",
        "&",
        "~",
        "^",
        " ",
        "  ",
        "\t",
        "\n",
        "\n\n",
        "\n  ",
        "\r\n",
        " \\\n",
        "a ",
        "a b ",
    ),
    *(
        "a=",
        "a=b&",
        "a:b,",
        "'a', ",
        '"a": ',
        "password",
        "password ",
        "password=",
        "password: ",
        "the password ",
        "token,",
    ),
    *(
        "é",
        "\u2028",
        "\u200b",
        "\x1b[1m",
        "\x1b",
        "\x00",
        "0x41",
        "1,",
        "1.2",
        "a-b",
        "-p",
        "--a ",
        "# ",
        "// ",
        "\n- a",
        "\n+",
    ),
]
ENDS = ["", "!", "x", " z", "'", '"', "\n", "1a2(x ok", '"}', "')", "\\"]


on_a_clock = pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="this system has no such clock")
SAMPLES = 3
"""Texts for each repetition of an expression; a run has others than the one before."""


class NeverEnds(BaseException):
    """No `except` of the code under test stops this."""


@contextmanager
def an_end(seconds: float = NEVER) -> Iterator[None]:
    """Raises `NeverEnds` in what takes longer on the processor: `re` looks for signals while it searches."""

    def stop(*_: object) -> None:
        raise NeverEnds

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@on_a_clock
@given(
    st.lists(st.sampled_from(BEFORE), min_size=1, max_size=2),
    st.lists(st.sampled_from(UNITS), min_size=1, max_size=3),
)
def test_the_search_ends_in_a_text_that_repeats_a_thing(before, units):
    searched = Redaction()
    for end in ENDS:
        for times in (40, 200):
            text = "".join(before) + "".join(units) * times + end
            with an_end():
                searched.text("x", text)
            with an_end():
                searched.fields({"x": [text, {"password": text}]})


@on_a_clock
def test_the_clock_of_this_test_stops_a_search_without_end():
    with pytest.raises(NeverEnds), an_end(0.2):
        re.search("(a+)+b", "a" * 60)


@on_a_clock
def test_no_expression_has_two_ways_through_what_it_repeats():
    expressions = expressions_of(redaction)
    assert len(expressions) > 400
    chance, endless = random.Random(random.random()), []
    for where, pattern in expressions.items():
        for text in pumped(pattern, chance, SAMPLES, chance.choice((40, 300))):
            for search in (pattern.search, pattern.match, pattern.fullmatch):
                try:
                    with an_end(2.0):
                        search(text)
                except NeverEnds:
                    endless.append((where, search.__name__, text))
    assert endless == []


LONG = [
    "log_in(password)value:http://a:b@->",
    "<td>Password</td><td>…",
    "%25session_id",
    "+ann,…value:wpa_passphrase",
    'fill("#password", "swordfish")value:',
    "0    hunter2Blue9\n1    x\nName: password, dtype: object",
    "Server=h;UID=a;PWD={",
    "https://hooks.slack.com/api/webhooks/snowsqllabel".replace(".", ""),
    "password | hunter2Blue9",
    "[\\\"']",
]


@on_a_clock
@pytest.mark.parametrize("unit", LONG)
def test_a_text_that_is_ten_times_as_long_is_no_hundred_times_as_slow(unit):
    """What goes back to the beginning, or to the end, at each name took a minute for so long a text."""
    text = unit * (500_000 // len(unit))
    with an_end():
        Redaction().text("x", text)
