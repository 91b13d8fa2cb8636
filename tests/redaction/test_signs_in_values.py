"""Passwords with blanks, commas, quotes, escapes and percent signs in them, in each form of text."""

import pytest

from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

WORD = "Tr0ub4dor3xY"
PHRASE = f"ab {WORD} ef"
URLS = [
    *(
        f"mysql+pymysql://root:{first}{WORD}@db:3306/shop"
        for first in ("%40", "%23", "%25", "$", "*", "<", "{")
    ),
    *(f"connect postgresql://ann:pa{sign}{WORD}@db.internal/shop" for sign in "/#?"),
    f"redis://:%24{WORD}@h:6379/0",
]
WORDS = [
    f"PGPASSWORD=ab,{WORD} psql -h db",
    f"export DB_PASSWORD=ab,{WORD} && run",
    f"tool --password=ab,{WORD} --verbose",
    f"login password=Xk9fQm2({WORD} ip=10.0.0.1",
    f"login password=Xk9fQm2[{WORD}",
    f"sshpass -p P4$${WORD} ssh x",
    f"mysql -paB3${WORD} db",
    *(f"mysql -u root -p'{first}{WORD}' db" for first in ")}]"),
    f"sshpass -p '\"{WORD}' ssh x",
    f"redis-cli -a '-{WORD}' ping",
    f"openssl rsa -in k.pem -passin pass:{WORD}&3 -out o.pem",
]
ON_A_LINE = ["Passw0rd(1)", "S3cret(42)", "P@ss{1}x", "it's9me", "a,b;c9", f"/{WORD}"]
LITERALS = [
    *(f'set_password("{first}{WORD}")' for first in ("/", "<", "`", r"Xk9\\")),
    *(f'page.fill("#password", "{first}{WORD}")' for first in "/<`"),
    f"auth=('ann', '/{WORD}')",
    f'api_key: str = "/{WORD}"',
    *(f'os.environ["DB_PASSWORD"] = "{first}{WORD}"' for first in ("/", "<", "`", r"Xk9\\")),
    rf'page.fill("#password", "ab\"{WORD}")',
    rf'page.fill("#password", "ab\\{WORD}")',
    f'await page.fill("#password", "{PHRASE}");',
    f"page.locator('#password').fill('{PHRASE}')",
    f"auth=('ann', '{PHRASE}')",
    f"HTTPBasicAuth('ann', '{PHRASE}')",
    f'user,password,z\na,"{PHRASE}",1\n',
    f"| user | password |\n|---|---|\n| a | {PHRASE} |\n",
    f"Server=h;UID=a;PWD={{{PHRASE}}};X=1",
    f"ALTER USER a PASSWORD '{PHRASE}'",
    f"UPDATE u SET password='ab''{WORD}' WHERE z=1",
    f"ALTER USER a PASSWORD 'ab''{WORD}'",
    f"a: 1\npassword: 'ab''{WORD}'\nb: 2",
    f"DB_PASSWORD='ab'\\''{WORD}'",
    f'<input type="password" name="password" value="ab\\{WORD}">',
    *(
        f'- name: DB_PASSWORD\n  value: "{value}"\n- name: X\n  value: "1"\n'
        for value in (PHRASE, f"ab'{WORD}", f'ab\\"{WORD}', f"[ab]{WORD}")
    ),
]
HARMLESS = [
    *(
        f"postgres://ann:{stand_in}@h/d"
        for stand_in in (
            "${DB_PASS}",
            "$DB_PASS",
            "$password",
            "{p}",
            "{{ p }}",
            "%s",
            "%(p)s",
            "***",
            "<password>",
            "%P%",
        )
    ),
    "http://h:8080/p?email=a@b.c",
    "postgres://h:5432/db?email=a@b",
    "ssh://github.com:org/repo@v1",
    "redis://[::1]:6379/x@y",
    "fill('#username', 'ann lee 9x9')",
    '- name: password\n  value: "Enter your password"\n',
    'user,password,z\na,"must be set",1\n',
    "ALTER USER a PASSWORD 'see the docs'",
    "password: '' + ''",
    "password='' ''",
    "f(password=get_password2(user), x=1)",
    "password = b64decode(1)",
    "password = Vec3(1)",
    'os.environ["DB_PASSWORD"] = get_secret2(1)',
    'os.environ["DB_PASSWORD"] = os.getenv("X1_PASSWORD")',
    "x = ['mysql', '-p'] + y['z1']",
    "mysql -p$DB_PASSWORD db",
    "docker login -p --password-stdin",
    "openssl rsa -passin pass:$PASS2 -out o.pem",
]


@pytest.mark.parametrize("form", ["DB_PASSWORD={}", "password: {}", "db:\n  password: {}\n  port: 3"])
@pytest.mark.parametrize("password", ON_A_LINE)
def test_a_password_alone_on_its_line_is_hidden_whatever_it_looks_like(form, password):
    text = form.replace("{}", password)
    assert Redaction().inside(text) == text.replace(password, REDACTED)


@pytest.mark.parametrize("text", [*URLS, *WORDS, *LITERALS])
def test_nothing_of_a_password_is_left_whatever_signs_it_has(text):
    kept = Redaction().inside(text)
    assert REDACTED in kept
    assert WORD[:5] not in kept
    assert text[:5] == kept[:5]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_stands_where_a_password_would_is_left_alone(text):
    assert Redaction().inside(text) is text


def test_a_password_in_a_url_leaves_the_rest_of_it():
    assert Redaction().inside(URLS[0]) == f"mysql+pymysql://root:{REDACTED}@db:3306/shop"
    assert Redaction().inside(URLS[7]) == f"connect postgresql://ann:{REDACTED}@db.internal/shop"
