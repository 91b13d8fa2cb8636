"""A PostgreSQL server of the tests' own: in a folder of its own, on loopback, ended with them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

_NOBODY = 65_534
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "max_connections": "60",
    "shared_buffers": "128MB",
    "log_min_messages": "fatal",
    "autovacuum_naptime": "10",
}


def programs() -> Path | None:
    """The folder of the server's programs: Debian's newest, or those on the path; None without any."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: int(one.parts[-3]))
    if installed:
        return installed[-1].parent
    found = shutil.which("initdb")
    return Path(found).parent if found else None


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class PostgresServer:
    """A server in a folder of its own. Where root starts it it runs as nobody: it refuses to be root."""

    def __init__(self) -> None:
        folder = programs()
        assert folder is not None
        self._programs = folder
        self.folder = Path(tempfile.mkdtemp(prefix="agenttrace-postgres-"))
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._user: dict[str, Any] = {}
        if os.getuid() == 0:
            os.chown(self.folder, _NOBODY, _NOBODY)
            self._user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        options = ["-D", str(self.folder / "data"), "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(
            [str(folder / "initdb"), *options, "--locale=C.UTF-8"],
            check=True,
            capture_output=True,
            timeout=120,
            cwd=self.folder,
            **self._user,
        )
        self.start()

    @property
    def address(self) -> str:
        """The address of its database."""
        return f"postgresql://tester:not-asked-for@127.0.0.1:{self.port}/postgres"

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        self._process = subprocess.Popen(
            [
                *(str(self._programs / "postgres"), "-D", str(self.folder / "data")),
                *("-p", str(self.port), "-k", str(self.folder), *settings),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            **self._user,
        )
        self.wait()

    def wait(self, seconds: float = 60) -> None:
        """Wait until it answers."""
        import psycopg

        until = time.monotonic() + seconds
        while True:
            try:
                psycopg.connect(self.address, connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                assert time.monotonic() < until, "the server does not answer"
                time.sleep(0.05)

    def kill(self) -> None:
        """End it as ``kill -9`` does, with all its processes."""
        assert self._process is not None
        children = self._children()
        self._process.kill()
        self._process.wait(60)
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        """End it in order: at once, undoing what is open."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60)

    def freeze(self) -> None:
        """Let it and what it has begun answer nobody."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        for pid in [self.pid, *self._children()]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def _children(self) -> list[int]:
        try:
            return list(map(int, Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()))
        except FileNotFoundError:  # it has ended
            return []

    def remove(self) -> None:
        """End it, and remove its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
