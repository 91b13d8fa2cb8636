import os
import re
import sys

from tests.pseudo_terminal import run_on_a_terminal


def on_a_terminal(arguments, directory, **environment):
    """Run a command of ours with a pseudo terminal for all its streams; what it printed, its exit code."""
    return run_on_a_terminal(
        [sys.executable, "-c", "from agenttrace.cli.main import main; main()", *arguments],
        directory,
        {**os.environ, "TERM": "xterm-256color", "AGENTTRACE_STORE": str(directory / "t.db"), **environment},
    )


def test_a_terminal_gets_colour_and_a_progress_bar(tmp_path):
    (tmp_path / "runs.jsonl").write_text('{"tools_called": ["a"], "expected_tools": ["b"]}\n' * 3)
    printed, code = on_a_terminal(["eval", "run", "runs.jsonl", "--scorer", "ToolOrder"], tmp_path)
    assert code == 1
    assert "evaluating" in printed
    assert "3/3" in printed
    assert "\x1b[31m✗ Test 1: FAILED" in printed


def test_a_terminal_that_says_it_has_no_columns_gets_lines(monkeypatch):
    import io

    from agenttrace.reports.text import Line, show

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("COLUMNS", "0")
    terminal = Terminal()
    show([Line("a line of text")], terminal)
    assert "a line of text" in terminal.getvalue()


def test_tables_of_narrow_terminals_have_names_and_scores(tmp_path):
    row = '{"name": "the whole sum of an order", "tools_called": ["a"], "expected_tools": ["b"]}'
    (tmp_path / "runs.jsonl").write_text(row + "\n")
    on_a_terminal(["eval", "run", "runs.jsonl", "--scorer", "ToolOrder"], tmp_path)
    for command in (["traces", "list"], ["runs", "list"], ["runs", "show"]):
        printed, code = on_a_terminal(command, tmp_path, COLUMNS="60", NO_COLOR="1")
        lines = re.sub(r"\x1b[^m\\]*(m|\\)", "", printed).splitlines()
        assert code == 0
        assert max(len(line) for line in lines if not line.startswith(("see:", "  see:"))) <= 60
        if command[1] == "list":
            assert "NAME" in lines[0]
            assert all(
                "…" not in date for date in re.findall(r"\d\d-\d\d \d\d:\d\d\S*|\d{4}-\d\S*", lines[1])
            )
        if command == ["traces", "list"]:
            assert "SCORE" in lines[0]
            assert "✗ Tool" in lines[1]


def test_what_a_run_was_of_is_said_in_words(tmp_path):
    (tmp_path / "runs.jsonl").write_text('{"tools_called": ["a"], "expected_tools": ["b"]}\n')
    on_a_terminal(
        ["eval", "run", "runs.jsonl", "--scorer", "ToolOrder:exact_match=true", "--scorer", "Loop"], tmp_path
    )
    printed, _ = on_a_terminal(["runs", "show"], tmp_path, COLUMNS="200")
    assert re.search(r"dataset +runs.jsonl, 1 example\s", printed)
    assert re.search(r"scorers +Tool Order \(.*exact_match true.*\), Loop", printed)
    assert "{" not in printed.partition("=====")[0]
