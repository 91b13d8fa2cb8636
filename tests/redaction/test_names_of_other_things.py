"""What has the name of a secret and is none: sessions, seeds, tests that passed, code."""

import pytest

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

HARMLESS = [
    {"session": {"title": "Keynote", "speaker": "Ann"}},
    {"session": {"id": 5, "messages": 3}},
    {"session": {"id": "0b9bd8c4-6ba6-4f13-9d3a-2f2b1de0a001"}},
    {"checkout_session": {"amount": "12.50", "currency": "eur"}},
    {"session": "2026-01-01"},
    {"session": "evening-2"},
    {"pin": {"board": "D13"}},
    {"seed": 1553614239},
    {"seed": "20141025"},
    {"token": "0x" + "aB" * 20},
    {"sid": "S-1-5-21-3623811015-33"},
    "=== RUN   TestFoo1\n--- PASS: TestFoo1 (0.00s)\n    --- PASS: TestX/sub_2 (0.00s)\n--- FAIL: TestX1",
    "PASS src/components/Button2.test.tsx (5.2 s)",
    "PASS: tests/check_01.sh",
    "You must pass utf8mb4 here, pass --max-tokens=5, pass force_zip64 to use it",
    "Using --randomly-seed=1553614239\nrandom_state=42, seed=123456\nRANDOM_SEED=1234567",
    "1 token = 0.75 words, ERROR_TOKEN = 60",
    "{auth: oauth2.auth}",
    'print("shlex: token=" + repr(raw))\nelse:\n    print("shlex")',
    "    OLDSTYLE_AUTH: Final[Pattern[str]]",
    '_TOKEN = re.compile(r"^[!#$%&\'*+\\-.^_`|~0-9A-Za-z]+$")\nx = \'a\\d\'\ny = "z"',
    'x = "["\nif token == ":" and brackets and brackets[-1] == "[":',
    'def cookies(self) -> "BaseCookie[str]":\n    """Return the cookies filtered by 2 attributes."""',
    '    args=[\n        "pass",\n    ],\n    stdout1=stdout,\n',
    '__all__ = ["OAuth", "DjangoOAuth1App", "OAuth2Client", "SIGNATURE_HMAC", "SIGNATURE_SHA1"]',
    "def fix(session: _OAuth2SessionT, private_key: x25519.X25519PrivateKey) -> None: ...",
    "decode_dss_signature = asn1.decode_dss_signature",
    "host, port, access_key, secret_key = s3_connection",
    "#define SSL_OP_NO_MASTER_SECRET SSL_OP_BIT(0)",
    "styles = {Token: '#dddddd', Name: '#aabbcc'}",
    'IPV4_PAT = r"(?:[0-9]{1,3}\\.){3}[0-9]{1,3}"',
    ".. _`Bearer Token`: https://tools.ietf.org/html/rfc6750#section-3",
    "tokens = {'pre-token': [(r'[^x]', String), include('x2')]}",
    'auth = "Basic " + encode(user)',
    "provided via the --username and --password options\nof pip",
    'url = base + "?token=" + tok + "&x=1"\nlog("password=" + pw + " for " + user)\nf("api_key=", key1)',
]
SECRET = [
    {"session": {"id": "a8f5f167f44f4964e6c998dee827110c"}},
    {"session": "a8f5f167f44f4964"},
    {"seed": "abandon ability able about above absent absorb abstract absurd abuse access accident"},
    "login ann pass Zx9Qv7mK2",
    "environment:\n  PASS: hunter2x\n",
    "PASS=hunter2x",
    "don't set password='abc9Xy' here",
    "it's password='Zx9Qv7mK2', ok",
    "password=1234",
    "Tags:\n- Key: DB_PASSWORD\n  Value: Zx9Qv7mK2w8L\n",
    "password\n  Input should be longer [type=string_too_short, input_value='Zx9Qv7mK2', input_type=str]",
]


@pytest.mark.parametrize("value", HARMLESS, ids=repr)
def test_it_is_left_alone(value):
    assert Redaction().inside(value) == value


@pytest.mark.parametrize("value", SECRET, ids=repr)
def test_a_secret_of_that_name_is_taken_out(value):
    assert REDACTED in str(Redaction().inside(value))


def test_what_is_under_its_own_id_keeps_it_in_a_state_and_its_changes():
    card = {"source": "credit_card", "last_four": "2478", "id": "credit_card_9513926"}
    users = {"ann": {"payment_methods": {"credit_card_9513926": card}}}
    tracer = Tracer("shop", store="memory")
    with tracer.capture() as captured, tracer.span("agent"):
        tracer.state("db", users)
        card["last_four"] = "1111"
    tracer.shutdown()
    state = next(span for span in captured.trace.spans if span.name == "db")
    assert state.output == users


def test_what_is_under_another_id_is_hidden_where_it_is_random():
    session = {"session": {"id": "Zx81Kq20vB7mNw3T"}}
    assert Redaction().value("x", session) == {"session": {"id": REDACTED}}
