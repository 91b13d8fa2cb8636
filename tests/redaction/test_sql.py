"""Secrets in statements of SQL, and statements that only look as if they had one."""

import pytest

from agenttrace import Tracer
from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction

WORD = "Xq7Tr0ub4dor9"
STATEMENTS = [
    f"INSERT INTO users (name, password) VALUES ('ann', '{WORD}')",
    f"insert into users(password,name) values('{WORD}','ann'),('{WORD}','bob');",
    f'INSERT OR REPLACE INTO "my users" ("name", "api_key")\n'
    f"VALUES\n  ('O''Brien, (a)', '{WORD}'),\n  ('b', NULL)",
    f"INSERT INTO dbo.[users] ([name], [password]) OUTPUT inserted.id VALUES (N'ann', N'{WORD}')",
    f"REPLACE INTO `users` (`name`, `password`) VALUES ('it\\'s, x', \"{WORD}\")",
    f"INSERT INTO users (name, password) VALUES ('ann', crypt('{WORD}', gen_salt('bf')))",
    f"INSERT INTO users (name, password) VALUES (upper('ann'), '{WORD}') RETURNING id",
    f"INSERT INTO users (name, password) VALUES ('ann', '{WORD}",
    f"INSERT INTO a (id) VALUES (1); INSERT INTO users (name, password) VALUES ('ann', '{WORD}')",
    f'{{"query": "INSERT INTO users (name, password)\\n VALUES\\n (\\"ann\\", \\"{WORD}\\")"}}',
    f"CREATE USER a IDENTIFIED WITH mysql_native_password BY '{WORD}'",
    f"CREATE USER a IDENTIFIED WITH 'caching_sha2_password' BY '{WORD}'",
    f"CREATE USER a IDENTIFIED BY '{WORD}'",
    f"CREATE LOGIN a WITH PASSWORD = N'{WORD}'",
    f"ALTER ROLE a WITH PASSWORD = E'{WORD}'",
    f"SET PASSWORD FOR 'ann'@'localhost' = '{WORD}'",
]
HARMLESS = [
    "INSERT INTO users (name, password) VALUES (?, ?)",
    "INSERT INTO users (name, password) VALUES (%s, %s), (:name, :password), ($1, $2)",
    "INSERT INTO users (name, password) VALUES ('ann1', NULL), ('bob2', ''), ('eve3', DEFAULT)",
    "INSERT INTO users (name, password) VALUES (%(name)s, '${DB_PASSWORD}')",
    "INSERT INTO users (name, password) SELECT name, password FROM old_users2",
    "INSERT INTO users (name, city) VALUES ('ann', 'Xq7Tr0ub4dor9')",
    "INSERT INTO counts (token, key) VALUES (12, 'user17')",
    "insight into a (password) that values (many) things1",
    "the customers were identified with order17 and later by order18",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_secret_of_a_statement_is_taken_out_and_the_rest_stays(statement):
    redaction = Redaction()
    kept = redaction.inside(statement)
    assert kept == statement.replace(WORD, REDACTED)
    assert redaction.redacted == statement.count(WORD)
    assert Redaction().inside(str(kept)) == kept


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_secret_of_a_statement_is_stored_nowhere(statement):
    tracer = Tracer("sql", store="memory")
    tracer.observe(lambda query: None)(statement)
    tracer.observe(lambda queries: None)(["of Paris", {"query": statement}, "it's"])
    assert tracer.flush()
    assert WORD not in repr([tracer.store.trace(one.trace_id).to_dict() for one in tracer.store.traces()])


def test_a_statement_is_found_beside_another_that_leaves_a_quote_open():
    several = ["INSERT INTO a (b, password) VALUES ('it", "INSERT INTO c (password) VALUES ('correcthorse')"]
    assert not Redaction().holds_nothing(several)


def test_a_password_of_letters_alone_is_taken_out_of_a_long_script():
    script = "-- of the river\n" * 200 + "INSERT INTO users (password) VALUES ('correcthorse')"
    assert "horse" not in Redaction().inside(script)
    assert not Redaction().holds_nothing([script])


@pytest.mark.parametrize("statement", HARMLESS)
def test_a_statement_without_a_secret_stays(statement):
    assert Redaction().inside(statement) is statement
    assert Redaction().holds_nothing([statement, "of Paris"])


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO a (password) VALUES (" * 6_000,
        "INSERT INTO a (password) VALUES ('" * 6_000,
        "insert into values (" * 10_000,
        "into " * 40_000 + "values",
        "INSERT INTO a (password) VALUES (" + "\\" * 200_000,
        "INSERT INTO a (password) VALUES (?)" + ", (?)" * 40_000,
    ],
    ids=len,
)
def test_a_long_text_of_statements_is_read_in_a_moment(text):
    assert len(Redaction().inside(text)) >= len(text) // 2
