"""`help()` of what users hold says something, and in our own words."""

import inspect
from itertools import chain

import pytest
from pydantic import BaseModel

import agenttrace
from agenttrace.store import MemoryStore, SQLiteStore
from agenttrace.tracing.live import LiveSpan, LiveTrace

CLASSES = [value for name in agenttrace.__all__ if inspect.isclass(value := getattr(agenttrace, name))]
HELD = [*CLASSES, SQLiteStore, MemoryStore, LiveSpan, LiveTrace]
FOREIGN = {name for base in (BaseModel, Exception, float) for name in dir(base)}


def members(kind):
    """What a user sees of a class beside what Python and pydantic give every such class."""
    for name in dir(kind):
        if not name.startswith("_") and name not in FOREIGN:
            member = inspect.getattr_static(kind, name)
            if inspect.isroutine(getattr(kind, name)) or isinstance(member, property):
                yield name, getattr(kind, name)


@pytest.mark.parametrize("kind", HELD, ids=lambda kind: kind.__name__)
def test_every_public_method_has_help(kind):
    assert [name for name, member in members(kind) if not inspect.getdoc(member)] == []


def test_making_an_example_is_explained_in_our_own_words():
    text = inspect.getdoc(agenttrace.Example.__init__)
    assert "DatasetError" in text
    assert "ValidationError" not in text


def test_the_signature_of_an_example_shows_its_fields():
    assert set(agenttrace.Example.model_fields) <= set(inspect.signature(agenttrace.Example).parameters)


def test_the_methods_are_found():
    """A change of how methods are found that found none would silence the first test."""
    found = set(chain.from_iterable((name for name, _ in members(kind)) for kind in HELD))
    assert {"set_session_id", "delete_trace", "runs", "save_as", "from_messages", "trace_id"} <= found
