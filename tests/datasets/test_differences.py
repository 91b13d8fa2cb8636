"""Which examples of two datasets belong together."""

from agenttrace import Example
from agenttrace.datasets.differences import compared


def test_examples_belong_together_by_id_then_name_then_content_then_input():
    before = [
        Example(example_id="1", name="a", input="x"),
        Example(name="b", input="x"),
        Example(input="y", expected_tools=["t"]),
        Example(input="z", expected_output="old"),
        Example(name="gone"),
    ]
    after = [
        Example(input="z", expected_output="new"),
        Example(input="y", expected_tools=["t"]),
        Example(name="b", input="w"),
        Example(example_id="1", name="renamed", input="x"),
        Example(name="new"),
    ]
    result = compared(before, after)
    assert [(change.before.name, change.after.name, change.fields) for change in result.changed] == [
        ("a", "renamed", ("name",)),
        ("b", "b", ("input",)),
        (None, None, ("expected_output",)),
    ]
    assert [example.name for example in result.added] == ["new"]
    assert [example.name for example in result.removed] == ["gone"]
    assert result.same == 1


def test_trials_with_one_name_and_the_same_content_are_paired_one_by_one():
    run = {"name": "a", "tools_called": ["x"]}
    result = compared([Example(**run)] * 3, [Example(**run)] * 2)
    assert (len(result.added), len(result.removed), len(result.changed), result.same) == (0, 1, 0, 2)
