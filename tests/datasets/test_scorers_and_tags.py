"""Scorers and tags of examples, in files."""

import pytest

from agenttrace import EvalDataset, Example
from agenttrace.datasets.dataset import FORMATS
from agenttrace.datasets.yaml_format import read_yaml

FILE = """\
scorers:
  - ToolOrder:exact_match=true
examples:
  - name: a
    tags: [slow, money]
    scorers:
      - {ToolOrder: {threshold: 0.5}}
  - name: b
"""


def test_the_file_s_scorers_stand_before_those_of_each_example(write):
    dataset = EvalDataset.from_file(write("x.yaml", FILE))
    assert [example.scorers for example in dataset] == [
        ["ToolOrder:exact_match=true", {"ToolOrder": {"threshold": 0.5}}],
        ["ToolOrder:exact_match=true"],
    ]
    assert dataset[0].tags == ["slow", "money"]
    assert dataset.platform_fields == {}


@pytest.mark.parametrize("file_type", FORMATS)
def test_every_format_keeps_them(tmp_path, file_type):
    dataset = EvalDataset(
        [
            Example(name="a", tags=["x"], scorers=["ToolOrder", {"Regex": {"pattern": '^a,"b'}}]),
            Example(name="b"),
        ]
    )
    path = dataset.save_as(file_type, tmp_path, "saved")
    assert EvalDataset.from_file(path) == dataset


@pytest.mark.parametrize(
    ("content", "line", "text"),
    [
        ("scorers: ToolOrder\nexamples: []", 1, "scorers: got str 'ToolOrder', wanted a list of scorers"),
        ("scorers:\n- ToolOrder\n- 3\nexamples: []", 3, "scorers[1]: got int 3"),
        ("examples:\n- name: a\n  scorers: [{A: {}, B: {}}]", 3, "wanted one scorer's name"),
        ("examples:\n- name: a\n  scorers: [{A: 0.5}]", 3, "the options of 'A' are a mapping"),
        ("examples:\n- name: a\n  scorers: ['']", 3, "a scorer's name is empty"),
        (
            "examples:\n- name: a\n  tags: slow",
            3,
            "examples[0].tags: got str 'slow', wanted a list of strings",
        ),
    ],
)
def test_what_is_no_scorer_or_tag_is_an_error_with_its_line(fails, content, line, text):
    error = fails(read_yaml, "x.yaml", content)
    assert text in str(error)
    assert error.line == line
