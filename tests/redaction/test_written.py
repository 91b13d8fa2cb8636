"""Secrets as code, tools, pages and people write them: maps without quotes, columns, sentences, manifests."""

import pytest

from agenttrace import Redaction, Tracer
from tests.stored_text import everything_in

PASSWORD, KEY = "Wq8zKp2vLm", "Zx9qPw3rTy6uAb12"
PASSWORDS = [
    'db_passwords = {\n  prod = "{}"\n}\n',
    'db_passwords = {{ prod = "{}" }}',
    'variable "db_passwords" {{\n  default = {{\n    prod = "{}"\n  }}\n}}',
    "const secrets = {{\n  stripe: '{}',\n}};",
    "I'll use {} as the password",
    'I used "{}" as your new password.',
    "The password you provided ({}) is too weak",
    "an account with password of {}",
    "Reset to: {} (temporary password)",
    "“password”: “{}”",
    "Please change my password from {} to something else",
    "my new password should be {}",
    "Credentials for the admin panel: ann / {}",
    "{{‘password’: ‘{}’}}",
    "Enter passphrase for key '/home/ann/.ssh/id_rsa': {}",
    "ann:{}@db.internal:5432/app",
    "Password\n{}\nSign in",
    "$ cat /run/secrets/db_password\n{}",
    "ann@host:~$ printenv API_TOKEN\n{}\n",
    ">>> os.getenv('DB_PASSWORD')\n'{}'",
    "In [3]: settings.password\nOut[3]: '{}'",
    "Bot: Please enter your password.\nUser: {}",
]
KEYS = [
    "export const apiKeys = {{stripe: '{}'}}",
    'credentials = {{\n  user = "ann"\n  api = "{}"\n}}',
    'private_keys: {{\n  web: "{}"\n}}',
    "Key         Value\n---         -----\napi_key     {}\nurl         https://x\n",
    "secret_key     {}",
    "token     {}\nx     y",
    "api key {}",
    "proxy_set_header X-Api-Key {};",
    "API Key\n{}\nCopy",
    "Access Token\n{}",
    "Unseal Key 1: {}",
    "API key created: {}",
    "Token generated: {}",
    "https://{}@dev.azure.com/x",
    "CREATE SECRET s (TYPE S3, KEY_ID 'x', SECRET '{}')",
    "fly secrets set STRIPE={}",
    "doppler secrets set STRIPE {}",
    "heroku config:set STRIPE={}",
    "kubectl create secret generic x --from-literal=api={}",
    "vault kv put secret/stripe value={}",
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  stripe: {}\ntype: Opaque\n",
    "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    stripe: {}\n  kind: Secret\n",
]
DATA = [
    {"kind": "Secret", "data": {"stripe": KEY}},
    {"name": "projects/1/secrets/db/versions/1", "payload": {"data": KEY}},
    {"config": "db.password", "value": KEY},
    {"path": "db.password", "value": KEY},
    {"prop": "password", "value": KEY},
    [
        {"role": "assistant", "content": "Please provide your API key."},
        {"role": "user", "content": f"Sure, it's {KEY}"},
    ],
]
HARMLESS = [
    {"errors": {"password": ["This field is required."]}},
    {"password": ["Password must contain at least 8 characters.", "This password is too common."]},
    {"error": {"api_key": "API key is missing."}},
    {"password": "Must be at least 12 characters long"},
    {"parameters": {"password": "string"}},
    {"properties": {"token": "str"}},
    {"cookies": "enabled"},
    {"auth": "disabled"},
    {"kind": "ConfigMap", "data": {"stripe": KEY}},
    {"path": "docs/index.md", "value": KEY},
    [
        {"role": "assistant", "content": "Please provide your API key."},
        {"role": "user", "content": "Sure, wait until 10am"},
    ],
]
LEFT_ALONE = [
    "The password comes from vault2x every day",
    "credentials: see docs/login / setup2b",
    "from .oauth2 import OAuth2PasswordBearer as OAuth2PasswordBearer",
    "typedef CARD8\t*CARD8Ptr;\n    CARD8   dri2ReqType;\n",
    "struct SEC_PKCS12SecretStr {\n    SEC_PKCS12Secret  secretAdditional;\n}",
    "const keys = {\n  up: 'ArrowUp1',\n};",
    "tokens = {\n  start = 'BOS1abc'\n}",
    "mailto:ann1990Xy@example.org",
    "git@github.com:ann/x.git",
    "npm:Lodash4x@types.example",
    "The password of user1 is checked",
    "He came as the password was changed",
    "apiVersion: v1\nkind: ConfigMap\ndata:\n  stripe: V3E4cktwMnZMbQ1\n",
    "$ cat src/token.py\nprint1",
    "Title\nabc123XYZ789",
    "fly secrets list",
    "it’s “late” and ‘so on’: 12",
]


@pytest.mark.parametrize(
    ("written", "secret"), [*((one, PASSWORD) for one in PASSWORDS), *((one, KEY) for one in KEYS)]
)
def test_a_secret_is_hidden_and_the_rest_stays(written, secret):
    text = written.replace("{}", "\0").replace("{{", "{").replace("}}", "}").replace("\0", secret)
    cleaned = Redaction().text("x", text)
    assert secret not in cleaned
    before, after = text.split(secret)
    assert cleaned.startswith(before[:4])
    assert cleaned.endswith(after[-4:])


@pytest.mark.parametrize("data", DATA, ids=map(str, DATA))
def test_in_data_and_in_a_file_too(tmp_path, data):
    assert KEY not in str(Redaction().inside(data))
    tracer = Tracer("written", store=tmp_path / "traces.db")
    tracer.observe(lambda value: None, name="call")(data)
    tracer.shutdown()
    assert KEY not in everything_in(tmp_path / "traces.db")


@pytest.mark.parametrize("data", HARMLESS, ids=map(str, HARMLESS))
def test_what_is_said_of_secrets_stays(data):
    assert Redaction().inside(data) == data


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_only_looks_like_one_stays(text):
    assert Redaction().text("x", text) == text
