"""A difference says of a value what its row shows: a secret's name hides no flags, states and stand-ins."""

import pytest

from agenttrace import Example, ToolOrderScorer, call, one_of
from tests.scoring.test_secrets_in_excerpts import shown_of

HARMLESS = [
    ("reset_password", True, False),
    ("primary_key", "id7", "id8"),
    ("secret_santa", "ann", "bob"),
    ("auth", "none", "basic"),
    ("secret", "enabled", "disabled"),
    ("session", "Berlin trip", "Paris trip"),
    ("password", "${PW}", "<your key>"),
    ("reset_password", one_of(False), True),
]


def shown(tmp_path, expected, got):
    example = Example(
        tools_called=[{"name": "save", "arguments": got}], expected_tools=[call("save", expected)]
    )
    return shown_of(example, [ToolOrderScorer()], tmp_path / "traces.db")


@pytest.mark.parametrize(("name", "expected", "got"), HARMLESS)
def test_harmless_values_under_a_secret_name_are_shown(tmp_path, name, expected, got):
    assert "[redacted]" not in shown(tmp_path, {name: expected}, {name: got})[0]


def test_a_token_that_was_null_is_shown_and_the_other_is_not(tmp_path):
    text = shown(tmp_path, {"token": "Rk7vQp2mZxW9tBn4"}, {"token": None})[0]
    assert 'token: expected "[redacted]", got null' in text


def test_values_that_differ_within_a_secret_are_hidden(tmp_path):
    one, other = ({"password": {"a": {"hint": word}}} for word in ("swordfish", "marlin"))
    for text in shown(tmp_path, one, other):
        assert "swordfish" not in text
        assert "marlin" not in text


def test_a_matcher_under_a_secret_name_is_hidden(tmp_path):
    for text in shown(tmp_path, {"password": one_of("swordfish", "tuna")}, {"password": "marlin"}):
        assert not any(word in text for word in ("swordfish", "tuna", "marlin"))
