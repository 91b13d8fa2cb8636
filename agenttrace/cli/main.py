"""The command ``agenttrace``: its groups of commands, its exit codes, how a shell calls it.

Exit codes: 0 passed or done, 1 examples failed, 2 wrong usage or an error, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from agenttrace.core.errors import AgentTraceError
from agenttrace.reports.text import safe
from agenttrace.version import __version__

NAME = "agenttrace"
BROKEN = 2
INTERRUPTED = 130
PIPE_CLOSED = 141
"""What a shell reports for a program that a closed pipe ended."""
_OF_A_FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called; each is named as ``module:attribute``.

    `default` is the command that is meant where none is named: options may follow the group at once.
    """

    def __init__(self, *args: Any, lazy: dict[str, str], default: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command before what comes without any."""
        bare = not args or (args[0].startswith("-") and args[0] not in ("-h", "--help"))
        return super().parse_args(ctx, [self.default, *args] if self.default and bare else args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, in the order in which the group lists them."""
        return [*self.lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command and return it."""
        home = self.lazy.get(cmd_name)
        if home is None:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = home.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command


@click.group(
    cls=LazyGroup,
    lazy={
        "sessions": "agenttrace.cli.tables:sessions",
        "tools": "agenttrace.cli.tables:tools",
        "view": "agenttrace.cli.view:view",
        "serve": "agenttrace.cli.serve:serve",
        "report": "agenttrace.cli.report:report",
        **{
            name: f"agenttrace.cli.{name}:{name}"
            for name in (
                "demo",
                "annotate",
                "review",
                "redact",
                "replay",
                "work",
                "chaos",
                "health",
                "doctor",
                "schema",
            )
        },
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="agenttrace")
def cli() -> None:
    """Trace, test and monitor LLM agents."""


@cli.group(
    cls=LazyGroup,
    lazy={
        "list": "agenttrace.cli.traces_list:traces_list",
        "show": "agenttrace.cli.traces_show:traces_show",
        "delete": "agenttrace.cli.traces_delete:traces_delete",
        "export": "agenttrace.cli.traces_export:traces_export",
        "import": "agenttrace.cli.traces_import:traces_import",
        "vacuum": "agenttrace.cli.traces_vacuum:traces_vacuum",
    },
)
def traces() -> None:
    """Look at recorded traces."""


@cli.group(name="store", cls=LazyGroup, lazy={"copy": "agenttrace.cli.store_copy:store_copy"})
def whole_store() -> None:
    """Do something with a whole store."""


@cli.group(
    name="eval",
    cls=LazyGroup,
    lazy={
        "run": "agenttrace.cli.eval_run:eval_run",
        "traces": "agenttrace.cli.eval_traces:eval_traces",
    },
)
def evaluation() -> None:
    """Evaluate an agent on examples, or what it did as stored traces."""


@cli.group(
    cls=LazyGroup,
    lazy={
        "from-traces": "agenttrace.cli.dataset_from_traces:dataset_from_traces",
        "from-run": "agenttrace.cli.dataset_from_run:dataset_from_run",
        "diff": "agenttrace.cli.dataset_diff:dataset_diff",
        "validate": "agenttrace.cli.dataset_validate:dataset_validate",
        "convert": "agenttrace.cli.dataset_convert:dataset_convert",
    },
)
def dataset() -> None:
    """Make, check, compare and convert files of examples."""


@cli.group(
    cls=LazyGroup,
    lazy={
        name: f"agenttrace.cli.runs_{name}:runs_{name}"
        for name in ("list", "show", "compare", "export", "import", "delete")
    },
)
def runs() -> None:
    """Look at evaluation runs, and compare them."""


@cli.group(
    cls=LazyGroup,
    default="list",
    lazy={name: f"agenttrace.cli.failures_{name}:failures_{name}" for name in ("list", "fix", "reopen")},
)
def failures() -> None:
    """What goes wrong, each failure once: new, fixed, back again."""


@cli.group(
    name="annotations",
    cls=LazyGroup,
    default="list",
    lazy={"list": "agenttrace.cli.annotations_list:annotations_list"},
)
def annotations_group() -> None:
    """What people said of traces and results."""


@cli.group(
    cls=LazyGroup,
    default="list",
    lazy={
        "list": "agenttrace.cli.tables:scores",
        "agreement": "agenttrace.cli.scores_agreement:scores_agreement",
    },
)
def scores() -> None:
    """Look at what scorers say."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command line, then exit the process with the command's exit code."""
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    code = _code_of(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _pipe_closed()
    except OSError as error:  # no space left, for one
        code = _not_written(error)
    sys.exit(code)


def _open_what_is_closed() -> None:
    """Open the null device for streams that a parent closed before it started us, in their order: a store's
    file would get their numbers, and what is printed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for good


def _code_of(arguments: Sequence[str] | None) -> int:
    try:
        argv = sys.argv[1:] if arguments is None else list(arguments)
        # Not `cli.main`: that leaves with 1, which means failed here, where the reader of a pipe goes away.
        with cli.make_context("agenttrace", argv) as context:
            code = cli.invoke(context)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        error.show()
        return BROKEN
    except BrokenPipeError:
        return _pipe_closed()
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except AgentTraceError as error:
        click.echo(f"Error: {safe(str(error))}", err=True)
        return BROKEN
    except OSError as error:
        if error.filename is None and error.errno in _OF_A_FULL_DISK:
            return _not_written(error)
        traceback.print_exc()
        return BROKEN
    except Exception:  # choke-point: exit code 1 would say that examples failed
        traceback.print_exc()
        return BROKEN
    return code if isinstance(code, int) else 0


def _pipe_closed() -> int:
    """Send stdout to /dev/null, so that the interpreter's own flush at exit raises nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED


def _not_written(error: OSError) -> int:
    """Say that stdout takes no more, and keep the interpreter's own flush at exit from saying it again."""
    click.echo(f"Error: the output could not be written: {error}", err=True)
    _pipe_closed()
    return BROKEN


def own_command() -> str:
    """Return ``agenttrace`` where the shell finds this interpreter's own script, else its quoted path.

    The path is relative below the working directory. Where the interpreter has no such script, the text is
    ``python -m agenttrace`` with the interpreter's own path.
    """
    directory = os.path.dirname(sys.executable)
    beside = shutil.which(NAME, path=directory) if directory else None
    if beside is None:
        return f"{_shell_path(sys.executable)} -m {NAME}" if sys.executable else NAME
    on_path = shutil.which(NAME)
    if on_path is not None and os.path.samefile(on_path, beside):
        return NAME
    return _shell_path(beside)


def _shell_path(path: str) -> str:
    """Return a program's path quoted for the shell, relative where it is below the working directory."""
    try:
        return shlex.quote(str(Path(path).relative_to(Path.cwd())))
    except (ValueError, OSError):
        return shlex.quote(path)
