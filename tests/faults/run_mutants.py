"""Break each protection in a copy of the tree and run the tests that must notice; print which did.

``make mutants`` runs this; ``--only WORD …`` takes those with such a word in name or file. The mutants
stand in ``mutants.toml``: a file, the text to replace (which stands there once), the text that takes its
place, the tests that must fail then. A mutant whose text is no longer there, or whose tests do not run, is an
error. Exit code 1 for survivors and errors.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TABLE = HERE / "mutants.toml"

MOST_SECONDS = 120
"""For the tests of one mutant. Those that hang have noticed it, too."""

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", "*.pyc", ".hypothesis", ".mypy_cache", ".ruff_cache", "*.db"
)


class NotThere(Exception):
    """The text that a mutant replaces does not stand once in its file."""


@dataclass(frozen=True)
class Mutant:
    """One way to break a protection, with the tests that must notice it."""

    name: str
    scenarios: tuple[int, ...]
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self, text: str) -> str:
        """The file's text, broken."""
        count = text.count(self.old)
        if count != 1:
            raise NotThere(f"the text to replace stands {count} times in {self.file}")
        return text.replace(self.old, self.new)


def mutants(table=TABLE):
    """All mutants of the table."""
    rows = tomllib.loads(table.read_text(encoding="utf-8"))["mutant"]
    return [
        Mutant(
            row["name"],
            tuple(row["scenarios"]),
            row["file"],
            row["old"].strip("\n"),
            row["new"].strip("\n"),
            tuple(row["tests"]),
        )
        for row in rows
    ]


def run_tests(tree, tests, seconds=MOST_SECONDS):
    """``(outcome, words)``: *passed*, *failed* with the first test that did, or *broken*."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    child = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no", "-rfE", *tests],
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # what a hanging test has started ends with it
    )
    try:
        out, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return "failed", f"hangs beyond {seconds} s"
    said = [line for line in out.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if child.returncode == 0:
        return ("broken", "its tests were skipped") if " passed" not in out else ("passed", "")
    if child.returncode == 1 and said:
        return "failed", said[0].split("::")[-1].split(" - ")[0]
    if child.returncode < 0:
        return "failed", f"ends by signal {-child.returncode}"
    return "broken", (said or out.splitlines() or [""])[-1][:200]


def try_mutant(tree, mutant):
    """``(verdict, words)`` of one mutant in a copy of the tree, which is then as it was."""
    path = tree / mutant.file
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(mutant.applied(text), encoding="utf-8")
    except NotThere as error:
        return "error", str(error)
    try:
        outcome, words = run_tests(tree, mutant.tests)
    finally:
        path.write_text(text, encoding="utf-8")
    return {"passed": ("survived", ""), "failed": ("killed", words), "broken": ("error", words)}[outcome]


def main(arguments=None):
    """Try the mutants one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[""], help="words of the names or files to try")
    only = parser.parse_args(arguments).only
    wanted = [one for one in mutants() if any(word in one.name or word in one.file for word in only)]
    started, verdicts = time.monotonic(), []
    with tempfile.TemporaryDirectory() as directory:
        tree = Path(directory) / "tree"
        shutil.copytree(ROOT, tree, ignore=LEFT_OUT, symlinks=True)
        tests = sorted({test for one in wanted for test in one.tests})
        outcome, words = run_tests(tree, tests, MOST_SECONDS * 10)
        if outcome != "passed":
            print(f"the tests do not pass as the tree is: {words}")
            return 1
        print("| mutant | scenarios | verdict | by |\n|---|---|---|---|")
        for one in wanted:
            verdict, words = try_mutant(tree, one)
            verdicts.append(verdict)
            print(f"| {one.name} | {', '.join(map(str, one.scenarios))} | {verdict} | {words} |", flush=True)
    counts = ", ".join(f"{verdicts.count(each)} {each}" for each in ("killed", "survived", "error"))
    print(f"\n{len(wanted)} mutants: {counts}; {time.monotonic() - started:.0f} s")
    return 0 if verdicts == ["killed"] * len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
