from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from agenttrace.core.errors import DatasetError
from agenttrace.core.example import Example
from agenttrace.datasets import EvalDataset
from agenttrace.datasets.csv_format import read_csv

Fails = Callable[..., DatasetError]
Write = Callable[..., Path]


def _only(path: Path) -> Example:
    (example,) = read_csv(path).examples
    return example


def test_a_table_made_by_hand_loads(write: Write) -> None:
    path = write(
        "x.csv",
        "input,expected_output,expected_tools,additional_metadata\n"
        'What is 2+2?,4,"[""add"", {""tool_name"": ""say""}]","{""level"": 1}"\n'
        '"two\nlines",,,\n'
        ",,,\n"
        '"{""prompt"": ""x""}",json:4,[],\n',
    )
    first, second, third = read_csv(path).examples
    assert first.input == "What is 2+2?"
    assert first.expected_output == "4"
    assert first.expected_tools == ["add", {"tool_name": "say"}]
    assert first.additional_metadata == {"level": 1}
    assert second.input == "two\nlines"
    assert second.expected_output is None
    assert third.input == {"prompt": "x"}
    assert third.expected_output == 4
    assert [e.source for e in (first, second, third)] == [f"{path}:2", f"{path}:3", f"{path}:6"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_delimiters_line_ends_and_encodings_of_spreadsheets(
    write: Write, delimiter: str, line_end: str, encoding: str
) -> None:
    rows = [["input", "name"], ["é", "n"], ["a", "b"]]
    path = write("x.csv", line_end.join(delimiter.join(row) for row in rows).encode(encoding))
    assert [(e.input, e.name) for e in read_csv(path).examples] == [("é", "n"), ("a", "b")]


def test_columns_may_have_names_of_their_own(write: Write) -> None:
    path = write("x.csv", "id;question;answer\n1;Who?;Ann\n")
    dataset = EvalDataset()
    dataset.add_from_csv(path, header_mapping={"input": "question", "expected_output": "answer"})
    assert (dataset[0].input, dataset[0].expected_output) == ("Who?", "Ann")


def test_a_field_of_megabytes_is_read_and_the_process_limit_left_alone(write: Write) -> None:
    before = csv.field_size_limit()
    long = "x" * 1_500_000
    assert _only(write("x.csv", f"input\n{long}\n")).input == long
    assert csv.field_size_limit() == before


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'", "'=1", "''=1", "\uff1d1"]
)
def test_a_text_like_a_formula_is_neutralised_and_comes_back(tmp_path: Path, text: str) -> None:
    path = EvalDataset([Example(input=text, name=text)]).save_as("csv", tmp_path)
    with path.open(newline="", encoding="utf-8") as file:
        cells = list(csv.reader(file))[1]
    assert all(not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d")) for cell in cells)
    assert _only(path).input == text
    assert _only(path).name == text


def test_an_apostrophe_of_the_authors_stays(write: Write) -> None:
    assert _only(write("x.csv", "input\n'tis so\n")).input == "'tis so"


def test_numbers_and_texts_of_digits_are_told_apart(tmp_path: Path) -> None:
    dataset = EvalDataset([Example(expected_output=value) for value in (5, "5", 5.0, True, "true", "", None)])
    loaded = EvalDataset.from_file(dataset.save_as("csv", tmp_path))
    assert repr([e.expected_output for e in loaded]) == repr([5, "5", 5.0, True, "true", "", None])


@pytest.mark.parametrize(
    ("content", "line", "text"),
    [
        ("", None, "the file is empty; its first row names Example fields"),
        ("inptu,name\na,b\n", 1, "row 1: unknown column 'inptu'; did you mean 'input'?"),
        ("input,input\na,b\n", 1, "row 1: the column 'input' stands there twice"),
        ("input,\na,b\n", 1, "row 1: unknown column ''"),
        ("\n\ninput\n", 1, "row 1: the first row is blank"),
        ("input,name\na,b\nc\n", 3, "row 3: got 1 cells, wanted 2 as in the first row"),
        ("input,name\na,b,c\n", 2, "row 2: got 3 cells, wanted 2"),
        ('input,name\n"a\nb",c\n"d\n', 4, "row 3: this is not CSV: unexpected end of data"),
        ('input\n"a"b\n', 2, "row 2: this is not CSV"),
        ("input\na\0b\n", 2, "there is a NUL character"),
        (
            "name,context\nx,a;b\n",
            2,
            "row 2.context: got 'a;b', wanted a list; write the cell as JSON: [\"a;b\"]",
        ),
        (
            'name,context\nx,"[1,]"\n',
            2,
            "row 2.context: got '[1,]', which begins like JSON but cannot be read",
        ),
        ("input\n{name} hello\n", 2, "row 2.input: got '{name} hello', which begins like JSON"),
        ("input\njson:NaN\n", 2, "NaN is not JSON"),
        ("name,input\nx,json:5\n", 2, "row 2.input: got int 5, wanted a string"),
        (
            'expected_tools\n"[{""tool_name"": ""a"", ""params"": 1}]"\n',
            2,
            "row 2.expected_tools[0]: unknown key",
        ),
    ],
)
def test_a_wrong_table_is_an_error_that_names_line_and_row(
    fails: Fails, content: str, line: int | None, text: str
) -> None:
    error = fails(read_csv, "x.csv", content)
    assert text in str(error)
    assert error.line == line


def test_a_mapped_column_that_is_not_there_is_an_error(write: Write) -> None:
    with pytest.raises(DatasetError, match="no column 'question'; did you mean 'questions'"):
        read_csv(write("x.csv", "questions\na\n"), {"input": "question"})


def test_a_mapping_to_an_unknown_field_is_an_error(write: Write) -> None:
    with pytest.raises(DatasetError, match="unknown column 'inpt'; did you mean 'input'"):
        read_csv(write("x.csv", "question\na\n"), {"inpt": "question"})


@pytest.mark.parametrize(
    ("field", "cell", "value", "hint"),
    [
        ("expected_tools", "lookup_order", ["lookup_order"], '["lookup_order"]'),
        (
            "expected_tools",
            '"lookup_order, refund"',
            ["lookup_order", "refund"],
            '["lookup_order", "refund"]',
        ),
        ("tools_called", '"a; b"', ["a", "b"], '["a", "b"]'),
        ("tags", '"money,\nvip,"', ["money", "vip"], '["money", "vip"]'),
        ("expected_tools", '"refund(7, 5)"', ["refund(7, 5)"], '["refund(7, 5)"]'),
        ("context", '"Paid, and sent."', ["Paid, and sent."], '["Paid, and sent."]'),
        ("scorers", '"ToolOrder:a=1,b=2"', ["ToolOrder:a=1,b=2"], '["ToolOrder:a=1,b=2"]'),
        ("expected_tools", "['lookup_order']", ["lookup_order"], '["lookup_order"]'),
        ("expected_tools", "\"['a', 'b']\"", ["a", "b"], '["a", "b"]'),
        ("input", "{'n': 1}", {"n": 1}, '{"n": 1}'),
    ],
)
def test_what_the_error_of_a_cell_says_to_write_is_read(
    fails: Fails, write: Write, field: str, cell: str, value: object, hint: str
) -> None:
    error = fails(read_csv, "x.csv", f"name,{field}\nx,{cell}\n")
    assert (error.line, error.field) == (2, f"row 2.{field}")
    assert f" {hint}" in str(error)
    quoted = hint.replace('"', '""')
    assert getattr(_only(write("y.csv", f'name,{field}\nx,"{quoted}"\n')), field) == value
    if "," in hint:
        assert str(error).endswith(f' (in the text of the file: "{quoted}")')


def test_an_unknown_column_is_an_error_that_says_how_to_name_it(fails: Fails) -> None:
    text = str(fails(read_csv, "x.csv", "input,difficulty\na,hard\n"))
    assert "row 1: unknown column 'difficulty'; a column of your own: --column NAME puts it into" in text
    assert "columns={'NAME': 'FIELD'}" in text


def test_columns_become_the_fields_that_a_mapping_says(write: Write) -> None:
    path = write("x.csv", 'question,tools,difficulty,notes\nWho?,"[""ask""]",hard,old\n')
    columns = {"question": "input", "tools": "expected_tools", "notes": None}
    dataset = EvalDataset.from_file(path, columns={**columns, "difficulty": "additional_metadata"})
    assert (dataset[0].input, dataset[0].expected_tools) == ("Who?", ["ask"])
    assert dataset[0].additional_metadata == {"difficulty": "hard"}


def test_the_cell_of_a_renamed_column_is_checked_as_its_field(write: Write) -> None:
    path = write("x.csv", "question,tools\nWho?,ask\n")
    with pytest.raises(DatasetError, match=r'row 2.tools: got .ask., wanted a list; .* \["ask"\]'):
        EvalDataset.from_file(path, columns={"question": "input", "tools": "expected_tools"})


def test_a_column_that_cannot_be_the_field_is_an_error(write: Write) -> None:
    path = write("x.csv", "question,input\nWho?,You?\n")
    with pytest.raises(
        DatasetError, match="'question' is to be 'inptu', which is no field; did you mean 'input'"
    ):
        EvalDataset.from_file(path, columns={"question": "inptu"})
    with pytest.raises(
        DatasetError, match=r":2: row 2\.question: the column 'question' is to be 'input', which is"
    ):
        EvalDataset.from_file(path, columns={"question": "input"})


@pytest.mark.parametrize("suffix", ["json", "jsonl", "yaml"])
def test_keys_of_other_formats_are_renamed_too(write: Write, suffix: str) -> None:
    example = '{"question": "Who?", "level": 3, "old": 1}'
    text = example if suffix == "jsonl" else f'{{"examples": [{example}]}}'
    path = write(f"x.{suffix}", text)
    with pytest.raises(DatasetError, match=r"no field 'question'.*--column NAME"):
        EvalDataset.from_file(path)
    columns = {"question": "input", "level": "additional_metadata", "old": None}
    (example_read,) = EvalDataset.from_file(path, columns=columns)
    assert (example_read.input, example_read.additional_metadata) == ("Who?", {"level": 3})
