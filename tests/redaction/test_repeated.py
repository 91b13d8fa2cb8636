"""What an error's message repeats of a secret argument is taken out."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED
from agenttrace.core.span import Span, SpanError
from agenttrace.redaction import Redaction
from agenttrace.redaction.repeated import secret_texts, without_repeated

SECRET = "Tr0ub4dor"


class Login(NamedTuple):
    user: str
    password: str


@pytest.fixture
def tracer():
    tracer = Tracer("repeated", store="memory")
    yield tracer
    tracer.shutdown()


def messages(tracer, function, *args):
    with tracer.capture() as captured, pytest.raises(ValueError):
        tracer.observe(function)(*args)
    tracer.flush()
    (line,) = tracer.store.traces()
    stored = tracer.store.trace(line.trace_id)
    live = [span.error.message for span in captured.trace.spans if span.error]
    assert [span.error.message for span in stored.spans if span.error] == live
    return live


def test_in_the_call_that_raises(tracer):
    def login(user, password):
        raise ValueError(f"{user}: wrong password {password}!")

    assert messages(tracer, login, "ann", SECRET) == [f"ann: wrong password {REDACTED}!"]


def test_in_a_call_that_is_made_with_it_by_another(tracer):
    @tracer.observe
    def post(body):
        raise ValueError(f"refused: {body}")

    def login(password):
        post(f"-{password}-")

    assert messages(tracer, login, SECRET) == [f"refused: -{REDACTED}-"] * 2


def test_in_the_caller_of_the_one_that_got_it(tracer):
    @tracer.observe
    def login(password):
        raise ValueError(f"wrong: {password}")

    def agent(question):
        login(SECRET)

    assert messages(tracer, agent, "hello") == [f"wrong: {REDACTED}"] * 2


@pytest.mark.parametrize(
    "argument",
    [
        {"user": "ann", "auth": {"token": SECRET}},
        [{"name": "Authorization", "value": SECRET}],
        ["--password", SECRET],
        Login("ann", SECRET),
    ],
)
def test_where_it_stands_inside_an_argument(tracer, argument):
    def call(options):
        raise ValueError(f"failed with {SECRET}")

    assert messages(tracer, call, argument) == [f"failed with {REDACTED}"]


def test_in_parameters_that_are_bound_when_the_span_is_made(tracer):
    def wrapped(*args, **kwargs):
        raise ValueError(f"failed with {SECRET}")

    def login(user, password): ...

    wrapped.__wrapped__ = login
    assert messages(tracer, wrapped, "ann", SECRET) == [f"failed with {REDACTED}"]


def test_in_a_span_that_came_from_elsewhere():
    span = Span(trace_key=1, span_key=2, name="login", input={"password": SECRET})
    span.error = SpanError("ValueError", f"bad {SECRET}")
    assert Redaction().span(span).error.message == f"bad {REDACTED}"


@pytest.mark.parametrize(
    ("secret", "text", "kept"),
    [
        ("1234", "pin 1234 is wrong, 12345 too", "pin [redacted] is wrong, 12345 too"),
        ('a"b\\c-secret', r"""refused {"p": "a\"b\\c-secret"}""", """refused {"p": "[redacted]"}"""),
        ("pass\nword\n1", "repr: 'pass\\nword\\n1'", "repr: '[redacted]'"),
        (SECRET, "cut: Tr0ub4…[+9 chars]", "cut: [redacted]…[+9 chars]"),
        (SECRET, "Trouble", "Trouble"),
    ],
)
def test_in_every_form(secret, text, kept):
    assert without_repeated(text, [secret]) == kept


def test_what_is_no_secret_is_left():
    arguments = {"max_tokens": 4096, "token": None, "city": "Paris", "use_password": True, "pin": 17}
    assert secret_texts(arguments.items(), Redaction()) == set()


@given(st.text(min_size=4, max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_long_secret_is_left_in_a_text(secret, before, after):
    text = without_repeated(before + secret + after, [secret])
    assert len(secret) < 8 or secret not in text.replace(REDACTED, "\0") or secret in REDACTED


@pytest.mark.parametrize(
    "value",
    [
        "Bearer Zx9Qv7mK2w8Lp4Rt6",
        "https://ann:Zx9Qv7mK2w8Lp4Rt6@h/x",
        '{"token": "Zx9Qv7mK2w8Lp4Rt6"}',
        "TOKEN=Zx9Qv7mK2w8Lp4Rt6\n",
        ["curl -u ann:Zx9Qv7mK2w8Lp4Rt6 x"],
        {"token": b"Zx9Qv7mK2w8Lp4Rt6"},
    ],
)
def test_what_is_secret_within_an_argument(tracer, value):
    def call(argument):
        raise ValueError("the token Zx9Qv7mK2w8Lp4Rt6 was rejected, not the river")

    (message,) = messages(tracer, call, value)
    assert message == f"the token {REDACTED} was rejected, not the river"


@pytest.mark.parametrize(
    "text",
    [
        "'{0}' is too short\n\nOn instance['password']:\n    password: '{0}'",
        "login with {0} refused, password={0}",
        "DB_PASSWORD={0}\nused {0} twice: {0}",
    ],
)
def test_a_secret_is_taken_out_wherever_a_text_repeats_it(text):
    secret = "Tr0ub4dor3xQ"
    assert Redaction().text("error", text.format(secret)) == text.format(REDACTED)


def test_a_short_secret_that_stands_in_other_words_is_not_looked_for_again():
    assert Redaction().text("x", "PIN=4821, in 48213 steps") == f"PIN={REDACTED}, in 48213 steps"
