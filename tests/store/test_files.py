import os
from pathlib import Path

import pytest

from agenttrace.core.errors import StoreError
from agenttrace.store import files


def test_everything_of_a_database_moves_together_and_stays_readable(tmp_path):
    path = str(tmp_path / "t.db")
    for side in files.SIDES:
        (tmp_path / f"t.db{side}").write_text(side)
    kept = files.move_aside(path, "corrupt")
    assert kept.startswith(path + ".corrupt-")
    assert [Path(kept + side).read_text() for side in files.SIDES] == list(files.SIDES)
    assert files.move_aside(path, "corrupt") is None


def test_two_files_moved_in_one_second_keep_both(tmp_path):
    path = tmp_path / "t.db"
    names = set()
    for _ in range(3):
        path.write_text("x")
        names.add(files.move_aside(str(path), "corrupt"))
    assert len(names) == 3
    assert all(os.path.exists(name) for name in names)


def test_a_log_without_its_database_is_not_read_into_a_new_one(tmp_path):
    (tmp_path / "t.db-wal").write_text("log")
    files.create_private(str(tmp_path / "t.db"))
    assert not (tmp_path / "t.db-wal").exists()
    (kept,) = tmp_path.glob("*.orphan-*-wal")
    assert kept.read_text() == "log"


@pytest.mark.parametrize("side", files.SIDES)
def test_links_and_directories_are_refused(tmp_path, side):
    path = str(tmp_path / "t.db")
    os.symlink(tmp_path / "elsewhere", path + side)
    with pytest.raises(StoreError, match="symbolic link"):
        files.refuse_links(path)
    os.unlink(path + side)
    os.mkdir(path + side)
    with pytest.raises(StoreError, match="a directory"):
        files.refuse_links(path)
