"""The table of promises and scenarios: ``scenarios.toml``, with the tests that try each of them."""

import ast
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TESTS = HERE.parent


@dataclass(frozen=True)
class Scenario:
    """A situation in which a promise must hold.

    `tests` are test ids below ``tests/``, without parameters. `full` is its full count; `waits` says which
    part of it waits for a feature that is not there yet, or is empty.
    """

    number: int
    text: str
    tests: tuple[str, ...]
    full: str = ""
    waits: str = ""


@dataclass(frozen=True)
class Promise:
    """What is promised, and where it is tried."""

    title: str
    scenarios: tuple[Scenario, ...]


def promises(table=HERE / "scenarios.toml"):
    """All promises of the table, in its order."""
    rows = tomllib.loads(table.read_text(encoding="utf-8"))["promise"]
    return [
        Promise(
            row["title"], tuple(Scenario(**{**one, "tests": tuple(one["tests"])}) for one in row["scenario"])
        )
        for row in rows
    ]


def test_ids(path):
    """``{id: what its docstring and those of its class and module say}`` of a file's tests, unimported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = path.relative_to(TESTS).as_posix()
    ids = {}

    def walk(body, prefix, above):
        for node in body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                walk(node.body, f"{prefix}{node.name}::", f"{above} {ast.get_docstring(node) or ''}")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                ids[f"{name}::{prefix}{node.name}"] = f"{above} {ast.get_docstring(node) or ''}"

    walk(tree.body, "", "")
    return ids


test_ids.__test__ = False
