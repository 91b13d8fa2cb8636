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
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.datasets.selection import check_names
from agenttrace.evaluation.engine import Progress
from agenttrace.evaluation.evaluate import run_evaluation, run_evaluation_async
from agenttrace.evaluation.example_scorers import check_example_scorers
from agenttrace.evaluation.requirement import Requirement
from agenttrace.evaluation.run import TIMEOUT, EvaluationOptions, Recording
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
) -> EvaluationReport:
    """Evaluate, and raise unless every result passed; return the report if they did.

    The examples come from `examples` or from `test_file` (YAML, JSON, JSONL or CSV). With `require`, such as
    ``"pass_rate >= 0.8"`` over several `trials`, results may fail as far as it allows; an *errored* result
    always raises, because it says nothing either way. A guard (never, at_most, before, deny) of a tool that
    nobody knows is a warning. Everything else is as in `run_evaluation`.

    Raises:
        EvaluationFailed: an AssertionError whose text is the printed report, with the aligned diffs.
        ConfigError, DatasetError, ExpectationError, ScorerError: wrong use, before any agent is run.
    """
    __tracebackhide__ = True
    chosen = _examples(examples, test_file)
    requirement = None if require is None else Requirement.parse(require)
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
        metadata=_with_requirement(metadata, require),
    )
    _warn_of_vacuous_guards(report)
    return require_passed(report, requirement)


async def assert_test_async(
    examples: Iterable[Example] | None = None,
    scorers: Iterable[Scorer] = (),
    *,
    test_file: str | Path | None = None,
    require: str | None = None,
    **options: Unpack[EvaluationOptions],
) -> EvaluationReport:
    """Do as `assert_test` does, on the caller's event loop: ``await assert_test_async(…)``.

    See `run_evaluation_async` for what that means. Raises as `assert_test`.
    """
    __tracebackhide__ = True
    chosen = _examples(examples, test_file)
    requirement = None if require is None else Requirement.parse(require)
    options["metadata"] = _with_requirement(options.get("metadata"), require)
    report = await run_evaluation_async(chosen, scorers, **options)
    _warn_of_vacuous_guards(report)
    return require_passed(report, requirement)


def _examples(examples: Iterable[Example] | None, test_file: str | Path | None) -> Iterable[Example]:
    if (examples is None) == (test_file is None):
        both = examples is not None
        raise ConfigError(
            f"examples and test_file are {'both' if both else 'neither'} given; pass one of them: "
            "examples=[Example(…)] or test_file='tests.yaml'"
        )
    return examples_in(test_file) if test_file is not None else examples or ()


def _with_requirement(metadata: Mapping[str, Any] | None, require: str | None) -> Mapping[str, Any] | None:
    return metadata if require is None else {**(metadata or {}), "require": require}


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


def require_passed(report: EvaluationReport, requirement: Requirement | None = None) -> EvaluationReport:
    """Return the report if it passes, or if it meets the requirement without an errored result.

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
    passes = (
        report.passed if requirement is None else requirement.holds(report) and not report.counts["errored"]
    )
    if not passes:
        raise EvaluationFailed(f"{failure_line(report)}\n{report_text(report)}", report)
    return report
