"""No key beside another lets a secret through that is hidden without it."""

import json

import pytest

from agenttrace.core.marks import REDACTED
from agenttrace.redaction import Redaction
from agenttrace.redaction import pairs as of_pairs
from agenttrace.redaction.fields import FIELDS, TYPED
from agenttrace.redaction.tables import COLUMNS, ROWS

TOKEN = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gI3kM5"
STATEMENTS = ("sql", "statement", "query")
PARAMETERS = ("params", "parameters", "args", "bindings", "values")
OTHERS = (
    "index",
    "loc",
    "input",
    "netloc",
    "kty",
    "dtype",
    "command",
    "op",
    "path",
    "type",
    "token",
    "logprob",
    "k",
    "d",
)
KEYS = sorted(
    {
        *of_pairs.NAMED_BESIDE,
        *FIELDS,
        *TYPED,
        *COLUMNS,
        *ROWS,
        *STATEMENTS,
        *PARAMETERS,
        *OTHERS,
        "name",
        "value",
    }
)
HELD = [
    {"note": TOKEN},
    {"api_key": "hunter2Xq9"},
    [{"note": TOKEN}],
    [["a", TOKEN]],
    [["x", {"password": "hunter2Xq9"}], ["y", 1]],
    f"see {TOKEN}",
    f"ann:hunter2Xq9@{TOKEN}",
]
BESIDE = [
    "orders",
    "INSERT INTO u (a, password) VALUES (?, ?)",
    ["user", "password"],
    ["a", "b"],
    "password",
    5,
    {"a": 1},
]


@pytest.mark.parametrize("key", KEYS)
def test_no_key_beside_it_lets_a_secret_through(key):
    redaction, leaks = Redaction(), []
    for beside in KEYS:
        for held in HELD:
            for other in BESIDE:
                if beside == key:
                    continue
                kept = json.dumps(redaction.inside({beside: other, key: held}))
                if TOKEN in kept or ('"api_key": "hunter' in kept) or ('"password": "hunter' in kept):
                    leaks.append((beside, other, key, held))
    assert leaks[:5] == []


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_values_of_a_statement_are_hidden_by_their_own_names_and_shapes_too(statement, parameters):
    sql = "INSERT INTO users (note, password) VALUES (?, ?)"
    kept = Redaction().inside(
        {
            "a": {statement: sql, parameters: [TOKEN, "hunter2Xq9"]},
            "b": {statement: "x", parameters: {"api_key": "hunter2Xq9"}},
        }
    )
    assert kept["a"][parameters] == [REDACTED, REDACTED]
    own = Redaction(names=[parameters])
    assert own.inside({statement: sql, parameters: [[TOKEN, "x"]]}) == {statement: sql, parameters: REDACTED}
    assert kept["b"][parameters] == {"api_key": REDACTED}
