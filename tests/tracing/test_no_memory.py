"""Without memory, in a process of its own: what is refused there is refused to all of its threads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ALONE = Path(__file__).with_name("no_memory_alone.py")


def test_a_call_that_succeeds_without_us_succeeds_where_there_is_no_memory_left_to_record_it():
    pytest.importorskip("_testcapi", reason="this Python has no module that refuses memory")
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    child = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=short", str(ALONE)],
        capture_output=True,
        text=True,
        timeout=300,
        env=alone,
    )
    assert child.returncode == 0, child.stdout + child.stderr
    assert " passed" in child.stdout
