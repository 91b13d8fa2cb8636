"""The public surface changes only on purpose."""

import ast
from pathlib import Path

import pytest

import agenttrace

SNAPSHOT = Path(__file__).with_name("public_names.txt")


def test_the_front_door_is_what_the_snapshot_says():
    """A new public name comes with docs, a test, a line in the snapshot."""
    assert sorted(agenttrace.__all__) == SNAPSHOT.read_text().split()


def test_every_public_name_is_there_and_has_a_docstring_or_is_a_value():
    values = {name: getattr(agenttrace, name) for name in agenttrace.__all__}
    assert [name for name, value in values.items() if callable(value) and not value.__doc__] == []


def test_the_names_for_type_checkers_are_the_names_at_run_time():
    """The imports under TYPE_CHECKING and the lazy table list the same names."""
    tree = ast.parse(Path(agenttrace.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen | {"__version__"} == set(agenttrace.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="obsrve"):
        agenttrace.obsrve  # noqa: B018 - the look-up is what is tested
