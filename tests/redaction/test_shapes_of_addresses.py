"""Addresses that are secrets themselves, and keys by their prefix that nothing names."""

import random
import string

import pytest

from agenttrace import Redaction

_RANDOM = random.Random(5)


def letters(count, alphabet=string.ascii_letters + string.digits):
    return "".join(_RANDOM.choice(alphabet) for _ in range(count))


CAPITALS, HEX = string.ascii_uppercase + string.digits, "0123456789abcdef"
KEYS = {
    "Square": f"EAAAE{letters(60)}",
    "Instagram": f"IGQVJ{letters(140)}",
    "X": f"{'A' * 22}{letters(40)}%2B{letters(20)}%3D{letters(30)}",
    "Together": f"tgp_v1_{letters(43)}",
    "Render": f"rnd_{letters(28)}",
    "Netlify": f"nfp_{letters(36)}",
    "ClickUp": f"pk_12345678_{letters(32, CAPITALS)}",
    "Contentful": f"CFPAT-{letters(43)}",
    "Tailscale": f"tskey-auth-k{letters(10)}CNTRL-{letters(32)}",
    "Dropbox": f"sl.B{letters(134)}",
    "Brave": f"BSA{letters(28)}",
    "Datadog": f"ddp_{letters(36)}",
    "Azure DevOps": f"{letters(76)}AZDO{letters(4)}",
    "LlamaCloud": f"llx-{letters(48)}",
    "Apify": f"apify_api_{letters(36)}",
    "RunPod": f"rpa_{letters(42, CAPITALS)}",
    "Mem0": f"m0-{letters(40)}",
    "Asana": f"1/1234567890123456:{letters(32, HEX)}",
    "Vault, before 1.10": f"s.7kQ2{letters(19)}4",
    "Vault, a batch token": f"b.AAAAAQ{letters(110)}",
    "Terraform, of an organization": f"atlasv1.{letters(60)}",
    "Cursor": f"crsr_{letters(64, HEX)}",
    "Context7": "ctx7sk-0b9bd8c4-6ba6-4f13-9d3a-2f2b1de0a001",
    "Firebase, of a server": f"AAAA{letters(7)}:APA91b{letters(134)}",
    "Stytch": f"secret-test-{letters(35)}=",
    "BIP 32": f"xprv9s21{letters(103, '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')}",
}
ADDRESSES = {
    f"https://hooks.zapier.com/hooks/catch/1234567/{letters(7, HEX)}/": 7,
    f"https://hook.eu1.make.com/{letters(32)}": 32,
    f"https://maker.ifttt.com/trigger/x/with/key/{letters(22)}": 22,
    f"https://mainnet.infura.io/v3/{letters(32, HEX)}": 32,
    f"https://eth-mainnet.g.alchemy.com/v2/{letters(32)}": 32,
    f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={letters(36, HEX)}": 36,
    f"https://open.feishu.cn/open-apis/bot/v2/hook/{letters(36, HEX)}": 36,
    f"https://rpc.ankr.com/eth/{letters(64, HEX)}": 64,
    f"https://b.s3.amazonaws.com/k?AWSAccessKeyId=x&Expires=1&Signature={letters(26)}": 26,
    f"https://app.example.com/reset-password/{letters(24)}": 24,
    f"https://example.com/login/magic/{letters(30)}": 30,
    f"https://shop.example.com/accounts/reset/MQ/c5f3ab-{letters(32, HEX)}": 39,
    f"https://example.com/reset/{letters(20)}": 20,
    f"https://f.azurewebsites.net/api/f?code={letters(54)}==": 56,
    f"https://f.azurewebsites.net/api/f?name=x&code={letters(54)}%3D%3D": 60,
    f"http://localhost:7071/api/f?code={letters(54)}": 54,
    f"https://example.org/?code={letters(30)}/{letters(23)}==": 56,
    f"https://outlook.office.com/webhook/{letters(36, HEX)}@{letters(36, HEX)}/IncomingWebhook/a": 91,
    f"https://api.weatherapi.com/v1/current.json?q=Paris&key={letters(31, HEX)}": 31,
}
NEARLY_SECRET = [
    "https://example.org/pages?code=the-quick-brown-fox-jumps-over-the-lazy-dog",
    "https://example.org/orders?code=0b9bd8c4-6ba6-4f13-9d3a-2f2b1de0a001",
    "https://example.org/play?code=" + "MYewdgziA2CmB00QHMAUAiAEiA9gWgAkBTAGxIBoQAXAJ1gDcA" * 3,
    "https://example.org/shop?code=SPRING-SALE-2026-FREE-SHIPPING-FOR-MEMBERS",
    "https://outlook.office.com/mail/inbox/id/2024-03-01-report",
    "this.getElementsByClassNames(Xyz2)",
    "https://s.example.org/secret-test-plan-for-the-next-release-of-2026",
]
OTHERS = [
    *NEARLY_SECRET,
    "https://example.com/?key=some-long-object-name-2024-final",
    "https://example.com/?key=0b9bd8c4-6ba6-4f13-9d3a-2f2b1de0a001",
    "https://github.com/x/reset-password/blob/main/README-2024-x.md",
    "https://example.org/invite/2024-annual-company-meeting",
    "https://hooks.zapier.com/docs",
]


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_hidden_by_its_prefix_alone(name):
    assert Redaction().value("text", f"use {KEYS[name]} now") == "use [redacted] now"


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address.split("/")[2])
def test_the_secret_part_of_an_address_is_hidden_and_the_rest_is_kept(address):
    secret = address.rstrip("/")[-ADDRESSES[address] :]
    assert Redaction().value("url", address) == address.replace(secret, "[redacted]")


def test_a_token_before_the_word_that_github_takes_for_a_password_is_hidden_and_the_word_stays():
    token = letters(40, HEX)
    address = f"git clone https://{token}:x-oauth-basic@github.com/a/b"
    assert Redaction().value("x", address) == "git clone https://[redacted]:x-oauth-basic@github.com/a/b"
    assert not Redaction().holds_nothing(["of Paris", address])


@pytest.mark.parametrize("address", OTHERS)
def test_other_addresses_stay(address):
    assert Redaction().value("url", address) == address


PASSWORD = "Vd1Kq8Zw2Tm"
PASSWORDS = [
    "app:{}@tcp(10.0.0.3:3306)/shop",
    "app:{}@unix(/var/run/mysql.sock)/shop",
    'sql.Open("mysql", "app:{}@tcp(db:3306)/shop?parseTime=true")',
    "source: 'app:{}@tcp(db)/shop'",
    "dial failed for app:{}@tcp6([::1]:3306)/shop: refused",
    "root:@dm1n/{}@cloudsql(project:region:db)/shop",
    "sql system/{}@//dbhost:1521/X",
    "connect: hr/{}@//10.0.0.3/ORCL",
    '10.0.0.1 %any : PSK "{}"',
    'bob : EAP "{} and more"',
    'bob : XAUTH "{}"',
]
LOGGED = [
    "AUTH PLAIN {}",
    "C: AUTH PLAIN {}",
    "send: 'AUTH LOGIN {}\\r\\n'",
    "S: 334 UGFzc3dvcmQ6\nC: {}\nS: 235 ok",
    "S: 334 UGFzc3dvcmQ6\r\n{}\r\n",
]
OF_OTHERS = [
    *NEARLY_SECRET,
    'fmt.Sprintf("%s:%s@tcp(%s:%d)/%s", user, pass1, host, 3306, name)',
    "app:${DB_PASSWORD}@tcp(db:3306)/shop",
    "app:<password>@tcp(db:3306)/shop",
    "root:{{.Password}}@tcp(db:3306)/shop",
    "root@tcp(127.0.0.1:3306)/shop2",
    "note: ann@example.org uses 2 @tcp(x) forms",
    '"user:" + password1 + "@tcp(db:3306)/"',
    "see: docs/v2@//cdn/x",
    "import 'https://example.org/a1@//b2/'",
    ': PSK "${PSK_1}"',
    ': PSK "<secret>"',
    ": PSK and EAP2 are ways to log in",
    "gh auth login endpoint2: it needs a browser",
    "auth: AUTH LOGIN is refused by 2 servers",
    "AUTH PLAIN LOGIN CRAM-MD5: 250",
    "AUTH LOGIN mechanism: 2nd try",
    "334 VXNlcm5hbWU6\nYm9i: 2",
]


@pytest.mark.parametrize("form", PASSWORDS)
def test_the_password_of_an_address_or_of_a_line_of_secrets_is_hidden(form):
    text = form.replace("{}", PASSWORD)
    cleaned = Redaction().text("x", text)
    assert PASSWORD not in cleaned
    assert "[redacted]" in cleaned
    assert cleaned.split("[redacted]")[0] == text[: len(cleaned.split("[redacted]")[0])]
    assert not Redaction().holds_nothing(["of Paris", text])


@pytest.mark.parametrize("form", LOGGED)
def test_what_a_client_of_smtp_sends_is_hidden(form):
    text = form.replace("{}", "AGJvYgBRazd2VG0ycEx4OXo=")
    assert Redaction().text("x", text) == form.replace("{}", "[redacted]")
    assert not Redaction().holds_nothing(["of Paris", text])


@pytest.mark.parametrize("text", OF_OTHERS)
def test_stand_ins_and_other_words_at_such_signs_stay(text):
    assert Redaction().text("x", text) == text
    assert Redaction().holds_nothing([text])
