"""An evaluation as a test: it raises when examples fail, or fewer pass than is required."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from agenttrace.core.deep_link import See
from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.core.example import Example
from agenttrace.core.failure_width import failure_width
from agenttrace.core.numbers import is_whole
from agenttrace.core.protocols import ChatModel, Scorer
from agenttrace.core.report import EvaluationFailed, EvaluationReport
from agenttrace.core.run_comparison import RunRecord
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.datasets.selection import check_names
from agenttrace.evaluation.evaluate import run_evaluation, run_evaluation_async
from agenttrace.evaluation.requirement import (
    Require,
    Requirement,
    check_requirements,
    parsed_requirements,
)
from agenttrace.evaluation.run import (
    EvaluationOptions,
    check_option_names,
    checked_examples,
    project_of,
    redaction_for,
)
from agenttrace.evaluation.trials import MAX_TRIALS, TrialsBy, examples_of_trials, settled_by
from agenttrace.redaction import Redaction
from agenttrace.reports.first_line import failure_line
from agenttrace.reports.requirements import requirement_text, requirements_of
from agenttrace.reports.run_comparison import WIDTH, comparison_text, regression_line
from agenttrace.reports.terminal import report_text
from agenttrace.runs.baseline import Baseline, baseline_of
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.record import record_of_report, without_diffs
from agenttrace.runs.storage import store_of
from agenttrace.scoring.example_scorers import check_example_scorers, suite_scorers
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store.viewer_note import see_in

RAISED_INDENT = 8
"""What pytest puts before each line of an exception's text: an E, and the indentation of a test's body."""


def assert_test(
    examples: Iterable[Example] | None = None,
    scorers: Iterable[Scorer] = (),
    *,
    test_file: str | Path | None = None,
    require: Require = None,
    baseline: Baseline | None = None,
    **options: Unpack[EvaluationOptions],
) -> EvaluationReport:
    """Evaluate, and raise unless every result passed; return the report if they did.

    The examples come from `examples` or from `test_file` (YAML, JSON, JSONL or CSV). With `require`, such as
    ``"pass_rate >= 0.8"`` over several `trials`, or a list of such lines (see `Requirement.parse`), results
    may fail as far as it allows; an *errored* result always raises, because it says nothing either way. A
    guard (never, at_most, before, deny) of a tool that nobody knows is a warning. With ``trials="auto"`` an
    example ends as soon as it is settled whether it meets what is required. `options` are those of
    `run_evaluation`: function, tracer, model, trials, concurrency, timeout, and so on.

    With `baseline` the run is compared with an earlier one, and raises where an example

    - got *worse*: all of its trials passed in the baseline, and none does now; or its pass rate fell with
      p < 0.05 (Fisher's exact test over the trials);
    - is *errored*: one of its trials could not be judged, whatever it was before;
    - was *not run*;

    or where the two runs have no example in common, so that nothing could be compared,

    or where over all examples of both runs, of which six or more must differ, with p < 0.05 (signed ranks)

    - the pass rate fell; or
    - the mean of a scorer got worse that is not ``gate=False``, even if every value still passes.

    Nothing else raises then: not what failed before and still does, not new examples that fail, not
    examples that are gone, nor single ones that are less stable, of a lower rate or of lower values.
    With `require`, that must hold too. `baseline` is the path of a file, a git branch (the newest stored run
    of the same project, with an example in common, made on that branch; with `eval_run_name`, one of that
    name), a stored run (id, ``last``, name) or a report; see `agenttrace.runs.baseline`.

    Raises:
        EvaluationFailed: an AssertionError whose text is the printed report, with the aligned diffs, without
            secrets; its `report` has all values as they are.
        ConfigError, DatasetError, ExpectationError, ScorerError: wrong use, before any agent is run.
    """
    __tracebackhide__ = True
    check_option_names("assert_test", options, *_OWN_OPTIONS)
    chosen, scorers, gates = _prepared(_examples(examples, test_file), scorers, require, baseline, options)
    report = run_evaluation(chosen, scorers, **options)
    warn_of_vacuous_guards(report)
    return require_passed(report, *gates, redaction_for(options.get("tracer")), see=partial(_see, options))


async def assert_test_async(
    examples: Iterable[Example] | None = None,
    scorers: Iterable[Scorer] = (),
    *,
    test_file: str | Path | None = None,
    require: Require = None,
    baseline: Baseline | None = None,
    **options: Unpack[EvaluationOptions],
) -> EvaluationReport:
    """Do as `assert_test` does, on the caller's event loop: ``await assert_test_async(…)``.

    See `run_evaluation_async` for what that means. Raises as `assert_test`.
    """
    __tracebackhide__ = True
    check_option_names("assert_test_async", options, *_OWN_OPTIONS)
    chosen, scorers, gates = _prepared(_examples(examples, test_file), scorers, require, baseline, options)
    report = await run_evaluation_async(chosen, scorers, **options)
    warn_of_vacuous_guards(report)
    return require_passed(report, *gates, redaction_for(options.get("tracer")), see=partial(_see, options))


def _see(options: EvaluationOptions) -> See | None:
    return see_in(store_of(options.get("store"), options.get("tracer")))


_OWN_OPTIONS = ("examples", "scorers", "test_file", "require", "baseline")

_Gates = tuple[tuple[Requirement, ...], RunRecord | None]
"""What decides whether a run passes: requirements, a baseline."""


def _prepared(
    examples: Iterable[Example],
    scorers: Iterable[Scorer],
    require: Require,
    baseline: Baseline | None,
    options: EvaluationOptions,
) -> tuple[Iterable[Example], Iterable[Scorer], _Gates]:
    """The examples and the scorers, to be read again, and what decides, checked before any agent runs.

    `options` get the rule that ends trials, and the metadata that say what decides.
    """
    examples = examples if baseline is None else checked_examples(examples)  # an iterator is read once
    trials = options.get("trials", 1)
    examples, scorers, requirements = checked_requirements(
        examples,
        scorers,
        require,
        model=options.get("model"),
        trials=trials,
        trials_by=options.get("trials_by"),
    )
    before = _baseline(baseline, examples, options)
    options["metadata"] = _with_gates(options.get("metadata"), requirements, before)
    if options.get("settled") is None and trials == "auto":
        options["settled"] = settled_by(requirements, options.get("max_trials", MAX_TRIALS))
    return examples, scorers, (requirements, before)


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
    *,
    model: str | ChatModel | None = None,
    trials: Any = None,
    trials_by: TrialsBy | None = None,
) -> tuple[Iterable[Example], Iterable[Scorer], tuple[Requirement, ...]]:
    """Return the examples and the scorers, to be read again, and the requirements, checked before any agent
    runs.

    Raises:
        ConfigError: a line that cannot be read, a scorer that there is none of, too few trials.
        ConfigError, ScorerError: the examples or the scorers are wrong, as in `run_evaluation`.
    """
    requirements = parsed_requirements(require)
    if not requirements:
        return examples, scorers, ()
    examples = checked_examples(examples)
    scorers = tuple(scorers) if isinstance(scorers, Iterator) else scorers  # read twice
    _, scorers_of = suite_scorers(examples, scorers, model)
    names = dict.fromkeys(scorer.name for example in examples for scorer in scorers_of(example))
    fewest = trials if is_whole(trials, 1) else None
    if trials_by is not None and fewest is not None:
        fewest *= min(Counter(examples_of_trials(examples, trials_by)).values())
    check_requirements(requirements, names, fewest)
    return examples, scorers, requirements


def _baseline(
    baseline: Baseline | None, examples: Iterable[Example], options: EvaluationOptions
) -> RunRecord | None:
    """The run to compare with, read before any agent runs."""
    if baseline is None:
        return None
    tracer = options.get("tracer")
    return baseline_of(
        baseline,
        store_of(options.get("store"), tracer),
        tuple(examples),
        project=options.get("project_name") or project_of(tracer),
        name=options.get("eval_run_name"),
    )


def _with_gates(
    metadata: Mapping[str, Any] | None, requirements: Sequence[Requirement], before: RunRecord | None
) -> Mapping[str, Any] | None:
    """The metadata with what decides whether the run passes."""
    lines = [requirement.text for requirement in requirements]
    require = lines[0] if len(lines) == 1 else lines or None
    gates = {"require": require, "baseline": None if before is None else before.label}
    gates = {name: gate for name, gate in gates.items() if gate is not None}
    if not gates or not isinstance(metadata or {}, Mapping):
        return metadata  # the run refuses what is none
    return {**(metadata or {}), **gates}


def warn_of_vacuous_guards(report: EvaluationReport) -> None:
    """Warn of each guard that could not be broken: no known tool, agent or turn has such a name."""
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
    report: EvaluationReport,
    requirements: Requirement | Sequence[Requirement] | None = None,
    baseline: RunRecord | None = None,
    redaction: Redaction | None = None,
    *,
    see: Callable[[], See | None] = lambda: None,
    indent: int = RAISED_INDENT,
) -> EvaluationReport:
    """Return the report if it passes, or if it meets every requirement without an errored result.

    With a baseline, return it where it has an example in common with that, is not worse
    (`RunComparison.is_worse`), and the requirements hold if there are any: see `assert_test`. What metrics
    of a task require is required, too. With requirements its metadata has what was measured: the lines as
    *requirement*, each as data in *requirements*, or with its metric. With a `redaction` what is printed is
    without secrets; the report itself stays as it is.
    `see` is asked where it fails: the text says then how to look at traces. Where it is printed on a terminal
    whose width is known, the lines have so many columns less `indent`.

    Raises:
        EvaluationFailed: it does neither.
        ConfigError: an example has fewer trials than the k of pass^k or pass@k.
    """
    __tracebackhide__ = True  # pytest shows the test's own line and the report, not our code
    if isinstance(requirements, Requirement):
        requirements = (requirements,)
    passes = report.passed
    not_run = report.counts.get("not_run", 0)
    if requirements:
        verdicts = [requirement.verdict(report) for requirement in requirements]
        rows = [verdict.to_dict() for verdict in verdicts]
        report = replace(report, metadata={**report.metadata, "requirements": rows})
    required = requirements_of(report)
    if required:
        report = replace(report, metadata={**report.metadata, "requirement": _in_words(required)})
        judged = not not_run and not report.counts["errored"]
        passes = judged and all(row.get("holds") is True for row in required)
    if baseline is None and passes:
        return report
    shown = report if redaction is None else redacted_report(report, redaction)
    width = failure_width(indent)
    if baseline is not None:
        comparison = compare_runs(baseline, without_diffs(record_of_report(shown)))
        if comparison.is_worse or not comparison.shares_examples:
            text = f"{regression_line(comparison)}\n{comparison_text(comparison, width=width or WIDTH)}\n"
            text += report_text(shown, see(), width)
            raise EvaluationFailed(text, report)
        passes = passes or not required
    if not passes:
        line = _not_run_line(shown) if not_run else failure_line(shown)
        raise EvaluationFailed(f"{line}\n{report_text(shown, see(), width)}", report)
    return report


def _not_run_line(report: EvaluationReport) -> str:
    """How many results there are not, and why; then what went wrong with those that there are."""
    ran = tuple(result for result in report.results if result.outcome != "not_run")
    why = next(result.error for result in report.results if result.outcome == "not_run")
    line = f"{len(report) - len(ran)} of {len(report)} were not run: {why}"
    bad = any(not result.success for result in ran)
    return f"{line}; {failure_line(replace(report, results=ran))}" if bad else line


def _in_words(rows: Sequence[Mapping[str, Any]]) -> str:
    """What was required and measured. What is not met comes first: a short line shows no more."""
    return " · ".join(requirement_text(row) for row in sorted(rows, key=lambda row: row.get("holds") is True))
