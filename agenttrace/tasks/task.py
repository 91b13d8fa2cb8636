"""`Task`: an evaluation that a file describes, checked, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

from agenttrace.core.dotted_name import imported_function
from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer, Store
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.datasets.document import Document
from agenttrace.evaluation import run_evaluation
from agenttrace.evaluation.run import EvaluationOptions
from agenttrace.scoring.example_scorers import check_example_scorers
from agenttrace.tasks.metric_entries import BinaryClassification, MetricEntry, PythonMetric
from agenttrace.tasks.metrics import MetricResult, measured, metric_name, parameters_of
from agenttrace.tasks.observation import MetricError, NoValue, Observation, label_in, label_text, number_in
from agenttrace.tasks.sources import beside, check_source_of_calls, examples_of
from agenttrace.tasks.task_file import TaskFile, at, read_task_file
from agenttrace.tasks.task_scorers import scorers_of


@dataclass(frozen=True, slots=True)
class PlannedMetric:
    """A metric of a scorer, with the place of the file that asks for it."""

    entry: MetricEntry
    scorer: str
    purpose: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An evaluation as a file says it; made by `load_task`.

    `examples` and `scorers` are made and checked; `function` is None where the examples hold recorded runs.
    `require` are lines as `assert_test` takes them, for whoever decides whether a run passes: `run` does not.
    """

    path: Path
    key: str
    display_name: str
    description: str | None
    tags: tuple[str, ...]
    examples: Sequence[Example]
    scorers: Sequence[Scorer]
    function: Callable[..., Any] | None
    require: tuple[str, ...] = ()
    dataset: Path | None = None
    """The file of the examples, where they stand in one of their own."""
    metrics: Sequence[PlannedMetric] = field(default=(), repr=False)

    def run(self, **options: Unpack[EvaluationOptions]) -> EvaluationReport:
        """Run the evaluation; `options` are those of `run_evaluation`, before what the file says.

        The report's metadata have the metrics (`metrics_of` reads them back) and the task's key.

        Raises:
            ConfigError, ExpectationError, ScorerError: wrong use, before any agent is run.
        """
        options.setdefault("function", self.function)
        options.setdefault("measure", self.measure)
        if options.get("tracer") is None:
            options.setdefault("project_name", self.key)
        return run_evaluation(self.examples, self.scorers, **options)

    def measure(self, report: EvaluationReport) -> Mapping[str, Any]:
        """The task and its metrics over the results of a report, as metadata of the report."""
        results = [
            measured(one.entry, report.results, scorer=one.scorer, purpose=one.purpose, source=one.source)
            for one in self.metrics
        ]
        about = {"key": self.key, "display_name": self.display_name, "file": str(self.path)}
        return {"task": about, "metrics": [result.to_dict() for result in results]}


def metrics_of(report: EvaluationReport) -> list[MetricResult]:
    """The metrics of a task's report, also of one that was read back from a store or a file."""
    names = MetricResult.__dataclass_fields__
    return [
        MetricResult(**{name: value for name, value in one.items() if name in names})
        for one in report.metadata.get("metrics") or ()
    ]


def load_task(
    path: str | Path,
    *,
    function: Callable[..., Any] | None = None,
    store: str | Store | None = None,
) -> Task:
    """Read a task file (YAML or JSON), and make and check all that it names; nothing is run.

    `function` takes the place of the file's. `store` is where recorded traces are looked up that name no
    store of their own; by default the default one. Paths are from the file's folder; modules are searched for
    in the working directory, then in that folder.

    Raises:
        DatasetError: the file cannot be read, or something in it cannot be: an unknown key or value, a
            template, a scorer or a metric that there is none of, examples without a source of calls. It names
            path and line.
    """
    path = Path(path)
    entry, document = read_task_file(path)
    if function is not None and entry.traces is not None:
        raise at(document, ("traces",), "a function is given, and traces have recorded calls; keep one")
    if function is None and entry.function is not None:
        function = _function(entry.function, document)
    examples = examples_of(entry, document, store)
    if function is None:
        check_source_of_calls(examples, document)
    scorers = scorers_of(entry.scorers, document, examples)
    check_example_scorers(examples)
    if not scorers and not any(example.scorers for example in examples):
        raise document.error("there are no scorers: without one, nothing is compared")
    return Task(
        path=path,
        key=entry.key or path.stem,
        display_name=entry.display_name or entry.key or path.stem,
        description=entry.description,
        tags=tuple(entry.tags),
        examples=examples,
        scorers=scorers,
        function=function,
        require=tuple(entry.require),
        dataset=None if entry.dataset is None else beside(document, entry.dataset.path),
        metrics=_planned(entry, scorers, examples, document),
    )


def _function(text: str, document: Document) -> Callable[..., Any]:
    try:
        return imported_function(text, document.path.parent)
    except ConfigError as error:
        raise at(document, ("function",), error) from None


def _planned(
    task: TaskFile, scorers: Sequence[Scorer], examples: Sequence[Example], document: Document
) -> list[PlannedMetric]:
    """The metrics of all scorers, as far as they can be checked before anything ran."""
    planned: list[PlannedMetric] = []
    for at_scorer, (entry, scorer) in enumerate(zip(task.scorers, scorers, strict=True)):
        names: set[str] = set()
        for index, metric in enumerate(entry.metrics):
            place = ("scorers", at_scorer, "metrics", index)
            if metric_name(metric) in names:
                raise at(document, place, f"two metrics are called {metric_name(metric)!r}; give one a name")
            names.add(metric_name(metric))
            if entry.purpose == "qa" and metric.require is not None:
                raise at(document, (*place, "require"), "purpose: qa informs, require decides; keep one")
            try:
                _check(metric, examples, document.path.parent)
            except ConfigError as error:
                raise at(document, place, error) from None
            line = document.line(place)
            source = f"{document.path}:{line}" if line else str(document.path)
            planned.append(PlannedMetric(metric, scorer.name, entry.purpose, source))
    return planned


def _check(metric: MetricEntry, examples: Sequence[Example], directory: Path) -> None:
    """What can be known of a metric before anything runs: its function, answers, what it reads of samples.

    Raises:
        ConfigError: there is no such function, no sample has the field, or one has a value of the wrong type.
    """
    if isinstance(metric, PythonMetric):
        parameters_of(imported_function(metric.function, directory), metric.function)
    if isinstance(metric, BinaryClassification):
        answer = label_text(metric.positive_answer)
        if answer == label_text(metric.negative_answer):
            raise ConfigError(f"positive_answer and negative_answer are both {answer!r}")
    for option, read in _READ_OF_SAMPLES.items():
        path = getattr(metric, option, None)
        if path is None or not path.startswith("sample.") or path.split(".")[1] in _FILLED_BY_A_RUN:
            continue
        if option == "field":
            read = _READ_AS.get(metric.type, read)
        _check_samples(path, read, examples, option)


_FILLED_BY_A_RUN = frozenset({"actual_output", "tools_called"})


def _any(observation: Observation, path: str) -> Any:
    return observation.read(path)


_Read = Callable[[Observation, str], Any]
_READ_OF_SAMPLES: Mapping[str, _Read] = {"field": _any, "field_gt": label_in, "field_pred": label_in}
_READ_AS: Mapping[str, _Read] = {
    **dict.fromkeys(("mean", "max", "min", "std_dev"), number_in),
    "frequency": label_in,
}


def _check_samples(path: str, read: _Read, examples: Sequence[Example], option: str) -> None:
    no_score, without = Score.skipped("", 0.0, ""), 0
    for position, example in enumerate(examples):
        result = ScoringResult(example=example, outcome="passed", position=position, source=example.source)
        try:
            read(Observation(result, no_score), path)
        except NoValue as reason:
            without += 1
            if without == len(examples):
                raise ConfigError(f"{option}: no sample has {path!r}: {reason}") from None
        except MetricError as trouble:
            raise ConfigError(f"{option}: {trouble}") from None
