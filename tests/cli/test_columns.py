"""The option ``--column``: names of one's own in a file of examples."""

import pytest

from agenttrace.datasets import EvalDataset

TABLE = """question,expected_tools,tools_called,difficulty,old=new
Who?,"[""look""]","[""look""]",hard,x
"""
COLUMNS = ("--column", "question=input", "--column", "difficulty", "--column", "old=new=")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text(TABLE)
    return path


def test_a_table_with_columns_of_its_own_is_evaluated(agenttrace, table):
    ran = agenttrace("eval", "run", table, "--scorer", "ToolOrder")
    assert ran.code == 2
    assert "cases.csv:1: row 1: unknown column 'question'; a column of your own: --column NAME" in ran.err
    ran = agenttrace("eval", "run", table, "--scorer", "ToolOrder", *COLUMNS)
    assert (ran.code, "TEST RESULTS: 1/1 passed" in ran.out) == (0, True), ran.err


def test_it_is_validated_and_converted(agenttrace, table, tmp_path):
    assert agenttrace("dataset", "validate", table).code == 2
    assert agenttrace("dataset", "validate", table, *COLUMNS).out == f"{table}: 1 example\n"
    assert agenttrace("dataset", "convert", table, "cases.yaml", *COLUMNS).code == 0
    (example,) = EvalDataset.from_file(tmp_path / "cases.yaml")
    assert (example.input, example.additional_metadata) == ("Who?", {"difficulty": "hard"})


def test_a_field_that_there_is_not_is_2(agenttrace, table):
    ran = agenttrace("eval", "run", table, "--column", "question=inptu")
    assert ran.code == 2
    assert "'question' is to be 'inptu', which is no field; did you mean 'input'?" in ran.err


def test_two_of_one_name_are_an_error_with_columns_too(agenttrace, tmp_path):
    (tmp_path / "two.csv").write_text("name,input,level\na,x,1\na,y,2\n")
    ran = agenttrace("eval", "run", "two.csv", "--scorer", "ToolOrder", "--column", "level")
    assert (ran.code, "two.csv:3" in ran.err) == (2, True)


def test_a_task_names_its_columns_itself(agenttrace, tmp_path):
    (tmp_path / "cases.csv").write_text("name,tools_called,level\na,[],1\n")
    (tmp_path / "task.yaml").write_text(
        "key: levels\ndisplay_name: Levels\ndataset: {path: cases.csv, columns: [level]}\n"
        "scorers: [{type: budget, calls: 1}]\n"
    )
    ran = agenttrace("eval", "run", "task.yaml", "--column", "level")
    assert (ran.code, "--column is of a file of examples; a task names them" in ran.err) == (2, True), ran.err
