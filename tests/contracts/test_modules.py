"""Modules stay small, say what they are and keep to the house's words; each test lists every offender.

Ruff holds the rest: absolute imports, a docstring on all that is public, no `print`, no complex function.
"""

import ast
from pathlib import Path

from package_sources import texts, trees

Function = ast.FunctionDef | ast.AsyncFunctionDef

CEILING = 400
LONGER = {
    "tracer.py": 690,  # all that a tracer can do stands on one page, each method with its help
    "store/memory.py": 460,  # and all that a store can do, most of it in a line
    "store/sqlite.py": 550,  # the same
    "store/postgres/store.py": 590,  # the same
    "store/remote/store.py": 470,  # the same
    "tracing/pipeline.py": 415,  # one queue, one worker, and every way in which they end
    "core/report.py": 420,  # one value with its whole surface
    "core/snapshot.py": 440,  # one walk, each kind of value in a method
    "redaction/redaction.py": 440,  # all that is done with a value, each step in a line
    "redaction/shapes.py": 500,  # one table
    "core/protocols.py": 590,  # so does every extension point
}
FUNCTION_CEILING = 50
"""Lines of a function without its docstring."""
SAYS_NOTHING = {
    "base",
    "common",
    "data",
    "factory",
    "helper",
    "helpers",
    "info",
    "manager",
    "misc",
    "util",
    "utils",
}
DIALECT = {
    "census",
    "courier",
    "estranged",
    "lane",
    "lanes",
    "loan",
    "outweighed",
    "parcel",
    "parcels",
    "refuge",
    "site",
    "sites",
    "wish",
    "wishes",
}
"""Words that only the author understood; the field has one for each: see CONTRIBUTING.md."""
HISTORY = {
    "found",
    "given",
    "impatient",
    "kept",
    "overflowed",
    "said",
    "stranger",
    "strangers",
    "taken",
    "telling",
    "told",
}
"""Names that say where a value came from instead of what it is."""
PUBLIC_NAMES = {("matching/checks.py", "found")}
"""A check's *wanted* and *found*, side by side, are in every report that a user has kept."""


def named(tree):
    """Every name that a module gives: to functions, classes, parameters, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr


def is_dialect(name):
    """`found` alone is a history, `found_at` says something; a parcel is one in any compound."""
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).split("_")
    return name.strip("_").lower() in HISTORY or not DIALECT.isdisjoint(words) or name.lower() in DIALECT


def length(function):
    said = function.body[0].end_lineno - function.body[0].lineno + 1 if ast.get_docstring(function) else 0
    return function.end_lineno - function.lineno + 1 - said


def catches_everything(handler):
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return handler.type is None or any(
        isinstance(name, ast.Name) and name.id in ("Exception", "BaseException") for name in names
    )


def test_every_module_is_below_the_ceiling():
    lengths = {name: text.count("\n") for name, text in texts().items()}
    assert {name: lines for name, lines in lengths.items() if lines > LONGER.get(name, CEILING)} == {}


def test_every_module_begins_with_a_docstring_of_one_sentence():
    first_lines = {name: (ast.get_docstring(tree) or "").partition("\n")[0] for name, tree in trees().items()}
    assert {name: line for name, line in first_lines.items() if not line.endswith((".", "?", ":"))} == {}


def test_every_module_has_a_name_that_says_something():
    assert [name for name in texts() if Path(name).stem in SAYS_NOTHING | DIALECT] == []


def test_no_function_is_long():
    long = [
        f"{name}:{node.lineno} {node.name}: {length(node)} lines"
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, Function) and length(node) > FUNCTION_CEILING
    ]
    assert long == []


def test_nothing_is_left_for_later():
    words = ("TODO", "FIXME", "XXX", "NotImplementedError")
    assert [f"{name}: {word}" for name, text in texts().items() for word in words if word in text] == []


def test_whoever_catches_everything_raises_it_again_or_says_why_not():
    """`except Exception` stands at choke-points, which are marked, with the reason beside them."""
    unexplained = [
        f"{name}:{node.lineno} {lines[node.lineno - 1].strip()}"
        for name, tree in trees().items()
        for lines in [texts()[name].splitlines()]
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and catches_everything(node)
        and not isinstance(node.body[-1], ast.Raise)
        and "choke-point" not in "".join(lines[node.lineno - 1 : node.body[0].lineno - 1])
    ]
    assert unexplained == []


def test_names_are_of_the_field_s_words_and_say_what_a_thing_is():
    offenders = [
        f"{name}:{line} {word}"
        for name, tree in trees().items()
        for line, word in sorted(set(named(tree)))
        if is_dialect(word) and (name, word) not in PUBLIC_NAMES
    ]
    assert offenders == []
