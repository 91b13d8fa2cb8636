"""An evaluation as a test: it raises when examples fail, or fewer pass than is required."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.core.example import Example
from agenttrace.core.protocols import ChatModel, Scorer, Store
from agenttrace.core.report import EvaluationFailed, EvaluationReport
from agenttrace.core.run_comparison import RunRecord
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.datasets.selection import check_names
from agenttrace.evaluation.baseline import Baseline, baseline_of
from agenttrace.evaluation.compare_runs import compare_runs
from agenttrace.evaluation.engine import Progress
from agenttrace.evaluation.evaluate import run_evaluation, run_evaluation_async
from agenttrace.evaluation.example_scorers import check_example_scorers
from agenttrace.evaluation.requirement import Requirement
from agenttrace.evaluation.run import (
    TIMEOUT,
    EvaluationOptions,
    Recording,
    checked_examples,
    project_of,
)
from agenttrace.evaluation.run_record import record_of_report
from agenttrace.evaluation.run_storage import store_of
from agenttrace.reports.run_comparison import comparison_text, regression_line
from agenttrace.reports.terminal import failure_line, report_text


def assert_test(
    examples: Iterable[Example] | None = None,
    scorers: Iterable[Scorer] = (),
    *,
    test_file: str | Path | None = None,
    function: Callable[..., Any] | None = None,
    tracer: Recording | None = None,
    model: str | ChatModel | None = None,
    project_name: str | None = None,
    eval_run_name: str | None = None,
    concurrency: int = 1,
    timeout: float | None = TIMEOUT,
    trials: int = 1,
    require: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    metadata: Mapping[str, Any] | None = None,
    stop_after: int | None = None,
    baseline: Baseline | None = None,
) -> EvaluationReport:
    """Evaluate, and raise unless every result passed; return the report if they did.

    The examples come from `examples` or from `test_file` (YAML, JSON, JSONL or CSV). With `require`, such as
    ``"pass_rate >= 0.8"`` over several `trials`, results may fail as far as it allows; an *errored* result
    always raises, because it says nothing either way. A guard (never, at_most, before, deny) of a tool that
    nobody knows is a warning. Everything else is as in `run_evaluation`.

    With `baseline` the run is compared with an earlier one, and raises where an example

    - got *worse*: all of its trials passed in the baseline, and none does now; or its pass rate fell with
      p < 0.05 (Fisher's exact test over the trials);
    - is *errored*: one of its trials could not be judged, whatever it was before;
    - was *not run*.

    Nothing else raises then: not what failed before and still does, not new examples that fail, not
    examples that are gone, less stable (only some trials pass), or whose values fell while they still pass.
    With `require`, that must hold too. `baseline` is the path of a file, a git branch (the newest stored run
    of the same project, with an example in common, made on that branch; with `eval_run_name`, one of that
    name), a stored run (id, ``last``, name) or a report; see `agenttrace.evaluation.baseline`.

    Raises:
        EvaluationFailed: an AssertionError whose text is the printed report, with the aligned diffs.
        ConfigError, DatasetError, ExpectationError, ScorerError: wrong use, before any agent is run.
    """
    __tracebackhide__ = True
    chosen = _examples(examples, test_file)
    chosen = chosen if baseline is None else checked_examples(chosen)  # an iterator is read once
    requirement = None if require is None else Requirement.parse(require)
    before = _baseline(
        baseline, chosen, tracer=tracer, store=store, project_name=project_name, eval_run_name=eval_run_name
    )
    report = run_evaluation(
        chosen,
        scorers,
        model=model,
        project_name=project_name,
        eval_run_name=eval_run_name,
        function=function,
        tracer=tracer,
        concurrency=concurrency,
        timeout=timeout,
        trials=trials,
        executor=executor,
        progress=progress,
        store=store,
        metadata=_with_gates(metadata, require, before),
        stop_after=stop_after,
    )
    _warn_of_vacuous_guards(report)
    return require_passed(report, requirement, before)


async def assert_test_async(
    examples: Iterable[Example] | None = None,
    scorers: Iterable[Scorer] = (),
    *,
    test_file: str | Path | None = None,
    require: str | None = None,
    baseline: Baseline | None = None,
    **options: Unpack[EvaluationOptions],
) -> EvaluationReport:
    """Do as `assert_test` does, on the caller's event loop: ``await assert_test_async(…)``.

    See `run_evaluation_async` for what that means. Raises as `assert_test`.
    """
    __tracebackhide__ = True
    chosen = _examples(examples, test_file)
    chosen = chosen if baseline is None else checked_examples(chosen)  # an iterator is read once
    requirement = None if require is None else Requirement.parse(require)
    before = _baseline(
        baseline,
        chosen,
        tracer=options.get("tracer"),
        store=options.get("store"),
        project_name=options.get("project_name"),
        eval_run_name=options.get("eval_run_name"),
    )
    options["metadata"] = _with_gates(options.get("metadata"), require, before)
    report = await run_evaluation_async(chosen, scorers, **options)
    _warn_of_vacuous_guards(report)
    return require_passed(report, requirement, before)


def _examples(examples: Iterable[Example] | None, test_file: str | Path | None) -> Iterable[Example]:
    if (examples is None) == (test_file is None):
        both = examples is not None
        raise ConfigError(
            f"examples and test_file are {'both' if both else 'neither'} given; pass one of them: "
            "examples=[Example(…)] or test_file='tests.yaml'"
        )
    return examples_in(test_file) if test_file is not None else examples or ()


def _baseline(
    baseline: Baseline | None,
    examples: Iterable[Example],
    *,
    tracer: Recording | None,
    store: Store | None,
    project_name: str | None,
    eval_run_name: str | None,
) -> RunRecord | None:
    """The run to compare with, read before any agent runs."""
    if baseline is None:
        return None
    return baseline_of(
        baseline,
        store_of(store, tracer),
        tuple(examples),
        project=project_name or project_of(tracer),
        name=eval_run_name,
    )


def _with_gates(
    metadata: Mapping[str, Any] | None, require: str | None, before: RunRecord | None
) -> Mapping[str, Any] | None:
    """The metadata with what decides whether the run passes."""
    gates = {"require": require, "baseline": None if before is None else before.label}
    gates = {name: gate for name, gate in gates.items() if gate is not None}
    return {**(metadata or {}), **gates} if gates else metadata


def _warn_of_vacuous_guards(report: EvaluationReport) -> None:
    for line in report.vacuous_lines:  # a test that passes has no other voice
        warnings.warn(line.removeprefix("? "), stacklevel=3)


def examples_in(test_file: str | Path) -> EvalDataset:
    """Return the examples of a file; there is at least one, and no two that are to be run have one name.

    Raises:
        DatasetError: the file cannot be read as examples, or holds none, or two of one name.
        ScorerError: an example names a scorer that cannot be made.
    """
    dataset = EvalDataset.from_file(test_file)
    if not dataset:
        raise DatasetError(
            "there are no examples: an evaluation of nothing can neither pass nor fail", path=test_file
        )
    check_names(dataset)
    check_example_scorers(dataset)
    return dataset


def require_passed(
    report: EvaluationReport, requirement: Requirement | None = None, baseline: RunRecord | None = None
) -> EvaluationReport:
    """Return the report if it passes, or if it meets the requirement without an errored result.

    With a baseline, return it where no example got worse than there, is errored or was not run, and the
    requirement holds if there is one: see `assert_test`.

    Raises:
        EvaluationFailed: it does neither.
    """
    __tracebackhide__ = True  # pytest shows the test's own line and the report, not our code
    if requirement is not None:
        report = replace(
            report,
            metadata={
                **report.metadata,
                "requirement": f"{requirement.text}, got {requirement.measured(report):.3g}",
            },
        )
    if baseline is not None:
        comparison = compare_runs(baseline, record_of_report(report))
        if comparison.regressions:
            text = f"{regression_line(comparison)}\n{comparison_text(comparison)}\n{report_text(report)}"
            raise EvaluationFailed(text, report)
        if requirement is None:
            return report
    passes = (
        report.passed if requirement is None else requirement.holds(report) and not report.counts["errored"]
    )
    if not passes:
        raise EvaluationFailed(f"{failure_line(report)}\n{report_text(report)}", report)
    return report
