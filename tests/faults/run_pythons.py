"""Run a small suite with every Python from 3.11 on that is found here, each in an environment of its own.

``make pythons`` runs this. Looked for are 3.11 to 3.14, and the free-threaded builds of 3.13 and 3.14: on the
path, and where pyenv and uv keep them. Those that are not found are named. Exit code 1 where a suite fails,
or 3.11 is not there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
WANTED = ("3.11", "3.12", "3.13", "3.14", "3.13t", "3.14t")
NEEDED = ("3.11",)
PACKAGES = ("pytest", "hypothesis", "pytest-randomly")
SUITE = (
    "tests/tracing/test_pipeline.py",
    "tests/tracing/test_threads.py",
    "tests/tracing/test_freeze.py",
    "tests/store/test_sqlite.py",
    "tests/store/test_store_contract.py",
    "tests/faults/test_recorder_exit.py",
    "tests/faults/test_recorder_interpreters.py",
    "tests/faults/test_recorder_processes.py",
    "tests/faults/test_store_kill.py",
)
QUIET = ("-Wignore::ResourceWarning", "-Wignore::pytest.PytestUnraisableExceptionWarning")
"""From 3.13 on, a connection that a test leaves to the collector is a warning."""

MOST_SECONDS = 900
SAYS = (
    "import sys, sysconfig; free = sysconfig.get_config_var('Py_GIL_DISABLED'); "
    "print('%d.%d%s' % (*sys.version_info[:2], 't' if free else ''), sys.version.split()[0])"
)


def candidates(version):
    """Where an interpreter of this version may be."""
    yield Path(sys.executable)
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield Path(on_path)
    home = Path.home()
    kept = (
        Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions",
        Path(os.environ.get("UV_PYTHON_INSTALL_DIR", home / ".local" / "share" / "uv" / "python")),
    )
    for place in kept:
        yield from sorted(place.glob(f"*{version.rstrip('t')}*/bin/python3"), reverse=True)


def interpreter(version):
    """``(path, whole version)`` of the first that says it is this version, or None."""
    for path in candidates(version):
        try:
            said = subprocess.run([path, "-c", SAYS], capture_output=True, text=True, timeout=30, check=True)
        except (OSError, subprocess.SubprocessError):  # a shim that leads nowhere
            continue
        name, whole = said.stdout.split()
        if name == version:
            return path, whole
    return None


def run_suite(python, place):
    """``passed``, or the last line of what went wrong."""
    steps = (
        [python, "-m", "venv", place],
        [place / "bin" / "python", "-m", "pip", "install", "--quiet", str(ROOT), *PACKAGES],
        [place / "bin" / "python", "-m", "pytest", "-q", "--tb=short", *QUIET, *SUITE],
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    for step in steps:
        try:
            done = subprocess.run(
                step, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=MOST_SECONDS
            )
        except subprocess.TimeoutExpired:
            return f"not done within {MOST_SECONDS} s"
        if done.returncode:
            print(done.stdout[-6_000:] + done.stderr[-2_000:], file=sys.stderr)
            return f"failed: {(done.stdout + done.stderr).strip().splitlines()[-1][:150]}"
    return done.stdout.strip().splitlines()[-1]


def main():
    """Find them, run them, print a table."""
    print("| Python | version | suite |\n|---|---|---|", flush=True)
    bad = 0
    for version in WANTED:
        found = interpreter(version)
        if found is None:
            bad += version in NEEDED
            print(f"| {version} | not found | not run |", flush=True)
            continue
        with tempfile.TemporaryDirectory() as directory:
            result = run_suite(found[0], Path(directory) / "venv")
        bad += "failed" in result or "not done" in result
        print(f"| {version} | {found[1]} | {result} |", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
