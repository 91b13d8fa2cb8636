"""An agent that ends the process while its examples run ends it with the exit code of a broken run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from agenttrace.cli.main import BROKEN


@contextmanager
def told_early_end() -> Iterator[None]:
    """In the block, ``os._exit`` of this process says on stderr that the run is not done, and leaves with
    `BROKEN`: its own 0 would say that all passed. Processes that are forked meanwhile leave as ever."""
    leave, own = os._exit, os.getpid()

    def leave_and_tell(status: int) -> NoReturn:
        if os.getpid() != own:
            leave(status)
        problem = f"os._exit({status}) ended the process before its evaluation was done"
        os.write(2, f"Error: {problem}: let the agent raise instead\n".encode())
        leave(BROKEN)

    os._exit = leave_and_tell
    try:
        yield
    finally:
        os._exit = leave
