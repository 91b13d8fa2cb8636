"""Each name of the table is found among several texts of little but names, as in each of them by itself."""

import pytest

from agenttrace import Redaction
from agenttrace.redaction.names import NAMES

SECRET = "Kq8Zw2Tm11xVw7"
WHOLE = [word for rule in NAMES if rule.place != "after" for word in rule.words]
PARTED = [f"{rule.before[0]}_{word}" for rule in NAMES if rule.place == "after" for word in rule.words]


@pytest.mark.parametrize("form", ['{{"a": 1, "{}": "{}"}}', "a: 1\n{}: {}\nb: 2", "a=1\n{}={}\nb=2"])
@pytest.mark.parametrize("name", [*WHOLE, *PARTED, "account_number", "security_answer", "social_security"])
def test_a_name_without_a_sign_is_found_among_several_texts(name, form):
    text = form.format(name, SECRET)
    is_hidden = SECRET not in Redaction().text("x", text)
    assert is_hidden == (not Redaction().holds_nothing(["of Paris", text, '{"a": 1, "b": 2, "c": 3}']))
