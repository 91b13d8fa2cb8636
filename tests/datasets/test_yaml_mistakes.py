"""Frequent mistakes in YAML are said in words of the file, at the place where they were made."""

from pathlib import Path

import pytest

from agenttrace.core.errors import DatasetError
from agenttrace.datasets.yaml_format import parse_yaml


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n  - b\n\t- c\n", "x.yaml:3: this is not YAML: the line begins with a tab"),
        ("a:\n  b: 1\n  \tc: 2\n", "x.yaml:3: this is not YAML: the line begins with a tab"),
        ("a: [1, 2\nb: 3\nc: 4\n", "x.yaml:1: this is not YAML: the [ that opens here is not closed"),
        ("a: 1\nb: {c: 1\nd: 2\ne: 3\n", "x.yaml:2: this is not YAML: the { that opens here is not closed"),
    ],
)
def test_a_tab_and_an_open_bracket_are_named_where_they_stand(text, said):
    with pytest.raises(DatasetError) as error:
        parse_yaml(text, Path("x.yaml"))
    assert str(error.value).startswith(said)
