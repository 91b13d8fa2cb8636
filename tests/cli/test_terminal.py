import os
import pty
import subprocess
import sys


def on_a_terminal(arguments, directory):
    """Run a command with a pseudo terminal for all its streams; what it printed, its exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from agenttrace.cli.main import main; main()", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=directory,
        env={**os.environ, "TERM": "xterm-256color", "AGENTTRACE_STORE": str(directory / "t.db")},
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
