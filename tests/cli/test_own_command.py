import sys

import pytest

from agenttrace.cli.main import own_command


@pytest.fixture
def interpreter(tmp_path, monkeypatch):
    """An interpreter of a virtual environment below the working directory, which is not on PATH."""
    directory = tmp_path / "my venv" / "bin"
    directory.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(directory / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    return directory


@pytest.fixture
def script(interpreter):
    path = interpreter / "agenttrace"
    path.touch(0o755)
    return path


def test_a_script_that_is_not_on_the_path_is_named_from_here(script):
    assert own_command() == "'my venv/bin/agenttrace'"


def test_a_script_elsewhere_is_named_whole(script, tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert own_command() == f"'{script}'"


def test_a_script_on_the_path_goes_by_its_name(script, monkeypatch):
    monkeypatch.setenv("PATH", str(script.parent))
    assert own_command() == "agenttrace"


def test_another_agenttrace_on_the_path_is_not_taken_for_this_one(script, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "agenttrace").touch(0o755)
    assert own_command() == "'my venv/bin/agenttrace'"


def test_without_a_script_the_interpreter_is_told_to_run_the_package(interpreter):
    assert own_command() == "'my venv/bin/python' -m agenttrace"
