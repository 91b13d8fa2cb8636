"""Passwords and keys before their name in a sentence, apart from it, and behind a question for them."""

import pytest

from agenttrace import Redaction

PASSWORDS = ["brimstoneQ47x", "hunter2", "correct-horse-7", "Tr0ub4dor&3"]
KEY = "q8Zr2Lw0Xv7Kp4NtY6bH3sDf9GmJ1cQe"
OF_PASSWORDS = [
    "I use {} as the password",
    "I use {} as my password for everything.",
    "I chose '{}' as my password",
    "It is {} (password)",
    "{} is my password",
    "{} is the password.",
    "Note: {} is the admin password, and it works",
    "`{}` was my old password",
    "the password, {}, is wrong",
    "What's your password? {}",
    "Password? {}",
    "What is the wifi password? It's {}.",
    "ann: what's your password? {}\nbob: no",
]
OF_KEYS = [
    "What is your API key? {}",
    "{} is my API key",
    "I use {} as the API key",
    "the access token, {}, has expired",
]
OTHERS = [
    "I use argon2id as the password hasher",
    "We use Keepass2 as the password manager",
    "Argument2 is the password, argument1 the user",
    "param2 is the password.",
    "OAuth2 is the password of the future",
    "Windows10 is the password manager's only platform",
    "The user1 field is the password field of page2",
    "Chapter2 is the key to the book",
    "What is your password? I won't tell you2",
    "What's your password? Click2 here to reset it",
    "Forgot your password? ann2@example.org helps",
    "What is your API key? See-page-2",
    "the password, ann2@example.org, is an address",
    "the password, however, is hashed with sha256",
    "Version2 was the token of our thanks",
    "MP3 as the key format, MP4 as the other one",
    "base64url is the key encoding",
    "set it to utf8mb4 as the key charset",
]


@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("sentence", OF_PASSWORDS)
def test_a_password_in_a_sentence_that_has_its_name_is_hidden(sentence, password):
    text = sentence.format(password)
    assert Redaction().text("x", text) == sentence.format("[redacted]")
    assert not Redaction().holds_nothing(["of Paris", text])


@pytest.mark.parametrize("sentence", OF_KEYS)
def test_a_key_in_a_sentence_that_has_its_name_is_hidden(sentence):
    text = sentence.format(KEY)
    assert Redaction().text("x", text) == sentence.format("[redacted]")
    assert not Redaction().holds_nothing(["of Paris", text])


@pytest.mark.parametrize("text", OTHERS)
def test_other_words_of_such_sentences_stay(text):
    assert Redaction().text("x", text) == text


def test_a_name_that_is_left_alone_on_request_hides_nothing_in_a_sentence():
    text = "brimstoneQ47x is my password"
    assert Redaction(except_=["password"]).text("x", text) == text
