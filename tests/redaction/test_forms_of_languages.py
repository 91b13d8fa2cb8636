"""Secrets in forms of single languages and programs, and by words that only some have for them."""

import json

import pytest

from agenttrace import Redaction

SECRET = "zdaeA6AOSRwLqgotVz89HoZ9"
FORMS = [
    'request.addValue("{}", forHTTPHeaderField: "X-API-Key")',
    'request.setValue("{}", forHTTPHeaderField: "X-API-Key")',
    'request.setValue("Token {}", forHTTPHeaderField: "Authorization")',
    '[request setValue:@"{}" forHTTPHeaderField:@"X-API-Key"];',
    "local api_token = [[{}]]",
    "M.api_key=[[{}]]",
    'cx_Oracle.connect("scott", "{}", "h/orcl")',
    "conn = oracledb.connect('scott', '{}', 'h/orcl')",
    "oci_connect('scott', '{}', 'h/orcl')",
    'variables:\n  DB_PASSWORD:\n    description: "The password"\n    value: "{}"\n',
    'variables:\n  DB_PASSWORD:\n    value: "{}"\n    description: "The password"\n',
    "mvn sonar:sonar -Dsonar.login={}",
    "sonar.login={}\n",
    '{"identifiant": "ann", "mdp": "{}"}',
    "mdp: {}",
    "The wifi password's {}",
    "the password's {}, by the way",
    "My API key\u2019s {}.",
]
OTHERS = [
    'request.setValue("application/json2", forHTTPHeaderField: "Content-Type")',
    'request.setValue("Bearer \\(token1)", forHTTPHeaderField: "Authorization")',
    "local title = [[Vw7Kq8Zw2Tm]]",
    "tokens = [[101,7592,2088,102]]",
    'x.connect("scott", "Vw7Kq8Zw2Tm", "h/orcl")',
    "sonar.login=admin",
    "DB_PASSWORD:\n  type: string\n  description: Line2 of it\n",
    "mdp: the model has 12 states",
    "the password's sha256sum is stored",
    "the password's length is 12",
    "The token's 2nd part",
    "The key's v2beta1 endpoint",
    '{"credentials": "PhD, MIT"}',
    '{"credentials": "MBA"}',
    '{"pw": "42 MW"}',
]


@pytest.mark.parametrize("form", FORMS)
def test_the_secret_is_hidden_and_the_rest_stays(form):
    text = form.replace("{}", SECRET)
    assert Redaction().text("x", text) == form.replace("{}", "[redacted]")
    assert SECRET not in Redaction().text("x", json.dumps({"content": f"a\n{text}\n"}))
    assert not Redaction().holds_nothing(["of Paris", text])


@pytest.mark.parametrize("text", OTHERS)
def test_what_else_stands_there_stays(text):
    assert Redaction().text("x", text) == text


def test_a_degree_and_a_power_stay():
    entry = {"credentials": "Ph.D., Stanford University", "pw": "1.5 kW"}
    assert Redaction().value("x", entry) == entry
    assert Redaction().value("x", {"credentials": "PhD4711x"}) == {"credentials": "[redacted]"}
