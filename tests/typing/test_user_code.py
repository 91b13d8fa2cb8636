"""Code as users write it, put before a type checker.

mypy is run here; pyright looks at the same files in ``make types``.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def mypy(*files):
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, files)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_documented_uses_are_accepted_and_wrong_uses_rejected():
    """The wrong ones are accepted only through their marks, and no mark may be superfluous."""
    done = mypy(HERE / "uses.py", HERE / "wrong_uses.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_wrong_use_is_rejected_where_it_is_not_marked(tmp_path):
    """Without the marks there is an error in each of the marked lines, and in no other."""
    text = (HERE / "wrong_uses.py").read_text()
    bare = tmp_path / "bare_uses.py"
    bare.write_text(re.sub(r"  # type: ignore\[[^\]]+\]", "", text))
    marked = {n for n, line in enumerate(text.splitlines(), 1) if "# type: ignore" in line}
    done = mypy(bare)
    rejected = {int(line) for line in re.findall(r"bare_uses\.py:(\d+): error", done.stdout)}
    assert rejected == marked
    assert len(marked) > 25


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "agenttrace" / "py.typed").exists()
