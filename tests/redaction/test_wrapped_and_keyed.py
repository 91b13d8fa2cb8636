"""Wrapped values, keys of calls in code, settings by their name, commands, rows beside their statement."""

import pytest

from agenttrace import Redaction

KEY, WORD = "R0CsTy4Qwb8DwkNhFdnXsiVp", "x7Kd92mNqPz4"
HEXADECIMAL = "0123456789abcdef" * 4
UUID = "5f3c1a2b-1234-4abc-9def-0123456789ab"
SECRETS = [
    'Config {{ user: "ann", password: Some("{}") }}',
    "User(password=Some({}))",
    "Settings(password=Optional[{}])",
    "plink -ssh ann@h -pw {} ls",
    "mc alias set m http://h:9000 ann {}",
    "doctl auth init -t {}",
    "new mysqli('h', 'root', '{}', 'db');",
    "new PDO($dsn, 'ann', '{}')",
    "pymysql.connect('h', 'ann', '{}')",
    "hmac.new(b'{}', msg, 'sha256')",
    "createHmac('sha256', '{}')",
    '<Parameter Name="password">{}</Parameter>',
    "UPDATE settings SET value='{}' WHERE name='smtp_password'",
    "UPDATE settings SET value = '{}' WHERE key = 'stripe_api_key';",
    "Assistant: Give me the Stripe secret key\nUser: {}",
]
DATA = [
    {"query": "SELECT name, password FROM u", "rows": [["ann", WORD]]},
    {"sql": "SELECT name, password FROM u", "result": [["ann", WORD]]},
    {"query": "select token from t", "data": {"rows": [[WORD]]}},
    {"userpw": WORD},
    {"enc_key": WORD},
    {"tkn": WORD},
]
SHAPES = [
    "pat.AbCdEfGhIjKlMnOpQrStUv.0123456789abcdef01234567.AbCdEfGhIjKlMnOpQrSt",
    f"s-s4t2ud-{HEXADECIMAL}",
    f"amzn.mws.{UUID}",
    f"signkey-prod-{HEXADECIMAL}",
    "sk_sbox_abcdefghij1234567890",
    f"Fernet(b'{KEY}{KEY}=')",
    "wandb login 0123456789abcdef0123456789abcdef0123abcd",
    f"vault write auth/approle/login role_id=abc secret_id={UUID}",
    {"role_id": "x", "secret_id": UUID},
]
OTHERS = [
    "api_key: Optional[str]",
    "password: Optional[SecretStr] = None",
    "token: Some(token2)",
    "password: Some(value)",
    {"secret_id": "prod/db-1"},
    "vault write secret/x ttl=1h",
    "hmac.new(key, msg, hashlib.sha256)",
    "createHmac('sha256', secret)",
    "new PDO($dsn, $user, $pass)",
    "UPDATE t SET value='x12345' WHERE name='color1'",
    {"query": "SELECT name, age FROM u", "rows": [["ann", WORD]]},
    {"query": "weather in Rome", "results": ["sunny", WORD]},
    "alias set git st 'status -s2'",
    "fly login now",
]


@pytest.mark.parametrize("text", SECRETS)
@pytest.mark.parametrize("secret", [KEY, WORD])
def test_the_secret_is_hidden_in_the_text(text, secret):
    assert secret not in Redaction().inside(text.format(secret))


@pytest.mark.parametrize("data", DATA, ids=str)
def test_the_secret_is_hidden_in_data(data):
    redacted = Redaction().inside(data)
    assert WORD not in str(redacted)
    assert "[redacted]" in str(redacted)


@pytest.mark.parametrize("value", SHAPES, ids=str)
def test_it_is_hidden_by_its_shape_or_place(value):
    redacted = Redaction().inside(value)
    assert redacted != value
    assert "[redacted]" in str(redacted)


@pytest.mark.parametrize("value", OTHERS, ids=str)
def test_what_looks_alike_stays(value):
    assert Redaction().inside(value) == value
