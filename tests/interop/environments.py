"""An environment of its own for each package that is tried, and the tables of ``docs/interop.md``."""

from __future__ import annotations

import re
import subprocess
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "interop.md"
MOST_SECONDS = 300.0
"""How long one installation may take."""


def installed(place: Path, requirements: Sequence[str]) -> Path:
    """The environment's folder of programs; made, and the newest versions installed, where it is not there.

    Raises:
        subprocess.SubprocessError: the installation fails, or takes too long.
    """
    ready = place / ".installed"
    if not ready.exists():
        venv.create(place, with_pip=True)
        pip = [str(place / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        command = [*pip, "--prefer-binary", *requirements]
        subprocess.run(command, check=True, timeout=MOST_SECONDS, capture_output=True, text=True)
        ready.touch()
    return place / "bin"


def version_in(programs: Path, package: str) -> str:
    """The version of a package that is installed there."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run(
        [str(programs / "python"), "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def write_table(name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Put the rows into the page, between the table's two marks; those of another first cell stay."""
    text = PAGE.read_text()
    mark = re.escape(f"<!-- {name} -->\n")
    head, table, tail = re.split(rf"(?<={mark})(.*?)(?=<!-- end -->)", text, maxsplit=1, flags=re.DOTALL)
    first_cells = {row[0] for row in rows}
    kept = [line for line in table.splitlines()[2:] if line.split("|")[1].strip() not in first_cells]
    lines = [f"| {' | '.join(row)} |" for row in rows] + kept
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header), *sorted(lines, key=str.lower)]
    PAGE.write_text(head + "\n".join(lines) + f"\n{tail}")
