"""Tables of names and values, as Vault's command line prints them: each row is read by its own name."""

import json

import pytest

from agenttrace import Redaction

SECRET = "r8nEhLxFiO-VOYtbRnJX"
HEAD = "Key                Value\n---                -----\n"
FORMS = [
    "lease_id           database/creds/readonly/IQKTMCO7QmRmJ9CCxkrFpxTa\npassword           {}\n",
    "password           {}\nusername           v-root\n",
    "lease_id           aws/creds/readonly/f3e92392\nlease_duration     768h\nsecret_key         {}\n",
    "token              {}\ntoken_accessor     n/a\ntoken_duration     ∞\n",
    "refresh_interval   768h\napi_key            {}",
]
OTHERS = [
    "token_policies     [default dev2]\ntoken_renewable    true\nsecurity_token     <nil>\n",
    "lease_duration     768h\nlease_renewable    true\nusername           v-root-4f2a\n",
    "password           <nil>\n",
    "password_policy    strong2\n",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("head", [HEAD, "Name   Value\r\n----   -----\r\n", f"====== Data ======\n{HEAD}"])
def test_a_secret_row_is_hidden_wherever_it_stands(head, form):
    text = head + form.format(SECRET)
    assert Redaction().text("x", text) == head + form.format("[redacted]")
    assert SECRET not in Redaction().text("x", json.dumps({"stdout": text}))
    assert not Redaction().holds_nothing(["of Paris", text])


def test_a_secret_with_slashes_is_hidden():
    row = "access_key    AKIAIOSFODNN7EXAMPLE\nsecret_key    {}\nsecurity_token    <nil>\n"
    hidden = Redaction().text("x", HEAD + row.format("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"))
    assert hidden == HEAD + row.format("[redacted]").replace("AKIAIOSFODNN7EXAMPLE", "[redacted]")


@pytest.mark.parametrize("rows", OTHERS)
def test_other_rows_stay(rows):
    assert Redaction().text("x", HEAD + rows) == HEAD + rows
