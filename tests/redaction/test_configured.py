"""Passwords in files and answers of programs that say it in their own way, and what stands beside them."""

import json

import pytest

from agenttrace import Redaction

SECRET = "Vw7Kq8Zw2Tm"
FORMS = [
    "masterauth {}",
    "port 6379\nmasterauth {}\nappendonly yes\n",
    "#cloud-config\nchpasswd:\n  list: |\n    ubuntu:{}\n    root:R\n  expire: False\n",
    "chpasswd:\n  expire: false\n  list:\n    - ubuntu:{}\n",
    "<AdministratorPassword><Value>{}</Value><PlainText>true</PlainText></AdministratorPassword>",
    "<AdministratorPassword>\n  <Value>{}</Value>\n</AdministratorPassword>",
    'expect "password:"\nsend "{}\\r"',
    'expect -re "[Pp]assword" {{ send -- "{}\\r" }}'.replace("{{", "{ ").replace("}}", " }"),
    "child.expect('assword:')\nchild.sendline('{}')",
    'child.expect("Password for ann: ", timeout=5)\nchild.sendline("{}")',
    "<auth-user-pass>\nbob\n{}\n</auth-user-pass>",
    '<String>\n\t<Key>Password</Key>\n\t<Value ProtectInMemory="True">{}</Value>\n</String>',
    '<String><Key>Password</Key><Value Protected="False">{}</Value></String>',
    '<AdministratorPassword><Value wcm:action="add">{}</Value></AdministratorPassword>',
    '<property name="password"><value type="text">{}</value></property>',
    "<member><name>password</name><value><string>{}</string></value></member>",
    "<member>\n<name>password</name>\n<value>\n<string>{}</string>\n</value>\n</member>",
    "<keyType>passPhrase</keyType>\n<protected>false</protected>\n<keyMaterial>{}</keyMaterial>",
    "listen stats\n    stats auth admin:{}\n    stats uri /x",
    "Security key : Present\n    Key Content            : {}\n\nCost settings\n",
    'a:2:{s:4:"user";s:3:"bob";s:8:"password";s:11:"{}";}',
    "Password for the [elastic] user successfully reset.\nNew value: {}\n",
]
OTHERS = [
    "masterauth is set in redis2.conf",
    "masterauth <password>\nport 6379",
    "chpasswd:\n  expire: False\nlist: |\n  a1:b2\n",
    "chpasswd:\n  list: |\n    ubuntu:R\n    root:RANDOM\n",
    "#cloud-config\nusers:\n  list: |\n    ubuntu:a1b2c3\n",
    "<TimeZone1><Value>Pacific 2024</Value></TimeZone1>",
    "<Password><Value></Value></Password>",
    "<Token><Value>true</Value></Token>",
    '<String><Key>Title1</Key><Value ProtectInMemory="False">Vw7Kq8Zw2Tm</Value></String>',
    '<String><Key>Password</Key><Value ProtectInMemory="True"></Value></String>',
    "<member><name>faultCode1</name><value><string>Too2many</string></value></member>",
    "<member><name>password</name><value><boolean>1</boolean></value></member>",
    "<keyType>passPhrase2</keyType><keyMaterial></keyMaterial>",
    "stats auth of HAProxy 2.4 asks for a user and a word",
    "stats auth admin:${STATS_PW1}",
    'expect "password:"\nsend "$password1\\r"',
    'expect "password:"\nsend "\\r"',
    'expect "login2:"\nsend "bob12345\\r"',
    "expect(password).toBe(sent1)\nsend('mail_1')",
    "we expect a password of 12 letters; send it to ann2@example.org",
    "<auth-user-pass>",
    "auth-user-pass /etc/openvpn/login2.txt",
    "Key Content of chapter 2: 14 pages",
    "key1 FULL 4821ab",
    "keyName: key1\nvalue: value1\n",
    "key1: 729fae923d5a4fd12aabfe228f219e9c\nname: x\n",
    "key1: value1\nkey2: value2\n",
    'a:1:{s:8:"password";s:0:"";}',
    'a:1:{s:5:"title";s:11:"Vw7Kq8Zw2Tm";}',
    'a:1:{s:5:"token";s:4:"name";}',
    "Password for the [elastic] user could not be reset.\nNew value: none",
    "Setting 2 changed.\nNew value: Blue12",
]


@pytest.mark.parametrize("form", FORMS)
def test_the_password_is_hidden_and_the_rest_stays(form):
    text = form.replace("{}", SECRET)
    assert Redaction().text("x", text) == form.replace("{}", "[redacted]")
    assert SECRET not in Redaction().text("x", json.dumps({"content": f"a\n{text}\n"}))
    assert not Redaction().holds_nothing(["of Paris", text])


@pytest.mark.parametrize(
    "row",
    [
        "2026-01-01T00:00:00.1+00:00\tkey1\tFULL\t{}",
        "2026-01-01  key2       FULL      {}\n",
        "- creationTime: null\n  keyName: key1\n  permissions: FULL\n  value: {}\n",
        "keyName: key1\nvalue: {}\n",
        "key1: {}\nkey2: {}\n",
    ],
)
def test_the_keys_of_an_account_are_hidden_in_a_listing_of_azure(row):
    secret = "u8jzPde0IgxLd6GncfBAepfJBd0Kh8oOOL8dKLzdocJ2isAjIhKtJ0RlgLKOmxgJTeKdNnFRIBXuDL7DxtpYlS=="
    assert Redaction().text("x", row.replace("{}", secret)) == row.replace("{}", "[redacted]")
    assert not Redaction().holds_nothing(["of Paris", row.replace("{}", secret)])


@pytest.mark.parametrize("text", OTHERS)
def test_what_else_stands_there_stays(text):
    assert Redaction().text("x", text) == text


@pytest.mark.parametrize("kind", ["Static key V1", "tls-crypt-v2 client key"])
@pytest.mark.parametrize("end", ["\n-----END OpenVPN {}-----", ""])
def test_a_static_key_of_openvpn_is_hidden(kind, end):
    block = f"-----BEGIN OpenVPN {kind}-----\n6acef03f62675b4b1bbd03e53b187727\n{end.format(kind)}"
    text = f"<tls-auth>\n{block}"
    assert Redaction().text("x", text) == "<tls-auth>\n[redacted]"
    assert "6acef03f" not in Redaction().text("x", json.dumps({"content": text}))
    assert not Redaction().holds_nothing(["of Paris", text])
