"""Several texts are looked at together, and no secret of one of them is missed by that."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agenttrace.redaction import Redaction

NAMES = ["password", "api_key", "city", "Authorization", "x", "db-token", "pass\nword", "plan", "secret"]
VALUES = ["hunter2-9", "Tr0ub4dor", "5", "${KEY}", "Basic aHVudGVyMg==", "Paris", "[redacted]"]
PIECES = [
    *NAMES,
    *VALUES,
    *(
        ":",
        "=",
        ",",
        '"',
        "'",
        '\\"',
        " ",
        "\n",
        "--",
        "-",
        "</",
        "<",
        ">",
        "{",
        "}",
        "[",
        "]",
        "a b. ",
        "\u00a0",
    ),
    *('"city": "Paris", ', '"password":"', '"--token","', '"to\\nken":', "'days': 3, "),
    *('"password": "', "password=", "'token', '", "--password ", "<secret>", "curl -u a:", "://a:b@", "%3D"),
    *(" is ", " is: ", ": |\n  ", ":\n    ", ",password\n", "mysql -p", "| password |\n", "login ann ", "['"),
    *("INSERT INTO t (x, password) VALUES ('a', '", " into x (city) values (", "), (", "'), ('", "', '"),
    *("API key", " key: ", "public", "a1b2C3d4e5", "['mysql', '-p", "IDENTIFIED WITH x BY '", "hours"),
    *(
        "\\n",
        "\\t",
        "\\u0041",
        "\\\\",
        '"a\\n',
        "'b\\n",
        "\x1b[1m",
        "\uff1a",
        "user[password]=",
        "%5Bpassword%5D=",
    ),
    *(
        "api_key: str = ",
        "char token[] = ",
        "Field(default=",
        "Pwd={",
        "};",
        "export PASSWORD=",
        "Qz7&Kp9x&Lw4m",
    ),
    *(
        "- name: password\n  value: ",
        "```\n",
        "<td>Password</td><td>",
        "sqlplus a/",
        '[["user", "password"], ["ann", "',
    ),
    *('"]]', "Bearer ", 'Token token="', "`", "# "),
    "gh" + "p_" + "a1B2c3D4" * 5,
]
SEARCHED = [Redaction(), Redaction(["plan"]), Redaction(level="strict"), Redaction(except_=["password"])]

texts = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)


@example(["${KEY}mysql -ppassword"], 0)
@example(["x password is the key…[+7 chars]"], 0)
@given(st.lists(texts, min_size=1, max_size=5), st.sampled_from(range(len(SEARCHED))))
def test_what_is_found_in_none_is_harmless_in_each(several, which):
    redaction = SEARCHED[which]
    if redaction.holds_nothing(several):
        assert [text for text in several if redaction.inside(text) is not text] == []


@pytest.mark.parametrize("padding", ["", "The river. " * 300, '{"city": "Paris", "days": 3} ' * 30])
@pytest.mark.parametrize(
    "secret",
    [
        '{"api_key": "hunter2-9"}',
        "api_key=hunter2-9",
        "['api_key', 'hunter2-9']",
        '["api_key" , "hunter2-9", "x"]',
        "run --api-key hunter2-9",
        "<password>hunter2-9</password>",
        '"--api-key","hunter2-9"',
        '"api-key":"hunter2-9"',
        "'api_key':'hunter2-9'",
        '"long ' + "of it " * 15 + 'api_key":"hunter2-9"',
        '{\\"api_key\\": \\"hunter2-9\\"}',
        "curl -u ann:hunter2-9 x.org",
        "curl -su ann:hunter2-9 x.org",
        "the password is hunter2-9",
        "mysql -phunter2-9",
        "\npassword: |\n  hunter2-9\n",
        "\nuser,password\nann,hunter2-9\n",
        "\n| user | password |\n|---|---|\n| ann | hunter2-9 |",
        "machine x.org login ann password hunter2-9",
        '{"a": "x\\napi_key=hunter2-9"}',
        "user[password]=hunter2-9",
        'api_key: str = "hunter2-9"',
        "\n- name: API_KEY\n  value: hunter2-9\n",
        "\npassword：hunter2-9",
        "sqlplus scott/hunter2-9@db",
        "<td>API key</td><td>hunter2-9</td>",
    ],
)
def test_what_one_holds_is_found(padding, secret):
    redaction = Redaction()
    others = ["of Paris", '{"city": "Paris"}', "a = b"]
    assert "hunter2" not in redaction.inside(f"{padding} {secret} ")
    assert not redaction.holds_nothing([*others, f"{padding} {secret} ", *others])
