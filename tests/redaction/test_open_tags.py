"""A password behind a tag that nothing ends."""

import pytest

from agenttrace import Redaction

FORMS = [
    "<password>{}",
    "the tag <password>{} was cut",
    "<user>ann <password>{}",
    "<db_password>{}\n<host>db",
    "<ns:password>{}.",
]
OTHERS = [
    "usage: tool <user> <password> <file2>",
    "login <password>",
    "mysql://ann:<password>@host2/db",
    "const t = <Token>value1;",
    "List<Password>items2 = x",
    "<password> is the tag of field2",
    "<password>required",
    "<password>v1.2.3",
    "GET /api/<token>/users2",
]


@pytest.mark.parametrize("password", ["brimstoneQ47x", "hunter2", "correct-horse-7", "Tr0ub4dor&3"])
@pytest.mark.parametrize("form", FORMS)
def test_a_password_behind_an_open_tag_is_hidden(form, password):
    text = form.format(password)
    assert Redaction().text("x", text) == form.format("[redacted]")
    assert not Redaction().holds_nothing(["of Paris", text])


def test_a_key_behind_an_open_tag_is_hidden():
    assert Redaction().text("x", "<api_key>q8Zr2Lw0Xv7Kp4Nt then") == "<api_key>[redacted] then"


@pytest.mark.parametrize("text", OTHERS)
def test_other_words_behind_tags_stay(text):
    assert Redaction().text("x", text) == text
