"""What only Unix has is never needed.

What Windows lacks is taken away here. That shows that no module asks for it, not that all of Windows works.
"""

import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("portable_child.py")
LOCKS = ["fcntl"]
FORKS = ["os.fork", "os.register_at_fork", "os.forkpty"]
SIGNALS = ["signal.SIGALRM", "signal.SIGPROF", "signal.SIGCHLD", "signal.setitimer", "signal.pthread_sigmask"]
FLAGS = ["os.O_NOFOLLOW", "os.O_CLOEXEC", "socket.MSG_NOSIGNAL", "os.getuid", "resource", "termios", "pwd"]


def run(path, absent):
    """What the script printed; it may write no word on its standard error."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", CHILD, path, *absent],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-3000:]
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="nothing to take away")
@pytest.mark.parametrize(
    "absent",
    [
        pytest.param([*LOCKS, *FORKS, *SIGNALS, *FLAGS], id="all"),
        pytest.param([*FORKS, *SIGNALS, *FLAGS], id="all but locks"),
        pytest.param(LOCKS, id="locks"),
    ],
)
def test_every_module_works_where_the_system_lacks(absent, tmp_path):
    lines = run(tmp_path / "traces.db", absent)
    assert lines[-1] == "done"
    assert ("searched by: a child" in lines) == ("signal.setitimer" not in absent)
    assert (tmp_path / "traces.db.lock").exists() == ("fcntl" not in absent)
