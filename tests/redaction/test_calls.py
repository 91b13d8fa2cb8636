"""Passwords among the arguments of calls in code, of which the call's name alone says which one it is."""

import json

import pytest

from agenttrace import Redaction

SECRET = "Vw7Kq8Zw2Tm"
CALLS = [
    "conn.simple_bind_s('cn=admin,dc=x', '{}')",
    'client.simple_bind("ann@example.org", "{}")',
    "ldap_bind($conn, 'cn=admin,dc=x', '{}')",
    'client.bind("cn=admin,dc=x", "{}", done)',
    "bcrypt.hashpw(b'{}', bcrypt.gensalt())",
    "bcrypt.hash('{}', 10)",
    "bcrypt.compareSync('{}', user.hash)",
    'BCrypt.hashpw("{}", salt)',
    "Hash::make('{}')",
    "Hash::check('{}', $user->hash)",
    "password_hash('{}', PASSWORD_DEFAULT)",
    "check_password_hash(stored, '{}')",
    "await argon2.verify(stored, '{}')",
    "SELECT pgp_sym_decrypt(data, '{}')",
    "SELECT pgp_sym_encrypt('a text', '{}', 'cipher-algo=aes256')",
    "SELECT pgp_sym_decrypt(decode(x, 'hex'), '{}')",
    "ssh.connect('h', 22, 'root', '{}')",
]
OTHERS = [
    "conn.simple_bind_s('cn=admin,dc=x', password1)",
    "socket.bind('0.0.0.0', '8080a1')",
    "$(a).bind('click', 'handler_v2')",
    "bcrypt.hashpw(password1, bcrypt.gensalt(12))",
    "bcrypt.hash(req.body.password, 10)",
    "Hash::make($request->pass1)",
    "Hash::make('swordfish')",
    "md5.hash('file_2024.txt', 10)",
    "hash('sha256', 'a1b2c3.txt')",
    "check_password_hash(user1.hash, form2.password)",
    "pgp_sym_decrypt(data2, current_setting('app.key1'))",
    "ssh.connect('h', 22, 'root', get_password1())",
    "io.connect('host1', 8080, 'events', 'messages')",
    "connect('signal_2', 'slot_x1')",
]


@pytest.mark.parametrize("form", CALLS)
def test_the_password_of_a_call_is_hidden_and_the_rest_stays(form):
    text = form.replace("{}", SECRET)
    assert Redaction().text("x", text) == form.replace("{}", "[redacted]")
    assert SECRET not in Redaction().text("x", json.dumps({"code": f"import x\n{text}\n"}))
    assert not Redaction().holds_nothing(["of Paris", text])
    assert SECRET not in Redaction().text("x", "a: b, c: d = {}\n" * 20 + text)


@pytest.mark.parametrize("code", OTHERS)
def test_other_arguments_stay(code):
    assert Redaction().text("x", code) == code
