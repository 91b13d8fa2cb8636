import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agenttrace.core.errors import StoreError
from agenttrace.store import SQLiteStore, files


def test_everything_of_a_database_moves_together_and_stays_readable(tmp_path):
    path = str(tmp_path / "t.db")
    for suffix in files.SUFFIXES:
        (tmp_path / f"t.db{suffix}").write_text(suffix)
    moved_to = files.move_aside(path, "corrupt")
    assert moved_to.startswith(path + ".corrupt-")
    assert [Path(moved_to + suffix).read_text() for suffix in files.SUFFIXES] == list(files.SUFFIXES)
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
    (orphan,) = tmp_path.glob("*.orphan-*-wal")
    assert orphan.read_text() == "log"


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_links_and_directories_are_refused(tmp_path, suffix):
    path = str(tmp_path / "t.db")
    os.symlink(tmp_path / "elsewhere", path + suffix)
    with pytest.raises(StoreError, match="symbolic link"):
        files.refuse_links(path)
    os.unlink(path + suffix)
    os.mkdir(path + suffix)
    with pytest.raises(StoreError, match="a directory"):
        files.refuse_links(path)


class TestTheDirectoryOfOurs:
    """What users asked an agent must not be published by a careless ``git add .``."""

    @pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
    def test_git_does_not_see_it(self, tmp_path):
        store = SQLiteStore(tmp_path / ".agenttrace" / "traces.db")
        store.save_dataset("qa", "p", [1])
        store.close()
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        git = ["git", "-C", str(tmp_path)]
        subprocess.run([*git, "init", "-q"], check=True, timeout=60, env=environment)
        status = subprocess.run(
            [*git, "status", "--porcelain", "--untracked-files=all"],
            check=True, capture_output=True, timeout=60, env=environment,
        )  # fmt: skip
        assert status.stdout == b""
        assert (tmp_path / ".agenttrace" / ".gitignore").read_bytes() == b"*\n"

    @pytest.mark.parametrize("name", [".agenttrace", "traces", ".agenttrace/deeper"])
    def test_a_directory_of_the_users_gets_no_file(self, tmp_path, name):
        (tmp_path / ".agenttrace").mkdir()
        files.make_directory(str(tmp_path / name / "traces.db"))
        assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []
        assert (tmp_path / name).is_dir()

    def test_a_directory_of_another_name_gets_no_file(self, tmp_path):
        files.make_directory(str(tmp_path / "traces" / "traces.db"))
        assert list((tmp_path / "traces").iterdir()) == []

    def test_what_the_user_wrote_there_stays_as_it_is(self, tmp_path):
        (tmp_path / ".agenttrace").mkdir()
        (tmp_path / ".agenttrace" / ".gitignore").write_text("mine")
        files.make_directory(str(tmp_path / ".agenttrace" / "traces.db"))
        assert (tmp_path / ".agenttrace" / ".gitignore").read_text() == "mine"

    def test_a_file_in_its_place_is_an_error(self, tmp_path):
        (tmp_path / ".agenttrace").write_text("mine")
        with pytest.raises(FileExistsError):
            files.make_directory(str(tmp_path / ".agenttrace" / "traces.db"))

    def test_many_who_make_it_at_once_write_one_file(self, tmp_path):
        path = str(tmp_path / ".agenttrace" / "traces.db")
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(files.make_directory, [path] * 64))
        assert (tmp_path / ".agenttrace" / ".gitignore").read_text() == "*\n"

    @pytest.mark.parametrize("error", [PermissionError, OSError])
    def test_the_store_works_where_the_file_cannot_be_written(self, tmp_path, monkeypatch, error):
        def refuse(*args, **kwargs):
            raise error("no")

        monkeypatch.setattr(Path, "open", refuse)
        store = SQLiteStore(tmp_path / ".agenttrace" / "traces.db")
        assert store.save_dataset("qa", "p", [1]) == 1
        assert store.load_dataset("qa", "p") == [1]
        store.close()


def test_what_lies_beside_says_nothing_of_a_file_that_is_known_to_be_another(tmp_path):
    (tmp_path / "t.db").write_text("my notes")
    (tmp_path / "t.db-wal").write_text("log")
    path = str(tmp_path / "t.db")
    files.refuse_foreign_file(path)
    files.refuse_foreign_file(path, files.identity(path))
    with pytest.raises(StoreError, match="another kind"):
        files.refuse_foreign_file(path, files.identity(path + "-wal"))
