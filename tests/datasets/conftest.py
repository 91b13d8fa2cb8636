from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agenttrace.core.errors import DatasetError

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Put content into a file of the given name."""

    def put(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


@pytest.fixture
def fails(write: Write) -> Callable[..., DatasetError]:
    """The error of reading a file with the given content; its text begins with the file's path."""

    def run(read: Callable[[Path], object], name: str, content: str | bytes) -> DatasetError:
        path = write(name, content)
        with pytest.raises(DatasetError) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))
        assert caught.value.path == str(path)
        return caught.value

    return run
