"""A command line to run, a store to look into."""

import pytest

from agenttrace.cli.main import main


class Ran:
    """What a command printed, how it ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def agenttrace(capsys, monkeypatch, tmp_path):
    """Run ``agenttrace …`` in an empty directory with a store of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "traces.db"))

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert "\x1b" not in printed.out + printed.err
        return Ran(left.value.code, printed.out, printed.err)

    return run
