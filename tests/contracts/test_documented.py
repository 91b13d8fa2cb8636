"""What can be used is named where users look for it."""

import inspect
from pathlib import Path

import click
import pytest

import agenttrace.judges as judges
import agenttrace.scorers as scorers
from agenttrace.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
DOCS = {path.name: path.read_text() for path in (ROOT / "docs").glob("*.md")}
EVERYTHING = "\n".join([*DOCS.values(), (ROOT / "README.md").read_text()])


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
def test_every_command_is_documented(command):
    assert command in EVERYTHING


def test_the_commands_are_found():
    """A change of the command line's make that hid the commands from this test would silence it."""
    assert {"agenttrace demo", "agenttrace eval run", "agenttrace traces show"} <= set(commands(cli))
