import os
import pty
import re
import subprocess
import sys


def on_a_terminal(arguments, directory, **environment):
    """Run a command with a pseudo terminal for all its streams; what it printed, its exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from agenttrace.cli.main import main; main()", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=directory,
        env={
            **os.environ,
            "TERM": "xterm-256color",
            "AGENTTRACE_STORE": str(directory / "t.db"),
            **environment,
        },
    )
    os.close(theirs)
    printed = b""
    try:
        while chunk := os.read(ours, 65_536):
            printed += chunk
    except OSError:  # Linux says so when the other side has gone
        pass
    os.close(ours)
    return printed.decode(), process.wait(timeout=30)


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
