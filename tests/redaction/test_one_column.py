"""Tables of one column, tables that are drawn, and further places that nothing but a value can stand in."""

import pytest

from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

SECRET, OTHER = "x9kQ2vLm8Rt4", "q8Lm2Zx9Kd"
TEXTS = [
    f"   password   \n--------------\n {SECRET}\n(1 row)\n",
    f" api_key \n---------\n {SECRET}\n {OTHER}\n(2 rows)\n",
    f"password    \n------------\n{SECRET}\n",
    f"password\n{SECRET}\n{OTHER}\n",
    f"       password\n0  {SECRET}\n1    {OTHER}",
    f"┏━━━━━━┳━━━━━━━━━━┓\n┃ user ┃ password     ┃\n┡━━━━━━╇━━━━━━━━━━┩\n│ ann  │ {SECRET} │\n└──────┘",
    f"┌──────┬──────────┐\n│ user ┆ password     │\n╞══════╪══════════╡\n│ ann  ┆ {SECRET} │\n└──────┘",
    f"users: 2\npasswords: [x9#kQ!2vLm, {SECRET}]\n",
    f'textbox "Password" [ref=e5]: {SECRET}',
    f"postgres://ann:p@ss:{SECRET}/1@db:5432/x",
    "GET https://a.test/reset?token=Ab12cd34ef56gh&user=3 HTTP/1.1",
    "api_key=Abcd1234efgh5678ijkl, next",
    *(
        f"web_1  | {name}{value}"
        for name in ("password: ", "DB_PASSWORD=")
        for value in ("O'Brien99x", "Summer,2024!", "Hello;World1", "Xk9f(Qm2Lz8Rt")
    ),
]
HARMLESS = [
    "if token:\n    value = parse(token)[0]\n",
    "if get_origin(base) is Secret:\n    inner_type = get_args(base)[0]\n",
    "class Token:\n    name = CharField(30)[1]\n",
    '{"logprobs": {"content": [{"token": " Paris", "logprob": -0.01}]}}',
    "ChatCompletionTokenLogprob(token=' Paris', bytes=[1], logprob=-0.1)",
    "password\nusername\n",
    "~/x1y2z3",
    "class Login:\n    password: SecretStr\n    name: str\n",
    'codecs = ["utf-8-sig", "utf-16"]',
]


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_a_secret_is_taken_out(text):
    cleaned = Redaction().text("output", text)
    assert REDACTED in cleaned
    parts = (SECRET, OTHER, "Ab12", "efgh", "Brien", "2024", "World1", "Qm2L", "kQ!2")
    assert [part for part in parts if part in cleaned] == []


@pytest.mark.parametrize("text", HARMLESS, ids=repr)
def test_what_is_none_stays(text):
    assert Redaction().text("output", text) is text


@pytest.mark.parametrize("pair", [["utf-8-sig", "utf-16"], ["OAuth2Session", "OAuth2Auth"]])
def test_a_pair_of_names_stays(pair):
    assert Redaction().inside(pair) == pair


def test_a_password_that_begins_with_a_tilde_is_no_path():
    data = {"api_key": "~Xk9fQm2Lz8", "password": "~k3JmPq8w", "pwd": "~/notes"}
    assert Redaction().inside(data) == {"api_key": REDACTED, "password": REDACTED, "pwd": "~/notes"}


def test_a_shape_of_ones_own_may_be_shorter_than_any_secret():
    own = Redaction(shapes=[r"\b\d{4}\b", r"\b(?i:ann|bob)\b"])
    given_data = {"code": "4321", "who": "ann", "codes": ["4321", "43210"]}
    assert own.inside(given_data) == {"code": REDACTED, "who": REDACTED, "codes": [REDACTED, "43210"]}


@pytest.mark.parametrize("name", ["smtp_pass", "GH_PAT", "sessions"])
def test_the_items_of_a_list_are_hidden_as_one_text_is(name):
    data = {name: ["x9kQ2vLm8Rt4f3a9", "plain", 3]}
    assert Redaction().inside(data) == {name: [REDACTED, "plain", 3]}
