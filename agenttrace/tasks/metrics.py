"""Work out a metric over the scored samples of a run; what has no value is left out, and counted."""

from __future__ import annotations

import inspect
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from agenttrace.core.dotted_name import imported_function
from agenttrace.core.errors import ConfigError, did_you_mean, error_text
from agenttrace.core.numbers import is_number
from agenttrace.core.report import ScoringResult
from agenttrace.core.text import short_repr
from agenttrace.process.threads import DaemonExecutor
from agenttrace.statistics import classification as of_classes
from agenttrace.tasks import metric_entries as entries
from agenttrace.tasks.metric_requirements import requirement_rows, unmet_rows
from agenttrace.tasks.observation import (
    MetricError,
    NoValue,
    Observation,
    Reader,
    count_in,
    label_in,
    label_text,
    observed,
)

SECONDS = 60.0
"""How long a metric of the user's own may take."""

Values = dict[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """One metric of a run.

    `values` are its numbers by name, ``{"": 0.75}`` where there is one; None where it is undefined, and
    `reason` says why. `count` samples of `total` had a value; `left_out` says how many of the others there
    are of each kind: errored samples are never counted as 0. `error` says why nothing could be worked out.
    `requirements` has a row for each bound of its `require`: *require*, *value*, *counts*, *holds*.
    """

    name: str
    type: str
    scorer: str
    purpose: str = "score"
    values: Values = field(default_factory=dict)
    count: int = 0
    total: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    error: str | None = None
    requirements: Sequence[Mapping[str, Any]] = ()

    @property
    def value(self) -> float | None:
        """The number of a metric that has one."""
        return self.values.get("")

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(frozen=True, slots=True)
class Figures:
    """What a metric's arithmetic gives: numbers by name, and what else belongs to them."""

    values: Values
    details: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


def _one(function: Callable[[list[float]], float]) -> Callable[[Any, Reader], Figures]:
    """A metric that is one number of the numbers of a field."""

    def figures(entry: Any, reader: Reader) -> Figures:
        numbers = reader.numbers(entry.field)
        if not numbers:
            return Figures({"": None}, reason="no sample has a value")
        return Figures({"": function(numbers)})

    return figures


def mean(numbers: Sequence[float]) -> float:
    """The arithmetic mean, without a rounding error of the sum."""
    return math.fsum(numbers) / len(numbers)


def _std_dev(entry: entries.StdDev, reader: Reader) -> Figures:
    numbers = reader.numbers(entry.field)
    if len(numbers) <= entry.ddof:
        return Figures({"": None}, reason=f"it takes more than {entry.ddof} sample{'s' * (entry.ddof != 1)}")
    middle = mean(numbers)
    squares = math.fsum((number - middle) ** 2 for number in numbers)
    return Figures({"": math.sqrt(squares / (len(numbers) - entry.ddof))})


def _frequency(entry: entries.Frequency, reader: Reader) -> Figures:
    counts = Counter(label for (label,) in reader.rows(lambda one: label_in(one, entry.field)))
    total = counts.total()
    shares: Values = {label: count / total for label, count in sorted(counts.items())}
    return Figures(
        shares, {"counts": dict(sorted(counts.items()))}, "" if counts else "no sample has a value"
    )


_COUNT_FIELDS = {
    "num_true_positives_field": ("num_true_positives", "num_required_calls_made"),
    "num_false_positives_field": ("num_false_positives", "num_unrequired_calls"),
    "num_false_negatives_field": ("num_false_negatives", "num_required_calls_not_made"),
}
"""The names of counts that scorers use: the field's own, those of function_call_coverage."""

_NEEDED = {
    "precision": ("num_true_positives_field", "num_false_positives_field"),
    "recall": ("num_true_positives_field", "num_false_negatives_field"),
    "f1": tuple(_COUNT_FIELDS),
}


def _of_counts(entry: entries.OfCounts, reader: Reader) -> Figures:
    kind = str(getattr(entry, "type", "")).removesuffix("_score")

    def reading(option: str) -> Callable[[Observation], float]:
        path = getattr(entry, option)

        def read(observation: Observation) -> float:
            names = _COUNT_FIELDS[option]
            known = next((name for name in names if name in observation.score.details), None)
            if path is None and known is None:
                raise NoValue(f"no count {names[0]!r} in the score's details: {option} names it")
            return count_in(observation, path or str(known))

        return read

    options = _NEEDED[kind]
    rows = reader.rows(*map(reading, options))
    sums = {option: math.fsum(row[at] for row in rows) for at, option in enumerate(options)}
    counts = of_classes.Counts(*(sums.get(option, 0.0) for option in _COUNT_FIELDS))
    value = getattr(counts, kind)(entry.zero_division)
    details = {option.removesuffix("_field"): number for option, number in sums.items()}
    return Figures({"": value}, details, "nothing by nothing" if value is None else "")


def _pairs(entry: Any, reader: Reader) -> list[tuple[str, str]]:
    return [
        (right, got)
        for right, got in reader.rows(
            lambda one: label_in(one, entry.field_gt), lambda one: label_in(one, entry.field_pred)
        )
    ]


def _binary(entry: entries.BinaryClassification, reader: Reader) -> Figures:
    answers = label_text(entry.positive_answer), label_text(entry.negative_answer)
    everything = _pairs(entry, reader)
    pairs = [pair for pair in everything if set(pair) <= set(answers)]
    if len(pairs) < len(everything):
        reader.left_out["another answer"] = len(everything) - len(pairs)
    reader.count = len(pairs)
    confusion = of_classes.confusion_of(pairs)
    positive, negative = map(str, answers)
    counts = of_classes.counts_of(confusion, positive)
    values: Values = {
        "accuracy": of_classes.accuracy(confusion),
        "precision": counts.precision(entry.zero_division),
        "recall": counts.recall(entry.zero_division),
        "f1": counts.f1(entry.zero_division),
    }
    details = {
        "true_positives": confusion.get((positive, positive), 0),
        "false_positives": confusion.get((negative, positive), 0),
        "false_negatives": confusion.get((positive, negative), 0),
        "true_negatives": confusion.get((negative, negative), 0),
    }
    return Figures(values, details, _undefined(values))


def _multiclass(entry: entries.MulticlassClassification, reader: Reader) -> Figures:
    confusion = of_classes.confusion_of(_pairs(entry, reader))
    labels, zero = of_classes.labels_of(confusion), entry.zero_division
    counts = [of_classes.counts_of(confusion, label) for label in labels]
    all_counts = of_classes.together(counts)
    values: Values = {"accuracy": of_classes.accuracy(confusion)}
    by_class: Values = {}
    for word in ("precision", "recall", "f1"):
        each = [getattr(one, word)(zero) for one in counts]
        values[f"macro_{word}"] = of_classes.mean_of_classes(each)
        values[f"micro_{word}"] = getattr(all_counts, word)(zero)
        by_class.update({f"{label}_{word}": value for label, value in zip(labels, each, strict=True)})
    table = {right: {got: confusion.get((right, got), 0) for got in labels} for right in labels}
    return Figures({**values, **by_class}, {"confusion": table}, _undefined({**values, **by_class}))


def _undefined(values: Values) -> str:
    names = [name for name, value in values.items() if value is None]
    return f"nothing by nothing: {', '.join(names)}" if names else ""


_PARAMETERS = ("values", "scores", "results")


def _python(entry: entries.PythonMetric, reader: Reader) -> Figures:
    function = imported_function(entry.function)
    names = parameters_of(function, entry.function)
    rows = reader.rows(lambda one: one, lambda one: one.read(entry.field) if "values" in names else None)
    arguments = {
        "values": [value for _, value in rows],
        "scores": [one.score for one, _ in rows],
        "results": [one.result for one, _ in rows],
    }
    output = _within_time(function, {name: arguments[name] for name in names}, entry.function)
    values = dict(output) if isinstance(output, Mapping) else {"": output}
    for name, value in values.items():
        if not isinstance(name, str) or not (value is None or isinstance(value, bool) or is_number(value)):
            what = short_repr(output)
            raise MetricError(
                f"{entry.function} returned {what}, wanted a number or a mapping of names to numbers"
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise MetricError(f"{entry.function} returned {value}, wanted a finite number")
    numbers: Values = {name: None if value is None else float(value) for name, value in values.items()}
    return Figures(numbers, reason=_undefined(numbers) and "the function returned nothing")


def _within_time(function: Callable[..., Any], arguments: Mapping[str, Any], name: str) -> Any:
    """What a function returns. One that is late is left with its thread."""
    pool = DaemonExecutor(1, name="metric")
    future = pool.submit(function, **arguments)
    try:
        return future.result(timeout=SECONDS)
    except TimeoutError:
        if future.done():  # its own
            raise
        raise MetricError(f"{name} did not return within {SECONDS:g} s") from None
    finally:
        pool.shutdown(wait=False)


def parameters_of(function: Callable[..., Any], text: str) -> list[str]:
    """The parameters that a Python metric is called with.

    Raises:
        ConfigError: it asks for something else.
    """
    names = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in _PARAMETERS:
            names.append(parameter.name)
        elif parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise ConfigError(
                f"the metric {text} asks for {parameter.name!r}{did_you_mean(parameter.name, _PARAMETERS)}"
            )
    if not names:
        raise ConfigError(f"the metric {text} takes none of {', '.join(_PARAMETERS)}")
    return names


_ARITHMETIC: Mapping[str, Callable[[Any, Reader], Figures]] = {
    "mean": _one(mean),
    "max": _one(max),
    "min": _one(min),
    "std_dev": _std_dev,
    "frequency": _frequency,
    "precision": _of_counts,
    "recall": _of_counts,
    "f1": _of_counts,
    "f1_score": _of_counts,
    "binary_classification": _binary,
    "multiclass_classification": _multiclass,
    "python": _python,
}


def metric_name(entry: entries.MetricEntry) -> str:
    """What a metric is called: its `name`, else one of its field and its type."""
    if entry.name:
        return entry.name
    path = getattr(entry, "field", None)
    if entry.type == "frequency":
        return str(path)
    if entry.type == "python":
        return str(getattr(entry, "function", "")).rpartition(":")[2].rpartition(".")[2]
    return entry.type if path is None else f"{path}_{entry.type}"


def measured(
    entry: entries.MetricEntry,
    results: Sequence[ScoringResult],
    *,
    scorer: str,
    purpose: str = "score",
    source: str = "",
) -> MetricResult:
    """Work out one metric of a scorer over the results of a run. Never raises: `MetricResult.error` has it,
    after the `source` of the metric (``path:line``)."""
    reader = Reader(*observed(results, scorer))
    head, error = f"{metric_name(entry)} of {scorer}", None
    figures, rows = Figures({}), []
    try:
        figures = _ARITHMETIC[entry.type](entry, reader)
        counts = f"over {reader.count} of {reader.total}"
        rows = requirement_rows(entry, figures.values, head=head, counts=counts)
    except MetricError as trouble:
        error = str(trouble)
    except Exception as trouble:  # choke-point: a metric of the user's own may raise anything
        error = error_text(trouble)
    if error is not None:
        rows = unmet_rows(entry, head=head, why="the metric errored")
    return MetricResult(
        name=metric_name(entry),
        type=entry.type,
        scorer=scorer,
        purpose=purpose,
        values=figures.values,
        count=0 if error else reader.count,
        total=reader.total,
        left_out=reader.left_out,
        details=figures.details,
        reason=figures.reason,
        error=error and (f"{source}: {error}" if source else error),
        requirements=rows,
    )
