"""Secrets in expressions of code, in answers and in flat lists; and what such places have that is none."""

import json
import random
import string

import pytest

from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

SECRET = "Winter#2025x"
CODE = [
    'password = os.environ.get("DB_PASSWORD") or "{}"',
    'const password = process.env.DB_PASSWORD || "{}";',
    "const password = process.env.DB_PASSWORD ?? '{}';",
    '$password = getenv("X") ?: "{}";',
    'password = x if y else "{}"',
    'password = os.environ.get("DB_PASSWORD") or \\\n    "{}"',
    'String password = System.getenv("X") != null ? System.getenv("X") : "{}";',
    'password = os.getenv("DB_PASSWORD", "{}")',
    'password := getenv("X", "{}")',
    'let password = env::var("PW").unwrap_or("{}".to_string());',
    'password = ENV.fetch("X") {{ "{}" }}',
    'password = config("X", default="{}")',
    'password: Final = "{}"',
    'PASSWORD: typing.Final[str] = "{}"',
    'password: "str" = "{}"',
    'password: str = Field("{}")',
    'password = Field("{}", min_length=3)',
    'password = SecretStr("{}")',
    'String password = new String("{}");',
    'public string Password {{ get; set; }} = "{}";',
    'variable "db_password" {{\n  type    = string\n  default = "{}"\n}}\n',
    'variable "db_password" {{ default = "{}" }}',
    "user   password        host\nann    {}:x    db1\nbob    x:9Y!kq2P       db2",
]
WORDS = ["mot de passe : hunter2", "Votre mot de passe : hunter2", "Bonjour,\nmot de passe: hunter2\nmerci"]
MORE = [
    "snmpget -v3 -l authPriv -u a -A Zq8Wn3bY6tR2pM5v -X {} host sysName.0",
    "ssh-keygen -p -P Zq8Wn3bY6tR2pM5v -N {} -f id_rsa",
    "[Note] [Server] A temporary password is generated for root@localhost: {}",
    'proxy_set_header X-Api-Key "{}";',
    "@password ||= '{}'",
    'Dim password As String = "{}"',
    'if password != "{}": pass',
    "AssertionError: assert cfg.client_secret == '{}'",
    'name,address,password\nAnn,"1 Main St\nSpringfield",x\nBob,2 Elm,{}\n',
    "my jwt is {}",
    "my otp is: {}",
    "2026-11-28 05:12:01,123 INFO app.db: user,password\nann,{}\n",
    "2026-11-28 05:12:01,123 INFO app.db: | user | password |\n|---|---|\n| ann | {} |\n",
    'File "a.py", line 3, in x\nValueError: user,note,password\nann,"a\nb",{}\n',
    "user.password or '{}'",
    "os.environ.get('DB_PASSWORD') or '{}'",
    "process.env.DB_PASSWORD || '{}'",
    "connect(process.env.DB_PASSWORD ?? '{}')",
    "config('DB_PASSWORD', default='{}')",
    "SELECT * FROM users WHERE password IN ('{}')",
    "the pwd is {}",
    "- {{name: DB_PASSWORD, value: {}}}",
    "env: [{{ name: 'DB_PASSWORD', value: '{}' }}]",
    "SplitResult(scheme='https', netloc='ann:{}@host', path='/x', query='', fragment='')",
    "| Authorization | Bearer {} |",
    "Authorization\tBearer {}",
    "X-Api-Key\t{}",
    "Array\n(\n    [user] => ann\n    [password] => {}\n)",
    "<p>Password: <code>{}</code></p>",
    'headers["Authorization"] = "Basic {}"',
    "session.headers['Proxy-Authorization'] = 'Bearer {}'",
    'fetch(url, {{headers: {{ Authorization: "Bearer {}" }}}})',
    'if user["password"] == "{}":',
    "assert config['api_key'] == '{}'",
    "params[:password] = '{}'",
    "git clone https://ann:xK9#{}@github.com/x.git",
    "7:user,password\n8:ann,{}",
    'name,password,city\r\nann,{},"Rome, Italy"\r\n',
    'name,password\r\nann,"{},x"\r\n',
    "7:password:\n8:  {}",
    "curl -u ann:'{}' https://h/",
    'curl --user ann:"{}" https://h/',
    "curl -u 'ann':'{}' h",
    "DB_PASSWORD={} x9!",
    "user: ann\npassword: {} 4dor&3 x!9\nport: 1",
    "user%5Bpassword%5D={}%2Cw0rd9&z=1",
    "user,password\nann,Kx7={}\n",
    "Key (api_key)=(ab,cd;{}) already exists",
    "Key (api_key)=(ab)cd{}) already exists",
    "# password: x;{}",
    "// password: <{}",
    "docker login -p 'it'\"'\"'{}' h",
    "mysql -p'it'\\''{}' db",
    'proxy_set_header Authorization "Bearer {}";',
    'password <- "{}"',
    "     n         password\nuser                    \nann  1  {}\n",
    "0    {}\n1    x\nName: password, dtype: object",
    '[(\'Authorization\', \'Digest username="ann", realm="r", response="{}"\')]',
]
COMMANDS = [
    ["snmpwalk", "-v3", "-u", "a", "-A", "Zq8Wn3bY6tR2pM5v", "-X", "{}", "host"],
    ["keytool", "-storepass", "Zq8Wn3bY6tR2pM5v", "-keypass", "{}"],
    ["influx", "-username", "ann", "-password", "{}"],
    ["redis-cli", "AUTH", "{}"],
    {"command": "mysql", "args": ["-uroot", "-p{}"]},
    {"mcpServers": {"db": {"command": "redis-cli", "args": ["-a", "{}"]}}},
]
DATA = [
    {"question": "What is your password?", "answer": SECRET},
    {"question": "Enter the API key", "answer": SECRET},
    ["Host", "example.org", "Authorization", f"Basic {SECRET}"],
    ["Content-Type", "text/html", "X-Api-Key", SECRET],
    {"headerName": "Authorization", "headerValue": f"Bearer {SECRET}"},
]
HARMLESS = [
    "    cookies: LooseCookies | None\n    protocols: Iterable[str] | x1\n",
    {"auth": ["write:pets"]},
    "SERVER_AUTH = '1.3.6.1.5.5.7.3.1'",
    'token = r"[-!#$%&*+.^_`|~0-9a-zA-Z]+"',
    "#define CKK_SEED\t(0x2fUL)\n#define FW_SIGNATURE 0x51454d5520434647ULL",
    "headers['Proxy-Authorization'] = `Basic ${Buffer.from(auth).toString('base64')}`;",
    "command_table['get-login-password'] = ECRPublicGetLoginPassword(session)",
    "infer_sig('func(**kwargs)', 'func')\nArgSig('**kwargs')",
    "engine, session = self.create_session(dburi, short_lived=False, **kwargs)",
    "    G, k, seed\n    G, k=k, seed=1, endpoints=endpoints, x=y",
    "bom = ''.encode('utf-8-sig').decode('utf-8')",
    '<span>npm-token</span>\n<span class="version">@11.17.0</span>',
    'password = getpass("Password: ")',
    'password = config["db1"]["password"] or ""',
    'token = hashlib.new("sha256")',
    'token = response.json()["data1"]',
    'secret = sha or "sha256"',
    'TOKEN = re.compile("[a-z]+")',
    'password_re = re.compile(r"^[a-z]{3,}$")',
    "auto token = static_cast<Token>(x);",
    "password = static_cast<std::string>(input);",
    "DEFAULT_MAX_SESSIONS: Final = 10_000",
    'OPENAI_API_KEY = "OPENAI_API_KEY"',
    "def f(\n    private_key: PKCS7PrivateKeyTypes,\n) -> None: ...\n",
    'CHALLENGE_PASSWORD = "1.2.840.113549.1.9.7"',
    'if token:\n    state = "a1b2"',
    '"auth": {"path": "./auth.py:my_auth"}',
    '{"PrivateKey": {\n "pattern": "[\\\\u0009\\\\u000A]+",\n "type": "string"\n }, "x": {',
    '{"Secrets": {"items": {"$ref": "#/definitions/Secret"}, "type": "array"}, "x": {',
    {"auth": {"path": "/login/start", "method": "POST", "timeout": 30}},
    {"utf_8_sig": "UTF-8-SIG"},
    {"grant_type": "urn:ietf:params:oauth:grant-type:device_code"},
    {"question": "How do I change my password?", "answer": "Settings"},
    {"question": "How do I change my password?", "answer": "Open Settings2 and choose it"},
    ["Content-Type", "text/html", "Accept", "a1b2c3d4"],
    ["first-token", "second", "third-item", "fourth"],
    "{name: token, value: string}, {name: key, value: this.key1}",
    "config('DB_PASSWORD', default='')",
    "a['x1'] = b or 'password'; token in ('[', ']', '1')",
    ["a", "-p$DB_PASSWORD", "app"],
    "        proxy_auth=BasicAuth(self.proxy.auth[0], self.proxy.auth[1])",
    "    private_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)",
    "a dynamic library identified by 'foobar'",
    'class A(Enum):\n    PASSWORD = "PASSWORD"',
    'headers["Authorization"] = "Bearer " + token1',
    "see http://localhost:8000#a1@b",
    "     n  rows\nuser        \nann  1  x1y2z3\n",
    "0    a1b2\nName: city, dtype: object",
]
KEY = "MIIEowIBAAKCAQEAvRx8mUuJ5sQm3Wf0mCq3bXnYlXbTq2h0m4vV"
LITERALS = [
    f"""key = ('-----BEGIN RSA PRIVATE KEY-----\\n'\n  '{KEY}\\n'\n  '-----END RSA PRIVATE KEY-----')""",
    f"""key = "-----BEGIN PRIVATE KEY-----\\n" +\n  "{KEY}\\n" +\n  "-----END PRIVATE KEY-----";""",
]


@pytest.mark.parametrize("form", CODE)
def test_a_secret_in_an_expression_is_hidden(form):
    kept = Redaction().inside(form.format(SECRET))
    assert REDACTED in kept
    assert "Winter" not in kept
    assert "9Y!kq" not in kept


@pytest.mark.parametrize("form", MORE)
def test_a_random_secret_is_hidden_in_an_error_a_command_and_a_sentence(form):
    assert "K7x9Qm2v" not in Redaction().inside(form.format("K7x9Qm2vT4wZ8rL1"))
    assert "Zq8Wn3bY" not in Redaction().inside(form.format("K7x9Qm2vT4wZ8rL1"))


@pytest.mark.parametrize("command", COMMANDS, ids=range(len(COMMANDS)))
def test_all_secrets_of_a_command_are_hidden_also_where_its_arguments_are_a_field(command):
    redaction, text = Redaction(), json.dumps(command).replace("{}", "K7x9Qm2vT4wZ8rL1")
    for kept in (json.dumps(redaction.inside(json.loads(text))), redaction.inside(text)):
        assert "K7x9Qm2v" not in kept
        assert "Zq8Wn3bY" not in kept


@pytest.mark.parametrize(
    "text",
    [
        "EMAIL_HOST_PASSWORD=abcd efgh ijkl mnop",
        "A=1\npassword: 'abcd efgh ijkl mnop'\n",
        "CREATE USER ann IDENTIFIED BY 'mnop'",
    ],
)
def test_a_password_of_four_times_four_letters_is_hidden_and_a_word_that_a_statement_sets(text):
    assert "mnop" not in Redaction().inside(text)


def test_a_command_behind_a_variable_stays():
    assert Redaction().inside(f"PGPASSWORD={SECRET} psql -h db1.host -U a1b2") == (
        f"PGPASSWORD={REDACTED} psql -h db1.host -U a1b2"
    )


@pytest.mark.parametrize("text", WORDS)
def test_a_word_is_a_password_where_its_name_is_of_three_words(text):
    assert Redaction().inside(text) == text.replace("hunter2", REDACTED)


@pytest.mark.parametrize("value", DATA, ids=range(len(DATA)))
def test_a_secret_is_hidden_in_an_answer_and_in_a_flat_list_of_headers(value):
    redaction = Redaction()
    assert SECRET not in json.dumps(redaction.inside(value))
    assert isinstance(value, list) or SECRET not in redaction.inside(json.dumps(value))


@pytest.mark.parametrize("value", HARMLESS, ids=range(len(HARMLESS)))
def test_what_stands_in_such_places_and_is_no_secret_stays(value):
    assert Redaction().inside(value) == value


@pytest.mark.parametrize("text", LITERALS)
def test_a_private_key_that_code_joins_from_literals_is_hidden(text):
    assert KEY not in Redaction().inside(text)
    assert Redaction(level="off").inside(text) == text
    assert KEY in Redaction(except_=["private key"]).inside(text)


@pytest.mark.parametrize("name", ["auth", "authorization"])
def test_a_mapping_of_how_to_log_in_keeps_what_is_secret_hidden(name):
    value = {name: {"path": "/login", "user": "ann", "key": SECRET}}
    assert SECRET not in json.dumps(Redaction().inside(value))


def test_a_password_that_is_its_name_is_hidden():
    assert Redaction().inside({"db_password": "db_password"}) == {"db_password": REDACTED}


@pytest.mark.parametrize("name", ["api_key", "token", "client_secret"])
@pytest.mark.parametrize("length", [32, 40])
def test_a_random_key_on_its_line_is_not_taken_for_the_name_of_a_type(name, length):
    letters, choose = string.ascii_letters + string.digits, random.Random(length)
    keys = ["".join(choose.choices(letters, k=length)) for _ in range(300)]
    redaction = Redaction()
    assert [key for key in keys if key in redaction.inside(f"{name}: {key}")] == []


@pytest.mark.parametrize(
    "form", ["my password is {}", "password | {}", "login ann password {}", "secrets:\n  - {}\n"]
)
def test_a_secret_that_begins_like_a_version_is_hidden(form):
    assert "k9Qm2vT4wZ8r" not in Redaction().inside(form.format("v7k9Qm2vT4wZ8rL1"))


@pytest.mark.parametrize("version", ["v1.2.3", "v2", "V10.0-rc.1", "v3.11.0b2"])
def test_a_version_is_left_alone(version):
    text = f"password | {version}\n"
    assert Redaction().inside(text) == text
