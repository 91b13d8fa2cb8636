"""The map of the house says what the house is."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_modules_say():
    """If this fails: `make map`."""
    written = runpy.run_path(str(ROOT / "docs" / "make_map.py"))
    assert (ROOT / "docs" / "map.md").read_text() == written["page"]()
