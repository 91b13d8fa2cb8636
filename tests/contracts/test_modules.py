"""Modules stay small, say what they are, keep to the house's words."""

import ast
from pathlib import Path

import pytest

import agenttrace

PACKAGE = Path(agenttrace.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
CEILING = 400
LONGER = {"tracer.py": 480, "protocols.py": 480}
"""All that a tracer can do stands on one page, each parameter by its name; so does every extension point."""
FUNCTION_CEILING = 50
"""Lines of a function without its docstring."""
NOT_OURS = {
    "utils",
    "util",
    "helpers",
    "helper",
    "manager",
    "common",
    "misc",
    "base",
    "factory",
    "data",
    "info",
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
class TestEveryModule:
    def test_is_below_the_ceiling(self, path):
        assert path.read_text().count("\n") <= LONGER.get(path.name, CEILING)

    def test_begins_with_a_docstring_of_one_sentence(self, path):
        text = ast.get_docstring(ast.parse(path.read_text()))
        assert text, "no docstring"
        assert text.splitlines()[0].endswith((".", "?", ":")), text.splitlines()[0]

    def test_has_a_name_that_says_something(self, path):
        assert path.stem not in NOT_OURS

    def test_has_no_long_function(self, path):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                said = node.body[0].end_lineno - node.body[0].lineno + 1 if ast.get_docstring(node) else 0
                assert node.end_lineno - node.lineno + 1 - said <= FUNCTION_CEILING, node.name

    def test_leaves_nothing_for_later(self, path):
        for word in ("TODO", "FIXME", "XXX", "NotImplementedError"):
            assert word not in path.read_text()
