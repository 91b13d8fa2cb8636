"""Secrets where people and programs write them every day, and what looks like them and is none."""

import json

import pytest

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

WORD = "Summer2024!"
SHORT_NAMES = {
    "pwd": WORD,
    "db_pwd": WORD,
    "ssn": "123-45-6789",
    "cvv": "123",
    "credit_card": "4111111111111111",
    "jwt": WORD,
    "dsn": WORD,
    "kennwort": WORD,
    "contraseña": WORD,
    "verification_code": WORD,
    "connection_string": WORD,
}
TABLES = [
    "user,{name}\nann,{value}\nbob,x9Y!kq2P",
    "| user | {name} |\n|---|---|\n| ann | {value} |",
    "user   {name}\nann    {value}\nbob    x9Y!kq2P",
    "Here it is.\n\nuser,{name}\nann,{value}\n",
]
PASSWORDS = ["Tr0ub4dor&3", "Winter#2025", "Pa55w0rd?", "Summer2024.ab", "hunter2.hunter2"]
LINES = [
    "DB_PASSWORD={}",
    "HOST=x\nDB_PASSWORD={}\nPORT=1",
    "db_pass: {}\nhost: x",
    "PGPASSWORD={} psql -h x",
    "secrets:\n  a: {}\n  b: 3\n",
    "passwords:\n  ann: {}\n",
    "# database\n# password: {}\n",
    "a.env:3:HOST=x\na.env:4:DB_PASSWORD={}",
    "<pre>\nhost: x\npassword: {}</pre>",
]
SECRET = "zQ7mW3xL9k2"
FORMS = [
    f"DEBUG auth: password='{SECRET}' ok",
    f"INFO cookie: sid='{SECRET}'",
    f"auth: Basic {SECRET}",
    f"client_secret: {SECRET}&b",
    f'curl -H "X-Api-Key: {SECRET}&3" https://example.org',
    f"x-api-key: {SECRET}",
    f'driver.findElement(By.name("password")).sendKeys("{SECRET}")',
    f'password_field.fill("{SECRET}")',
    f'$("#password").val("{SECRET}")',
    f'document.getElementById("password").value = "{SECRET}"',
    f'<setting name="password"><value>{SECRET}</value></setting>',
    f"<pre>DB_PASSWORD=&quot;{SECRET}&quot;</pre>",
    f"<p>&quot;password&quot;: &quot;{SECRET}&quot;</p>",
    f"<p>password &#61; &#39;{SECRET}&#39;</p>",
    f"| password | {SECRET}? |",
    json.dumps({"out": f"| password | {SECRET} |"}),
    f"postgres://ann:Zq7#{SECRET}…[+496 chars]",
    f"postgres://ann:{SECRET}#D@…[+487 chars]",
    f"password\n  Input should be valid [type=string, input_value='{SECRET}', input_type=str]",
    f"    password\n      Input should be valid [type=string, input_value='{SECRET}', input_type=str]",
    f"ENV API_TOKEN {SECRET}",
    f"repr: 'textbox \"Password\" [ref=e5]: {SECRET}'",
    f"tool '--password letmein123{SECRET}'",
    "pwd=Ab3$" + SECRET[:3],
]
DATA = [
    {"sql": "UPDATE users SET password=%s WHERE id=%s", "params": [SECRET, 7]},
    {"sql": "UPDATE users SET password=:p", "params": {"p": SECRET}},
    {"schema": [{"name": "user"}, {"name": "password"}], "rows": [["ann", SECRET]]},
    {"schema": {"fields": [{"name": "user"}, {"name": "password"}]}, "data": [["ann", SECRET]]},
    {"cols": ["user", "password"], "rows": [["ann", SECRET]]},
    {"keys": ["user", "password"], "records": [["ann", SECRET]]},
    {"columns": ["user", "password"], "rows": [{"values": ["ann", SECRET]}]},
    {"name": "password", "dtype": "object", "values": [SECRET]},
    {"field": "password", "old": SECRET, "new": SECRET},
    {"type": "password", "value": SECRET},
    {"action": "type", "target": "password", "text": SECRET},
    ["[secrets]", f'a = "{SECRET}"', "b = 3"],
    ["first", "  user  password", f"0  ann  {SECRET}", "1  bob  zZ8kk2Lmq1"],
    ["password", f"  Input should be valid [type=x, input_value='{SECRET}', input_type=str]"],
]
HARMLESS = [
    "base-files\t12.4\nbase-passwd\t3.6.1\nbash\t5.2.15-2\ncpp-12\t12.2.0-14\ng++-12\t12.2.0\n",
    "Package                Version\n---------------------- -------\n"
    "azure-keyvault-secrets 4.7.0\nbase58                 2.1.1\n",
    "| Feature | Status |\n|---|---|\n| Reset password | v2 |\n| Login2 | v3 |\n",
    "file,lines\nsrc/auth_token,12\nsrc/db2,13\nsrc/http2,14\n",
    "4\t/etc/pam.d/passwd\n0\t/etc/rc6.d/K01hwclock.sh\n",
    "- Reset password | 3 points\n- Login2 | 5 points\n",
    "passwd\t1:4.13+dfsg1-1+deb12u1\n",
    "print(user, password)\nprint(host1, port2)",
    "isinstance(token, str)\nisinstance(node1, str)",
    'Token("*", origin, "*"),\nToken("ATOM1", origin, "c"),',
    '<a accesskey="n" href="x.html">Next</a>',
    "kmeans(data, 2, seed=seed2)",
    "Factor(token=self, eval_method='x')",
    "return Client(token=tok, timeout=5)",
    "f(api_key=key)",
    "f(auth_token=environment_key, helper='x')",
    "session = session2",
    "self.hide_cookie2 = hide_cookie2",
    "uniform_filter1d_signature = maximum_filter1d_signature\n",
    "token = ', '.join(parts)",
    "password = ''.join(x)",
    "authorization = base64.decodebytes(authorization).\\\n    decode('ascii')",
    "password = settings.key1",
    "f(password=settings.key1, x=1)",
    "password\t[success=1 default=ignore]\tpam_unix.so obscure yescrypt",
    "kpasswd\t\t464/tcp\nkpasswd\t\t464/udp\n",
    "use `--otp <one-time password>` with it",
    "<code>--otp &lt;one-time password&gt;</code>",
    "_encode_auth('username%3Apassword1')",
    'API_KEY_ENV_VAR: str = "API_KEY"',
    "# a comment\n# of two lines about a token\nx = 1\n",
    "<pre>plain text &amp; more</pre>",
    {"pat": r"^\d+$"},
    {"pat": r"(foo|bar)\s*"},
    {"pat": r"\bfoo\b"},
    {"accesskey": "k"},
    {"keys": ["user", "name"], "records": [["ann", "x1y2z3w4"]]},
]


def test_a_password_of_two_words_with_a_dot_is_one_but_where_code_has_a_name():
    for text in (
        "DB_PASSWORD={}",
        "https://example.org/login?password={}&a=1",
        "it failed for password={} at 3",
    ):
        text = text.replace("{}", "john.smith1")
        assert Redaction().inside(text) == text.replace("john.smith1", REDACTED)


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("name", SHORT_NAMES)
def test_a_column_with_a_short_name_is_hidden_in_every_table_of_a_text(form, name):
    value = SHORT_NAMES[name]
    assert value not in Redaction().inside(form.replace("{name}", name).replace("{value}", value))


@pytest.mark.parametrize("form", LINES)
@pytest.mark.parametrize("password", PASSWORDS)
def test_an_everyday_password_is_hidden_whole_on_its_line(form, password):
    text = form.replace("{}", password)
    assert Redaction().inside(text) == text.replace(password, REDACTED)


@pytest.mark.parametrize("text", FORMS)
def test_a_secret_is_hidden_where_it_is_written_every_day(text):
    kept = Redaction().inside(text)
    assert REDACTED in kept
    assert SECRET[:5] not in kept
    assert "Ab3$" not in kept


@pytest.mark.parametrize("value", DATA, ids=range(len(DATA)))
def test_a_secret_in_data_is_hidden_also_where_the_data_is_a_text(value):
    redaction = Redaction()
    assert SECRET not in json.dumps(redaction.inside(value))
    assert isinstance(value, list) or SECRET not in redaction.inside(json.dumps(value))


@pytest.mark.parametrize("value", HARMLESS, ids=range(len(HARMLESS)))
def test_what_only_looks_like_a_secret_stays(value):
    assert Redaction().inside(value) == value


@pytest.mark.parametrize("scheme", ["Bearer", "Basic"])
def test_an_error_that_repeats_the_token_of_a_header_is_stored_without_it(scheme):
    tracer = Tracer("repeats", store="memory")

    @tracer.observe
    def call(headers):
        raise ValueError(f"401 for token {headers['Authorization'].split()[1]}")

    with tracer.capture() as captured, pytest.raises(ValueError):
        call({"Authorization": f"{scheme} tok113{SECRET}"})
    assert captured.trace.spans[0].error.message == f"401 for token {REDACTED}"


@pytest.mark.parametrize("page", ["<pre>password: x1 ", "&amp;", "<code>", "&quot;password&quot;: "])
def test_a_page_that_is_nested_without_end_is_read_once(page):
    text = f"password: {SECRET}\n" + page * 5_000
    kept = Redaction().inside(text)
    assert SECRET not in kept


P = "zB9vKp3LmN8"
IN_DATA = [
    {"cmd": "mysql", "args": [f"-p{P}"]},
    {"executable": "mysql", "arguments": [f"-p{P}"]},
    {"program": "curl", "argv": ["-u", f"a:{P}"]},
    {"field": "password", "rejectedValue": P},
    {"sql": "INSERT INTO u (name, password) VALUES (:1, :2)", "params": ["ann", P]},
    {"sql": "SELECT * FROM u WHERE password = @p", "params": {"p": P}},
    {"sql": "UPDATE u SET password = @p", "params": {"@p": P}},
    {"sql": "SELECT * FROM u WHERE password = ?1", "params": [P]},
    ["user\tpassword", f"ann\t{P}"],
    ["│ user │ password │", "├──────┼──────────┤", f"│ ann  │ {P} │"],
    ["SELECT * FROM u WHERE password = ?", [P]],
    ["UPDATE u SET password = %(password)s", {"password": P}],
    [["INSERT INTO u (name, password) VALUES (?, ?)", [["ann", P], ["bob", P]]]],
    {"sql": "UPDATE users SET password=@p1", "params": [P]},
    {"text": "INSERT INTO users (name,password) VALUES ($1,$2)", "values": ["ann", P]},
    {"sql": "ALTER USER ann PASSWORD ?", "params": [P]},
    {"password": f"my-secret-{P}"},
    {"api_key": "my-secret-key-zB9vKp3LmN8"},
]
IN_TEXT = [
    f"<p>Your password is <strong>{P}</strong></p>",
    f"my password is <code>{P}</code>",
    f"CREATE USER a IDENTIFIED BY 'l33t''{P}'",
    f'variable "db_password" {{\n  default = "dbl\\"{P}"\n}}',
    f"SELECT 1 FROM users WHERE password = crypt('{P}', password)",
    f"UPDATE users SET password = MD5('{P}')",
    f"Duplicate entry 'back\\sl4sh{P}' for key 'users.api_key'",
    f"Duplicate entry 'l33t'{P}' for key 'users.api_key'",
    f"password: !vault |\n  {P}\nuser: ann",
    f"DB_PASSWORD=my-secret-{P}",
    f"COPY public.users (id, name, password) FROM stdin;\n1\tann\t{P}\n2\tbob\t\\N\n\\.\n",
    f'COPY users (name, password) FROM STDIN WITH CSV;\nann,"{P}"\n\\.\n',
    f"CREATE USER ann IDENTIFIED BY {P};",
    f"ALTER USER ann IDENTIFIED BY {P} ACCOUNT UNLOCK",
    rf"net use \\srv\c$ /user:ann {P}",
    f'password = lambda: "{P}"',
    f'password = cast(str, "{P}")',
    f'password += "{P}"',
    f"<strong>Password</strong>: {P}",
    f"<p><b>Password</b> : {P}</p>",
]
LEFT_ALONE = [
    "correlate1d_signature = convolve1d_signature\ndef convolve1d_signature(a): pass",
    "session = session_v2\nprint(session_v2.get())",
    "auth = auth_v2",
    json.dumps(
        {"dependencies": {"jsonwebtoken": "^9.0.2", "next-auth": "4.24.5", "auth0": "^4.7.1"}}, indent=1
    ),
    "UPDATE users SET password=@p1",
    "password = lambda: ask_for_password(user1)",
    "SELECT * FROM u WHERE password = @p AND name = :1 OR id = ?1",
    "COPY users (id, name) FROM stdin;\n1\tann\n\\.\n",
    "Rows are identified by column2 of the table.",
    json.dumps({"permissions": {"id-token": "write", "secrets": "read", "contents": "read"}}),
    "tokens += tokenizer2.encode(text)",
    'portfolio_share_token += "-principals"',
    "<strong>Token</strong>: a word",
]


@pytest.mark.parametrize("value", IN_DATA, ids=range(len(IN_DATA)))
def test_a_secret_is_hidden_in_what_tools_and_servers_call_a_program_a_statement_and_an_entry(value):
    assert P not in str(Redaction().fields({"value": value}))


@pytest.mark.parametrize("text", IN_TEXT)
def test_a_secret_is_hidden_in_statements_pages_and_tags(text):
    assert P not in Redaction().text("x", text)


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_names_of_variables_and_versions_of_libraries_are_left_alone(text):
    assert Redaction().text("x", text) == text


def test_run_together_base64_for_addresses_is_read_behind_its_first_hyphen():
    import base64

    content = json.dumps({"url": "https://host/a?b=c", "password": P}).encode()
    assert "-" in (text := base64.urlsafe_b64encode(content + b"?>").decode()) or "_" in text
    assert Redaction().text("x", text) == REDACTED


IN_FILES = [
    "self.api_key = api_key\nx = 1\n",
    "session: Session\nfoo: int\n",
    "token: Optional[str] = None\ny",
    'api_key=os.getenv("OPENAI_API_KEY")\n',
    "def login(user, password=None):\n    pass\n",
    "password=None\nretries=3\n",
    "Password:\nUser: ann\n",
    'self.conn_str = f"{self.host}:{self.port}"\n\n',
    'connect(\n    password="",\n)\n',
]


@pytest.mark.parametrize("code", IN_FILES)
def test_code_in_a_text_of_json_is_left_alone_as_it_is_by_itself(code):
    redaction = Redaction()
    assert redaction.text("x", code) == code
    for text in (answer := json.dumps({"path": "a.py", "content": code}), json.dumps(answer), repr(code)):
        assert redaction.text("x", text) == text


@pytest.mark.parametrize(
    "code",
    [f'connect(\n    password="{P}",\n)\n', f"DB_PASSWORD={P}\nHOST=x\n", f"x = 1\nlogin(password='{P}')\n"],
)
def test_a_secret_in_code_in_a_text_of_json_is_hidden_and_nothing_but_it(code):
    answer = json.dumps({"path": "a.py", "content": code})
    for text in (answer, json.dumps(answer)):
        assert Redaction().text("x", text) == text.replace(P, REDACTED)


@pytest.mark.parametrize("command", ["command", "cmd", "executable", "program", "file"])
@pytest.mark.parametrize("arguments", ["args", "arguments", "argv"])
def test_a_password_among_the_arguments_of_a_command_that_a_tool_is_given_is_hidden(command, arguments):
    tracer = Tracer("commands", store="memory")
    source = f"def run({command}, {arguments}): return None"
    exec(source, namespace := {})
    run = tracer.observe(span_type="tool")(namespace["run"])
    with tracer.capture() as captured:
        for words in (["mysql", f"-p{P}"], ["curl", "-u", f"ann:{P}"], ["sshpass", "-p", P]):
            run(words[0], words[1:])
    assert [P in str(span.input) for span in captured.trace.spans] == [False] * 3
    assert "mysql" in str(captured.trace.spans[0].input)
