"""The package's modules, as text and as trees, read when a test first asks: collecting tests need not."""

import ast
from functools import cache
from pathlib import Path

import agenttrace

PACKAGE = Path(agenttrace.__file__).parent


@cache
def texts() -> dict[str, str]:
    """The text of every module, by its path within the package."""
    return {str(path.relative_to(PACKAGE)): path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def trees() -> dict[str, ast.Module]:
    """The tree of every module, by its path within the package; tests change none of them."""
    return {name: ast.parse(text) for name, text in texts().items()}
