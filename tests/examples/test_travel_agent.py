"""The travel agent example: its planner, its quirks, its script and its own tests."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "travel_agent"
CITIES = ["Paris", "Lisbon", "Tokyo"]


@pytest.fixture(scope="module")
def planning():
    sys.path.insert(0, str(EXAMPLE))
    yield importlib.import_module("planning")
    sys.path.remove(str(EXAMPLE))


@pytest.mark.parametrize(
    ("prompt", "start", "end"),
    [
        ("Paris for early June", "2025-06-01", "2025-06-02"),
        ("Paris for early June 2025 (1st - 2nd)", "2025-06-01", "2025-06-02"),
        ("Paris in mid October 2026", "2026-10-14", "2026-10-15"),
        ("Paris, late February", "2025-02-27", "2025-02-28"),
        ("Paris from the 3rd to the 9th of May", "2025-05-03", "2025-05-09"),
        ("Paris between 2025-12-30 and 2026-01-02", "2025-12-30", "2026-01-02"),
    ],
)
def test_the_planner_reads_dates(planning, prompt, start, end):
    plan = planning.read_question(prompt, CITIES)
    assert (plan.start_date, plan.end_date) == (start, end)


@pytest.mark.parametrize(
    ("prompt", "attractions", "weather"),
    [
        ("What's the attraction and weather in Paris?", True, True),
        ("How warm is Paris?", False, True),
        ("What can I see in Paris?", True, False),
        ("Tell me about Paris", True, True),
    ],
)
def test_the_planner_reads_what_is_asked(planning, prompt, attractions, weather):
    plan = planning.read_question(prompt, CITIES)
    assert (plan.attractions, plan.weather) == (attractions, weather)


def test_the_planner_reads_the_city_and_refuses_an_unknown_one(planning):
    assert planning.read_question("weather in tokyo", CITIES).destination == "Tokyo"
    with pytest.raises(ValueError, match="known: Paris, Lisbon, Tokyo"):
        planning.read_question("weather in Atlantis", CITIES)


def run(*command, tmp_path):
    environment = {"AGENTTRACE_STORE": str(tmp_path / "traces.db"), "PATH": "", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def test_the_script_traces_evaluates_and_shows_the_stored_trace(tmp_path):
    ran = run(EXAMPLE / "run.py", tmp_path=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "TEST RESULTS: 4/4 passed" in ran.stdout
    assert ran.stdout.count("TEST RESULTS: 0/1 passed (1 failed)") == 6
    assert 'destination: expected "Paris", got "Lisbon"' in ran.stdout
    assert 'end_date: expected "2025-06-02", got "2025-06-01"' in ran.stdout
    assert "the weather service for Paris does not answer" in ran.stdout
    assert "└─ get_weather  [tool]" in ran.stdout
    assert (tmp_path / "traces.db").exists()


def test_the_example_s_own_tests_pass(tmp_path):
    ran = run("-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLE, tmp_path=tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert "12 passed" in ran.stdout
