from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agenttrace.core.errors import DatasetError
from agenttrace.datasets.json_format import read_jsonl

Fails = Callable[..., DatasetError]


def test_each_line_is_an_example_and_blank_lines_are_passed_over(write: Callable[..., Path]) -> None:
    path = write("x.jsonl", '{"input": "a"}\n\n{"input": "b\u2028"}\r\n')
    first, second = read_jsonl(path).examples
    assert (first.input, second.input) == ("a", "b\u2028")
    assert (first.source, second.source) == (f"{path}:1", f"{path}:3")


@pytest.mark.parametrize(
    ("content", "line", "text"),
    [
        ("", None, "the file is empty; write one example a line"),
        ("\n\n", None, "the file is empty"),
        ('{"input": "a"}\n{"input": \n', 2, "this line is not one JSON value"),
        ('{"input": "a"} {"input": "b"}\n', 1, "there is more text after the JSON value"),
        ('{"input": "a"}\n[]\n', 2, "got list [], wanted a mapping of Example fields"),
        ('{"input": "a"}\n{"inpt": 1}\n', 2, "an Example has no field 'inpt'; did you mean 'input'?"),
        ('{"context": "a"}\n', 1, "context: got str 'a', wanted a list of strings"),
        ('{"input": "a", "input": "b"}\n', 1, "the key 'input' stands twice"),
        ('{"trace_id": "a"}\n', 1, "an Example has no field 'trace_id'"),
    ],
)
def test_a_wrong_line_is_an_error_that_names_it(
    fails: Fails, content: str, line: int | None, text: str
) -> None:
    error = fails(read_jsonl, "x.jsonl", content)
    assert text in str(error)
    assert error.line == line
