"""What is written in one step, and what is written to."""

import os
import threading

import pytest

from agenttrace.datasets.files import write_text

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "report.html"
    os.mkfifo(pipe)
    texts = []
    reader = threading.Thread(target=lambda: texts.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(pipe, "all of it")
    reader.join(10)
    assert texts == ["all of it"]
    assert pipe.is_fifo()


def test_a_link_to_a_device_is_written_through(tmp_path):
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    write_text(link, "nobody reads this")
    assert link.is_symlink()
    assert link.is_char_device()


def test_a_file_is_replaced_in_one_step(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("old")
    with file.open() as before:
        write_text(file, "new")
        assert before.read() == "old"
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]
