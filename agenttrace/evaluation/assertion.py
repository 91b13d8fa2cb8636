"""An evaluation as a test: it raises when examples fail, or fewer pass than is required."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_whole
from agenttrace.core.protocols import ChatModel, Scorer, Store
from agenttrace.core.report import EvaluationFailed, EvaluationReport
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.evaluation.engine import Progress
from agenttrace.evaluation.evaluate import run_evaluation, run_evaluation_async
from agenttrace.evaluation.requirement import (
    Require,
    Requirement,
    check_requirements,
    parsed_requirements,
)
from agenttrace.evaluation.run import TIMEOUT, EvaluationOptions, Recording, checked_examples
from agenttrace.evaluation.trials import TrialsBy, examples_of_trials
from agenttrace.reports.terminal import failure_line, report_text
from agenttrace.scoring.checks import checked_scorers


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
    require: Require = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    metadata: Mapping[str, Any] | None = None,
    trials_by: TrialsBy | None = None,
) -> EvaluationReport:
    """Evaluate, and raise unless every result passed; return the report if they did.

    The examples come from `examples` or from `test_file` (YAML, JSON, JSONL or CSV). With `require`, such as
    ``"pass_rate >= 0.8"`` over several `trials`, or a list of such lines (see `Requirement.parse`), results
    may fail as far as it allows; an *errored* result always raises, because it says nothing either way. A
    guard (never, at_most, before, deny) of a tool that nobody knows is a warning. Everything else is as in
    `run_evaluation`.

    Raises:
        EvaluationFailed: an AssertionError whose text is the printed report, with the aligned diffs.
        ConfigError, DatasetError, ExpectationError, ScorerError: wrong use, before any agent is run.
    """
    __tracebackhide__ = True
    chosen = _examples(examples, test_file)
    chosen, scorers, requirements = checked_requirements(chosen, scorers, require, trials, trials_by)
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
        metadata=_with_requirements(metadata, requirements),
        trials_by=trials_by,
    )
    _warn_of_vacuous_guards(report)
    return require_passed(report, requirements)


async def assert_test_async(
    examples: Iterable[Example] | None = None,
    scorers: Iterable[Scorer] = (),
    *,
    test_file: str | Path | None = None,
    require: Require = None,
    **options: Unpack[EvaluationOptions],
) -> EvaluationReport:
    """Do as `assert_test` does, on the caller's event loop: ``await assert_test_async(…)``.

    See `run_evaluation_async` for what that means. Raises as `assert_test`.
    """
    __tracebackhide__ = True
    chosen = _examples(examples, test_file)
    chosen, scorers, requirements = checked_requirements(
        chosen, scorers, require, options.get("trials", 1), options.get("trials_by")
    )
    options["metadata"] = _with_requirements(options.get("metadata"), requirements)
    report = await run_evaluation_async(chosen, scorers, **options)
    _warn_of_vacuous_guards(report)
    return require_passed(report, requirements)


def _examples(examples: Iterable[Example] | None, test_file: str | Path | None) -> Iterable[Example]:
    if (examples is None) == (test_file is None):
        both = examples is not None
        raise ConfigError(
            f"examples and test_file are {'both' if both else 'neither'} given; pass one of them: "
            "examples=[Example(…)] or test_file='tests.yaml'"
        )
    return examples_in(test_file) if test_file is not None else examples or ()


def checked_requirements(
    examples: Iterable[Example],
    scorers: Iterable[Scorer],
    require: Require,
    trials: Any,
    trials_by: Any = None,
) -> tuple[Iterable[Example], Iterable[Scorer], tuple[Requirement, ...]]:
    """Return the requirements, checked before any agent is run, with the examples and the scorers.

    Raises:
        ConfigError: a line that cannot be read, a scorer that there is none of, too few trials.
        ScorerError: as `checked_scorers`, where a requirement names a scorer.
    """
    requirements = parsed_requirements(require)
    if not requirements:
        return examples, scorers, ()
    examples, scorers = checked_examples(examples), checked_scorers(scorers)
    own = (scorer for example in examples for scorer in getattr(example, "scorers", None) or ())
    names = [scorer.name for scorer in (*scorers, *own)]
    fewest = trials if is_whole(trials, 1) else None
    if trials_by is not None:
        fewest = min(Counter(examples_of_trials(examples, trials_by)).values())
    check_requirements(requirements, names, fewest)
    return examples, scorers, requirements


def _with_requirements(
    metadata: Mapping[str, Any] | None, requirements: Sequence[Requirement]
) -> Mapping[str, Any] | None:
    lines = [requirement.text for requirement in requirements]
    return {**(metadata or {}), "require": lines[0] if len(lines) == 1 else lines} if lines else metadata


def _warn_of_vacuous_guards(report: EvaluationReport) -> None:
    for line in report.vacuous_lines:  # a test that passes has no other voice
        warnings.warn(line.removeprefix("? "), stacklevel=3)


def examples_in(test_file: str | Path) -> EvalDataset:
    """Return the examples of a file; there is at least one.

    Raises:
        DatasetError: the file cannot be read as examples, or holds none.
    """
    dataset = EvalDataset.from_file(test_file)
    if not dataset:
        raise DatasetError(
            "there are no examples: an evaluation of nothing can neither pass nor fail", path=test_file
        )
    return dataset


def require_passed(
    report: EvaluationReport, requirements: Requirement | Sequence[Requirement] | None = None
) -> EvaluationReport:
    """Return the report if it passes, or if it meets every requirement without an errored result.

    Its metadata then has what was measured: the lines as *requirement*, each as data in *requirements*.

    Raises:
        EvaluationFailed: it does neither.
        ConfigError: an example has fewer trials than the k of pass^k or pass@k.
    """
    __tracebackhide__ = True  # pytest shows the test's own line and the report, not our code
    if isinstance(requirements, Requirement):
        requirements = (requirements,)
    if not requirements:
        if not report.passed:
            raise EvaluationFailed(f"{failure_line(report)}\n{report_text(report)}", report)
        return report
    verdicts = [requirement.verdict(report) for requirement in requirements]
    # What is not met comes first: a line of a failure shows no more.
    lines = [str(verdict) for verdict in sorted(verdicts, key=lambda verdict: verdict.holds)]
    data = [verdict.to_dict() for verdict in verdicts]
    metadata = {**report.metadata, "requirement": "; ".join(lines), "requirements": data}
    report = replace(report, metadata=metadata)
    if not all(verdict.holds for verdict in verdicts):
        raise EvaluationFailed(f"{failure_line(report)}\n{report_text(report)}", report)
    return report
