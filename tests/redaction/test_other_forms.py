"""Secrets that stand neither after a colon nor an equals sign, and what only looks like them."""

import json

import pytest

from agenttrace.redaction import Redaction


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("my password is: hunter2abc, thanks", "my password is: [redacted], thanks"),
        ("password is 'hunter2abc'.", "password is '[redacted]'."),
        ("Das Passwort lautet hunter2abc", "Das Passwort lautet [redacted]"),
        ("le mot de passe est hunter2abc", "le mot de passe est [redacted]"),
        ("password (hunter2abc)", "password ([redacted])"),
        ("the PIN is 4711", "the PIN is [redacted]"),
        ("İstanbul: the password is hunter2abc", "İstanbul: the password is [redacted]"),
        ("curl -su ann:hunter2 x.org", "curl -su ann:[redacted] x.org"),
        ("mysql -uroot \\\n  -phunter2 app", "mysql -uroot \\\n  -p[redacted] app"),
        ("a:\n  - token: |\n      hunter2abc\n    b: 1", "a:\n  - token: |\n      [redacted]\n    b: 1"),
        ("passwords:\n- hunter2abc\n- b: c", "passwords:\n- [redacted]\n- b: c"),
        ("priv key\npriv:\n    00:ab:01:\n    cd:ef\npub:", "priv key\npriv:\n    [redacted]\npub:"),
        ("user,password\nann,hunter2abc\n\nbye", "user,password\nann,[redacted]\n\nbye"),
        ('user,password\n"a,b","hunter2abc"', 'user,password\n"a,b","[redacted]"'),
        (
            "| a | secret |\n|:--|--:|\n| b | `hunter2abc` |\n\nc",
            "| a | secret |\n|:--|--:|\n| b | `[redacted]` |\n\nc",
        ),
        ("the password is hunter2abc…[+70 chars]", "the password is [redacted]…[+70 chars]"),
        ("password: |\n  hunter2abc…[+70 chars]", "password: |\n  [redacted]…[+70 chars]"),
    ],
)
def test_a_secret_is_taken_out_and_what_is_around_it_stays(text, kept):
    redaction = Redaction()
    assert redaction.text("text", text) == kept
    assert redaction.redacted == 1
    assert redaction.text("text", kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "password is hunter2abc",
        "mysql -phunter2abc",
        "user,password\nann,hunter2abc",
        "password: |\n  hunter2abc",
        "curl -su ann:hunter2abc x.org",
    ],
)
def test_what_is_left_alone_on_request_is_left_alone_here_too(text):
    assert Redaction(except_=["password"]).text("text", text) == text
    assert Redaction(level="off").text("text", text) == text
    assert "hunter2" not in Redaction(["password"], level="off").text("text", text)


@pytest.mark.parametrize(
    "text",
    [
        "token\n" * 30_000,
        "a,password\n" * 10_000,
        "".join(f"{' ' * depth}password:\n" for depth in range(1_000)),
        "password:" + "\n  a" * 30_000,
        "mysql -x " * 20_000,
        "password is " * 20_000,
        "password" + " " * 200_000,
    ],
    ids=len,
)
def test_a_long_text_of_signs_is_read_in_a_moment(text):
    """Each of these took hours when a part of them was gone through from each of its lines."""
    assert Redaction().text("text", text) == text


def test_a_field_of_a_form_in_parts_is_hidden_by_its_name():
    body = (
        '--b\r\nContent-Disposition: form-data; name="user"\r\n\r\nann\r\n'
        '--b\r\nContent-Disposition: form-data; name="password"\r\nContent-Type: text/plain\r\n\r\n{}'
        "\r\n--b--\r\n"
    )
    shown = Redaction().inside(body.format("hunter2x9"))
    assert shown == body.format("[redacted]")
    escaped = json.dumps({"body": body.format("hunter2x9")})
    assert "hunter2x9" not in Redaction().inside(escaped)
    assert Redaction().inside(body.format("")) == body.format("")
