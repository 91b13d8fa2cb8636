"""Patterns of expected calls mean the same once they are saved and loaded."""

import pytest

from agenttrace import Example, call, expect
from agenttrace.datasets import EvalDataset


@pytest.mark.parametrize("file_type", ["json", "jsonl", "yaml", "csv"])
def test_examples_with_patterns_are_written_as_they_were(tmp_path, file_type):
    dataset = EvalDataset(
        [
            Example(name="a call", input="i", expected_tools=[call("a", x=1)]),
            Example(name="a path", input="i", expected_tools=call("a") >> "b", actual_output=(1, 2)),
            Example(name="a guard", input="i", expected_tools=expect(["a"], never="b")),
        ]
    )
    loaded = EvalDataset.from_file(dataset.save_as(file_type, tmp_path, "saved"))
    assert [one.to_dict() for one in loaded] == [one.to_dict() for one in dataset]
