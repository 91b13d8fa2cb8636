"""From a printed failure to its page: the command, or the address where a viewer serves the store."""

import io
import os
import socket
from pathlib import Path

import pytest

from agenttrace import EvaluationFailed, Example, Tracer, assert_test
from agenttrace.core.deep_link import DeepLink
from agenttrace.reports.hyperlinks import has_hyperlinks
from agenttrace.reports.text import Line, see_line, show
from agenttrace.scorers import ToolOrderScorer
from agenttrace.store import MemoryStore, SQLiteStore
from agenttrace.store.viewer_note import Running, note_path, see_in, write_note

TRACE = "6d09469a" * 4


@pytest.fixture
def viewer(tmp_path):
    """A port that answers, noted as the viewer of a store."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        path = str(tmp_path / "traces.db")
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        write_note(path, Running(url, os.getpid()))
        yield path, url


def test_without_a_viewer_it_is_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "traces.db"))
    assert see_in(SQLiteStore(tmp_path / "traces.db"))(TRACE) == ("agenttrace view 6d09469a", None)


def test_a_store_that_is_not_the_usual_one_is_named_as_a_shell_takes_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    link = see_in(SQLiteStore(tmp_path / "my traces.db"), "bin/agenttrace")(TRACE)
    assert link.text == "bin/agenttrace view 6d09469a --store 'my traces.db'"


def test_a_store_that_nobody_else_can_read_has_no_link():
    assert see_in(MemoryStore()) is None
    assert see_in(None) is None


def test_where_a_viewer_serves_the_store_it_is_the_address(viewer):
    path, url = viewer
    assert see_in(SQLiteStore(path))(TRACE) == (f"{url}t/6d09469a6d09", f"{url}t/6d09469a6d09")


def test_a_note_of_a_viewer_that_has_gone_does_not_count(tmp_path):
    path = str(tmp_path / "traces.db")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    write_note(path, Running(f"http://127.0.0.1:{port}/", os.getpid()))
    assert see_in(SQLiteStore(path))(TRACE).url is None


def test_only_a_plain_file_of_this_user_says_where_a_viewer_is(viewer, tmp_path):
    path, url = viewer
    note = Path(note_path(path))
    text = note.read_text()
    note.chmod(0o666)
    assert see_in(SQLiteStore(path))(TRACE).url is None
    note.chmod(0o600)
    assert see_in(SQLiteStore(path))(TRACE).url is not None
    if os.geteuid() == 0:
        os.chown(note, 65_534, 65_534)
        assert see_in(SQLiteStore(path))(TRACE).url is None
    note.unlink()
    other = tmp_path / "other"
    other.write_text(text)
    note.symlink_to(other)
    assert see_in(SQLiteStore(path))(TRACE).url is None
    note.unlink()
    os.mkfifo(note)
    assert see_in(SQLiteStore(path))(TRACE).url is None
    write_note(path, Running(url, os.getpid()))
    assert note.is_file()
    assert see_in(SQLiteStore(path))(TRACE).url is not None


def test_a_note_is_written_beside_what_a_link_names_and_not_into_it(tmp_path):
    path = str(tmp_path / "traces.db")
    precious = tmp_path / "precious"
    precious.write_text("precious")
    os.link(precious, note_path(path))
    write_note(path, Running("http://127.0.0.1:7717/", os.getpid()))
    assert precious.read_text() == "precious"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["precious", "traces.db-view.json"]


@pytest.mark.parametrize("port", ["٧٧١٧", "0000006553599", "99999", "1/x", "1@evil.example"])
def test_an_address_that_is_none_of_this_machine_does_not_count(tmp_path, port):
    path = str(tmp_path / "traces.db")
    write_note(path, Running(f"http://127.0.0.1:{port}/", os.getpid()))
    assert see_in(SQLiteStore(path))(TRACE).url is None


class Terminal(io.StringIO):
    def isatty(self):
        return True


LINE = see_line(DeepLink("http://127.0.0.1:7717/t/6d09", "http://127.0.0.1:7717/t/6d09"))


@pytest.mark.parametrize("supported", [True, False])
def test_a_link_is_behind_words_only_where_the_terminal_can(monkeypatch, supported):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_HYPERLINK", str(int(supported)))
    terminal = Terminal()
    show([LINE, Line("6d09 agent", links=(("6d09", "http://127.0.0.1:7717/t/6d09"),))], terminal)
    printed = terminal.getvalue()
    assert printed.count("\x1b]8;") == (4 if supported else 0)
    assert "see: " in printed


def test_a_file_and_a_pipe_get_plain_text(monkeypatch):
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    pipe = io.StringIO()
    show([LINE], pipe)
    assert pipe.getvalue() == "  see: http://127.0.0.1:7717/t/6d09\n"


@pytest.mark.parametrize(
    ("environment", "can"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, True),
        ({"TERM": "xterm-256color", "VTE_VERSION": "4600"}, False),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, True),
        ({"TERM": "screen-256color", "TERM_PROGRAM": "iTerm.app"}, False),
        ({"TERM": "dumb", "WT_SESSION": "1"}, False),
        ({"TERM": "dumb", "FORCE_HYPERLINK": "1"}, True),
    ],
)
def test_terminals_are_known_by_what_they_say_of_themselves(environment, can):
    assert has_hyperlinks(environment) is can


def agent_of(tracer):
    @tracer.observe(span_type="tool")
    def search(text):
        return text

    @tracer.observe(span_type="agent")
    def agent(text):
        return search(text)

    return agent


@pytest.mark.parametrize("trials", [1, 3])
def test_a_failed_assertion_ends_with_the_link_to_the_trace(viewer, trials):
    path, url = viewer
    tracer = Tracer("links", store=path)
    examples = [Example(name=name, input=name, expected_tools=[name]) for name in ("search", "find")]
    with pytest.raises(EvaluationFailed) as failed:
        assert_test(examples, [ToolOrderScorer()], function=agent_of(tracer), tracer=tracer, trials=trials)
    lines = [line for line in str(failed.value).splitlines() if line.strip().startswith("see: ")]
    trace_id = failed.value.report[trials].trace_id
    assert lines == [f"  see: {url}t/{trace_id[:12]}"]
    tracer.shutdown()


def test_without_a_file_a_failed_assertion_has_no_link():
    tracer = Tracer("links", store="memory")
    with pytest.raises(EvaluationFailed) as failed:
        assert_test([Example(input="x", expected_tools=["find"])], [ToolOrderScorer()],
                    function=agent_of(tracer), tracer=tracer)  # fmt: skip
    assert "see: " not in str(failed.value)
    tracer.shutdown()


def test_a_result_without_a_trace_has_no_link(tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    with pytest.raises(EvaluationFailed) as failed:
        assert_test([Example(actual_output="a", expected_output="b")], [_exact()], store=store)
    assert "see: " not in str(failed.value)
    store.close()


def _exact():
    from agenttrace.scorers import ExactMatchScorer

    return ExactMatchScorer()
