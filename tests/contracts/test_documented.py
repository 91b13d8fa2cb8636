"""What can be used is named where users look for it."""

import inspect
import re
from pathlib import Path

import click
import pytest

import agenttrace.judges as judges
import agenttrace.scorers as scorers
from agenttrace.cli.main import cli
from agenttrace.redaction import names, shapes
from agenttrace.redaction.options import LEVELS
from agenttrace.redaction.personal import KINDS

ROOT = Path(__file__).resolve().parents[2]
DOCS = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
README = (ROOT / "README.md").read_text()
EVERYTHING = "\n".join([*DOCS.values(), README])


def classes(room):
    """The names of the scorers that a room offers."""
    found = [(name, getattr(room, name)) for name in room.__all__]
    return [name for name, kind in found if inspect.isclass(kind) and callable(getattr(kind, "score", None))]


def commands(group, words=("agenttrace",)):
    """Every command below a group, as it is typed."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield " ".join((*words, name))


COMMAND = re.compile(r"^## `(agenttrace [a-z -]+)`$", re.M)


def options(command):
    """The options of a command, without its arguments."""
    found = cli
    for word in command.split()[1:]:
        found = found.get_command(click.Context(found), word)
    return [param for param in found.params if isinstance(param, click.Option)]


def section_of(command):
    """What the page of commands says of one, up to the next heading."""
    _, _, rest = DOCS["cli.md"].partition(f"## `{command}`\n")
    return rest.partition("\n## ")[0]


def options_on_the_page(command):
    """The options in the first column of the command's table, and in its examples."""
    section = section_of(command)
    cells = "\n".join(re.findall(r"^\|([^|]*)\|", section, re.M))
    examples = "\n".join(re.findall(rf"^\$ {command}\b(.*)", section, re.M))
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", f"{cells}\n{examples}"))


@pytest.mark.parametrize("name", scorers.__all__)
def test_everything_that_the_room_of_scorers_offers_is_in_its_document(name):
    assert name in DOCS["scorers.md"]


@pytest.mark.parametrize("name", classes(judges))
def test_every_scorer_that_asks_a_model_is_in_the_document_of_judges(name):
    assert name in DOCS["judges.md"]


@pytest.mark.parametrize("name", scorers.known_scorers())
def test_every_scorer_with_a_name_for_files_is_documented(name):
    assert name in EVERYTHING


@pytest.mark.parametrize("command", sorted(commands(cli)))
def test_every_command_and_every_option_of_it_is_on_the_page_of_commands(command):
    shown = {option for param in options(command) for option in (*param.opts, *param.secondary_opts)}
    assert shown - options_on_the_page(command) == set()


@pytest.mark.parametrize("command", sorted(commands(cli)))
def test_the_page_of_commands_gives_an_example_of_each(command):
    assert re.search(rf"^\$ {command}\b", section_of(command), re.M)


def test_the_page_of_commands_has_none_that_does_not_exist():
    assert set(COMMAND.findall(DOCS["cli.md"])) == set(commands(cli))


@pytest.mark.parametrize("command", sorted(commands(cli)))
def test_the_page_of_commands_has_no_option_that_does_not_exist(command):
    known = {option for param in options(command) for option in (*param.opts, *param.secondary_opts)}
    assert options_on_the_page(command) - known - {"--help", "-h"} == set()


def test_every_page_is_in_the_readmes_table():
    table = README.partition("## Where to find what")[2].partition("\n## ")[0]
    assert [name for name in sorted(DOCS) if f"](docs/{name})" not in table] == []


def test_the_readme_stays_short():
    assert README.count("\n") <= 220


def test_the_commands_are_found():
    """A change of the command line's make that hid the commands from this test would silence it."""
    assert {"agenttrace demo", "agenttrace eval run", "agenttrace traces show"} <= set(commands(cli))


def test_what_is_redacted_can_be_chosen_as_the_page_says():
    page = DOCS["redaction.md"]
    assert [word for word in (*LEVELS, *KINDS, "personal") if f'"{word}"' not in page] == []
    tables = {module.__name__.replace(".", "/") + ".py" for module in (names, shapes)}
    assert [table for table in tables if table not in page] == []
    assert f"version {shapes.VERSION} |" in page  # else: make redaction-table
