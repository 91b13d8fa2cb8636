import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from agenttrace.cli.main import cli
from agenttrace.core.errors import StoreError
from agenttrace.tracer import Tracer
from agenttrace.version import __version__


@pytest.fixture
def command():
    """Add a command for one test."""
    added = []

    def add(function):
        made = click.command("probe")(function)
        cli.add_command(made)
        added.append(made)

    yield add
    cli.commands.pop("probe", None)


def test_help_and_version_are_fine(agenttrace):
    help_text = agenttrace("--help")
    assert help_text.code == 0
    assert all(word in help_text.out for word in ("demo", "traces", "eval"))
    assert agenttrace("--version").out == f"agenttrace, version {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["no-such"], ["traces", "show", "--colour"], ["eval", "run", "none.yaml"]]
)
def test_wrong_usage_ends_with_2_and_says_so(agenttrace, arguments):
    ran = agenttrace(*arguments)
    assert ran.code == 2
    assert "Error" in ran.err


def test_errors_of_ours_are_a_line_with_control_characters_escaped(agenttrace, command):
    def fail():
        raise StoreError("bad \x1b[2J name")

    command(fail)
    ran = agenttrace("probe")
    assert (ran.code, ran.err) == (2, "Error: bad \\x1b[2J name\n")


def test_what_breaks_unforeseen_ends_with_2_not_with_failed(agenttrace, command):
    def fail():
        raise KeyError("x")

    command(fail)
    ran = agenttrace("probe")
    assert ran.code == 2
    assert "KeyError: 'x'" in ran.err


def test_interruption_ends_with_130(agenttrace, command):
    def fail():
        raise KeyboardInterrupt

    command(fail)
    assert agenttrace("probe").code == 130


def test_a_reader_that_goes_away_is_no_error():
    program = (
        "import sys, click\n"
        "from agenttrace.cli.main import cli, main\n"
        "@cli.command()\n"
        "def flood():\n"
        "    for n in range(200_000): click.echo('line')\n"
        "main(['flood'])\n"
    )
    flood = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert flood.stdout.readline() == "line\n"
    flood.stdout.close()
    errors = flood.stderr.read()
    flood.stderr.close()
    assert flood.wait(timeout=30) == 141
    assert errors == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here that is always full")
def test_an_output_for_which_there_is_no_space_is_said_in_a_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "agenttrace", "--help"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.startswith("Error: the output could not be written:")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "<&- >&-"])
@pytest.mark.parametrize("arguments", ["--help", "traces list --store {path}", "health --store {path}"])
def test_without_a_stdout_nothing_breaks(tmp_path, arguments, closed):
    path = tmp_path / "traces.db"
    tracer = Tracer("test", store=str(path))
    with tracer.span("work"):
        pass
    tracer.shutdown()
    command = f"{shlex.quote(sys.executable)} -m agenttrace {arguments.format(path=path)} {closed}"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
