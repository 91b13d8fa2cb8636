"""What a signal handler raises inside recording reaches the user, and the context is as it was."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorder_faults import scaled

CHILDREN = Path(__file__).parent
KINDS = [
    *("empty", "large", "opened", "realistic", "raising"),
    *("generator", "async", "async generator", "block", "capture"),
]
pytestmark = pytest.mark.faults


def run_child(file, *arguments, timeout=600, **options):
    child = subprocess.run(
        [sys.executable, str(CHILDREN / file), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        **options,
    )
    assert child.returncode == 0, child.stderr
    return child


@pytest.mark.parametrize("kind", KINDS)
def test_the_exception_of_an_alarm_is_never_lost_nor_the_context(kind):
    """Scenario 55: a time limit that a signal handler raises, in loops that record.

    Where Python itself swallows it (inside ``__del__``, a callback of the garbage collector, another
    interpreter's C code) nobody can help; none of ours is on that list.
    """
    child = run_child("interrupted_child.py", kind, scaled(60, 400))
    lost, leaked, flushed, errors = child.stdout.split()
    assert (lost, leaked, flushed, errors) == ("0", "0", "True", "0"), child.stderr


@pytest.mark.parametrize("stack", ["256", "main"], ids=["in a thread of 256 KB", "on the main thread"])
@pytest.mark.parametrize("limit", [1_000, 50_000, 1_000_000])
def test_no_value_uses_up_the_stack(stack, limit):
    """Scenario 30: whatever the recursion limit is."""
    child = run_child("stack_child.py", limit, stack)
    assert child.stdout.split() == ["recorded"]
