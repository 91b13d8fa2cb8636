import pkgutil
import subprocess
import sys
from importlib import import_module

import click

import agenttrace.cli as room
from agenttrace.cli.main import cli


def reachable(group):
    """Every command that can be typed, below a group."""
    context = click.Context(group)
    for command in [group.get_command(context, name) for name in group.list_commands(context)]:
        yield from reachable(command) if isinstance(command, click.Group) else (command,)


def test_every_command_of_the_room_can_be_typed():
    """A new command is its file, a line in `main`, a line of a document."""
    modules = [import_module(f"{room.__name__}.{item.name}") for item in pkgutil.iter_modules(room.__path__)]
    commands = {
        f"{module.__name__}:{name}"
        for module in modules
        for name, command in vars(module).items()
        if isinstance(command, click.Command) and not isinstance(command, click.Group)
    }
    typed = {f"{command.callback.__module__}:{command.callback.__name__}" for command in reachable(cli)}
    assert commands == typed


def test_a_command_does_not_wait_for_the_imports_of_another():
    program = (
        "import sys\n"
        "from agenttrace.cli.main import cli\n"
        "heavy = {'yaml', 'pydantic', 'rich', 'sqlite3', 'httpx', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout == "[]\n", ran.stderr


def test_an_unknown_command_is_an_error_with_the_known_ones_in_help(agenttrace):
    assert "No such command 'lst'" in agenttrace("traces", "lst").err
    assert "list" in agenttrace("traces", "--help").out
