"""Secrets that stand neither after a colon nor an equals sign, and what only looks like them."""

import json

import pytest

from agenttrace.redaction import Redaction


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("my password is: hunter2abc, thanks", "my password is: [redacted], thanks"),
        ("password is 'hunter2abc'.", "password is '[redacted]'."),
        ("Das Passwort lautet hunter2abc", "Das Passwort lautet [redacted]"),
        ("le mot de passe est hunter2abc", "le mot de passe est [redacted]"),
        ("password (hunter2abc)", "password ([redacted])"),
        ("the PIN is 4711", "the PIN is [redacted]"),
        ("İstanbul: the password is hunter2abc", "İstanbul: the password is [redacted]"),
        ("curl -su ann:hunter2 x.org", "curl -su ann:[redacted] x.org"),
        ("mysql -uroot \\\n  -phunter2 app", "mysql -uroot \\\n  -p[redacted] app"),
        ("a:\n  - token: |\n      hunter2abc\n    b: 1", "a:\n  - token: |\n      [redacted]\n    b: 1"),
        ("passwords:\n- hunter2abc\n- b: c", "passwords:\n- [redacted]\n- b: c"),
        ("priv key\npriv:\n    00:ab:01:\n    cd:ef\npub:", "priv key\npriv:\n    [redacted]\npub:"),
        ("user,password\nann,hunter2abc\n\nbye", "user,password\nann,[redacted]\n\nbye"),
        ('user,password\n"a,b","hunter2abc"', 'user,password\n"a,b","[redacted]"'),
        (
            "| a | secret |\n|:--|--:|\n| b | `hunter2abc` |\n\nc",
            "| a | secret |\n|:--|--:|\n| b | `[redacted]` |\n\nc",
        ),
        ("The password for admin is: hunter2abc", "The password for admin is: [redacted]"),
        (
            "Password for 'https://ann@git.test': hunter2abc",
            "Password for 'https://ann@git.test': [redacted]",
        ),
        ("password (admin): hunter2abc", "password (admin): [redacted]"),
        ("Password ....... hunter2abc", "Password ....... [redacted]"),
        ("<b>Password:</b> hunter2abc", "<b>Password:</b> [redacted]"),
        (
            "| Field | Value |\n|---|---|\n| Password | hunter2abc |",
            "| Field | Value |\n|---|---|\n| Password | [redacted] |",
        ),
        ("Username:\nann\nPassword:\nhunter2abc\n\nbye", "Username:\nann\nPassword:\n[redacted]\n\nbye"),
        ("requirepass hunter2abc\nport 6379", "requirepass [redacted]\nport 6379"),
        ("page.fill('#password', 'hunter2abc')", "page.fill('#password', '[redacted]')"),
        (
            """page.fill('input[name="password"]', 'hunter2abc')""",
            """page.fill('input[name="password"]', '[redacted]')""",
        ),
        ('get(By.ID, "password").send_keys("hunter2abc")', 'get(By.ID, "password").send_keys("[redacted]")'),
        ("cy.get('#password').type('hunter2abc')", "cy.get('#password').type('[redacted]')"),
        ('get(url, auth=("ann", "hunter2abc"))', 'get(url, auth=("ann", "[redacted]"))'),
        ("HTTPBasicAuth('ann', 'hunter2abc')", "HTTPBasicAuth('ann', '[redacted]')"),
        ('client.login("ann", "hunter2abc")', 'client.login("ann", "[redacted]")'),
        ("Your verification code: 482913", "Your verification code: [redacted]"),
        ("2FA code: 482913, valid", "2FA code: [redacted], valid"),
        ("card of ann, CVV: 123", "card of ann, CVV: [redacted]"),
        ("twine upload -u __token__ -p hunter2abc d", "twine upload -u __token__ -p [redacted] d"),
        ("usermod -p hunter2abc ann", "usermod -p [redacted] ann"),
        ("ssh-keygen -t rsa -N hunter2abc -f k", "ssh-keygen -t rsa -N [redacted] -f k"),
        ("snmpget -v3 -u a -A hunter2abc h", "snmpget -v3 -u a -A [redacted] h"),
        ("http -a ann:hunter2abc GET x.test", "http -a ann:[redacted] GET x.test"),
        ("net use Z: \\\\nas\\share hunter2abc /user:ann", "net use Z: \\\\nas\\share [redacted] /user:ann"),
        ("vault login s0mething.LongAndRandom", "vault login [redacted]"),
        ("cargo login s0methingLongAndRandom", "cargo login [redacted]"),
        ("npm config set //r.test/:_authToken hunter2abc", "npm config set //r.test/:_authToken [redacted]"),
        ("poetry config http-basic.x ann hunter2abc", "poetry config http-basic.x ann [redacted]"),
        ("poetry config pypi-token.x hunter2abc", "poetry config pypi-token.x [redacted]"),
        ('echo "ann:hunter2abc" | sudo chpasswd', 'echo "ann:[redacted]" | sudo chpasswd'),
        ("echo hunter2abc | sudo -S ls", "echo [redacted] | sudo -S ls"),
        (
            "echo hunter2abc | docker login --password-stdin x",
            "echo [redacted] | docker login --password-stdin x",
        ),
        ("gh secret set K --body hunter2abc", "gh secret set K --body [redacted]"),
        ("az keyvault secret set -n x --value hunter2abc", "az keyvault secret set -n x --value [redacted]"),
        (
            "aws ssm put-parameter --name a --value hunter2abc",
            "aws ssm put-parameter --name a --value [redacted]",
        ),
        ("redis-cli AUTH hunter2abc", "redis-cli AUTH [redacted]"),
        ("redis-cli -h x AUTH ann hunter2abc", "redis-cli -h x AUTH ann [redacted]"),
        ("keyring.set_password('x', 'ann', 'hunter2abc')", "keyring.set_password('x', 'ann', '[redacted]')"),
        ("the password has been reset to hunter2abc", "the password has been reset to [redacted]"),
        ("password: &pw hunter2abc\nuser: ann", "password: &pw [redacted]\nuser: ann"),
        ("Settings(credentials={'eu': 'hunter2abc'})", "Settings(credentials={'eu': '[redacted]'})"),
        ("{'url': 'u', 'auth': ('ann', 'hunter2abc')}", "{'url': 'u', 'auth': \"[redacted]\"}"),
        ("API_KEYS: ['hunter2abc', 'window']", "API_KEYS: ['[redacted]', 'window']"),
        ("Key (api_key)=(hunter2abc) already exists.", "Key (api_key)=([redacted]) already exists."),
        (
            "Key (id, token)=(7, hunter2abc) already exists.",
            "Key (id, token)=(7, [redacted]) already exists.",
        ),
        (
            "[SQL: INSERT INTO users (name, password) VALUES (?, ?)]\n[parameters: ('ann', 'hunter2abc')]",
            "[SQL: INSERT INTO users (name, password) VALUES (?, ?)]\n[parameters: ('ann', '[redacted]')]",
        ),
        (
            "[SQL: UPDATE users SET password=? WHERE id = ?]\n[parameters: ('hunter2abc', 'abc123')]",
            "[SQL: UPDATE users SET password=? WHERE id = ?]\n[parameters: ('[redacted]', 'abc123')]",
        ),
        (
            "<table><tr><th></th><th>password</th></tr><tr><th>0</th><td><b>hunter2abc</b></td></tr></table>",
            "<table><tr><th></th><th>password</th></tr><tr><th>0</th><td><b>[redacted]</b></td></tr></table>",
        ),
        ("  user    password\n0  ann  hunter2abc\n", "  user    password\n0  ann  [redacted]\n"),
        ("NAME  TOKEN\na b   hunter2abc\n", "NAME  TOKEN\na b   [redacted]\n"),
        (
            "│ user │ secret │\n├──┼──┤\n│ ann │ hunter2abc │",
            "│ user │ secret │\n├──┼──┤\n│ ann │ [redacted] │",
        ),
        (
            "password,user\nx1y2z3w4,ann\nuser,token\nann,hunter2abc",
            "password,user\n[redacted],ann\nuser,token\nann,[redacted]",
        ),
        (
            'creds = { user = "ann", password = "hunter2abc" }',
            'creds = { user = "ann", password = "[redacted]" }',
        ),
        ('secrets = {\n  token = "hunter2abc",\n}', 'secrets = {\n  token = "[redacted]",\n}'),
        ("headers = {\n  token = 'hunter2abc'\n}", "headers = {\n  token = '[redacted]'\n}"),
        (
            "$password = ConvertTo-SecureString 'hunter2abc' -AsPlainText -Force",
            "$password = ConvertTo-SecureString '[redacted]' -AsPlainText -Force",
        ),
        (
            '<input type="hidden" id="f" name="csrf_token" value="hunter2abc">',
            '<input type="hidden" id="f" name="csrf_token" value="[redacted]">',
        ),
        (
            '<input value="hunter2abc" name="user[password]"/>',
            '<input value="[redacted]" name="user[password]"/>',
        ),
        ('<meta name="csrf-token" content="hunter2abc">', '<meta name="csrf-token" content="[redacted]">'),
        ('- textbox "Password" [ref=e5]: hunter2&abc', '- textbox "Password" [ref=e5]: [redacted]'),
        ('uid=1_5 textbox "Password" value="hunter2abc"', 'uid=1_5 textbox "Password" value="[redacted]"'),
        ("my pw is hunter2abc", "my pw is [redacted]"),
        ("senha: hunter2&abc", "senha: [redacted]"),
        ("password => hunter2&abc", "password => [redacted]"),
        ("log in (password: hunter2&3x)", "log in (password: [redacted])"),
        ("the password=hunter2&user=ann", "the password=[redacted]&user=ann"),
        (
            "create-stack --parameters ParameterKey=DBPassword,ParameterValue=hunter2abc",
            "create-stack --parameters ParameterKey=DBPassword,ParameterValue=[redacted]",
        ),
        ("the password is hunter2abc…[+70 chars]", "the password is [redacted]…[+70 chars]"),
        ("password: |\n  hunter2abc…[+70 chars]", "password: |\n  [redacted]…[+70 chars]"),
    ],
)
def test_a_secret_is_taken_out_and_what_is_around_it_stays(text, kept):
    redaction = Redaction()
    assert redaction.text("text", text) == kept
    assert redaction.redacted == kept.count("[redacted]")
    assert redaction.text("text", kept) == kept


@pytest.mark.parametrize(
    "text",
    [
        "password is hunter2abc",
        "mysql -phunter2abc",
        "user,password\nann,hunter2abc",
        "password: |\n  hunter2abc",
        "curl -su ann:hunter2abc x.org",
    ],
)
def test_what_is_left_alone_on_request_is_left_alone_here_too(text):
    assert Redaction(except_=["password"]).text("text", text) == text
    assert Redaction(level="off").text("text", text) == text
    assert "hunter2" not in Redaction(["password"], level="off").text("text", text)


@pytest.mark.parametrize(
    "text",
    [
        "token\n" * 30_000,
        "a,password\n" * 10_000,
        "".join(f"{' ' * depth}password:\n" for depth in range(1_000)),
        "password:" + "\n  a" * 30_000,
        "mysql -x " * 20_000,
        "password is " * 20_000,
        "password" + " " * 200_000,
        "password for a " * 20_000,
        "password (" * 30_000,
        "fill('password'," * 20_000,
        "auth=('a', " * 20_000,
        "login('a', " * 20_000,
        "| password |" * 20_000,
        "echo a | sudo " * 20_000,
        "poetry config x " * 20_000,
        "verification code: " * 20_000,
        "Authorization: Basic " * 20_000,
        "with Authorization: Basic credentials. " * 10_000,
        "<tr><td>a" * 20_000,
        "<th>password<td>" * 20_000,
        "[SQL: a] [parameters: (" * 20_000,
        "(password)=(" * 20_000,
        "user  password\n" * 20_000,
        "auth=[" * 20_000,
        "password: x " * 40_000,
        """page.fill('#other', '""" + "\\" * 100_000,
        '{"a": "b", "c": "' + "\\" * 100_000,
        "name=abc1&key=5&city=Rome&" * 10_000,
        "[SQL: INSERT INTO a (password) VALUES (?)] [parameters: (" + '\\"' * 50_000,
        '<a name="password" ' * 20_000,
        "token = {" * 20_000,
        "passwords = ['a', " * 20_000,
        'textbox "password" [a] ' * 20_000,
        "Key=password,Value= " * 20_000,
    ],
    ids=len,
)
def test_a_long_text_of_signs_is_read_in_a_moment(text):
    """Each of these took hours when a part of them was gone through from each of its lines."""
    assert Redaction().text("text", text) == text


def test_a_field_of_a_form_in_parts_is_hidden_by_its_name():
    body = (
        '--b\r\nContent-Disposition: form-data; name="user"\r\n\r\nann\r\n'
        '--b\r\nContent-Disposition: form-data; name="password"\r\nContent-Type: text/plain\r\n\r\n{}'
        "\r\n--b--\r\n"
    )
    shown = Redaction().inside(body.format("hunter2x9"))
    assert shown == body.format("[redacted]")
    escaped = json.dumps({"body": body.format("hunter2x9")})
    assert "hunter2x9" not in Redaction().inside(escaped)
    assert Redaction().inside(body.format("")) == body.format("")


@pytest.mark.parametrize(
    "text",
    [
        "error code: 482913",
        "zip code: 94107, country code: 49",
        "vault login failed with status 403",
        "cargo login",
        'login("ann", "admin")',
        'click("#forgot-password", "now")',
        "auth=('header', 'bearer')",
        "| password | string | the user's |",
        "| password | varchar |",
        "password for the account: see the vault",
        "password (at least 8 characters): required",
        "Password:\nSee below for what it is.",
        "Password:\nConfirm password:\n",
        "http -a is short for --auth",
        "sudo -S reads the password from stdin",
        "cost per token: $0.00001",
        "jwt: RS256",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-a1b2c3",
        "fetch(url, {credentials: 'same-origin'})",
        '- textbox "Search" [ref=e5]: hunter2abc',
        '<input type="text" name="city" value="hunter2abc">',
        '<input type="password" value="">',
        "Two words.  The password  is not here\nTwo words.  The password2  is not here",
        "f(x)=(y1) and (token)=(none)",
        "api_keys = [os.environ['OPENAI_KEY1'], keys['name1']]",
        "<table><tr><th>user</th><th>password</th></tr><tr><td>ann1</td><td>hidden</td></tr></table>",
    ],
)
def test_what_only_looks_like_one_of_these_forms_stays(text):
    assert Redaction().text("text", text) == text


ELEMENTS = [
    '<Password value="hunter2abc"/>',
    '<password value="hunter2abc"/>',
    '<PASSWORD VALUE="hunter2abc"/>',
    "<password\n  encrypted='false'\n  value='hunter2abc'></password>",
    '<password value="swordfish"/>',
    '<config><db:password value="hunter2abc"/></config>',
    '<user.api-key value="hunter2abc"/>',
    '<apiKey content="hunter2abc"/>',
    '<w:password w:val="hunter2abc"/>',
    '<pin value="4821"/>',
    '{"file": "<Password value=\\"hunter2abc\\"/>"}',
]
OTHER_ELEMENTS = [
    '<input type="text" value="Paris"/>',
    '<password-policy value="strict"/>',
    '<passwordLength value="12"/>',
    '<token-count value="812"/>',
    '<max-tokens value="4096"/>',
    '<token value="812"/>',
    '<token type="keyword" value="if"/>',
    '<password value="${DB_PASSWORD}"/>',
    '<password required="true" value=""/>',
    '<city value="Paris2e"/>',
]


@pytest.mark.parametrize("text", ELEMENTS)
def test_the_value_of_an_element_that_is_named_as_a_secret_is_hidden(text):
    redaction = Redaction()
    hidden = redaction.text("x", text)
    assert [one for one in ("hunter2abc", "swordfish", "4821") if one in hidden] == []
    assert "[redacted]" in hidden
    assert redaction.text("x", hidden) == hidden
    assert not redaction.holds_nothing(["of Paris", text])


@pytest.mark.parametrize("text", OTHER_ELEMENTS)
def test_the_values_of_other_elements_stay(text):
    assert Redaction().text("x", text) == text


def test_an_element_is_left_alone_whose_name_is():
    text = '<password value="hunter2abc"/>'
    assert Redaction(except_=["password"]).text("x", text) == text
    assert Redaction(level="off").text("x", text) == text
