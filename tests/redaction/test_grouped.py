"""Numbers in groups of digits under a card's or a PIN's name, and what else stands under one."""

import json

import pytest

from agenttrace import Redaction

SECRETS = [
    {"card": "4111 1111 1111 1111"},
    {"card": "5500 0000 0000 0004"},
    {"card": "3782 822463 10005"},
    {"pin": "12 34"},
    {"pin": "123 456"},
]
LINES = ["card: 4111 1111 1111 1111", "x: 1\ncard = 5500 0000 0000 0004\ny: 2"]
OTHERS = [
    {"card": "4111 1111 1111 1112"},
    {"card": "12 of 52"},
    {"card": "2024 12 31"},
    {"card": "10 of hearts"},
    {"card": "A board with 4 lists"},
    {"pin": "1 2"},
    {"pin": "560 001", "city": "Pune"},
    {"pin": "GPIO 17"},
    {"pin": "row 12 34"},
    {"phone": "4111 1111 1111 1111"},
    {"session": "12 34"},
    "card: 4111 1111 1111 1112",
    "card: 12 34 56",
    "order: 4111 1111 1111 1111",
]
OF_HEADERS = [
    "API_KEY_HEADER=X-API-Key",
    "api_key_header: X-API-Key",
    "AUTH_HEADER=Authorization",
    "const tokenHeader = 'X-Auth-Token'",
    {"api_key_header": "X-API-Key"},
    {"tokenHeaderName": "x-access-token"},
    "const token = 'keyword.operator'",
    "const token = 'punctuation.definition.tag-name'",
    {"token": "entity.name.function"},
    "token: keyword.control",
]
OF_NO_HEADERS = [
    "API_KEY_HEADER=Xk9mQ2vLp7z",
    {"auth_header": "Basic YW5uOmh1bnRlcjI="},
    {"api_key_header": "X-kq8Zw2Tm"},
    "const token = 'hunter2.abc8'",
    {"api_key": "X-API-Keys"},
]


@pytest.mark.parametrize("value", SECRETS, ids=str)
def test_a_number_in_groups_is_hidden_in_data_and_in_its_text(value):
    secret = list(value.values())[-1]
    assert secret not in str(Redaction().fields(value))
    text = json.dumps(value)
    assert secret not in Redaction().text("x", text)
    assert not Redaction().holds_nothing(["of Paris", text])


@pytest.mark.parametrize("text", LINES)
def test_it_is_hidden_alone_on_its_line(text):
    assert " 0000" not in Redaction().text("x", text).replace("1111", "0000")
    assert not Redaction().holds_nothing([text])


@pytest.mark.parametrize("value", [*OTHERS, *OF_HEADERS], ids=str)
def test_what_is_no_such_number_and_names_of_headers_and_of_kinds_stay(value):
    assert Redaction().inside(value) == value


@pytest.mark.parametrize("value", OF_NO_HEADERS, ids=str)
def test_what_only_looks_like_them_is_hidden(value):
    assert Redaction().inside(value) != value
