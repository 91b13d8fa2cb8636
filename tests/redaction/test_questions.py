"""Questions for a secret, as people and models put them, and what is answered to them."""

import pytest

from agenttrace import Redaction, Tracer
from tests.stored_text import everything_in

SECRET = "Winter2024x"
ASKING = [
    "What is your password?",
    "Please enter your password below:",
    "Please share your password so I can continue.",
    "What is your password? I'll use it only once.",
    "Please paste your token here.",
    "Which API key should I use?",
    "What should the new password be?",
    "Your password, please?",
    "To proceed, I need the admin password. Could you send it?",
    "May I ask for your current password?",
    "Could you provide the API key for Stripe so that I can finish the setup?",
    "I'm at the login page now. What's the password for ann@example.org?",
    "Password:",
    "Choose a new password",
    "Pick a password for your account.",
    "Now set a password that you use nowhere else.",
]
IN_OTHER_LANGUAGES = [
    "¿Cuál es tu contraseña?",
    "Por favor, introduce tu contraseña.",
    "Wie lautet Ihr Passwort?",
    "Bitte geben Sie Ihr Kennwort ein.",
    "Quel est votre mot de passe ?",
    "Veuillez saisir votre mot de passe.",
    "Qual è la tua password?",
    "Qual é a sua senha?",
    "Какой у вас пароль?",
]
OTHERS = [
    "What is your name?",
    "Never share your password with anybody. What is your order number?",
    "The password was changed. What is your user name?",
    "Please don't send your password.",
    "What is the password policy?",
    "How many tokens may I use?",
    "Which key opens the door?",
    "I have reset the password.",
    "You can't choose a password here. What is your order number?",
    "No compartas nunca tu contraseña. ¿Cuál es tu número de pedido?",
    "Teilen Sie Ihr Passwort niemals mit.",
    "¿Cuál es tu ciudad?",
]
FORMS = [
    ("content", "role", "assistant", "user"),
    ("value", "from", "gpt", "human"),
    ("text", "speaker", "bot", "ann"),
    ("message", "sender", "agent", "ann"),
]


def conversation(question, answer, form=FORMS[0]):
    key, role, first, second = form
    return [{role: first, key: question}, {role: second, key: answer}]


@pytest.mark.parametrize("question", ASKING)
def test_the_answer_to_one_is_hidden(tmp_path, question):
    messages = conversation(question, SECRET)
    assert SECRET not in str(Redaction().inside(messages))
    tracer = Tracer("questions", store=tmp_path / "traces.db")
    tracer.observe(lambda messages: "ok", name="chat")(messages)
    tracer.observe(lambda question: SECRET, name="ask_user", span_type="tool")(question)
    tracer.shutdown()
    text = everything_in(tmp_path / "traces.db")
    assert SECRET not in text
    assert "ask_user" in text


@pytest.mark.parametrize("answer", ["brimstoneQ47x", "hunter2", "correct-horse-7", "Tr0ub4dor&3"])
@pytest.mark.parametrize("question", [*IN_OTHER_LANGUAGES, "Choose a new password", "What is your password?"])
def test_a_word_with_a_digit_answers_a_question_in_any_of_these_languages(question, answer):
    cleaned = Redaction().inside(conversation(question, answer))
    assert [message["content"] for message in cleaned] == [question, "[redacted]"]


@pytest.mark.parametrize(
    "rest", ["I think", "maybe?", "please", ", I guess", "- I think", "is it", "if I remember right"]
)
@pytest.mark.parametrize("answer", ["brimstoneQ47x", "hunter2", "correct-horse-7"])
def test_the_first_word_of_a_short_answer_is_hidden_before_a_doubt(answer, rest):
    text = f"{answer}{rest}" if rest[0] == "," else f"{answer} {rest}"
    assert answer not in str(Redaction().inside(conversation("What is your password?", text)))
    assert answer not in str(Redaction().inside(f"Assistant: What is your password?\nUser: {text}"))


@pytest.mark.parametrize(
    "answer", ["v1.2.3 I think", "step-7 fails with a timeout", "2026-11-29 please", "My-account-2 is locked"]
)
def test_other_first_words_of_an_answer_stay(answer):
    messages = conversation("What is your password?", answer)
    assert Redaction().inside(messages) == messages


@pytest.mark.parametrize("question", OTHERS)
def test_the_answer_to_another_stays(question):
    messages = conversation(question, SECRET)
    assert Redaction().inside(messages) == messages


@pytest.mark.parametrize("form", FORMS)
def test_messages_have_the_forms_of_many_libraries(form):
    assert SECRET not in str(Redaction().inside(conversation(ASKING[0], SECRET, form)))


@pytest.mark.parametrize("between", [{"role": "assistant", "content": None}, {"role": "tool", "content": ""}])
def test_a_message_without_text_stands_between(between):
    question, answer = conversation(ASKING[0], SECRET)
    assert SECRET not in str(Redaction().inside([question, between, answer]))


@pytest.mark.parametrize("answer", [f"Sure, it's {SECRET}", f"Here you go: {SECRET}", f"use {SECRET}!"])
def test_the_last_word_of_a_short_answer_is_hidden(answer):
    messages = conversation("What is the API key?", answer)
    cleaned = Redaction().inside(messages)
    assert SECRET not in str(cleaned)
    assert cleaned[1]["content"].startswith(answer[:3])


@pytest.mark.parametrize(
    ("question", "answer"), [("Please tell me your PIN.", "4929"), ("Enter the verification code:", "483920")]
)
def test_numbers_answer_a_question_for_a_number(question, answer):
    assert answer not in str(Redaction().inside(conversation(question, answer)))


@pytest.mark.parametrize("question", ["What is your password?", "How old are you?"])
def test_a_number_is_no_password(question):
    messages = conversation(question, "4929")
    assert Redaction().inside(messages) == messages


@pytest.mark.parametrize(
    "question", ["Please share your password so I can continue.", "What should the new password be?"]
)
def test_the_next_line_of_a_text_answers(question):
    text = f"Assistant: {question}\nUser: {SECRET}\nAssistant: Thank you."
    assert Redaction().text("x", text) == text.replace(SECRET, "[redacted]")
