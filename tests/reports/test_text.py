import io

import pytest

from agenttrace.reports.text import Line, plain, safe, safe_line, show, value_text

HOSTILE = "a\x1b[2Jb\x07c\rd\x9be\u202ef\u2066g\u200fh\ud800i\x00j\x7f"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


def test_control_characters_direction_marks_and_surrogates_are_escaped():
    text = safe(HOSTILE)
    assert text == ("a\\x1b[2Jb\\x07c\\x0dd\\x9be\\u202ef\\u2066g\\u200fh\\ud800i\\x00j\\x7f")
    assert all(character.isprintable() for character in text)


def test_line_breaks_stay_or_are_written_out():
    assert safe("a\nb\tc") == "a\nb    c"
    assert safe_line("a\nb") == "a\\nb"


def test_other_writing_is_left_alone():
    assert safe("Żółć 東京 🙂 ✓ naïve") == "Żółć 東京 🙂 ✓ naïve"


def test_long_text_is_cut_visibly():
    assert safe("x" * 50, limit=10) == "x" * 10 + "…[+40 chars]"


def test_values_are_json_on_one_line():
    assert value_text({"city": "Paris\n", "days": (1, 2)}) == '{"city":"Paris\\n","days":[1,2]}'
    assert len(value_text(["y" * 10_000] * 100, 80)) < 120


def test_a_pipe_gets_plain_text_and_a_terminal_colour():
    lines = [Line("✗ failed", "red"), Line("[bold]no markup[/bold]")]
    pipe, terminal = io.StringIO(), Terminal()
    show(lines, pipe)
    assert pipe.getvalue() == plain(lines) + "\n"
    show(lines, terminal)
    assert "✗ failed" in terminal.getvalue()
    assert "[bold]no markup[/bold]" in terminal.getvalue()
    assert "\x1b" not in pipe.getvalue()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_characters_that_the_stream_lacks_are_escaped(encoding):
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding=encoding, newline="\n")
    show([Line("✗ é")], stream)
    stream.flush()
    expected = {"ascii": b"\\u2717 \\xe9\n", "latin-1": b"\\u2717 \xe9\n", "utf-8": "✗ é\n".encode()}
    assert buffer.getvalue() == expected[encoding]


def test_long_lines_on_a_terminal_are_not_broken_by_us():
    terminal = Terminal()
    show([Line("word " * 100)], terminal)
    assert terminal.getvalue().count("\n") == 1
