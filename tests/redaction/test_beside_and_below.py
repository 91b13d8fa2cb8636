"""Values beside their name in entries of many spellings, below it in files, and in what code has."""

import json

import pytest

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

SECRET = "Tr0ub4dor3xQ"
KEY = "9f8e7d6c5b4a39281706f5e4d3c2b1a0"
ERROR = {"type": "string_too_short", "loc": ["body", "password"], "msg": "too short", "input": SECRET}
ENTRIES = [
    {"setting": "smtp_password", "value": SECRET},
    {"field_name": "password", "field_value": SECRET},
    {"env_var": "DB_PASSWORD", "value": SECRET},
    {"label": "Password", "text": SECRET},
    {"op": "replace", "path": "/user/password", "value": SECRET},
    {"OptionName": "DB_PASSWORD", "Value": SECRET},
    {"property": "password", "value": SECRET},
    {"config_key": "api_key", "config_value": SECRET},
    ERROR,
    {"detail": [ERROR]},
]
HARMLESS_ENTRIES = [
    {"op": "replace", "path": "/user/city", "value": SECRET},
    {"path": "src/password.py", "value": "x1y2z3"},
    {"label": "API key", "text": "Enter your key"},
    {"loc": ["body", "city"], "input": SECRET},
    {"setting": "theme", "value": "dark-2"},
]
TEXTS = [
    f"passwords:\n  db: {SECRET}\n  mail: 'Tr0ub4dor3xR'\nx: 1\n",
    f"credentials:\n  db: {SECRET}\n  mail: {KEY}\n",
    f"api_keys:\n  openai: {KEY}\n  # another\n  other: {KEY[::-1]}\n",
    f"secrets:\n  db: {SECRET}\n",
    f'[secrets]\ndb = "{SECRET}"\n',
    f"[credentials]\ndb = {KEY}\n\n[x]\na = 1\n",
    f"[credentials]\n\n# of the host\nhost = 'db'\n\ndb = {KEY}\n",
    f"passwords:\n# of the host\n  a: 1\n\n  db: {SECRET}\nx: 1\n",
    f"parser.add_argument('--password', default='{SECRET}')",
    f"@click.option('--api-key', default='{SECRET}')",
    f'assert user.password == "{SECRET}"',
    f"INSERT INTO users (name, password) VALUES (?, ?)\n[generated in 0.0001s] ('ann', '{SECRET}')",
    f'env {{\n name = "DB_PASSWORD"\n value = "{SECRET}"\n}}',
    f"- value: {SECRET}\n  name: DB_PASSWORD\n",
    f'  ~ password = "OldTr0ub4dor" -> "{SECRET}"',
    f"await page.getByRole('textbox', {{ name: 'Password' }}).fill('{SECRET}');",
]
HARMLESS_TEXTS = [
    "password:\n  type: string\n  description: of user1x\n  example: abc\n",
    "secrets:\n  db:\n    file: ./db1.txt\n",
    "secrets:\n  token: ${{ secrets.TOKEN1 }}\n",
    "auth:\n  url: https://h/v1x\n  method: oauth2\n",
    "parser.add_argument('--password', default='')",
    'if token == "EOF1":',
]


@pytest.mark.parametrize("entry", ENTRIES, ids=repr)
@pytest.mark.parametrize("written", [lambda data: data, json.dumps, lambda data: f"got {json.dumps(data)}"])
def test_a_value_beside_its_name_is_taken_out(entry, written):
    cleaned = str(Redaction().inside(written(entry)))
    assert REDACTED in cleaned
    assert SECRET not in cleaned


@pytest.mark.parametrize("entry", HARMLESS_ENTRIES, ids=repr)
def test_a_value_beside_another_name_stays(entry):
    assert Redaction().inside(entry) == entry


def test_the_arguments_of_a_tool_are_such_an_entry():
    tracer = Tracer("beside", store="memory")
    with tracer.capture() as captured:
        tracer.observe(lambda setting, value: None)("smtp_password", SECRET)
        tracer.observe(lambda field_name, field_value: None)("password", SECRET)
        tracer.observe(lambda label, text: None)("Password", SECRET)
    assert SECRET not in str([span.input for span in captured.trace.spans])
    tracer.shutdown()


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_in_texts(text):
    cleaned = Redaction().inside(text)
    assert REDACTED in cleaned
    assert [part for part in ("Tr0ub", KEY, KEY[::-1]) if part in cleaned] == []


@pytest.mark.parametrize("text", HARMLESS_TEXTS, ids=repr)
def test_a_text_without_a_secret_stays(text):
    assert Redaction().inside(text) is text
