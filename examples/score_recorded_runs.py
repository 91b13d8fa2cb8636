"""Scores recorded agent runs: which made the expected tool calls in order, and how reliably.

    python examples/score_recorded_runs.py runs.jsonl.gz --only write --by arguments

Each line is one run: ``{"task_id": …, "actual": [calls], "expected": [calls], "reward": …}``, a call being
``{"name": …, "args": {…}, "kind": …}``; several runs of one task are its trials. pass^k is the chance that k
trials of a task, drawn without putting back, all pass: the mean over tasks of C(passed, k) / C(trials, k).
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agenttrace import AgentTraceError, Example, Score, ToolOrderScorer, Trace, expect

Call = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """One recorded run, with the reward its benchmark gave and the score that ours gives."""

    task: str
    reward: float | None
    score: Score

    @property
    def rewarded(self) -> bool:
        return self.reward is not None and self.reward > 1 - 1e-6


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as lines
    ):
        for number, line in enumerate(lines, start=1):
            try:
                if line.strip():
                    yield json.loads(line)
            except ValueError as error:
                raise SystemExit(f"{path}:{number}: this line is not JSON: {error}") from None


def expected_tool(call: Call) -> Call:
    """A call as the benchmark expects it; `compare_args`, where given, lists the arguments that count."""
    if call.get("compare_args") is None:
        return {"tool_name": call["name"], "parameters": call.get("args")}
    counted = {name: value for name, value in call["args"].items() if name in call["compare_args"]}
    return {"tool_name": call["name"], "parameters": counted, "mode": "listed"}


def score_run(record: Mapping[str, Any], scorer: ToolOrderScorer, options: argparse.Namespace) -> Run:
    def compared(calls: Sequence[Call]) -> list[Call]:
        return [call for call in calls if options.only is None or call.get("kind") == options.only]

    expected: Any = [expected_tool(call) for call in compared(record["expected"])]
    if not expected and not options.nothing_means_none:
        expected = expect()  # says nothing of the calls, while an empty list says that there are none
    example = Example(name=str(record["task_id"]), expected_tools=expected)
    trace = Trace.from_calls(compared(record["actual"]), output=record.get("final_output"))
    score = scorer.score(example, trace)
    assert isinstance(score, Score)  # awaitable only where a judge is asked
    return Run(str(record["task_id"]), record.get("reward"), score)


def pass_hat(trials_by_task: Sequence[Sequence[bool]], k: int) -> float:
    """pass^k; every task needs at least k trials."""
    return sum(comb(sum(trials), k) / comb(len(trials), k) for trials in trials_by_task) / len(trials_by_task)


def task_table(tasks: Mapping[str, Sequence[Run]]) -> Table:
    table = Table("task", "runs", "rewarded", "in order", "the first run that failed", box=None)
    for task, runs in tasks.items():
        rewarded, passed = sum(run.rewarded for run in runs), sum(run.score.passed for run in runs)
        reason = next((run.score.reason for run in runs if not run.score.passed), "")
        table.add_row(escape(task), str(len(runs)), str(rewarded), str(passed), escape(reason))
    return table


def summary_table(tasks: Mapping[str, Sequence[Run]], scorer_name: str) -> Table:
    rows = {scorer_name: [[run.score.passed for run in runs] for runs in tasks.values()]}
    if any(run.reward is not None for runs in tasks.values() for run in runs):
        rows["recorded reward"] = [[run.rewarded for run in runs] for runs in tasks.values()]
    ks = range(1, min(map(len, tasks.values())) + 1)
    table = Table("", "passed", *(f"pass^{k}" for k in ks), box=None)
    for name, trials in rows.items():
        shares = [f"{pass_hat(trials, k):.3f}" for k in ks]
        table.add_row(name, f"{sum(map(sum, trials))}/{sum(map(len, trials))}", *shares)
    return table


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Score recorded agent runs.")
    parser.add_argument("file", type=Path, help="runs, one JSON object a line; .gz is read too")
    parser.add_argument("--only", metavar="KIND", help="compare calls of this kind only, e.g. write")
    parser.add_argument("--by", choices=("name", "arguments"), default="arguments", help="what must agree")
    parser.add_argument("--exact", action="store_true", help="no other calls between the expected ones")
    parser.add_argument(
        "--nothing-means-none", action="store_true", help="fail a call where none is expected"
    )
    parser.add_argument("--diffs", type=int, default=1, metavar="N", help="show the first N failures (1)")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = read_options(arguments)
    out = Console(highlight=False)
    scorer = ToolOrderScorer(
        exact_match=options.exact, parameters="ignore" if options.by == "name" else "exact"
    )
    tasks: dict[str, list[Run]] = {}
    skipped = 0
    try:
        for record in read_records(options.file):
            if record.get("actual") is None or record.get("expected") is None:
                skipped += 1
                continue
            run = score_run(record, scorer, options)
            tasks.setdefault(run.task, []).append(run)
    except (OSError, AgentTraceError) as error:
        raise SystemExit(f"{options.file}: {error}") from None
    if not tasks:
        raise SystemExit(f"{options.file}: no record has both 'actual' and 'expected' calls")
    out.print(f"{options.only or 'All'} calls, compared by {options.by}\n")
    out.print(task_table(tasks))
    failed = [run for runs in tasks.values() for run in runs if not run.score.passed]
    for run in failed[: options.diffs]:
        out.print(
            f"\nTask {run.task}: {run.score.reason}\n{run.score.diff or ''}", markup=False, soft_wrap=True
        )
    out.print()
    out.print(summary_table(tasks, scorer.name))
    if skipped:
        out.print(f"{skipped} records without a run or without an expectation were passed over")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
