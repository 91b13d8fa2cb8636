"""Writes the table of ``docs/redaction.md``: what default rules let pass, and what they destroy.

The lists are those of ``tests/redaction``. The row of a library that is not installed is left as it is.

    python -m benchmarks.redaction [--check]
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from agenttrace.redaction import Redaction
from agenttrace.redaction.shapes import VERSION

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "redaction"))
DOCUMENT = ROOT / "docs" / "redaction.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->"

Scrub = Callable[[dict[str, Any]], dict[str, Any]]
"""Returns recorded values without secrets."""


def _ours(level: Any) -> Scrub:
    return Redaction(level=level).fields


def _sentry() -> Scrub:
    from sentry_sdk.scrubber import EventScrubber

    scrubber = EventScrubber(recursive=True)

    def scrub(values: dict[str, Any]) -> dict[str, Any]:
        values = copy.deepcopy(values)
        scrubber.scrub_dict(values)
        return values

    return scrub


def _logfire() -> Scrub:
    from logfire._internal.scrubbing import Scrubber

    scrubber = Scrubber([])
    return lambda values: scrubber.scrub_value(("attributes",), copy.deepcopy(values))[0]


def _figures(scrub: Scrub) -> tuple[str, str, str]:
    from lists import harmless, names, shapes

    def shown(values: dict[str, Any]) -> str:
        return json.dumps(scrub(values), default=str, ensure_ascii=False)

    of_names, of_shapes, of_harmless = names(), shapes(), harmless()
    names_pass = sum("hunter2" in shown({name: "hunter2"}) for _, name in of_names)
    shapes_pass = sum(
        any(part in shown({"text": f"The value is {shape.value} as it was."}) for part in shape.parts)
        for shape in of_shapes
    )
    touched = sum(scrub({name: value}) != {name: value} for _, name, value in of_harmless)
    return tuple(  # type: ignore[return-value] # three of them
        f"{count} of {len(rows)}"
        for count, rows in ((names_pass, of_names), (shapes_pass, of_shapes), (touched, of_harmless))
    )


def table(earlier: str) -> str:
    """The table as Markdown; `earlier` is the one that is there, with what was measured elsewhere."""
    lines = [
        "| default rules | names that pass | shapes that pass | harmless values touched |",
        "|---|---|---|---|",
    ]
    rows: list[tuple[str, str | None, Callable[[], Scrub]]] = [
        (f"agenttrace, tables' version {VERSION}", None, lambda: _ours("standard")),
        ("agenttrace, strict", None, lambda: _ours("strict")),
        ("sentry, `EventScrubber(recursive=True)`", "sentry-sdk", _sentry),
        ("logfire, `Scrubber([])`", "logfire", _logfire),
    ]
    for name, package, make in rows:
        try:
            version = "" if package is None else f" {metadata.version(package)}"
            figures = _figures(make())
        except (ImportError, metadata.PackageNotFoundError):
            print(f"{package} is not installed: its row is left as it is", file=sys.stderr)
            lines += [row for row in earlier.splitlines() if row.startswith(f"| {name}")]
            continue
        lines.append(f"| {name}{version} | {' | '.join(figures)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the table into the document, or look whether it is there."""
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    written = f"{before}{BEGIN}{table(rest.partition(END)[0])}{END}{rest.partition(END)[2]}"
    if "--check" in sys.argv:
        return int(written != text)
    DOCUMENT.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
