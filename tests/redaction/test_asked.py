"""What a call returns for arguments that ask for a secret: in memory, in a file, of spans that were read."""

import copy
from contextlib import contextmanager

import pytest

from agenttrace import Redaction, Tracer
from agenttrace.core.span import Span
from tests.stored_text import everything_in

SECRET = "Tr0ub4dor9"
ASKED = [
    ("getenv", "DB_PASSWORD"),
    ("read_secret", "prod/db/password"),
    ("get_setting", "database.password"),
    ("redis_get", "session:token"),
    ("call_tool", {"name": "db_password"}),
    ("ask_user", "What is your password?"),
    ("ask_user", "Please enter your password."),
    ("ask_user", "To log in I need your password. What is it?"),
    ("human_input", "Enter the API key:"),
    ("bash", "cat /run/secrets/db_password"),
    ("bash", "cat ~/.vault-token"),
    ("bash", "echo ${API_TOKEN}"),
    ("bash", "printenv API_TOKEN"),
    ("bash", "jq -r '.db.password' config.json"),
    ("bash", "vault kv get -field=password secret/db"),
    ("bash", "kubectl get secret db -o jsonpath='{.data.password}' | base64 -d"),
    ("bash", "gcloud secrets versions access latest --secret=db-password"),
    ("bash", "aws ssm get-parameter --name /prod/db/password --query Parameter.Value --output text"),
    ("bash", "terraform output -raw db_password"),
    ("bash", "grep DB_PASSWORD .env | cut -d= -f2"),
    ("bash", "pass show db/prod"),
    ("bash", "aws configure get aws_secret_access_key"),
    ("bash", "cat api_key.txt"),
    ("bash", "Get-Content secret.txt"),
    ("read_file", "password.txt"),
    ("bash", "cat ~/.secrets/openai_api_key 2>/dev/null | tr -d '\\n'"),
    ("bash", 'kubectl -n x get secret s -o jsonpath="{.data.password}" | base64 -d; echo'),
    ("bash", "pulumi stack output dbPassword --show-secrets"),
    ("bash", "npm config get //registry.example.org/:_authToken"),
    ("bash", "rbw get github"),
    ("bash", "openssl rand -base64 32"),
    ("bash", "pwgen 16 1"),
    ("bash", "npm token create --read-only"),
    ("bash", "sops -d --extract '[\"password\"]' a.yaml"),
    ("bash", "aws ssm get-parameter --name /prod/db --with-decryption --output text"),
    ("bash", "oc whoami -t"),
    ("bash", "az storage account keys list -n acct --query '[0].value' -o tsv"),
    ("bash", "az acr credential show -n acct --query 'passwords[0].value' -o tsv"),
    ("bash", "az cognitiveservices account keys list -n a -g b --query key1 -o tsv"),
    ("bash", "az redis list-keys -n a -g b --query primaryKey -o tsv"),
    ("bash", "sed -n 's/^API_KEY=//p' .env"),
    ("bash", "awk -F= '/TOKEN/{print $2}' .env"),
    ("run", ["printenv", "DB_PASSWORD"]),
    ("python", "import os\nprint(os.environ['DB_PASSWORD'])"),
    ("python", "settings.SECRET_KEY"),
    ("evaluate", "localStorage.getItem('access_token')"),
    ("evaluate", "document.querySelector('#password').value"),
    ("get_text", "#password"),
    ("sql", "SELECT password FROM users WHERE id = 1"),
]
RESULTS = [
    SECRET,
    f"{SECRET}\n",
    f'"{SECRET}"\n',
    {"stdout": f"{SECRET}\n", "exit_code": 0},
    [{"type": "text", "text": SECRET}],
]
ROWS = [
    ("SELECT name, password FROM users", [("ann", SECRET), ("bo", None)]),
    ("select u.name, u.password AS pw from users u where u.kind = 'a, b'", [["ann", SECRET]]),
    ("SELECT id, created, token FROM k", f"[(1, datetime.datetime(2026, 1, 1), '{SECRET}')]"),
    ("SELECT name, password FROM users", f'{{"rows": [["ann", "{SECRET}"]]}}'),
    ("SELECT api_key FROM k", {"rows": [[SECRET]], "count": 1}),
    ("SELECT name, api_key FROM k LIMIT 1", ("ann", SECRET)),
    ('SELECT coalesce(a, b) x, t."password" FROM t', [(1, SECRET)]),
    ("INSERT INTO u (name) VALUES ('a') RETURNING id, api_key", [(1, SECRET)]),
    ("sqlite3 a.db 'SELECT name, password FROM users'", f"ann|{SECRET}\nbo|x\n"),
    ("SELECT name, password FROM users", {"stdout": f"ann|{SECRET}\n", "exit_code": 0}),
    ("SELECT name, password FROM users", [{"type": "text", "text": f"[('ann', '{SECRET}')]"}]),
    ("sqlite3 a.db 'SELECT password FROM users'", f"{SECRET}\n{SECRET}\n"),
]
HARMLESS = [
    ("get_version", "tokenizers", "0.15.2rc1"),
    ("open_ticket", "Reset password", "TICKET-4821"),
    ("create_entry", "ci/token", "id-4821abc"),
    ("hash_of", "passwords.txt", "9f86d081884c7d65"),
    ("bash", "git rev-parse HEAD", "9f86d081884c7d65"),
    ("bash", "git config --get user.name", "ann1234"),
    ("bash", "wc -c secret.key", "12b"),
    ("bash", "cat tokens.txt", "abc1234"),
    ("bash", "az storage account list -o tsv --query '[0].key'", "acct1234"),
    ("bash", "az keyvault key list --vault-name a -o tsv", "abc1234"),
    ("find_file", "password", "src/login1.py:12"),
    ("ask_user", "What is your name?", "ann1990x"),
    ("ask_user", "What is your password?", "I do not know"),
    ("sql", "SELECT count(token) FROM t", [(123456789,)]),
    ("sql", "SELECT name, total_tokens FROM t", [("a1b2c3", 123)]),
    ("sql", "SELECT name, password FROM users", "No rows were found."),
    ("choose", "Please select the password field from the form", "abc123"),
]


@contextmanager
def recorded(call, argument, result, **options):
    """A tracer in which a call with this name, argument and result was recorded beside others."""
    tracer = Tracer("asked", **options)
    tracer.observe(lambda text: result, name=call, span_type="tool")(argument)
    tracer.observe(lambda text: 1, name="other")("first")
    tracer.flush()
    yield tracer
    tracer.shutdown()


@pytest.mark.parametrize("result", RESULTS, ids=map(repr, RESULTS))
@pytest.mark.parametrize(("call", "argument"), ASKED, ids=map(str, ASKED))
def test_a_made_up_word_that_was_asked_for_is_hidden(tmp_path, call, argument, result):
    with recorded(call, argument, result, store=tmp_path / "traces.db"):
        pass
    text = everything_in(tmp_path / "traces.db")
    assert SECRET not in text
    assert "first" in text


@pytest.mark.parametrize(("sql", "rows"), ROWS)
def test_a_column_that_was_selected_is_hidden_in_the_rows(tmp_path, sql, rows):
    with recorded("sql", sql, rows, store=tmp_path / "traces.db"):
        pass
    text = everything_in(tmp_path / "traces.db")
    assert SECRET not in text
    assert "[redacted]" in text


@pytest.mark.parametrize(("call", "argument", "result"), HARMLESS)
def test_other_results_are_stored_as_they_are(call, argument, result):
    with recorded(call, argument, result, store="memory") as tracer:
        traces = [tracer.store.trace(one.trace_id) for one in tracer.store.traces()]
    spans = [trace.root for trace in traces if trace.root.name == call]
    expected = (
        [list(row) if type(row) is tuple else row for row in result] if type(result) is list else result
    )
    assert [span.output for span in spans] == [expected]


@pytest.mark.parametrize(
    ("call", "argument", "result"), [*((*one, SECRET) for one in ASKED), *(("sql", *one) for one in ROWS)]
)
def test_the_result_of_a_span_that_was_read_is_hidden(call, argument, result):
    span = Span(trace_key=1, span_key=1, name=call, input={"text": copy.copy(argument)}, output=result)
    assert SECRET not in str(Redaction().span(span).output)
