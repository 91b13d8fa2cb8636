"""A secret's name behind which stands whose it is, ``password_postgres``, and names that tell of a secret."""

import sqlite3

import pytest

from agenttrace import Redaction, Tracer
from agenttrace.core.marks import REDACTED
from tests.stored_text import everything_in

SECRET = "x7Kd92mNqPz4"
NAMES = [
    "password",
    "passwd",
    "apikey",
    "api_key",
    "token",
    "access_token",
    "secret",
    "client_secret",
    "db_password",
]
OWNERS = [
    "postgres",
    "github",
    "stripe",
    "openai",
    "root",
    "admin",
    "production",
    "main",
    "smtp",
    "eu",
    "app",
]
IN_TEXTS = [
    "PASSWORD_POSTGRES={}",
    "export API_KEY_OPENAI={}",
    'api_key_openai = "{}"',
    '{{"token_github": "{}"}}',
    "password_postgres: {}",
    "https://h.example.org/?token_github={}",
]
OTHERS = {
    "password_policy": "strong-8",
    "password_reset_url": "https://x.example.org/r/1",
    "password_changed_at": "2026-01-02",
    "password_hint": "dog42name",
    "token_count": 5,
    "token_type": "Bearer2x",
    "token_id": "a93kdLs02jfKq81mZ",
    "token_counter": "cl100k_base_tokens_2",
    "token_stream": "TokenStream2024Reader",
    "token_web": "https://web1.example.org/x",
    "token_acme": "acme-widget-2024-01",
    "token_main": "main.py",
    "token_counting": "token-efficient-tools-2025-02-19",
    "own_pw_defaults": "PK11_OWN_PW_DEFAULTS",
    "secret_name": "prod/db1",
    "secret_arn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:x3",
    "secret_project": "project-manhattan-2024",
    "api_key_id": "f83jDk29sLq0WzX7vB4nM1cP",
    "password_admin": "unchanged",
    "public_key_google": "f83jDk29sLq0WzX7vB4nM1cP",
}


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", NAMES)
def test_the_value_of_a_name_with_its_owner_behind_is_hidden(name, owner):
    redaction = Redaction()
    for whole in (f"{name}_{owner}", f"{name}-{owner}", f"{name}_{owner}_prod", f"{name}_{owner}2"):
        assert redaction.fields({whole: SECRET}) == {whole: REDACTED}, whole


@pytest.mark.parametrize("text", IN_TEXTS)
def test_it_is_hidden_in_a_text_too(text):
    assert SECRET not in Redaction().inside(text.format(SECRET))


@pytest.mark.parametrize("name", ["token_acme", "password_widgets", "api_key_acme", "secretAcme"])
def test_behind_any_other_word_what_is_random_is_hidden(name):
    assert Redaction().fields({name: "a93kdLs02jfKq81mZ"}) == {name: REDACTED}
    assert Redaction().fields({name: "f83jdk29slq0wzx7vb4nm1cp"}) == {name: REDACTED}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_told_of_a_secret_stays(name):
    assert Redaction().fields({name: OTHERS[name]}) == {name: OTHERS[name]}


def test_parameters_with_such_names_are_in_no_file(tmp_path):
    tracer = Tracer("qualified", store=tmp_path / "traces.db")

    @tracer.observe(span_type="tool")
    def connect(host, api_key_openai, **more):
        return "connected"

    connect("h", SECRET, password_postgres=SECRET, token_github=SECRET)
    tracer.shutdown()
    assert SECRET not in everything_in(tmp_path / "traces.db")
    with sqlite3.connect(tmp_path / "traces.db") as db:
        assert db.execute("SELECT count(*) FROM spans WHERE input LIKE '%redacted%'").fetchone() == (1,)
    db.close()
