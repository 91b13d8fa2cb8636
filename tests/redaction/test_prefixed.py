"""A secret and its name on several lines, with something before each, or each the item of a list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.redaction import Redaction

SECRET = "Tr0ub4dor3xQ"
FORMS = [
    f"user,password\nann,{SECRET}\nbob,{SECRET}2",
    f"| user | password |\n|---|---|\n| ann | {SECRET} |",
    f"a: 1\npassword: |\n  {SECRET}\nx: 1",
    f"passwords:\n  - {SECRET}\n  - {SECRET}2",
    f"- name: DB_PASSWORD\n  value: {SECRET}",
    f"A=1\nDB_PASSWORD={SECRET}",
    f"Password:\n{SECRET}",
    f"passwords = [\n    '{SECRET}',\n]",
]
PREFIXES = [
    lambda number: f"{number:6}\t",
    lambda number: f"{number:5}→",
    lambda number: f"{number:4} | ",
    lambda _: "> ",
    lambda _: "+",
    lambda _: "web_1  | ",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("prefix", range(len(PREFIXES)))
def test_it_is_found_behind_what_stands_before_each_line(form, prefix):
    prefixes = [PREFIXES[prefix](number) for number in range(1, form.count("\n") + 2)]
    text = "\n".join(before + line for before, line in zip(prefixes, form.split("\n"), strict=True))
    cleaned = Redaction().inside(f"the file:\n{text}")
    assert SECRET not in cleaned
    plain = Redaction().inside(form).split("\n")
    assert cleaned.split("\n")[1:] == [
        before + line for before, line in zip(prefixes, plain, strict=False)
    ]  # as it is found in the bare lines


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("keepends", [True, False])
def test_it_is_found_in_a_list_of_lines(form, keepends):
    lines = form.splitlines(keepends=keepends)
    cleaned = Redaction().inside({"lines": lines})["lines"]
    assert SECRET not in str(cleaned)
    assert len(cleaned) == len(lines)


@given(st.lists(st.sampled_from(["12\tname: ann", "+ key", "> pass the salt", "web | token", "", "  3→x"])))
def test_lines_without_a_secret_stay(lines):
    text = "\n".join(lines)
    assert Redaction().inside(text) is text
    assert Redaction().inside(lines) == lines
