"""Passwords that are words: hidden where nothing else can stand, left alone where a sentence may go on."""

import json

import pytest

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction
from agenttrace.redaction.harmless_copy import harmless_copy

WORD = "swordfish"
WITH_WORD = [
    ["--password", WORD],
    ["tool", "login", "--user", "ann", "--db-password", WORD, "--force"],
    [["user", "ann"], ["password", WORD]],
    [["password", WORD]],
    {"headers": [["x", "y"], ["db_password", WORD]]},
    f"tool --password {WORD}",
    f"run `tool --password {WORD}` first",
    f"tool --password {WORD} --force",
    f"tool --password {WORD} | tee log",
    f"['tool', '--password', '{WORD}']",
    f"password: {WORD}",
    f"host: db\n  password: {WORD}  # of the test\nport: 5432",
    f"- passphrase: {WORD}",
    "password: 9f8a",
    f'password: "{WORD}"',
    f"db:\n  password: '{WORD}'\n  port: 5432",
    f'os.environ["DB_PASSWORD"] = "{WORD}"',
    f"mongosh --username ann --password {WORD} db.internal",
]
HARMLESS = [
    ["password", "email"],
    [["password", "string"], ["email", "string"]],
    [["password", "required"], ["name", "optional"]],
    [["token", "hello"], ["pos", "UH"]],
    ["tool", "--password", "--force"],
    ["tool", "--password"],
    "give it with --password option",
    "use --password to log in",
    "--password, --user and --host are options",
    "--password must be given",
    "--password asks for one before",
    "Password: incorrect",
    "password: required",
    "Password: we sent you a link",
    "the password: swordfish is a fish",
    "token: hello",
    "password: string\nemail: string",
    'fields: {\n  password: "Password",\n  email: "Email",\n}',
    'password: "required"',
    "login:\n  password: 'Forgot your password?'\n",
    'errors["password"] = "Too short"',
    "use --user and --password flags",
    "--user or --password was not given",
]


def _kept(value, **options):
    tracer = Tracer("words", store="memory", **options)
    tracer.observe(lambda value: None)(value)
    tracer.flush()
    (line,) = tracer.store.traces()
    return tracer.store.trace(line.trace_id).spans[0].input["value"]


@pytest.mark.parametrize("value", WITH_WORD)
def test_a_password_that_is_a_word_is_hidden_where_nothing_else_can_stand(value):
    word = "9f8a" if "9f8a" in value else WORD
    kept = _kept(value)
    assert word not in json.dumps(kept)
    assert json.dumps(kept).replace(REDACTED, word) == json.dumps(value)
    assert Redaction().inside(value) == kept
    assert harmless_copy({"value": value}, Redaction()) is None


@pytest.mark.parametrize("value", HARMLESS)
def test_words_that_are_no_passwords_are_left_alone(value):
    assert _kept(value) == value


def test_words_in_quotes_are_a_password_where_the_name_is_that_of_a_variable():
    kept = Redaction().inside('env:\n  DB_PASSWORD: "correct horse battery staple"\n  PORT: 1')
    assert kept == f'env:\n  DB_PASSWORD: "{REDACTED}"\n  PORT: 1'


def test_a_pair_of_bytes_is_one_of_headers_whatever_its_value():
    assert "correct" not in json.dumps(_kept([(b"authorization", b"correct-horse"), (b"accept", b"any")]))


@pytest.mark.parametrize(
    "value", ["seat=12A", "seat: gold", ["--seat", "gold"], [["seat", "gold"]], "book --seat gold"]
)
def test_names_of_ones_own_hide_words_and_short_values_wherever_a_name_has_a_value(value):
    kept = json.dumps(_kept(value, redact=["seat"]))
    assert REDACTED in kept
    assert not any(seat in kept for seat in ("12A", "gold"))
    assert _kept(value) == value
