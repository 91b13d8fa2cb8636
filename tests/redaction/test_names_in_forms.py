"""Each kind of a secret's name in each form that a text has one in, and in each that data has one in."""

import json

import pytest

from agenttrace.redaction import Redaction

SECRET = "K7x9Qm2vT4wZ8rL1"
NAMES = [
    *("password", "passwd", "db_password", "DB_PASSWORD", "userPassword", "pwd"),
    *("db_pwd", "passphrase", "passcode", "pass", "user_pass", "secret"),
    *("client_secret", "clientSecret", "SECRET_KEY", "secret_key", "secretKey", "api_key"),
    *("apiKey", "apikey", "API_KEY", "OPENAI_API_KEY", "token", "access_token"),
    *("accessToken", "refresh_token", "auth_token", "authToken", "id_token", "session_token"),
    *("csrf_token", "bearer_token", "GITHUB_TOKEN", "webhook_secret", "signing_key", "private_key"),
    *("encryption_key", "master_key", "access_key", "aws_secret_access_key", "jwt", "authorization"),
    *("credential", "credentials", "auth", "cookie", "sessionid", "session_key"),
    *("PHPSESSID", "otp", "totp", "mfa_code", "verification_code", "recovery_code"),
    *("cvv", "ssn", "card_number", "credit_card", "connection_string", "connectionString"),
    *("conn_str", "dsn", "salt", "seed", "mnemonic", "pin"),
    *("csrf", "xsrf_token", "license_key", "passwort", "kennwort", "contraseña"),
    *("senha", "wachtwoord", "mot_de_passe", "пароль", "密码", "パスワード"),
    *("비밀번호",),
]
FORMS = {
    "kv": "{name}={secret}",
    "colon": "{name}: {secret}",
    "eq_in": "failed for {name}={secret} at 3",
    "query": "https://example.org/x?a=1&{name}={secret}&b=2",
    "json": '{{"{name}": "{secret}"}}',
    "repr": "{{'{name}': '{secret}'}}",
    "call": "Config({name}='{secret}', x=1)",
    "code": '{name} = "{secret}"',
    "attr": 'self.{name} = "{secret}"',
    "cmp": 'assert user.{name} == "{secret}"',
    "cmp_err": "AssertionError: assert cfg.{name} == '{secret}'",
    "ne": "if {name} != '{secret}': pass",
    "csv": "user,{name}\nann,{secret}\n",
    "csv_q": '"user","{name}"\n"ann","{secret}"\n',
    "csv_first": "{name},user\n{secret},ann\n",
    "csv_semi": "user;{name}\nann;{secret}\n",
    "tsv": "user\t{name}\nann\t{secret}\n",
    "csv_nl": 'user,note,{name}\nann,"a\nb",{secret}\n',
    "csv_more": 'user,note,{name}\nann,"a\nb",x\nbob,c,{secret}\n',
    "md": "| user | {name} |\n|---|---|\n| ann | {secret} |\n",
    "md_row": "| Field | Value |\n|---|---|\n| {name} | {secret} |\n",
    "md_row_bold": "| Field | Value |\n|---|---|\n| **{name}** | {secret} |\n",
    "md_row_code": "| Field | Value |\n|---|---|\n| `{name}` | `{secret}` |\n",
    "md_row_colon": "| Field | Value |\n|---|---|\n| {name}: | {secret} |\n",
    "psql": " user | {name} \n------+-----\n ann  | {secret}\n(1 row)\n",
    "psql_x": "-[ RECORD 1 ]\nuser | ann\n{name} | {secret}\n",
    "mysql": "+------+-----+\n| user | {name} |\n+------+-----+\n| ann  | {secret} |\n+------+-----+\n",
    "rich": "┃ user ┃ {name} ┃\n┡━━━━━━╇━━━━━━━━━━┩\n│ ann  │ {secret} │",
    "rich_row": "┃ Name ┃ Value ┃\n┡━━━━━━╇━━━━━━━┩\n│ {name} │ {secret} │",
    "spaces": "user    {name}\nann     {secret}\n",
    "df": "  user               {name}\n0  ann  {secret}\n",
    "html_table": "<table><tr><th>user</th><th>{name}</th></tr>"
    "<tr><td>ann</td><td>{secret}</td></tr></table>",
    "html_row": "<tr><td>{name}</td><td>{secret}</td></tr>",
    "html_dl": "<dl><dt>{name}</dt><dd>{secret}</dd></dl>",
    "input": '<input name="{name}" value="{secret}">',
    "xml": "<{name}>{secret}</{name}>",
    "xml_add": '<add key="{name}" value="{secret}"/>',
    "plist": "<key>{name}</key><string>{secret}</string>",
    "insert": "INSERT INTO t (id, {name}) VALUES (1, '{secret}')",
    "update": "UPDATE t SET {name} = '{secret}' WHERE id = 1",
    "where": "SELECT * FROM t WHERE {name} = '{secret}'",
    "sqla": "[SQL: INSERT INTO t (id, {name}) VALUES (%s, %s)]\n[parameters: (1, '{secret}')]",
    "option": "./run --{name} {secret} --port 1",
    "option_eq": "./run --{name}={secret}",
    "env": "export {name}={secret}",
    "docker": "ENV {name}={secret}",
    "env_docker": "docker run -e {name}={secret} x",
    "header": "{name}: {secret}\nHost: x\n",
    "yaml": "db:\n  {name}: {secret}\n  host: x\n",
    "yaml_q": 'db:\n  {name}: "{secret}"\n',
    "yaml_block": "{name}: |\n  {secret}\n",
    "yaml_list": "{name}:\n  - {secret}\n",
    "toml": '[db]\n{name} = "{secret}"\n',
    "ini": "[db]\n{name} = {secret}\n",
    "k8s": "- name: {name}\n  value: {secret}\n",
    "env_line": "a.env:3:{name}={secret}",
    "cat_n": "   12→{name}={secret}",
    "diff": "+{name}={secret}\n-x=1\n",
    "compose_log": "web_1 | {name}: {secret}",
    "fill": 'page.fill("#{name}", "{secret}")',
    "set_header": 'set_header("{name}", "{secret}")',
    "get_default": 'os.getenv("{name}", "{secret}")',
    "environ": 'os.environ["{name}"] = "{secret}"',
    "form": "user[{name}]={secret}",
    "argparse": 'add_argument("--{name}", default="{secret}")',
    "pairs": "[('{name}', '{secret}')]",
    "terraform": '~ {name} = "{secret}" -> "x{secret}"',
    "tf_var": 'variable "{name}" {{\n  default = "{secret}"\n}}',
    "pyd": "{name}\n  Input should be valid [type=string, input_value='{secret}', input_type=str]",
    "snapshot": 'textbox "{name}" [ref=e5]: {secret}',
    "bold": "**{name}**: `{secret}`",
    "escaped": '{{\\"{name}\\": \\"{secret}\\"}}',
    "html_esc": "&quot;{name}&quot;: &quot;{secret}&quot;",
    "f_default": 'function f({name} = "{secret}") {{}}',
    "arrow": "'{name}' => '{secret}',",
    "ruby": ":{name} => '{secret}'",
    "php": "${name} = '{secret}';",
    "go": '{name} := "{secret}"',
    "go_s": 'Config{{{name}: "{secret}"}}',
    "rust": 'let {name} = "{secret}";',
    "java": 'String {name} = "{secret}";',
    "cpp": 'const char* {name} = "{secret}";',
    "js": "const {name} = '{secret}';",
    "props": "app.{name}={secret}",
    "typed": '{name}: str = "{secret}"',
    "key that stands already": "Key ({name})=({secret}) already exists.",
    "MySQL": "(1062, \"Duplicate entry '{secret}' for key 'users.{name}'\")",
    "PostgreSQL": "LOG:  execute s1: INSERT INTO t (a, {name}) VALUES ($1, $2)\n"
    "DETAIL:  parameters: $1 = 'ann', $2 = '{secret}'",
    "XML name and value": "<property>\n  <name>{name}</name>\n  <value>{secret}</value>\n</property>",
    "page": "<li><strong>{name}</strong>: <code>{secret}</code></li>",
    "no quotes": "<input type=hidden name={name} value={secret}>",
    "continued line": "./x --{name} \\\n  {secret}",
    "several targets": "user, {name} = 'ann', '{secret}'",
    "assigned if none": "{name} ?= {secret}",
}
DATA = {
    "key": lambda name: {name: SECRET},
    "deep": lambda name: {"a": [{"b": {name: SECRET}}]},
    "entry": lambda name: {"Name": name, "Value": SECRET},
    "pair": lambda name: [[name, SECRET]],
    "option": lambda name: [f"--{name}", SECRET],
    "option with its value": lambda name: ["x", f"--{name}={SECRET}"],
    "columns": lambda name: {"columns": ["user", name], "data": [["ann", SECRET]]},
    "rows": lambda name: [["user", name], ["ann", SECRET]],
    "fields": lambda name: {"fields": [{"name": name}], "rows": [[SECRET]]},
    "selector": lambda name: {"selector": f"#{name}", "text": SECRET},
    "insert": lambda name: {"sql": f"INSERT INTO t (id, {name}) VALUES (?, ?)", "params": [1, SECRET]},
    "insert by name": lambda name: {
        "sql": f"INSERT INTO t (id, {name}) VALUES (:a, :b)",
        "params": {"a": 1, "b": SECRET},
    },
    "update": lambda name: {"query": f"UPDATE t SET {name} = ? WHERE id=?", "params": [SECRET, 1]},
    "place": lambda name: {"loc": ["body", name], "input": SECRET},
    "lines": lambda name: ["a=1\n", f"{name}={SECRET}\n"],
    "JSON": lambda name: json.dumps({"a": {name: SECRET}}),
    "entry in JSON": lambda name: json.dumps({"name": name, "value": SECRET}),
    "rows in JSON": lambda name: json.dumps([["user", name], ["ann", SECRET]]),
    "insert in JSON": lambda name: json.dumps(
        {"sql": f"INSERT INTO t (id, {name}) VALUES (?, ?)", "params": [1, SECRET]}
    ),
}


SAID_OF = [
    name
    for name in NAMES
    if any(sign in name.lower() for sign in ("pass", "secret", "token", "key", "otp", "jwt", "code"))
]
SIGNS = ("pass", "secret", "token", "key")
SENTENCES = ["my {name} is {secret}", "the {name} for admin is: {secret}"]


@pytest.mark.parametrize("form", SENTENCES)
def test_a_sentence_keeps_no_secret_of_the_names_that_people_say(form):
    redaction = Redaction()
    names = [name for name in SAID_OF if "for" not in form or any(sign in name.lower() for sign in SIGNS)]
    texts = {name: form.format(name=name, secret=SECRET) for name in names}
    assert [name for name, text in texts.items() if SECRET in redaction.inside(text)] == []


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_text_keeps_no_secret_whatever_its_name(form):
    redaction = Redaction()
    texts = {name: form.format(name=name, secret=SECRET) for name in NAMES}
    assert [name for name, text in texts.items() if SECRET in redaction.inside(text)] == []


@pytest.mark.parametrize("data", DATA.values(), ids=DATA)
def test_data_keeps_no_secret_whatever_its_name(data):
    redaction = Redaction()
    assert [name for name in NAMES if SECRET in json.dumps(redaction.inside(data(name)))] == []
