"""Secrets in running text after a name of several words, such as *API key*."""

import pytest

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

WORD = "Xq7Tr0ub4dor9"
TEXTS = [
    f"API key: {WORD}",
    f"api key = {WORD}",
    f"Stripe API key: {WORD}, thanks",
    f"**API key:** {WORD}",
    f"**API key**: `{WORD}`",
    f"`API key`: {WORD}.",
    f"secret key: '{WORD}'",
    f"access key={WORD}",
    f"AWS secret access key: {WORD}",
    f"my private\u00a0key: {WORD}",
    f"api keys := {WORD}",
    f"the encryption key:\n{WORD}",
    f"public\nAPI key: {WORD}",
    f"the api key: {WORD} and the password is {WORD}",
    f"the api key: {WORD}…[+70 chars]",
]
HARMLESS = [
    "the key: value pairs of Xq7Tr0ub4dor9",
    "primary key: id",
    "primary key: order_2025_a1b2c3",
    "api key rotation policy: 90 days",
    "API key: rotate it every 90 days",
    "API key: see the handbook, page 12",
    "API key: required",
    "API key: ${OPENAI_KEY2}",
    "API key: <your key 1>",
    "API key: settings.openai_key1",
    "API key: https://example.org/keys/a1b2c3d4e5",
    "private key: ~/.ssh/id_ed25519",
    "private key: RSA-2048",
    "API key == Xq7Tr0ub4dor9",
    "client key: 12345678",
    "Guest house key: value2pair",
    "session key: chat-2025-06-01-ann",
    "sort key: Xq7Tr0ub4dor9",
    "public key: Xq7Tr0ub4dor9",
    "Redis (key: Xq7Tr0ub4dor9)",
    "for the app\nkey: Xq7Tr0ub4dor9",
    "api, key: Xq7Tr0ub4dor9",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_secret_after_a_name_of_several_words_is_taken_out(text):
    redaction = Redaction()
    kept = redaction.inside(text)
    assert kept == text.replace(WORD, REDACTED)
    assert redaction.redacted == text.count(WORD)
    assert Redaction().inside(str(kept)) == kept


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("padding", ["", "The river. " * 300, '{"city": "Paris", "days": 3} ' * 30])
def test_it_is_found_among_several_texts(text, padding):
    assert not Redaction().holds_nothing(["of Paris", "public", f"{padding} {text}", "hours"])
    tracer = Tracer("names", store="memory")
    tracer.observe(lambda text: None)(["of Paris", "public", f"{padding} {text}", "hours"])
    assert tracer.flush()
    assert WORD not in repr([tracer.store.trace(one.trace_id).to_dict() for one in tracer.store.traces()])


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays_after_such_a_name_too(text):
    assert Redaction().inside(text) is text
    assert Redaction().holds_nothing([text, "of Paris"])


def test_such_a_name_is_left_alone_on_request():
    text = f"API key: {WORD}"
    for redaction in (Redaction(except_=["api_key"]), Redaction(level="off")):
        assert redaction.inside(text) is text


def test_a_number_that_the_next_text_seems_to_count_is_found():
    assert not Redaction().holds_nothing(["the PIN is 4711", "hours"])


@pytest.mark.parametrize(
    "text", ["api key: " * 20_000, "api key" + " " * 200_000, "a key " * 30_000], ids=len
)
def test_a_long_text_of_such_names_is_read_in_a_moment(text):
    assert Redaction().inside(text) is text


OF_OTHER_LANGUAGES = [
    "password di accesso: {}",
    "user: bob\nPassword di accesso: {}\n",
    "contraseña de acceso: {}",
    "كلمة المرور: {}",
    "كلمة السر: {}",
    '{{"كلمة المرور": "{}"}}',
    "पासवर्ड: {}",
    '{{"पासवर्ड": "{}"}}',
]
OF_OTHER_THINGS = [
    "orario di accesso: 12h30x",
    "data de acesso: 2024-05-01",
    "حركة المرور: 120x2",
    "كلمة أخرى: ab12cd34",
    "नाम: ab12cd34",
]


@pytest.mark.parametrize("form", OF_OTHER_LANGUAGES)
def test_a_name_of_another_language_is_one(form):
    text = form.format("Vw7Kq8Zw2Tm")
    assert Redaction().text("x", text) == form.format("[redacted]")
    assert not Redaction().holds_nothing(["of Paris", text])


@pytest.mark.parametrize("text", OF_OTHER_THINGS)
def test_other_words_of_these_languages_stay(text):
    assert Redaction().text("x", text) == text
