"""Passwords as generators make them, with brackets and other signs, in the places that have them."""

import html
import json
import random
import shlex
import string

import pytest

from agenttrace.redaction import Redaction
from agenttrace.redaction.generated import end_of_generated, is_generated

LETTERS = string.ascii_letters + string.digits + "!@#$%^&*()-_=+"
MANY, FEW = 150, 0.03
FORMS = {
    "a log": "INFO login user=ann password={} ok",
    "an address": "https://example.org/?api_key={}&x=1",
    "an option": "tool --password={} -v",
    "a sentence": "Your password: {}",
    "columns": "USER      PASSWORD\nann       {}\nbob       Kq7Zt9Lm\n",
    "a frame": "  user      password\n0  ann  {}\n1  bob       hunter2",
    "a series": "user                 ann\npassword    {}\ndtype: str",
    "a statement": "ALTER USER ann WITH PASSWORD '{}';",
}
SIGNS_OF_SHELLS = ["l33t'quote9", 'dbl"q8uote', "Xk9'm\"Q2v'Lp7"]
SHELL = [
    "export DB_PASSWORD={}",
    "tool --password {} run",
    "tool --password={} run",
    "docker run -e DB_PASSWORD={} image",
    "mysql -u ann -p{} shop",
]
CODE = [
    "login(user, password=hash_of(text1, salt2))",
    "x = get(a, password=settings.get(key1)[0])",
    "token=jwt.sign({id: user1}, key2)",
    "password=f(x1)[2:10]",
    "secret=e.t3N(a),r=n(7)",
    "password=b64decode(data1)",
    "token=(int)x9",
    "seed=(uint32_t)((uint64_t)seed_val32)",
    "password=(?P<password>[a-z0-9]+)",
    "password={password1} for {user}",
    "auth=HTTPBasicAuth(user1, key2)",
    "token=Vec3<f32>(x1)",
    "key=Map2<String,List<int>>(n1)",
    "secret=${A1}_${B2}x",
    "secret=#{user1}_b2",
    "key=k2{{user}}_b",
    "password=user{user_id}_v2",
    "token=line1[index:].split()[0]",
    "password=<b>Abc123</b>",
]
ODD_BRACKETS = ["w2YiXmGX{nL}D7", "w2Yi{nL}D7", "k2L<m9>Pq", "K2Lx<m9>Pq!3", "t~N9ugk<)ZeE<SG6"]
OF_ODD_BRACKETS = [
    "password={} status=ok",
    "docker run -e DB_PASSWORD={} img",
    "my password is {}",
    "the password is {}, ok",
    "login failed for ann password: {} at 12:00",
]


def generated(count, seed=7):
    chance = random.Random(seed)
    while count:
        password = "".join(chance.choice(LETTERS) for _ in range(12))
        if any(map(str.isdigit, password)) and any(map(str.isalpha, password)) and password[0] not in "=-&":
            count -= 1
            yield password


def stays(password, text):
    return any(password[begin : begin + 5] in text for begin in range(len(password) - 4))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_generated_passwords_are_hidden_whole_whatever_brackets_they_have(form):
    redaction = Redaction()
    left = [one for one in generated(MANY) if stays(one, redaction.text("x", form.format(one)))]
    assert len(left) <= FEW * MANY, left


@pytest.mark.parametrize(
    "password", ["Su1gj)nXh^Ce", "Kq7Zt(Lm9x", "Kq7Zt[Lm9x", "9kLm{Zq2xP", "PFc()3gpUrH-"]
)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_a_bracket_of_no_pair_does_not_end_a_password(form, password):
    assert not stays(password, Redaction().text("x", form.format(password)))


@pytest.mark.parametrize("password", ODD_BRACKETS)
@pytest.mark.parametrize("form", OF_ODD_BRACKETS)
def test_brackets_within_a_password_make_it_no_format_and_no_tag(form, password):
    assert Redaction().text("x", form.replace("{}", password)) == form.replace("{}", "[redacted]")


@pytest.mark.parametrize("form", OF_ODD_BRACKETS)
def test_few_passwords_of_all_punctuation_stay(form):
    """A third of their letters are signs, also those at which code, a shell and an address end a word."""
    chance = random.Random(11)
    signs = string.ascii_letters + string.digits + "!#$%&()*+,-.:;<=>?@[]^_{|}~"
    made = ["".join(chance.choice(signs) for _ in range(16)) for _ in range(600)]
    made = [one for one in made if any(map(str.isdigit, one)) and one[0].isalnum()]
    redaction = Redaction()
    left = [one for one in made if stays(one, redaction.text("x", form.replace("{}", one)))]
    assert len(left) <= 0.1 * len(made), left


def test_a_password_between_angle_brackets_is_no_stand_in():
    redaction = Redaction()
    assert redaction.fields({"password": "<h4v^]vPR-VBsMa>"}) == {"password": "[redacted]"}
    for stand_in in ("<your key>", "<API key, 16+ letters & digits>", "<key-1>", "<user1@example.org>"):
        assert redaction.fields({"password": stand_in}) == {"password": stand_in}


@pytest.mark.parametrize("code", CODE)
def test_code_is_no_password(code):
    word = code[code.index("=") + 1 :]
    assert not is_generated(word.partition(" ")[0])
    assert end_of_generated(code, code.index("=") + 1, len(code)) == code.index("=") + 1


@pytest.mark.parametrize(
    "declaration",
    [
        "X509_SIG *PKCS8_encrypt(int pbe_nid, const EVP_CIPHER *cipher,",
        "SSL_SESSION *d2i_SSL_SESSION(SSL_SESSION **a, const unsigned char **pp,",
        "SRP_user_pwd *SRP_VBASE_get1_by_user(SRP_VBASE *vb, char *username);",
    ],
)
def test_the_declaration_of_a_function_stays(declaration):
    for text in (declaration, f"int pass;\n{declaration}\n  const char *password);\n"):
        assert Redaction().text("x", text) == text


@pytest.mark.parametrize("password", SIGNS_OF_SHELLS)
@pytest.mark.parametrize("form", SHELL)
def test_a_quote_within_a_word_of_a_shell_does_not_end_a_password(form, password):
    text = Redaction().text("x", form.format(shlex.quote(password)))
    assert not any(part in text for part in ("q8uote", "quote9", "Q2v", "Lp7"))


@pytest.mark.parametrize(
    "form", ['<input type="password" name="password" value="{}">', '<add key="password" value="{}"/>']
)
@pytest.mark.parametrize("password", ["a<b9Zkq2", 'q"7kLm9Zt', "jq&4wUu$4f<j"])
def test_an_entity_does_not_end_the_value_of_an_attribute(form, password):
    text = Redaction().text("x", form.format(html.escape(password)))
    assert text == form.format("[redacted]")


def test_what_terraform_prints_is_no_schema():
    output = {"db_password": {"value": "zB9vKp3LmN8", "type": "string", "sensitive": True}}
    assert "zB9vKp3LmN8" not in str(Redaction().fields({"value": output}))
    assert "zB9vKp3LmN8" not in Redaction().text("x", json.dumps(output, indent=2))


def test_a_schema_and_a_field_that_is_not_filled_in_are_left_alone():
    for field in ({"type": "string"}, {"type": "string", "value": ""}, {"type": "string", "value": None}):
        assert Redaction().fields({"password": field}) == {"password": field}


JOINED = "'\\''" * 30
HOSTILE = [
    json.dumps({"key": "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQ\n" * 60 + "[+900 chars]"}),
    "id: 1\r\n" * 60 + "password=x",
    "event: a  \n" * 60 + "password=x",
    "[SQL: INSERT INTO t (password) VALUES (?)] [parameters: (" + "\n" * 10_000 + "x'",
    "the password for ann is" + " " * 20_000 + "x",
    "the password" + " " * 20_000 + "is" + " " * 20_000 + "x",
    'name: DB_PASSWORD\nvalue: "' + "''" * 40 + "x",
    f'tool --password "x{JOINED} z',
    f'mysql -p"x{JOINED} z',
    f'curl -u "ann:x{JOINED} z',
    "password=" + "A" * 80 + "1a2(x ok",
    "password=a1" + "b" * 80 + "9X(x ok",
    "password=" + "Ab" * 45 + "1a2(x ok",
    "token = " + "a_" * 60_000 + "A_token",
    json.dumps({"password": "a", "b": "\\" * 60_000 + "x"}),
    '"password=' + "\\" * 120_000 + 'x"',
    "tool --password '" + "'\"'\"'" * 10_000,
    "Duplicate entry '" * 5_000,
    "copy a (password) from stdin csv " * 3_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_comes_to_an_end(text):
    assert len(Redaction().text("x", text)) <= len(text) + 20_000
