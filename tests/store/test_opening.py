import os

import pytest

from agenttrace.client import Client
from agenttrace.core.errors import ConfigError
from agenttrace.store import MemoryStore, SQLiteStore, open_store
from agenttrace.tracer import Tracer


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
    ("where", "why"), [("", "got ''"), ("  ", "path"), ("a\0b", "path"), ("sqlite:///a%00b", "path")]
)
def test_what_is_no_path_is_an_error(where, why):
    with pytest.raises(ConfigError, match=why):
        open_store(where)


def test_a_directory_is_an_error_that_proposes_a_file(tmp_path):
    with pytest.raises(ConfigError, match=r"traces\.db"):
        open_store(tmp_path)


class TestAddressesOfSQLite:
    """Read as SQLAlchemy reads them: three slashes, then the path."""

    @pytest.mark.parametrize(
        ("address", "path"),
        [
            ("sqlite:///relative.db", "relative.db"),
            ("sqlite:///deeper/relative.db", "deeper/relative.db"),
            ("SQLite:///relative.db", "relative.db"),
            ("sqlite:////abs/traces.db", "/abs/traces.db"),
            ("sqlite:////abs/with%20a%20space%3F.db", "/abs/with a space?.db"),
            ("sqlite:////abs/a+b#c@d:e.db", "/abs/a+b#c@d:e.db"),
            ("sqlite:////abs/100%.db", "/abs/100%.db"),
            ("sqlite:////abs/%C3%A9\u00e9.db", "/abs/\u00e9\u00e9.db"),
            ("sqlite:////abs/%E9.db", os.fsdecode(b"/abs/\xe9.db")),
            ("sqlite:///memory", "memory"),
        ],
    )
    def test_the_path_stands_behind_three_slashes(self, address, path, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        store = open_store(address)
        assert isinstance(store, SQLiteStore)
        assert store.path == os.path.join(tmp_path, path)

    def test_a_tilde_is_the_home_directory_as_in_any_path(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        assert open_store("sqlite:///~/traces.db").path == str(tmp_path / "traces.db")

    @pytest.mark.parametrize("address", ["sqlite://", "sqlite:///:memory:", ":memory:", "SQLITE://"])
    def test_sqlites_memory_is_the_store_in_memory(self, address):
        assert isinstance(open_store(address), MemoryStore)

    @pytest.mark.parametrize(
        "address",
        [
            "sqlite:///",  # as of a variable that is not set
            "sqlite:traces.db",
            "sqlite:/traces.db",
            "sqlite://traces.db",
            "sqlite://annabel:hunter2@host/traces.db",
            "sqlite:///traces.db?password=hunter2",
        ],
    )
    def test_any_other_form_is_an_error_that_shows_how_to_write_it(self, address):
        with pytest.raises(ConfigError, match=r"sqlite:///relative\.db") as caught:
            open_store(address)
        assert "hunter2" not in str(caught.value)

    def test_they_are_taken_wherever_a_path_is(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("AGENTTRACE_STORE", "sqlite:///a.db")
        assert open_store().path == str(tmp_path / "a.db")
        assert Client(store="sqlite:///b.db").store.path == str(tmp_path / "b.db")
        tracer = Tracer(store="sqlite:///%63.db")
        tracer.observe(len)([1])
        assert tracer.shutdown(timeout=30)
        assert (tmp_path / "c.db").exists()

    def test_a_path_that_is_no_utf8_holds_a_store(self, tmp_path):
        store = open_store(f"sqlite:///{tmp_path}/%FF.db")
        store.save_dataset("qa", "p", [1])
        store.close()
        assert store.load_dataset("qa", "p") == [1]
        assert b"\xff.db" in os.listdir(os.fsencode(tmp_path))


class TestAddressesOfOtherKinds:
    @pytest.mark.parametrize(
        "address",
        [
            "postgresql+psycopg://annabel:hunter2@host:5432/traces?sslmode=require",
            "mysql://host/traces?password=hunter2",
            "ftp://hunter2@host/traces.db",
            "sqlite+aiosqlite:////abs/hunter2.db",
            "oracle://annabel:hunter2@host/\0",
            "://hunter2",
        ],
    )
    def test_they_are_an_error_that_names_what_is_supported_and_tells_no_password(self, address):
        with pytest.raises(ConfigError) as caught:
            open_store(address)
        text = str(caught.value)
        for form in (
            "path",
            "sqlite:///relative.db",
            "sqlite:////absolute.db",
            "'memory'",
            address.split(":")[0],
        ):
            assert form in text
        assert "hunter2" not in text
        assert "annabel" not in text
