"""Whether descriptors are still those of a store's files."""

import os

import pytest

from agenttrace.core.errors import StoreError
from agenttrace.store import SQLiteStore, descriptors
from agenttrace.store.connection import read
from agenttrace.store.files import identity

pytestmark = pytest.mark.skipif(
    not descriptors.all_descriptors(), reason="the system does not list descriptors"
)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.db")


def opened(path):
    return os.open(path, os.O_RDWR | os.O_CREAT)


def test_those_that_were_opened_since_are_found_and_noticed_when_they_are_closed(path):
    before = descriptors.all_descriptors()
    number = opened(path)
    ours = descriptors.opened_since(before, path)
    assert ours == {number: identity(path)}
    assert descriptors.are_open(ours)
    os.close(number)
    assert not descriptors.are_open(ours)


def test_a_number_that_another_file_got_is_not_ours(path, tmp_path):
    before = descriptors.all_descriptors()
    number = opened(path)
    ours = descriptors.opened_since(before, path)
    other = opened(tmp_path / "other")
    os.dup2(other, number)
    os.close(other)
    assert not descriptors.are_open(ours)
    os.close(number)


def test_a_reader_that_came_and_went_meanwhile_is_no_loss(path):
    before = descriptors.all_descriptors()
    number, readers = opened(path), opened(path)
    ours = descriptors.opened_since(before, path)
    os.close(readers)
    assert len(ours) == 2
    assert descriptors.are_open(ours)
    os.close(number)


def test_a_file_that_this_process_cannot_use_is_not_read_either(path):
    store = SQLiteStore(path)
    store.save_dataset("d", "p", [1])
    store.close()
    lost = identity(path)
    descriptors.give_up(lost)
    try:
        with pytest.raises(StoreError, match="closed the descriptors"):
            read(path, 1.0, lambda db: 1, 0)
    finally:
        descriptors._lost.discard(lost)
    assert read(path, 1.0, lambda db: 1, 0) == 1
