"""Every process collects the same tests under the same names, so that several can share them out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def collected_by_another_process() -> list[str]:
    """The names of all tests as a process with another seed of hashes prints them."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    seed = "2" if environment.get("PYTHONHASHSEED") == "1" else "1"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", "tests"],
        cwd=ROOT,
        env={**environment, "PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=480,
    )
    assert run.returncode == 0, run.stdout[-3000:]
    return [line for line in run.stdout.splitlines() if "::" in line]


def test_what_is_collected_depends_on_no_hash_seed_address_or_time(request: pytest.FixtureRequest):
    """No name may hold the order of a set, where an object lies, or when it was made.

    Compared with what this process has collected of them: all, where all tests run.
    """
    names = collected_by_another_process()
    assert len(names) > 1_000
    assert [name for name in names if re.search(r" at 0x[0-9a-fA-F]{6}", name)] == []
    assert len(set(names)) == len(names)
    own = {item.nodeid for item in request.session.items}
    assert sorted(own - set(names)) == []


@pytest.mark.parametrize("marker", ["faults", "hypothesis", "browser"])
def test_make_finds_every_file_in_which_a_marker_is_borne(request: pytest.FixtureRequest, marker: str):
    """Of the tests that this process has collected."""
    variable = {"hypothesis": "PROPERTIES"}.get(marker, marker.upper())
    searched = re.search(rf"^{variable} = .* '([^']+)' tests\)$", (ROOT / "Makefile").read_text(), re.M)
    assert searched is not None
    files = {item.path for item in request.session.items if item.get_closest_marker(marker)}
    assert [file.name for file in files if not re.search(searched[1], file.read_text(), re.M)] == []


def test_every_module_of_fault_tests_bears_their_marker():
    """Else `make test` would run them, and CI twice."""
    modules = sorted((ROOT / "tests" / "faults").glob("test_*.py"))
    assert modules
    assert [m.name for m in modules if "\npytestmark = pytest.mark.faults\n" not in m.read_text()] == []
