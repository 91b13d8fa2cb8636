from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from agenttrace.core.errors import DatasetError
from agenttrace.datasets import EvalDataset
from agenttrace.datasets.json_format import read_json

Fails = Callable[..., DatasetError]
Write = Callable[[str, str], Path]

# The platform's export as its documentation prints it, trailing commas and comment included.
SEED = """\
{  "dataset_id": "f852eeee-87fa-4430-9571-5784e693326e",
  "organization_id": "0fbb0aa8-a7b3-4108-b92a-cc6c6800d825",
  "dataset_alias": "QA-Pairs",
  "comments": null,
  "source_file": null,
  "created_at": "2025-04-23T22:38:11.709763+00:00",
  "examples": [
    {
      "example_id": "119ee1f6-1046-41bc-bb89-d9fc704829dd",
      "input": "How can I start meditating?",
      "actual_output": null,
      "expected_output": "Meditation is a wonderful way to relax and focus...",
      "context": null,
      "retrieval_context": null,
      "additional_metadata": {
        "synthetic": true
      },
      "tools_called": null,
      "expected_tools": null,
      "name": null,
      "created_at": "2025-04-23T23:34:33.117479+00:00",
      "dataset_id": "f852eeee-87fa-4430-9571-5784e693326e",
      "eval_results_id": null,
    },
    // more examples...
  ]
}
"""
STRICT = re.sub(r",(\s*[}\]])", r"\1", SEED.replace("    // more examples...\n", ""))


@pytest.mark.parametrize("content", [SEED, STRICT], ids=["as printed", "as exported"])
def test_the_platforms_export_loads(write: Write, content: str) -> None:
    path = write("export.json", content)
    dataset = EvalDataset()
    dataset.add_from_json(path)
    (example,) = dataset
    assert example.example_id == "119ee1f6-1046-41bc-bb89-d9fc704829dd"
    assert example.created_at == "2025-04-23T23:34:33.117479+00:00"
    assert example.additional_metadata == {
        "synthetic": True,
        "platform": {"dataset_id": "f852eeee-87fa-4430-9571-5784e693326e"},
    }
    assert example.source == f"{path}:8"
    assert dataset.platform_fields == {
        "dataset_id": "f852eeee-87fa-4430-9571-5784e693326e",
        "organization_id": "0fbb0aa8-a7b3-4108-b92a-cc6c6800d825",
        "dataset_alias": "QA-Pairs",
        "comments": None,
        "source_file": None,
        "created_at": "2025-04-23T22:38:11.709763+00:00",
    }


def test_judgevals_own_saved_file_loads(write: Write) -> None:
    content = """{"examples": [{"input": "x", "example_index": 3, "example_id": "a",
        "created_at": "2025-06-01T10:00:00.123456", "expected_tools":
        [{"tool_name": "t", "parameters": {"a": 1}, "agent_name": null, "require_all": null}]}]}"""
    (example,) = read_json(write("x.json", content)).examples
    assert example.additional_metadata == {"platform": {"example_index": 3}}
    assert example.created_at == "2025-06-01T10:00:00.123456"


def test_each_example_knows_its_line(write: Write) -> None:
    path = write("x.json", '{"examples": [\n{"input": "a"}, {"input": "b"},\n\n{"input": "c"}]}')
    assert [e.source for e in read_json(path).examples] == [f"{path}:2", f"{path}:2", f"{path}:4"]


def test_slashes_and_commas_in_texts_are_left_alone(write: Write) -> None:
    (example,) = read_json(write("x.json", r'{"examples": [{"input": "http://x, ] // \" ,}"}]}')).examples
    assert example.input == 'http://x, ] // " ,}'


def test_whole_numbers_keep_their_digits(write: Write) -> None:
    content = f'{{"examples": [{{"expected_output": [{10**50}, 1.0, 1]}}]}}'
    (example,) = read_json(write("x.json", content)).examples
    assert repr(example.expected_output) == repr([10**50, 1.0, 1])


def test_a_byte_order_mark_and_utf16_are_read(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le"):
        path = tmp_path / "x.json"
        mark = "\ufeff" if encoding == "utf-16-le" else ""
        path.write_bytes((mark + '{"examples": [{"input": "é"}]}').encode(encoding))
        assert read_json(path).examples[0].input == "é"


@pytest.mark.parametrize(
    ("content", "line", "text"),
    [
        ("", None, "the file is empty"),
        ("  \n ", None, "the file is empty"),
        ("[]", None, "holds a list at its top"),
        ("3", None, "holds an int at its top"),
        ('{"example": []}', None, "no key 'examples', but 'example'; did you mean 'examples'"),
        ("{}", None, "there is no key 'examples', but nothing"),
        ('{"examples": null}', 1, "'examples' holds nothing, wanted a list"),
        ('{"examples": {}}', 1, "'examples' holds a dict"),
        (
            '{\n"examples": [],\n"scorer": 1}',
            3,
            "unknown key 'scorer' beside 'examples'; did you mean 'scorers'?",
        ),
        ('{"examples": [\n{"input": "a"},\n3]}', 3, "examples[1]: got int 3, wanted a mapping"),
        ('{"examples": [\n{"inptu": "a"}]}', 2, "examples[0]: an Example has no field 'inptu'; did you mean"),
        (
            '{"examples": [\n{"expected_tools": ["a", {"name": "b", "x": 1}]}]}',
            2,
            "examples[0].expected_tools[1]",
        ),
        ('{"examples": [\n{"input": "a", "input": "b"}]}', 2, "the key 'input' stands twice in one object"),
        ('{"examples": [],\n"examples": []}', 2, "the key 'examples' stands twice"),
        ('{"examples": [\n{"actual_output": NaN}]}', 2, "NaN is not JSON"),
        ('{"examples": [\n{"actual_output": -Infinity}]}', 2, "-Infinity is not JSON"),
        ('{"examples": [\n{"actual_output": 1e999}]}', 2, "the number 1e999 is too large"),
        ('{"examples": [\n{"actual_output": ' + "9" * 5000 + "}]}", 2, "an integer of 5000 digits"),
        ('{"examples": [\n{"actual_output": ' + "[" * 100_000, 2, "nested more than 64 levels deep"),
        ('{"examples": [\n{"actual_output": ' + "[" * 70 + "]" * 70 + "}]}", 2, "nested more than 64 levels"),
        ('{"examples": [\n{"input": "a"\n', 3, "Expecting ',' delimiter"),
        ('{"examples": [\n{"input": "a\n"}]}', 2, "Invalid control character"),
        ('{"examples": [] "x": 1}', 1, "wanted ','"),
        ('{"examples" []}', 1, "wanted ':'"),
        ("{examples: []}", 1, "wanted a key in double quotes"),
        ('{"examples": []}\n{}', 2, "there is more text after the JSON value"),
        ('{"examples": [{"input": "' + '\\"' * 100_000, 1, "Unterminated string"),
    ],
)
def test_a_wrong_file_is_an_error_with_line_and_advice(
    fails: Fails, content: str, line: int | None, text: str
) -> None:
    error = fails(read_json, "x.json", content)
    assert text in str(error)
    assert error.line == line


def test_what_is_no_text_is_an_error_with_its_line(fails: Fails) -> None:
    error = fails(read_json, "x.json", b'{"examples": [\n"\xff"]}')
    assert "this is not utf-8 text; save the file as UTF-8" in str(error)
    assert error.line == 2


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="this is a directory, wanted a file"):
        read_json(tmp_path)
