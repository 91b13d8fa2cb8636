"""The recipes of the page: they fit our interface, run where their packages are, and stand in the tables."""

import ast
import importlib
import importlib.util
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
IMPORTED = {"anthropic-spans": ["anthropic"], "langgraph": ["langchain", "langchain_openai"]}
"""The modules that a recipe needs, where they are not simply its name."""


def program(name):
    """One of the programs beside this file; they are no package."""
    spec = importlib.util.spec_from_file_location(f"interop_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    path = list(sys.path)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = path
    return module


interop = program("recipes")
RECIPES = interop.recipes()
PAGE = (HERE.parents[1] / "docs" / "interop.md").read_text()


def table(name):
    """The first cells of one of the page's tables."""
    rows = PAGE.partition(f"<!-- {name} -->\n")[2].partition("<!-- end -->")[0].splitlines()[2:]
    return [row.split("|")[1].strip() for row in rows]


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_names_what_to_install_and_what_it_imports_from_us_is_there(name):
    recipe = RECIPES[name]
    assert any("agenttrace-evals" in requirement for requirement in recipe.requirements)
    shared = dict(vars_of(interop.shared_files()["travel.py"]))
    for node in ast.walk(ast.parse(recipe.code)):
        if isinstance(node, ast.ImportFrom) and node.module == "travel":
            assert {alias.name for alias in node.names} <= set(shared)
        elif isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "agenttrace":
            module = importlib.import_module(node.module)
            assert [alias.name for alias in node.names if not hasattr(module, alias.name)] == []


@pytest.mark.parametrize("name", RECIPES)
def test_what_a_recipe_calls_of_ours_takes_the_keywords_given(name):
    tree = ast.parse(RECIPES[name].code)
    ours = {
        alias.name: getattr(importlib.import_module(node.module), alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "agenttrace"
        for alias in node.names
    }
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for node in called:
        target = ours.get(getattr(node.func, "id", None))
        if target is not None and not inspect.isclass(target):  # a class may check its options by itself
            values = {keyword.arg: None for keyword in node.keywords}
            inspect.signature(target).bind(*node.args, **values)


def vars_of(code):
    """The names that a file of the page defines at its top."""
    for node in ast.parse(code).body:
        for target in getattr(node, "targets", [node]):
            name = getattr(target, "id", getattr(target, "name", None))
            if name:
                yield name, node


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_runs_against_the_scripted_model_where_its_packages_are_installed(name):
    for module in IMPORTED.get(name, [name.replace("-", "_")]):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed; `make interop` runs this recipe")
    assert interop.run(RECIPES[name], sys.executable).faults == []


@pytest.mark.parametrize("sdk", ["openai", "anthropic", "opentelemetry"])
def test_every_kind_of_call_is_recorded_with_the_version_that_is_installed(sdk):
    pytest.importorskip(sdk)
    command = [sys.executable, str(HERE / "sdk_calls.py"), sdk]
    variables = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    faults = json.loads(done.stdout)
    assert len(faults) > 3
    assert [kind for kind, fault in faults.items() if fault] == []


def test_a_run_that_called_something_else_is_not_as_expected():
    wrong = 'print("nothing was called")'
    broken = 'raise ValueError("unknown city")'
    recipe = interop.Recipe
    assert interop.run(recipe("empty", wrong), sys.executable).faults == ["0 traces"]
    assert interop.run(recipe("broken", broken), sys.executable).faults == ["ValueError: unknown city"]


def test_the_table_has_every_recipe_and_every_version():
    assert table("frameworks") == sorted(RECIPES, key=str.lower)
    asked_for = [version for versions in program("sdks").VERSIONS.values() for version in versions]
    assert table("sdks") == sorted((f"`{version}`" for version in asked_for), key=str.lower)


def test_a_row_that_is_written_takes_the_place_of_its_own_and_leaves_the_others(tmp_path, monkeypatch):
    environments = program("environments")
    page = tmp_path / "page.md"
    page.write_text(
        "a\n<!-- t -->\n| x | y |\n|---|---|\n| b | 1 |\n| c | 1 |\n<!-- end -->\nz <!-- end -->\n"
    )
    monkeypatch.setattr(environments, "PAGE", page)
    environments.write_table("t", ["x", "y"], [["b", "2"], ["a", "3"]])
    rows = "| a | 3 |\n| b | 2 |\n| c | 1 |\n"
    assert page.read_text() == f"a\n<!-- t -->\n| x | y |\n|---|---|\n{rows}<!-- end -->\nz <!-- end -->\n"
