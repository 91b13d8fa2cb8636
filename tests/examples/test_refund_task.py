from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agenttrace import load_task
from agenttrace.cli.main import main
from agenttrace.tasks import metrics_of

TASK = Path(__file__).resolve().parents[2] / "examples/refund_task/task.yaml"


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "traces.db"))
    # Each test forgets the tools that were decorated before it: what decorates them has to be imported anew.
    monkeypatch.delitem(sys.modules, "refund_desk", raising=False)


def test_the_task_runs_offline_and_its_metrics_are_those_of_the_runs() -> None:
    metrics = {metric.name: metric for metric in metrics_of(load_task(TASK).run())}
    assert {
        name: metrics[name].value for name in ("all_required_calls_made_mean", "recall", "precision")
    } == {
        "all_required_calls_made_mean": 0.5,
        "recall": 0.8,
        "precision": 1.0,
    }
    assert metrics["worst coverage"].value == 0.5
    assert metrics["binary_classification"].values["accuracy"] == 0.5
    assert all(metric.left_out == {"agent failed": 1} for metric in metrics.values())


def test_what_the_task_requires_is_met(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["eval", "run", str(TASK), "--quiet"])
    assert left.value.code == 0
    assert "required: pass_rate >= 0.3, got 0.333" in capsys.readouterr().out
