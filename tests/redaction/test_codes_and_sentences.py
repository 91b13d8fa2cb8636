"""One-time codes, what people say of a key, GraphQL's variables, codes of OAuth, keys of OpenWeather."""

import json
import random
from string import ascii_letters, digits

import pytest

from agenttrace import Redaction
from agenttrace.redaction.names_in_code import is_class

KEY, CODE, WEATHER = "Zk49xQw81LmTp", "482913", "b6907d289e10d714a6e88b30761fae22"
SAID = [
    "Set `API_KEY` to `{}` and restart",
    "The DB password appears to be {}.",
    "The token seems to be {}",
    "The API key you need is {}.",
    "The password that you asked for is {}.",
    "creds: ann / {}",
    "the root password on db1 is {}",
    "The password to ann's account is {}",
    "The password we use: {}",
    "I use {} as the api key",
    "type '{}' into the password field",
    "Fill the password input with {}",
    "Log in as ann with {} as password",
    "Please store {} as the DB password",
    "gh secret set STRIPE_KEY -b'{}'",
]
OF_CODES = [
    "{} is your verification code",
    "G-{} is your Google verification code. Don't share it.",
    "OTP for login: {}",
]
QUESTIONS = [
    "What is the 6-digit code?",
    "Please enter the code we texted you",
    "What code did you receive by SMS?",
]
MUTATIONS = [
    "mutation($p: String!){ login(email:$e, password:$p){token} }",
    "mutation Login($e: String!, $p: String!) { login(input: {email: $e, password: $p}) { token } }",
]
OTHERS = [
    f"{CODE} is your order number",
    f"The number {CODE} is the postal code of the area",
    "Set `MAX_TOKENS` to `4096`",
    "The API key that you use is called stripe-prod",
    "GET /x?status=1&code=404",
    f"https://play.example.org/?code={KEY * 12}",
    {"appid": "wx1234567890abcdef"},
    {"appid": 730},
    {"boarding_pass": "AB1234"},
    "Reset the password in Settings to continue",
    {"query": "query($id: ID!){ user(id: $id){name} }", "variables": {"id": KEY}},
]


@pytest.mark.parametrize("said", SAID)
def test_what_is_said_of_a_secret_hides_it(said):
    assert KEY not in Redaction().value("text", said.format(KEY))


@pytest.mark.parametrize("said", OF_CODES)
def test_the_code_of_a_message_is_hidden(said):
    assert CODE not in Redaction().value("text", said.format(CODE))


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_code_that_answers_a_question_for_it_is_hidden(question):
    messages = [{"role": "assistant", "content": question}, {"role": "user", "content": CODE}]
    assert CODE not in str(Redaction().value("messages", messages))


@pytest.mark.parametrize("query", MUTATIONS)
def test_a_variable_of_graphql_is_hidden_that_stands_for_a_password(query):
    request = {"query": query, "variables": {"p": KEY, "e": "ann@example.org"}}
    clean = Redaction().value("request", request)
    assert clean["variables"] == {"p": "[redacted]", "e": "ann@example.org"}
    assert KEY not in Redaction().value("body", json.dumps(request))


def test_a_key_of_openweather_is_hidden_in_an_address_and_in_data():
    address = f"https://api.openweathermap.org/data/2.5/weather?q=London&appid={WEATHER}"
    assert WEATHER not in str(Redaction().value("request", [address, {"q": "London", "appid": WEATHER}]))


def test_a_code_of_oauth_is_hidden_in_an_address():
    address = f"https://app.example.com/callback?code=4/0AX4XfWh{KEY}&state=xyz"
    clean = Redaction().value("url", address)
    assert clean == "https://app.example.com/callback?code=[redacted]&state=xyz"


@pytest.mark.parametrize("value", OTHERS, ids=str)
def test_what_only_looks_alike_stays(value):
    assert Redaction().value("x", value) == value


MAILS = [
    "Your code is: {}",
    "{} is your Amazon OTP. Do not share it.",
    "The OTP you requested is {}.",
    "<#> Your WhatsApp code: {}\ndo not share it",
    "Use {} as your login code",
    "Verification code\n{}",
    "Hi,\n\nVerification code:\n\n{}\n\nThanks",
    "Enter {} to verify your account",
    "Use {} to verify your Instagram account.",
    "{} is your Facebook confirmation code",
    "FB-{} is your Facebook code",
    "Your single-use code is: {}",
    "Your verification code {} This code expires in 10 minutes",
    "<p>Your verification code</p><h1>{}</h1>",
    "<table><tr><td>Enter this code to sign in:</td></tr><tr><td>{}</td></tr></table>",
    "Enter the code below to log in\n{}",
    "2FA code {} is yours, enter it",
    "OTP {} for txn of INR 500",
    "Use verification code {} for Microsoft authentication.",
    "Use code {} to sign in",
    "To complete your login, enter the code {}",
    "{} - your one time password",
    "Enter this temporary verification code to continue:\n\n{}\n",
    "{} is your Instagram code",
    "<p>Your verification code is</p><h1>{}</h1>",
    "Please use the following code to complete sign in:\n{}",
    "To verify your identity, please use the following code:\n\n{}",
]
OTHER_CODES = [
    "Your ZIP code is 94110",
    "Your booking code: 482913",
    "Your Promo code: 12345",
    "Enter 5000 to 6000 values",
    "Error code: 4040\nStatus code\n404",
    "Use 2024 as your base year, the code is fine",
]


@pytest.mark.parametrize("mail", MAILS)
def test_the_code_of_a_mail_is_hidden(mail):
    assert CODE not in str(Redaction().value("mail", {"body": mail.format(CODE)}))


@pytest.mark.parametrize("text", OTHER_CODES)
def test_other_numbers_stay(text):
    assert Redaction().value("text", text) == text


def test_the_postal_code_of_an_address_stays_and_a_pin_beside_a_user_does_not():
    address = {"city": "Pune", "pincode": "411001"}
    assert Redaction().value("x", address) == address
    assert Redaction().value("x", {"user": "ann", "pin_code": "411001"})["pin_code"] == "[redacted]"


def test_what_is_remembered_under_the_name_of_a_secret_is_hidden():
    assert Redaction().fields({"key": "github_password", "content": KEY})["content"] == "[redacted]"
    assert Redaction().fields({"key": "favourite_colour", "content": "blue"})["content"] == "blue"


@pytest.mark.parametrize(
    "code",
    [
        "imap = imaplib.IMAP4_SSL(host)\nimap.login(user, '{}')",
        'DriverManager.getConnection(url, "ann", "{}")',
    ],
)
def test_a_password_behind_a_variable_is_hidden_in_code(code):
    assert KEY not in Redaction().value("code", code.format(KEY))


def test_random_letters_behind_a_name_in_a_sentence_are_no_name_of_a_type():
    made = random.Random(3)
    forms = [
        "use this token: {}",
        "AWS secret: {}",
        "Deploy with api_key: {} and region eu",
        "client secret: {}",
    ]
    keys = ["".join(made.choices(ascii_letters + digits, k=40)) for _ in range(200)]
    texts = {form.format(key): key for form in forms for key in keys}
    assert [text for text, key in texts.items() if key in Redaction().value("text", text)] == []


@pytest.mark.parametrize(
    "name", ["X25519PrivateKey", "OAuth2SessionToken", "HTTPBasicAuth", "PKCS12KeyAndCertificates"]
)
def test_the_name_of_a_type_stays(name):
    assert is_class(name)
    assert Redaction().value("text", f"returns the token: {name}") == f"returns the token: {name}"


def test_a_code_of_oauth_is_hidden_beside_its_grant():
    request = {"grant_type": "authorization_code", "code": KEY}
    assert Redaction().value("body", request) == {**request, "code": "[redacted]"}


def test_one_word_that_is_written_to_a_secret_s_file_is_hidden_and_code_is_not():
    assert Redaction().fields({"path": "/run/secrets/db_password", "content": KEY})["content"] == "[redacted]"
    code = {"path": "tests/test_password.py", "content": "def test_one(): ..."}
    assert Redaction().fields(code) == code


def test_the_secret_of_aws_beside_its_id_is_hidden():
    secret = "DNxril3RavGD5MfvJ7NScUykT8C8UBkkpdhiG37L"
    for between in (" / ", ":", " ", " secret "):
        assert secret not in Redaction().value("text", f"AKIAIOSFODNN7EXAMPLE{between}{secret}")


DOTTED = [
    "https://g/?api_key={}",
    "https://g/#access_token={}&x=1",
    "GET /v1?access_token={} HTTP/1.1",
    "failed with token={} here",
    "API_KEY={} python app.py",
    "call(api_key={})",
    "My key is {}, thanks",
    "my key: {}",
    "Use this key for the weather API: {}",
]


@pytest.mark.parametrize("form", DOTTED)
def test_random_letters_behind_a_dot_are_no_name_in_code(form):
    made = random.Random(3)
    keys = ["AQ." + "".join(made.choices(ascii_letters + digits, k=48)) for _ in range(50)]
    assert [key for key in keys if key in Redaction().value("text", form.format(key))] == []


@pytest.mark.parametrize(
    "code",
    [
        "token=settings.API_KEY here",
        "call(api_key=self.config.openai_key)",
        "docker run -e API_KEY=config.apiKey2 img",
        "api_key=cfg.OpenAIClientSecretV2 x",
        "password=utils.x25519.PrivateKey y",
    ],
)
def test_a_name_in_code_stays(code):
    assert Redaction().value("code", code) == code


def test_the_cookies_of_a_file_are_hidden_where_they_are_random():
    lines = ["# https://curl.se/docs/http-cookies.html"]
    lines += [f"#HttpOnly_.example.org\tTRUE\t/\tTRUE\t1799999999\tuser_session\t{KEY * 2}"]
    lines += [".example.org\tTRUE\t/\tTRUE\t1799999999\ttheme\tdark"]
    clean = Redaction().value("file", "\n".join(lines))
    assert KEY not in clean
    assert clean.endswith("theme\tdark")
