"""The reader's token: a secret in a file that only programs of the same user can read."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from agenttrace.core.errors import ConfigError

_LEAST = 16


def own_token() -> str:
    """The token of this user, which is made when it is first asked for.

    It lies in ``~/.local/state/agenttrace/token`` (in ``XDG_STATE_HOME`` where that is set).

    Raises:
        ConfigError: the file cannot be read or made, or others may read it.
    """
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    path = Path(state) / "agenttrace" / "token"
    try:
        if not os.path.lexists(path):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _make(path)
    except OSError as error:
        raise ConfigError(
            f"the token of the viewer cannot be kept in {path}: {error.strerror}; "
            "give --no-token to look without one"
        ) from None
    return read_token(path)


def _make(path: Path) -> None:
    """Make the file with a new token in it in one step: another process finds none, or a whole one."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(file, "w") as writer:
            writer.write(secrets.token_urlsafe(32) + "\n")
        try:
            os.link(new, path)
        except FileExistsError:  # another process was quicker
            pass
        except OSError:  # a file system without links
            os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def read_token(path: str | Path) -> str:
    """The token in a file.

    Raises:
        ConfigError: it cannot be read, others than its owner may read it, or it is too short.
    """
    try:
        mode = os.stat(path).st_mode
        text = Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token file {path} cannot be read: {error}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"others may read the token file {path}; run: chmod 600 {path}")
    if len(text) < _LEAST or not text.isascii() or not text.isprintable() or " " in text:
        raise ConfigError(
            f"the token in {path} is no word of at least {_LEAST} characters; make one with: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
        )
    return text
