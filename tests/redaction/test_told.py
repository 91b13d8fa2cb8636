"""Secrets that errors and logs tell, below labels, in statements, behind a scheme, in calls that compare."""

import pytest

from agenttrace import Redaction

PASSWORD, KEY = "hunter2Blue9", "kX93jfLq02mZ"
TOLD = [
    "Incorrect API key provided: {}. You can find your key at https://example.org",
    "Invalid API key '{}'",
    "API key '{}' is invalid",
    "API key {} not found",
    "token '{}' is expired",
    'The token "{}" has expired',
    "Using API key {} for requests",
    "Generated token {}",
    "Unauthorized: token {} rejected",
    "Created API key {} for ann",
    "Password was reset to {}",
    "The new password will be {}",
    "password changed from old to {}",
]
BELOW = [
    "**Password:**\n{}",
    "**API Key**\n`{}`",
    "Your API key:\n\n```\n{}\n```",
    "## API Key\n\n{}\n",
    "### Password\n{}",
    "Jenkins initial admin password:\n\n{}\n\nmore",
    "Please use the following password to proceed to installation:\r\n\r\n{}\r\n\r\nIt may be there.",
    "password=\n  {}",
    "**Token**:\n\n> {}",
    "Assistant: What is your password?\nUser: {}",
    "**Assistant:** What is your password?\n**User:** {}\n",
    "What is your API key?\n> {}",
]
IN_STATEMENTS = [
    "DECLARE @password NVARCHAR(50) = '{}'",
    "DECLARE v_password TEXT := '{}';",
    "CREATE TABLE u (password VARCHAR(20) NOT NULL DEFAULT '{}')",
    "INSERT INTO users (name, password) SELECT 'ann', '{}'",
    "UPDATE u SET (name, password) = ('ann','{}')",
    "UPDATE u SET (name, password) = ROW ('ann', '{}')",
    "SELECT '{}' AS password FROM dual",
    "SELECT * FROM u WHERE password <> '{}'",
]
BEHIND_A_SCHEME = [
    "headers['Authorization'] = 'Bearer ' + '{}'",
    "{{ Authorization: 'Bearer ' + '{}' }}",
    "'Authorization: Bearer {{}}'.format('{}')",
    "headers = {{'Authorization': 'Basic ' + \"{}\"}}",
    "'Bearer %s' % '{}'",
    "auth = 'Bearer ' . '{}';",
    "f\"Bearer {{'{}'}}\"",
    "h['Authorization'] = 'Token ' + '{}'",
]
IN_CODE = [
    "password = 'x1y2z3' + '{}'",
    'password = "x1y2z3" \\\n  "{}"',
    "$password = 'x1y2z3' . '{}';",
    "self.assertEqual(user.password, '{}')",
    "self.assertEqual('{}', user.password)",
    'assertEquals("{}", user.getPassword())',
    "expect(user.password).toBe('{}')",
    "assertThat(user.getPassword()).isEqualTo('{}')",
    "hmac.compare_digest(password, '{}')",
    "if '{}' == password:",
    "E         +  where '{}' = user.password",
    "Typed '{}' into password field",
    "Filled #password with {}",
    "Entered {} in the password box",
    "client.connect('10.0.0.1', 22, 'ann', '{}')",
    "redis.Redis('localhost', 6379, 0, '{}')",
    "FTP('ftp.example.org', 'ann', '{}')",
    "User.objects.create_superuser('ann', 'ann@example.org', '{}')",
    "jwt.encode(payload, '{}', algorithm='HS256')",
    "{{{{ db_password | default('{}') }}}}",
    'std::string password{{"{}"}};',
    "curl_setopt($ch, CURLOPT_USERPWD, 'ann:{}');",
    "rabbitmqctl add_user ann {}",
    "xfreerdp /u:ann /p:{} /v:host",
    "snowsql -a x -u ann -p {}",
    "mosquitto_pub -h x -u ann -P {} -t t",
    "cqlsh -u ann -p {} host",
    "ipmitool -H x -U ann -P {} power",
    "bcp db.t out f -S x -U sa -P {}",
]
HARMLESS = [
    "unexpected token 'abc12345' is not valid JSON",
    "headers['Authorization'] = 'Bearer ' + token",
    "headers['Authorization'] = 'Bearer ' + get('token')",
    "self.assertEqual(user.name, 'abc12345')",
    "create_user('ann', 'ann@example.org', 'viewer')",
    "jwt.decode(t, key, algorithms=['HS256'])",
    "def reset_password(self):\n    login2()",
    "## Authentication tokens\n\nOAuth2",
    "Password:\n\nrequired",
    "for token in tokens:\n    step2(token)",
    "token=3/10",
    "Pass: 12/15 (80%)",
    "session=spring2024",
    "SELECT 'password' AS label",
    "password VARCHAR(20) DEFAULT NULL",
    "What is the token?\nNote: see page2",
    "Who has the key?\nstep1_done",
    "path changed from a1b2c3d4 to x9y8z7w6",
]


@pytest.mark.parametrize("text", [*TOLD, *BELOW, *IN_STATEMENTS, *BEHIND_A_SCHEME, *IN_CODE])
@pytest.mark.parametrize("secret", [PASSWORD, KEY])
def test_a_secret_is_hidden_and_the_rest_stays(text, secret):
    said = text.format(secret)
    assert secret in said
    cleaned = Redaction().text("x", said)
    assert secret not in cleaned
    assert cleaned.count("[redacted]") in (1, 2)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_so_stays(text):
    assert Redaction().text("x", text) == text


def test_both_secrets_of_a_change_are_hidden():
    said = "password changed from hunter2Blue9 to kX93jfLq02mZ by ann"
    assert Redaction().text("x", said) == "password changed from [redacted] to [redacted] by ann"


@pytest.mark.parametrize(
    "name", ["pword", "SAMLResponse", "wifi_key", "decrypt_key", "door_code", "priv_key", "pwhash"]
)
def test_more_names_are_those_of_secrets(name):
    assert Redaction().fields({name: PASSWORD}) == {name: "[redacted]"}


def test_what_says_how_to_log_in_stays():
    assert Redaction().fields({"auth": {"type": "basic"}}) == {"auth": {"type": "basic"}}
    cleaned = Redaction().fields({"auth": {"type": "basic", "password": "swordfish"}})
    assert cleaned == {"auth": {"type": "basic", "password": "[redacted]"}}


def test_the_strings_of_a_secret_of_kubernetes_are_hidden():
    manifest = f"kind: Secret\nmetadata:\n  name: x\nstringData:\n  config: {PASSWORD}\n"
    assert PASSWORD not in Redaction().text("x", manifest)
    assert (
        Redaction().fields({"kind": "Secret", "stringData": {"config": PASSWORD}})["stringData"]
        == "[redacted]"
    )
