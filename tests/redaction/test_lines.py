"""A name and its value alone on a line: the end of the line says where the value ends."""

import pytest

from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

PASSWORD = "Qz7{0}Kp9x{0}Lw4m"
LINES = [
    ("A=1\nDB_PASSWORD={}\nB=2", ";|&<>()[],`\"'"),
    ("export DB_PASSWORD={}", ";|&<>()[],`\"'"),
    ("[db]\npassword = {}\nuser=a", ";|&<>()[],`\"'"),
    ("password: {}\nx: 1", ";|&<>()[],`\"'"),
    ("'password': {}\nx: 1", "-.!"),
    ("Password: {}\r\nUser: ann", ";|&<>()[],`\"'"),
    ("**Password:** `{}`\n", ";|&<>()[],\"'"),
    ('password: "{}"', " "),
    ('run --password "{}" y', " "),
    ("mysql -uroot -p'{}' db", "$;|&<>()"),
    ("sshpass -p '{}' ssh h", "$;|&<>()"),
    ("redis-cli -a '{}' ping", "$;|&<>()"),
    ("curl -u 'ann:{}' h", '" '),
    ("CREATE USER a WITH PASSWORD '{}';", '<>`"'),
    ("ALTER USER a IDENTIFIED BY '{}';", '<>`"'),
    ("Server=h;Pwd={{{}}};Uid=a", "-!."),
]


@pytest.mark.parametrize(
    ("line", "sign"), [(line, sign) for line, signs in LINES for sign in signs], ids=repr
)
def test_a_password_with_signs_in_it_is_taken_out_whole(line, sign):
    cleaned = Redaction().inside(line.format(PASSWORD.format(sign)))
    assert "Qz7" not in cleaned
    assert "Kp9x" not in cleaned
    assert "Lw4m" not in cleaned
    assert cleaned == line.format(REDACTED)


SECRET = "Hx7qPz2vRk9L"


@pytest.mark.parametrize(
    "text",
    [
        "env:\n  - name: DB_PASSWORD\n    value: {}\n",
        "user[password]={}&user[name]=ann",
        "Mot de passe : {}",
        'api_key: str = "{}"',
        '    api_key: str = Field(default="{}")',
        'private readonly apiKey: string = "{}";',
        'const API_KEY: &str = "{}";',
        'const apiKey string = "{}"',
        'char password[] = "{}";',
        'string password = @"{}";',
        'password = """{}"""',
        "<tr><td>Password</td><td>{}</td></tr>",
        '<add value="{}" key="password"/>',
        '<string name="api_key">{}</string>',
        "htpasswd -nb ann {}",
        "docker login -u a -p={} registry",
        "API key:\n```\n{}\n```",
    ],
)
def test_a_secret_is_found_in_forms_that_code_and_pages_have(text):
    assert Redaction().inside(text.format(SECRET)) == text.format(REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        "user%5Bpassword%5D={}&x=1",
        "password\uff1a{}",
        "密码\uff1a{}",
        "パスワード\uff1a{}",
        "password\u00a0=\u00a0{}",
        "\x1b[1mpassword:\x1b[0m {}",
        'Authorization: Token token="{}"',
        'Authorization: Hawk id="a", ts="1", nonce="j", mac="{}"',
        'Authorization: Digest username="a", realm="r", nonce="n", response="{}"',
        "sqlplus scott/{}@db",
    ],
)
def test_a_secret_is_found_in_forms_that_are_written_anew_or_go_as_a_whole(text):
    cleaned = Redaction().inside(text.format(SECRET))
    assert SECRET not in cleaned
    assert REDACTED in cleaned


def test_tokens_are_found_in_an_address_and_behind_a_colour():
    bot = "6439815766:AAHkgafrfwA94hJ9WnywX0t0ZBfdTEmxI6C"
    key = "gh" + "p_" + "a1B2c3D4" * 5
    assert bot not in Redaction().inside(f"https://api.telegram.org/bot{bot}/sendMessage")
    assert key not in Redaction().inside(f"\x1b[31m{key}\x1b[0m")


@pytest.mark.parametrize(
    "text",
    [
        'password: "must be at least 8 characters"',
        "password = get_password(x1)",
        "token = tokens[i+1]",
        'api_key=os.environ["KEY1"],',
        "Password: required, 8 chars",
        "password: Optional[str] = None",
        "name: password\nvalue: required\n",
        "- name: PASSWORD\n  value: ${PW}\n",
        'token: str = Field(default="", description="x")',
        "<td>Password</td><td>required</td>",
        '<string name="forgot_password">Forgot your password?</string>',
        'def f(password: str = "x"): pass',
        'token: response.json()["token1"]',
        "auth: oauth2,jwt1token",
        '{"cmd": "mysql -u root -p", "cwd": "/x"}',
        '"token": f"{x}-{y1}"',
        "grant=password&user=ann1",
        "key: value1;other2",
    ],
)
def test_code_and_what_is_said_of_a_password_stay(text):
    assert Redaction().inside(text) is text


@pytest.mark.parametrize(
    "value",
    [
        "CREATE TABLE users (id INT, password VARCHAR(255) NOT NULL, token CHAR(40))",
        [{"token": "Hello", "logprob": -0.1, "bytes": [72]}],
        'api_key="YOUR_API_KEY"',
        {"mnemonic": "every good boy does fine"},
    ],
)
def test_types_of_columns_tokens_of_models_and_stand_ins_stay(value):
    assert Redaction().inside(value) == value


@pytest.mark.parametrize(
    "value",
    [
        {"mnemonic": "legal winner thank year wave sausage worth useful legal winner thank yellow"},
        {"Variable": "API_KEY", "Value": "Hx7qPz2vRk9L"},
        {"ParameterKey": "DBPassword", "ParameterValue": "Hx7qPz2vRk9L"},
    ],
)
def test_entries_in_other_letters_and_the_words_of_a_wallet_are_hidden(value):
    assert [*Redaction().inside(value).values()][-1] == REDACTED


def test_what_a_score_shows_shortened_is_redacted():
    from agenttrace.core.score import Score

    key = "gh" + "p_" + "a1B2c3D4" * 5
    shown = f'expected "https://app:Kq9zzLw22xP…, not given; expected "see {key[:19]}…, "http://host:8080/a…"'
    score = Redaction().score(Score.of("a", 0.0, threshold=0.5, reason=shown))
    assert score.reason == (
        'expected "https://app:[redacted]…, not given; expected "see [redacted]…, "http://host:8080/a…"'
    )
    assert Redaction(level="off").score(Score.of("a", 0.0, threshold=0.5, reason=shown)).reason == shown


def test_pairs_that_are_tuples_are_redacted_where_the_values_were_not_recorded():
    assert Redaction().fields({"headers": [("password", "Xq9zLm2Vb7Kt"), ("a", "b")]}) == {
        "headers": [["password", REDACTED], ("a", "b")]
    }


def test_what_a_reason_shows_of_an_answer_that_is_cut_within_a_secret_is_redacted():
    from agenttrace import Example
    from agenttrace.scorers import ContainsScorer, ExactMatchScorer

    key = "gh" + "p_" + "a1B2c3D4" * 5
    for secret in (f"https://ann:{SECRET}@host.example.org/a", key):
        for padding in range(0, 120, 3):
            text = f"{'z' * padding} {secret} is where your files are, have a nice day and come back soon"
            example = Example(actual_output=text, expected_output="hello")
            scores = [
                ExactMatchScorer().score(example),
                ContainsScorer(text).score(Example(actual_output="hello")),
            ]
            for score in map(Redaction().score, scores):
                assert SECRET not in score.reason
                assert key[:12] not in score.reason


def test_a_token_beside_its_logprob_is_searched_for_shapes_all_the_same():
    key = "gh" + "p_" + "a1B2c3D4" * 5
    assert Redaction().inside({"token": key, "logprob": -0.1}) == {"token": REDACTED, "logprob": -0.1}


GENERATED = [
    "w(g2m4mE3;N_6KYe",
    "br[4cket]99zz",
    "cu{rly}Cu99zz",
    "(Par3n)Th3s1s",
    "qu'ote1Sq9zz",
    "#h4sh-at-first",
    "K7|pm9&Xq2=Lz4v",
]


@pytest.mark.parametrize("value", GENERATED)
@pytest.mark.parametrize(
    "line",
    [
        "DB_PASSWORD={}",
        "A=1\nSECRET_KEY={}\nB=2",
        "     3\tDB_PASSWORD={}",
        ".env:3:DB_PASSWORD={}",
        "-DB_PASSWORD={}",
        'docker run -e "DB_PASSWORD={}" x',
        "export DB_PASSWORD={}",
    ],
)
def test_a_generated_password_is_taken_out_whole(line, value):
    cleaned = Redaction().inside(line.format(value))
    assert cleaned == line.format("[redacted]"), cleaned


@pytest.mark.parametrize(
    "value",
    ["$Tr0ub4dor", "$ecret99", ":Sommer2024", "<Sommer2024", "{abc12345", "%abc12345%", "/Sommer2024"],
)
def test_a_password_that_begins_as_stand_ins_do_is_none(value):
    assert Redaction().fields({"password": value}) == {"password": "[redacted]"}
    kept = value if value[0] == "/" else "[redacted]"  # of a key's, a path may stand there
    assert Redaction().inside({"headers": [["X-Api-Key", value]]}) == {"headers": [["X-Api-Key", kept]]}


@pytest.mark.parametrize(
    "value",
    [
        "${API_KEY}",
        "$DB_PASSWORD",
        "$password",
        "<your key>",
        "{password}",
        "{{ token }}",
        "%DB_PASSWORD%",
        ":password",
        "$1",
        "***",
        "/run/secrets/db1",
    ],
)
def test_a_stand_in_stays(value):
    assert Redaction().fields({"password": value}) == {"password": value}


def test_an_address_of_a_database_has_its_password_taken_out_whole():
    for value in ("a(b)c&1$2", "p|q%r1", "{a;b=c1}"):
        cleaned = Redaction().inside(f"Server=h;UID=sa;PWD={value};Encrypt=no")
        assert cleaned.replace("{[redacted]}", "[redacted]") == "Server=h;UID=sa;PWD=[redacted];Encrypt=no"
