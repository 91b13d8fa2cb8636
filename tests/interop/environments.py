"""An environment of its own for each package that is tried, and the tables of ``docs/interop.md``."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "interop.md"
MOST_SECONDS = 300.0
"""How long one installation may take."""


def installed(place: Path, requirements: Sequence[str], node_packages: Sequence[str] = ()) -> Path:
    """The environment's folder of programs; made, and the newest versions installed, where it is not there.

    uv installs where it is on the path: it takes a tenth of pip's time. Packages for Node are put
    beside, as ``node_modules``; their install scripts do not run.

    Raises:
        subprocess.SubprocessError: the installation fails, or takes too long.
    """
    ready, uv = place / ".installed", shutil.which("uv")
    if not ready.exists():
        venv.create(place, with_pip=uv is None)
        python = str(place / "bin" / "python")
        command = [uv, "pip", "install", "--quiet", "--python", python, *requirements]
        if uv is None:
            options = ["--quiet", "--disable-pip-version-check", "--prefer-binary"]
            command = [python, "-m", "pip", "install", *options, *requirements]
        _install(command, place)
        if node_packages:
            (place / "package.json").write_text("{}")
            _install(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *node_packages], place)
        ready.touch()
    return place / "bin"


def _install(command: Sequence[str], place: Path) -> None:
    subprocess.run(command, check=True, cwd=place, timeout=MOST_SECONDS, capture_output=True, text=True)


@contextmanager
def place_for(name: str, environments: Path | None) -> Iterator[Path]:
    """Where an environment is: kept in the folder given, else removed with all in it."""
    if environments is not None:
        yield environments / name
        return
    place = Path(tempfile.mkdtemp(prefix="agenttrace-interop-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def nowhere_else() -> dict[str, str]:
    """Variables for a program that may reach this machine alone, and sends no news of itself."""
    nowhere = "http://127.0.0.1:9"
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("OTEL_", "PYTEST_"))}
    return {
        **ours,
        **dict.fromkeys(["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"], nowhere),
        **dict.fromkeys(["http_proxy", "https_proxy", "all_proxy"], nowhere),
        **dict.fromkeys(["NO_PROXY", "no_proxy"], "127.0.0.1,localhost"),
        **dict.fromkeys(["DO_NOT_TRACK", "CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING"], "true"),
        **dict.fromkeys(["ANONYMIZED_TELEMETRY", "HAYSTACK_TELEMETRY_ENABLED"], "false"),
        "CREWAI_TRACING_ENABLED": "false",
        "LITELLM_LOCAL_MODEL_COST_MAP": "true",
        "ENABLE_TOOL_SEARCH": "false",  # Claude Code would look for tools before it offers them
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def version_in(programs: Path, package: str) -> str:
    """The version of a package that is installed there."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run(
        [str(programs / "python"), "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def node_version_in(place: Path, package: str) -> str:
    """The version of a package for Node that is installed there."""
    version: str = json.loads((place / "node_modules" / package / "package.json").read_text())["version"]
    return version


def last_line(text: str) -> str:
    """The line that says what went wrong: the last that names an error, else the last at all."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"(Error: )?[\w.]*(Error|Failed|Exception)\b", line)]
    return (named or lines or ["ended without a word"])[-1][:200]


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
