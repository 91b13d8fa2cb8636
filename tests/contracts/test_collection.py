"""Every process collects the same tests under the same names, so that several can share them out."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def collecting(hash_seed: str) -> subprocess.Popen[str]:
    """A process that prints the name of every test, in the order of the files."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", "tests"],
        cwd=ROOT,
        env={**environment, "PYTHONHASHSEED": hash_seed},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def names(process: subprocess.Popen[str]) -> list[str]:
    output, _ = process.communicate(timeout=480)
    assert process.returncode == 0, output[-3000:]
    return [line for line in output.splitlines() if "::" in line]


def test_what_is_collected_depends_on_no_hash_seed_address_or_time():
    """No name may hold the order of a set, where an object lies, or when it was made."""
    first = collecting("1")
    time.sleep(1.1)  # a time in a name, in seconds, is another one then
    second = collecting("2")
    try:
        expected, others = names(first), names(second)
    finally:
        first.kill()
        second.kill()
    assert len(expected) > 1_000
    assert [pair for pair in zip(expected, others, strict=True) if pair[0] != pair[1]] == []
    assert [name for name in expected if re.search(r" at 0x[0-9a-fA-F]{6}", name)] == []
    assert len(set(expected)) == len(expected)


def test_every_module_of_fault_tests_bears_their_marker():
    """Else `make test` would run them, and CI twice."""
    modules = sorted((ROOT / "tests" / "faults").glob("test_*.py"))
    assert modules
    assert [m.name for m in modules if "\npytestmark = pytest.mark.faults\n" not in m.read_text()] == []
