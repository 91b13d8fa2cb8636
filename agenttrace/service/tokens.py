"""Who may send spans, and to which project: a file of tokens, read again when it has changed."""

from __future__ import annotations

import hmac
import os
import re
import stat
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from agenttrace.core.errors import ConfigError
from agenttrace.process.said_once import SaidOnce
from agenttrace.receiver.outcome import Outcome

ANY_PROJECT = "*"
"""In the place of a project: spans go to the one that they name."""
_LEAST = 16
_LOOK_SECONDS = 1.0
_MOST_BYTES = 1_000_000
_LINE = re.compile(r"(?P<token>[!-~]+)\s+(?P<project>\S.*)")
_NEEDED = "this needs a token: authorization: Bearer …"
_UNKNOWN = "this token is not known here"


class Tokens:
    """The tokens of a file: on each line one, and behind it the project that its spans go to.

    ``*`` in the place of a project leaves the choice to the spans; lines that begin with ``#`` say nothing.
    A changed file is read within a second; while it cannot be read, what it said before goes on.

    Raises:
        ConfigError: the file cannot be read, others than its owner may read it, or a line of it is no token.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._warnings = SaidOnce()
        self._stamp, self._projects = self._read()
        self._look_again_at = time.monotonic() + _LOOK_SECONDS

    def admit(self, headers: Mapping[str, str]) -> str | Outcome | None:
        """The project that the spans of a request go to, None for the one that they name; or a refusal."""
        sent = _sent(headers)
        if not sent:
            return Outcome(401, _NEEDED)
        match: list[str] = []
        for token, project in self._current().items():  # all of them: how long it takes tells nothing
            if hmac.compare_digest(token.encode(), sent):
                match.append(project)
        if not match:
            return Outcome(401, _UNKNOWN)
        return None if match[0] == ANY_PROJECT else match[0]

    def _current(self) -> Mapping[str, str]:
        if time.monotonic() < self._look_again_at:
            return self._projects
        with self._lock:
            self._look_again_at = time.monotonic() + _LOOK_SECONDS
            try:
                if _stamp(self._path) != self._stamp:
                    self._stamp, self._projects = self._read()
            except (ConfigError, OSError) as error:
                self._warnings.warn(str(error), "the tokens that were known go on", error)
        return self._projects

    def _read(self) -> tuple[object, Mapping[str, str]]:
        try:
            stamp, mode = _stamp(self._path), os.stat(self._path).st_mode
            with self._path.open(encoding="utf-8") as file:
                text = file.read(_MOST_BYTES)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"the file of tokens {self._path} cannot be read: {error}") from None
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(f"others may read the file of tokens {self._path}; run: chmod 600 {self._path}")
        projects: dict[str, str] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            match = _LINE.fullmatch(line.strip())
            if match is None or len(match["token"]) < _LEAST:
                raise ConfigError(
                    f"{self._path}:{number}: wanted a token of at least {_LEAST} characters and a project, "
                    "as in 'TOKEN shop', or 'TOKEN *' for the projects that spans name; make a token with: "
                    "python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"
                )
            if match["token"] in projects:
                raise ConfigError(f"{self._path}:{number}: this token stands on an earlier line, too")
            projects[match["token"]] = match["project"]
        if not projects:
            raise ConfigError(f"there is no token in {self._path}: give a line such as 'TOKEN shop'")
        return stamp, projects


def _stamp(path: Path) -> object:
    status = os.stat(path)
    return status.st_ino, status.st_mtime_ns, status.st_size


class OneToken:
    """One token for everything, or none where everyone on this machine may send."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    def admit(self, headers: Mapping[str, str]) -> str | Outcome | None:
        """None, for the project that spans name; or a refusal."""
        if self._token is None:
            return None
        sent = _sent(headers)
        if not sent:
            return Outcome(401, _NEEDED)
        return None if hmac.compare_digest(self._token.encode(), sent) else Outcome(401, _UNKNOWN)


def _sent(headers: Mapping[str, str]) -> bytes:
    """The token of a request; nothing where it has none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip().encode(errors="replace") if scheme.lower() == "bearer" else b""
