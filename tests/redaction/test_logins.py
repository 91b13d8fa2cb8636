"""A user and a password side by side, keys that are somebody's, codes of cards, and what only looks alike."""

import random
from string import ascii_letters, digits

import pytest

from agenttrace import Redaction

SECRET, CARD = "Kx92mPq7zzab", "482"
PAIRS = [
    "Login with ann@example.org / {} to see it",
    "Log in as ann / {}",
    "Sign in with ann:{}",
    "creds are ann / {}",
    "The credentials are ann:{}",
    "the credentials for staging are ann/{}",
    "login: ann:{}",
    "admin login is admin / {}",
    "ann@example.org:{}",
    "use ann@example.org:{} to sign in",
    "here is my key: {}",
    "use the key {}1Qw8 for it",
    "echo {} | gh auth login --with-token",
    'echo "{}" | gh auth login --hostname github.com --with-token',
    "WIFI:S:Home;T:WPA;P:{};;",
    "WIFI:T:WPA;S:My home;P:{};H:true;;",
]
OF_CARDS = ["4111 1111 1111 1111, CVV {}", "exp 12/2027 CVC: {}", "the CVV code is {}", "cvc2 is {}"]
OTHERS = [
    "Login with Google / GitHub, 2 ways",
    "log in with ann@example.org / her 2nd account",
    "creds are user / password of v2",
    "ratio of accounts with: 12 / 240000",
    "write to ann@example.org:8080 or 2nd",
    "scp report1 ann@example.org:Backup2024x",
    "git clone git@example.org:Team2/Repo9x",
    "use the key user_id2 to join",
    "this key: customer_id_2",
    "the CV 482 pages long",
    "Ship to: 12 MG Road, Bengaluru. PIN: 560001",
    "Pincode: 560 001 Bengaluru",
    '{"password": ["can\'t be blank"]}',
    {"pin": "560001", "address": "12 MG Road"},
    {"pin": 560001, "city": "Bengaluru"},
    {"pin": "GPIO17"},
    {"pin": "PA_5", "mode": "out"},
    {"token": "ETH", "chain": "mainnet"},
    {"token": "USDC", "network": "base"},
    {"authorization": "pending"},
    {"authorization": "declined"},
    {"device_code": "SENSOR-0042"},
]
BESIDE_OTHERS = [
    {"pin": "4829", "city": "Bengaluru"},
    {"pin": "560001", "user": "ann"},
    {"token": "ETHxQ9", "chain": "mainnet"},
    {"token": "eth-mainnet1", "user": "ann"},
    "PIN: 482913",
    {"device_code": "GmRhmhcxhwAzkoEqiMEgDnyEysNkuNhszIySk9eS"},
    '{"password": ["hunter2Blue"]}',
]


@pytest.mark.parametrize("said", PAIRS)
def test_the_password_of_a_pair_and_ones_own_key_are_hidden(said):
    assert SECRET not in Redaction().inside(said.format(SECRET))


@pytest.mark.parametrize("said", OF_CARDS)
def test_the_code_of_a_card_is_hidden_in_a_sentence(said):
    assert CARD not in Redaction().inside(said.format(CARD))


@pytest.mark.parametrize("value", OTHERS, ids=str)
def test_what_looks_alike_stays(value):
    assert Redaction().inside(value) == value


@pytest.mark.parametrize("value", BESIDE_OTHERS, ids=str)
def test_what_is_secret_beside_what_looks_alike_is_hidden(value):
    assert Redaction().inside(value) != value


def test_keys_of_azure_and_session_tokens_of_aws_are_hidden_wherever_they_stand():
    chosen = random.Random(7)

    def letters(count):
        return "".join(chosen.choice(ascii_letters + digits) for _ in range(count))

    for key in (
        f"{letters(52)}JQQJ99{letters(26)}",
        f"IQoJb3JpZ2lu{letters(300)}==",
        f"FwoGZXIvYXdz{letters(200)}",
    ):
        assert Redaction().inside(f"use {key} here") == "use [redacted] here"
