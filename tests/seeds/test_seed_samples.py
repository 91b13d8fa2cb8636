"""The samples of the seed documents run with only import lines and the agents' bodies changed.

Lines that are ours end in ``# ours``; in sample files ``JudgmentClient`` is written ``Client``. One
placeholder is left out: the ``...`` that stands for more examples in the list of ``seed_002_dataset.py``.
"""

import re
import runpy
import shutil
import sys
import types
from pathlib import Path

import pytest

from agenttrace import (
    EvalDataset,
    EvaluationFailed,
    ExecutionOrderScorer,
    ToolOrderScorer,
    get_examples_from_yaml,
)

HERE = Path(__file__).parent
SEEDS = HERE.parents[1] / ".." / "shared" / "seeds"
DOCUMENTS = {
    "000": "000_dc864c8e2ffb1661.txt",
    "002": "002_286e569ff97994d0.txt",
    "003": "003_435bad827545e7b6.txt",
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """The samples read and write in an empty directory, and store in a file of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "traces.db"))


def run(name, **given):
    return runpy.run_path(str(HERE / name), init_globals=given)


def test_tool_order_page_runs():
    shutil.copy(HERE / "seed_003_tests.yaml", "test.yaml")
    after = run("seed_003_tool_order.py", ToolOrderScorer=ToolOrderScorer)
    (result,) = after["results"]
    assert result.success
    assert [call.name for call in result.trace.tool_calls] == ["get_attractions", "get_weather"]
    assert result.trace.tool_calls[1].arguments == {
        "destination": "Paris",
        "start_date": "2025-06-01",
        "end_date": "2025-06-02",
    }


def test_tool_order_part_of_the_evaluation_page_runs():
    shutil.copy(HERE / "seed_002_tests.yaml", "tests.yaml")
    after = run("seed_002_tool_order.py", ToolOrderScorer=ToolOrderScorer)
    (result,) = after["results"]
    assert result.success
    assert result.example.actual_output == "Attractions: None\nWeather: None"


def test_another_expectation_fails_as_the_page_invites_to_try():
    shutil.copy(HERE / "seed_002_tests.yaml", "tests.yaml")
    after = run("seed_002_tool_order.py", ToolOrderScorer=ToolOrderScorer)
    example = after["example"].model_copy(update={"expected_tools": ["get_weather", "get_attractions"]})
    with pytest.raises(EvaluationFailed, match="✗ Test 1: FAILED"):
        after["client"].assert_test(
            examples=[example],
            scorers=[ToolOrderScorer(exact_match=True)],
            function=after["agent"].run_agent,
            tracer=after["judgment"],
        )


@pytest.mark.parametrize("name", ["seed_000_execution_order.py", "seed_002_execution_order.py"])
def test_execution_order_pages_run(name, capsys):
    after = run(name, ExecutionOrderScorer=ExecutionOrderScorer)
    (result,) = after["results"]
    (data,) = result.scorers_data
    assert (data.score, data.threshold, data.success) == (0.5, 0.8, False)
    assert "0/1 passed" in capsys.readouterr().out


def test_example_part_runs(monkeypatch):
    chatbot = types.ModuleType("medical_chatbot")
    chatbot.chat = lambda question: "Sparkling water is fine."
    monkeypatch.setitem(sys.modules, "medical_chatbot", chatbot)
    agent = types.SimpleNamespace(research=lambda question: "Bill Gates.")
    made = run("seed_002_example.py", agent=agent)["made"]
    assert len(made) == 11
    assert made[0].expected_tools == ["research_person", "research_company"]
    assert made[1].actual_output == "Bill Gates."
    assert made[3].input["user_id"] == "1234567890"
    assert made[-1].additional_metadata == {"source": "OpenWeatherMap", "confidence": 0.95}


def test_dataset_part_runs():
    after = run("seed_002_dataset.py")
    assert len(after["dataset"]) == 3
    assert after["pulled_dataset"] == after["dataset"]


def test_the_export_of_the_platform_loads():
    dataset = EvalDataset()
    dataset.add_from_json(HERE / "seed_002_export.json")
    assert dataset.platform_fields["dataset_alias"] == "QA-Pairs"
    assert dataset.examples[0].example_id == "119ee1f6-1046-41bc-bb89-d9fc704829dd"
    assert dataset.examples[0].additional_metadata["synthetic"] is True


def test_the_unit_test_part_s_yaml_loads():
    (example,) = get_examples_from_yaml(HERE / "seed_002_unit_tests.yaml")
    assert example.input == "What if these shoes don't fit?"
    assert example.retrieval_context[0].startswith("All customers are eligible for a 44 day")


def squashed(text):
    return re.sub(r"[\s⚠️]+", "", text)


def lines_of_the_seed(path):
    """The lines of a sample file that must stand in the seed."""
    for line in path.read_text(encoding="utf-8").splitlines():
        bare = line.strip()
        ours = (
            bare.endswith("# ours")
            or re.match(r"(from|import) ", bare)
            or bare in ("# ruff: noqa", "# fmt: off")
        )
        if bare and not ours:
            yield bare.replace("Client()", "JudgmentClient()")


@pytest.mark.shared
@pytest.mark.parametrize("path", sorted(HERE.glob("seed_*")), ids=lambda path: path.name)
def test_the_sample_files_are_the_seed_s_own_text(path):
    document = SEEDS / DOCUMENTS[path.name[5:8]]
    if not document.exists():
        pytest.skip("the seed documents are not beside the project")
    text, position = squashed(document.read_text(encoding="utf-8")), 0
    for line in lines_of_the_seed(path):
        found = text.find(squashed(line), 0 if position == 0 else position)
        assert found >= 0, f"{line!r} does not follow in {document.name}"
        position = found + 1
