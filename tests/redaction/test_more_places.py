"""Tables of clouds' databases, statements with their parameters, calls, commands, entries with comments."""

import json

import pytest

from agenttrace import Redaction
from agenttrace.core.errors import ConfigError

SECRET = "Xk9mQ2vLp7z"
TOKEN = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
TABLES = {
    "RDS": {
        "columnMetadata": [{"name": "id"}, {"name": "password"}],
        "records": [[{"longValue": 1}, {"stringValue": SECRET}]],
    },
    "Redshift": {
        "ColumnMetadata": [{"name": "id"}, {"name": "api_key"}],
        "Records": [[{"longValue": 1}, {"stringValue": SECRET}]],
    },
    "Athena": {
        "ResultSet": {
            "Rows": [
                {"Data": [{"VarCharValue": "user"}, {"VarCharValue": "password"}]},
                {"Data": [{"VarCharValue": "ann"}, {"VarCharValue": SECRET}]},
            ],
            "ResultSetMetadata": {"ColumnInfo": [{"Name": "user"}, {"Name": "password"}]},
        }
    },
    "Snowflake": {
        "resultSetMetaData": {"rowType": [{"name": "USER"}, {"name": "PASSWORD"}]},
        "data": [["ann", SECRET]],
    },
    "Kusto": {"Columns": [{"ColumnName": "user"}, {"ColumnName": "password"}], "Rows": [["ann", SECRET]]},
    "a cursor": {"description": [["id", 23], ["password", 25]], "rows": [[1, SECRET]]},
    "a whole description": {
        "description": [["id", 23, None], ["password", 25, None]],
        "rows": [[1, SECRET], [2, None]],
    },
}
TEXTS = [
    'cur.execute("INSERT INTO users (name, password) VALUES (?, ?)", ("ann", "{}"))',
    'cur.execute(\n    "INSERT INTO users (name, password) VALUES (?, ?)",\n    ("ann", "{}"),\n)',
    'cur.executemany("INSERT INTO u (name, password) VALUES (?, ?)", [("ann", "x1y2z3w4"), ("bob", "{}")])',
    "await client.query('UPDATE users SET password = $1 WHERE id = $2', ['{}', 5])",
    "conn.execute(text('UPDATE users SET password = ? WHERE id = ?'), ['{}', 5])",
    "SELECT * FROM users WHERE password IN ('a1b2c3d4e5', '{}')",
    "SELECT * FROM users WHERE password LIKE '{}%'",
    'SELECT * FROM users WHERE password NOT IN ("a1b2c3d4", "{}")',
    "rabbitmqctl add_user ann {} -q",
    "useradd -p {} ann",
    "net user ann {} /add",
    "lftp -u ann,{} ftp.example.org",
    "xfreerdp -f /u:ann /p:{} /v:host",
    "rclone config create r s3 secret_access_key {}",
    'DriverManager.getConnection("jdbc:mysql://x/y", "root", "{}")',
    "new PDO('mysql:host=x', 'root', '{}')",
    "mysqli_connect('localhost', 'root', '{}', 'db')",
    'new NetworkCredential("ann", "{}")',
    'Credentials.basic("ann", "{}")',
    "<p>Password:<br/>{}</p>",
    "- name: DB_PASSWORD\n  value: |\n    {}\n",
    "- name: DB_PASSWORD  # of the shop\n  # see the wiki\n  value: {}\n",
    "password = <<EOT\n{}\nEOT\n",
    "password: <%= ENV['X'] || '{}' %>",
]
TOKENS = [
    "headers.set('Authorization', 'Bearer ' + '{}')",
    "'Authorization' => 'Bearer ' . '{}'",
    "git clone https://{}@github.com/a/b.git",
    "[Peer]\nPresharedKey = {}",
    'const azureOpenAIKey = "{}";',
    "OpenAI Key: {}",
    '["openWeatherKey"]=>\n  string(40) "{}"',
]


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES.keys())
def test_secret_columns_of_answers_of_databases_are_hidden(table):
    for text in (
        json.dumps(Redaction().fields({"x": table})),
        Redaction().text("x", json.dumps(table)),
        Redaction().text("x", json.dumps(table, indent=2)),
    ):
        assert SECRET not in text


@pytest.mark.parametrize("form", TEXTS)
def test_a_secret_in_a_statement_a_call_a_command_or_an_entry_is_hidden(form):
    for text in (form.replace("{}", SECRET), json.dumps({"code": form.replace("{}", SECRET)})):
        assert SECRET not in Redaction().text("x", text)


@pytest.mark.parametrize("form", TOKENS)
def test_a_token_in_a_call_or_an_address_is_hidden(form):
    assert TOKEN not in Redaction().text("x", form.replace("{}", TOKEN))


@pytest.mark.parametrize(
    "command",
    [
        ["rabbitmqctl", "add_user", "ann", SECRET],
        ["lftp", "-u", f"ann,{SECRET}", "host"],
        ["net", "user", "ann", SECRET],
    ],
)
def test_a_password_in_the_list_of_a_commands_arguments_is_hidden(command):
    assert SECRET not in str(Redaction().fields({"argv": command}))


@pytest.mark.parametrize(
    "text",
    [
        'cur.execute("SELECT * FROM users WHERE password = ?", (hashed,))\nprint("a", "b1c2d3e4")\n',
        "net user ann /delete",
        'signal.connect("mysql:ready", "b", "click handler")',
        "SELECT * FROM users WHERE name IN ('ann1990', 'bob2000') AND city LIKE 'Par1s%'",
        "the password in (some) cases, and a key like 'this one'",
        "<p>Address:<br/>221b</p>",
        "git clone https://ann@github.com/a/b.git",
        "-----END CERTIFICATE-----",
    ],
)
def test_what_only_looks_like_one_of_these_stays(text):
    assert Redaction().text("x", text) == text


def test_entries_of_packages_stay():
    lock = {
        "node_modules/jsonwebtoken": {"version": "9.0.2", "dependencies": {"jws": "^3.2.2"}},
        "node_modules/cookie": {"version": "0.6.0", "license": "MIT", "engines": {"node": ">= 0.6"}},
    }
    assert Redaction().fields({"packages": lock}) == {"packages": lock}
    for indent in (None, 2):
        text = json.dumps({"packages": lock, "jsonwebtoken": "^9.0.2"}, indent=indent)
        assert Redaction().text("x", text) == text
    assert Redaction().fields({"cookie": {"version": "1.2.3", "value": SECRET}}) == {"cookie": "[redacted]"}


def test_a_table_that_has_a_secrets_name_keeps_its_rows():
    table = {"name": "tokens", "rows": [["the", 1], ["of", 2]]}
    assert Redaction().fields({"x": table}) == {"x": table}


@pytest.mark.parametrize("value", ["12A", "4F", "3.5", "2024-01", "gold", "12"])
def test_any_value_of_a_name_of_ones_own_is_hidden_after_an_option(value):
    own = Redaction(names=["seat"])
    assert own.fields({"argv": ["book", "--seat", value]}) == {"argv": ["book", "--seat", "[redacted]"]}
    for end in ("", " now"):
        assert own.text("x", f"book --seat {value}{end}") == f"book --seat [redacted]{end}"


@pytest.mark.parametrize(
    "number", ["1-415-555-2671", "1.415.555.2671", "415 555 2671", "1 415 555 2671", "1 (415) 555-2671"]
)
def test_numbers_of_north_america_are_telephones_however_they_are_parted(number):
    assert Redaction(shapes=["phone"]).text("x", f"call {number} now") == "call [redacted] now"


@pytest.mark.parametrize(("word", "kind"), [("emails", "email"), ("Cards", "card"), ("persona", "personal")])
def test_a_misspelt_kind_is_an_error_that_says_what_to_write(word, kind):
    with pytest.raises(ConfigError, match=f"write '{kind}'"):
        Redaction(shapes=[word])


@pytest.mark.parametrize(
    "name", ["openaiKey", "openAIKey", "OpenAI-Key", "AzureOpenAIKey", "gitHubKey", "xAIKey", "googleMapsKey"]
)
def test_a_providers_name_may_be_written_as_one_word_or_two(name):
    assert Redaction().fields({name: TOKEN}) == {name: "[redacted]"}


def test_the_recovery_words_of_a_wallet_are_hidden():
    words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    for name in ("mnemonic: ", "my seed phrase is: ", 'recovery_phrase = "'):
        assert "sausage" not in Redaction().text("x", name + words)
    assert Redaction().text("x", "a mnemonic: is a help for memory") == "a mnemonic: is a help for memory"


SCHEMES = [
    "Splunk",
    "GenieKey",
    "SSWS",
    "DeepL-Auth-Key",
    "Zoho-oauthtoken",
    "Key",
    "Api-Token",
    "SharedKey",
    "hmac",
]
HEADERS = [
    "curl -H 'Authorization: {}' https://example.org/x",
    "GET / HTTP/1.1\r\nAuthorization: {}\r\nHost: x\r\n",
    "headers:\n  Authorization: {}\n  Accept: text/plain",
    "Proxy-Authorization: {}",
    'req.headers["Authorization"] = "{}"',
]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_scheme_of_a_header_may_be_that_of_one_service(scheme, header):
    redaction = Redaction()
    for value in (
        "3f2b8c1e-9a4d-4e7b-8c2f-1a2b3c4d5e6f",
        "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
        "ann:00QCjAl4MlV-WP=",
    ):
        assert value not in redaction.text("x", header.format(f"{scheme} {value}"))


@pytest.mark.parametrize(
    "said",
    [
        "Authorization: required for version v2.3.1-beta4-20240102",
        "auth: see https://example.org/docs/v2/authentication",
        "Authorization: step 2fa_verification_required",
        "auth: uses hashlib.pbkdf2_hmac('sha256', data1)",
    ],
)
def test_what_is_said_of_authorization_stays(said):
    assert Redaction().text("x", said) == said


@pytest.mark.parametrize(
    "line",
    [
        'PASSWORD="${{DB_PASSWORD:-{}}}"',
        "export DB_PASSWORD=${{1:-{}}}",
        "SECRET_KEY: ${{SECRET_KEY:-{}}}",
        "      - POSTGRES_PASSWORD=${{POSTGRES_PASSWORD:-{}}}",
    ],
)
def test_a_secret_that_a_shell_takes_by_default_is_no_stand_in(line):
    assert "hunter2Blue9" not in Redaction().text("x", line.format("hunter2Blue9"))
    for stand_in in ("", "$OTHER", "changeme"):
        said = f'PASSWORD="${{DB_PASSWORD:-{stand_in}}}"'
        assert Redaction().text("x", said) == said
