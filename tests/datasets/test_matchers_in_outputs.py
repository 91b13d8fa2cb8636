"""Matchers in an expected output are saved as operators, and read back as matchers."""

import pytest

from agenttrace import ANY, Example, gt, has, re_
from agenttrace.core.errors import DatasetError
from agenttrace.datasets import EvalDataset
from agenttrace.scorers import ExactMatchScorer, ToolOrderScorer

OUTPUTS = [
    ({"n": gt(1)}, {"n": 5}, {"n": 0}),
    (re_("^a"), "abc", "cba"),
    ({"rows": [{"id": ANY, "tags": has("x")}]}, {"rows": [{"id": 1, "tags": ["x"]}]}, {"rows": []}),
    ({"a", "b"}, ["b", "a"], ["a"]),
    ({"$gt": 1}, {"$gt": 1}, {"$gt": 2}),
    ({"$ref": "#/x", "type": "object"}, {"$ref": "#/x", "type": "object"}, {}),
    ({"$$twice": 1}, {"$$twice": 1}, {"$twice": 1}),
]


@pytest.mark.parametrize("form", ["yaml", "json", "jsonl", "csv"])
@pytest.mark.parametrize(("expected", "right", "wrong"), OUTPUTS)
def test_a_saved_output_gives_the_same_verdicts(tmp_path, form, expected, right, wrong):
    written = [
        Example(name=name, expected_output=expected, actual_output=actual)
        for name, actual in (("right", right), ("wrong", wrong))
    ]
    path = EvalDataset(examples=written).save_as(form, tmp_path, "saved")
    scorer = ExactMatchScorer()
    for examples in (written, EvalDataset.from_file(path)):
        assert [scorer.score(example).passed for example in examples] == [True, False]


def test_what_was_written_by_hand_and_is_no_operator_stays(tmp_path):
    path = tmp_path / "hand.yaml"
    path.write_text("examples:\n- {name: a, expected_output: {$ref: x, $$gt: 1}}\n", encoding="utf-8")
    assert EvalDataset.from_file(path)[0].expected_output == {"$ref": "x", "$$gt": 1}


def test_a_predicate_in_an_output_cannot_be_saved(tmp_path):
    dataset = EvalDataset(examples=[Example(name="a", expected_output={"n": gt(1), "m": [has(len)]})])
    with pytest.raises(DatasetError, match=r"examples\[0\].expected_output: .*cannot be written as data"):
        dataset.save_as("json", tmp_path, "saved")


@pytest.mark.parametrize("actual", ["ab", {"a": 1, "b": 2}, ["a", "a"]])
def test_a_set_that_was_saved_stands_for_no_text_and_no_mapping(tmp_path, actual):
    from agenttrace import call

    example = Example(
        name="a",
        expected_tools=[call("t", x={"a", "b"})],
        tools_called=[{"name": "t", "arguments": {"x": actual}}],
    )
    (read,) = EvalDataset.from_file(EvalDataset(examples=[example]).save_as("json", tmp_path, "saved"))
    assert not ToolOrderScorer().score(example).passed
    assert not ToolOrderScorer().score(read).passed
