import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.store import MemoryStore, SQLiteStore, open_store


def test_a_path_is_a_file_and_memory_is_memory(tmp_path):
    assert isinstance(open_store("memory"), MemoryStore)
    store = open_store(tmp_path / "x.db")
    assert isinstance(store, SQLiteStore)
    assert store.path == str(tmp_path / "x.db")


def test_none_asks_the_environment_then_takes_the_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AGENTTRACE_STORE", raising=False)
    assert open_store().path == str(tmp_path / ".agenttrace" / "traces.db")
    monkeypatch.setenv("AGENTTRACE_STORE", "memory")
    assert isinstance(open_store(), MemoryStore)
    monkeypatch.setenv("AGENTTRACE_STORE", "elsewhere.db")
    assert open_store().path == str(tmp_path / "elsewhere.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("where", "why"), [("", "got ''"), ("  ", "path"), ("a\0b", "path"), ("postgres://x/y", "address")]
)
def test_what_is_no_path_is_an_error(where, why):
    with pytest.raises(ConfigError, match=why):
        open_store(where)


def test_a_directory_is_an_error_that_proposes_a_file(tmp_path):
    with pytest.raises(ConfigError, match=r"traces\.db"):
        open_store(tmp_path)
