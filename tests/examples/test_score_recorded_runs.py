from __future__ import annotations

import importlib.util
import re
import sys
from itertools import combinations
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = Path(__file__).parent / "recorded_runs.jsonl"
AIRLINE = ROOT.parent / "shared" / "data" / "tau_bench_airline_gpt-4o.jsonl.gz"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "score_recorded_runs", ROOT / "examples/score_recorded_runs.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(script: ModuleType, capsys: pytest.CaptureFixture[str]):
    """Run the script; its output with every row's columns one space apart."""

    def call(*arguments: object) -> str:
        assert script.main([str(argument) for argument in arguments]) == 0
        return re.sub(r" +", " ", capsys.readouterr().out)

    return call


def test_runs_are_scored_per_task_with_pass_hat_k(run) -> None:
    text = run(RUNS)
    assert " 1 3 2 2 " in text
    assert " [odd] task 2 1 2 " in text
    assert " Tool Order 4/5 0.833 0.667 " in text
    assert " recorded reward 3/5 0.583 0.167 " in text
    assert "1 records without a run or without an expectation were passed over" in text


def test_the_first_failure_is_shown_with_its_diff(run) -> None:
    assert "amount: expected 12, got 13" in run(RUNS)
    assert "amount: expected 12, got 13" not in run(RUNS, "--diffs", 0)


def test_by_name_the_arguments_do_not_count(run) -> None:
    assert " Tool Order 5/5 1.000 1.000 " in run(RUNS, "--by", "name")


def test_an_exact_order_allows_no_other_calls(run) -> None:
    assert " Tool Order 1/5 " in run(RUNS, "--exact")


def test_only_calls_of_a_kind_are_compared_and_nothing_expected_says_nothing(run) -> None:
    assert " Tool Order 4/5 " in run(RUNS, "--only", "write")


def test_nothing_expected_can_mean_that_no_call_is_right(run) -> None:
    assert " Tool Order 3/5 " in run(RUNS, "--only", "write", "--nothing-means-none")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", "no record has both 'actual' and 'expected' calls"),
        ('{"task_id": 1}\n{\n', ":2: this line is not JSON"),
        ('{"task_id": 1, "actual": [3], "expected": []}\n', "calls[0]: got int 3, wanted a tool's name"),
    ],
)
def test_a_wrong_file_ends_with_a_message(
    script: ModuleType, tmp_path: Path, content: str, text: str
) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text(content)
    with pytest.raises(SystemExit) as caught:
        script.main([str(path)])
    assert str(path) in str(caught.value.code)
    assert text in str(caught.value.code)


def test_a_missing_file_ends_with_a_message(script: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="No such file"):
        script.main([str(tmp_path / "none.jsonl")])


def test_pass_hat_k_is_the_chance_that_k_drawn_trials_all_pass(script: ModuleType) -> None:
    trials = [[True, True, False], [False, False, False], [True, True, True]]
    for k in (1, 2, 3):
        by_hand = [_share_of_draws(one, k) for one in trials]
        assert script.pass_hat(trials, k) == pytest.approx(sum(by_hand) / 3)


def _share_of_draws(trials: list[bool], k: int) -> float:
    draws = list(combinations(trials, k))
    return sum(all(draw) for draw in draws) / len(draws)


@pytest.mark.shared
def test_the_published_figures_of_tau_bench_come_out(run) -> None:
    if not AIRLINE.exists():
        pytest.skip(f"{AIRLINE} is not here")
    by_name = run(AIRLINE, "--only", "write", "--by", "name")
    assert " recorded reward 84/200 0.420 0.273 0.220 0.200 " in by_name
    assert " Tool Order 148/200 " in by_name
    assert " Tool Order 117/200 " in run(AIRLINE, "--only", "write", "--by", "arguments")
