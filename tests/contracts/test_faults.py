"""Every scenario has tests that exist, every mutant a text to replace, and the page says so."""

import ast
import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAULTS = ROOT / "tests" / "faults"


@pytest.fixture(scope="module")
def table():
    return runpy.run_path(str(FAULTS / "scenarios.py"))


@pytest.fixture(scope="module")
def scenarios(table):
    return {one.number: one for promise in table["promises"]() for one in promise.scenarios}


@pytest.fixture(scope="module")
def tests(table):
    """Every test there is, with its docstrings."""
    ids = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        ids.update(table["test_ids"](path))
    return ids


@pytest.fixture(scope="module")
def mutants():
    sys.path.insert(0, str(FAULTS))
    try:
        return runpy.run_path(str(FAULTS / "run_mutants.py"))["mutants"]()
    finally:
        sys.path.remove(str(FAULTS))


def test_all_123_scenarios_have_tests_or_say_what_they_wait_for(table, scenarios):
    assert sorted(scenarios) == list(range(1, 124))
    assert sum(len(promise.scenarios) for promise in table["promises"]()) == 123
    assert [number for number, one in scenarios.items() if not one.tests and not one.waits] == []


def test_every_test_of_the_table_exists(scenarios, tests):
    assert [test for one in scenarios.values() for test in one.tests if test not in tests] == []


def test_a_test_that_names_a_scenario_stands_in_the_table_under_it(scenarios, tests):
    missing = [
        (number, test)
        for test, text in tests.items()
        for number in scenarios_in(text)
        if test not in scenarios[number].tests
    ]
    assert missing == [], "add them to tests/faults/scenarios.toml, then `make faults-page`"


def scenarios_in(text):
    """The numbers in ``Scenario 41: …``, ``Scenarios 9 and 10``, ``Scenarios 1 to 4``."""
    numbers = set()
    for words in re.findall(r"[Ss]cenarios? (\d+(?:(?:, and |, | and | to )\d+)*)", text):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", words):
            numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def test_every_mutant_changes_one_place_of_a_module_that_still_compiles(mutants):
    for mutant in mutants:
        text = mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8"))
        ast.parse(text, mutant.name)
    assert len({mutant.name for mutant in mutants}) == len(mutants)


def test_every_mutant_names_scenarios_and_tests_that_exist(mutants, scenarios, tests):
    for mutant in mutants:
        assert set(mutant.scenarios) <= set(scenarios)
        files = {test.partition("::")[0] for test in tests}
        for test in mutant.tests:
            name = test.removeprefix("tests/")
            assert name in tests or name in files, f"{mutant.name}: {test}"


def test_the_page_is_what_the_tables_say():
    """If this fails: `make faults-page`."""
    written = runpy.run_path(str(ROOT / "docs" / "make_faults.py"))
    assert (ROOT / "docs" / "faults.md").read_text(encoding="utf-8") == written["page"]()
