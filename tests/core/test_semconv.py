"""The names of attributes stand in one module."""

import ast
from pathlib import Path

import agenttrace
from agenttrace.core import semconv

PACKAGE = Path(agenttrace.__file__).parent
CONSTANTS = {
    name: value for name, value in vars(semconv).items() if name.isupper() and isinstance(value, str)
}
NAMES = {value for value in CONSTANTS.values() if "." in value}
FOREIGN = ("gen_ai.", "enduser.", "openinference.")
TABLES = {"core/semconv.py", "otlp_in/tables.py", "otlp_in/model_tables.py"}
"""What we write, and what others do."""


def test_no_other_module_writes_an_attributes_name_out():
    written_out = [
        f"{path.relative_to(PACKAGE)}:{node.lineno} {node.value}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if str(path.relative_to(PACKAGE)) not in TABLES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value in NAMES or node.value.startswith(FOREIGN)
    ]
    assert written_out == []


def test_no_name_means_two_things():
    assert len(set(CONSTANTS.values())) == len(CONSTANTS)
