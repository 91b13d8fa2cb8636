"""The metrics that a task file may ask for, each with its options, as strict models."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """A mapping of a task file: unknown keys are errors, values are never converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


FIELD = Field(
    default="value",
    min_length=1,
    description="What each score gives: value, outcome, an item of its details, output, or sample.…",
)
NAME = Field(default=None, min_length=1, description="What the metric is called in reports.")
ZERO_DIVISION = Field(default=None, description="In place of nothing by nothing; by default it is undefined.")


class Mean(Strict):
    """The mean of a number over all samples; true and false count as 1 and 0."""

    type: Literal["mean"]
    field: str = FIELD
    name: str | None = NAME


class Max(Strict):
    """The largest number."""

    type: Literal["max"]
    field: str = FIELD
    name: str | None = NAME


class Min(Strict):
    """The smallest number."""

    type: Literal["min"]
    field: str = FIELD
    name: str | None = NAME


class StdDev(Strict):
    """The standard deviation: of the sample (divided by n − 1), or with `ddof` 0 of the population."""

    type: Literal["std_dev"]
    field: str = FIELD
    ddof: Literal[0, 1] = 1
    name: str | None = NAME


class Frequency(Strict):
    """The share of each value: ``{field}_{value}``; they sum to 1."""

    type: Literal["frequency"]
    field: str = FIELD
    name: str | None = NAME


class OfCounts(Strict):
    """The fields of counts that precision, recall and F1 are pooled from.

    By default those of the scorer: ``num_true_positives`` …, or of function_call_coverage (what was made, not
    made, not required).
    """

    num_true_positives_field: str | None = None
    num_false_positives_field: str | None = None
    num_false_negatives_field: str | None = None
    zero_division: Literal[0, 1] | None = ZERO_DIVISION
    name: str | None = NAME


class Precision(OfCounts):
    """Σ tp / (Σ tp + Σ fp) over all samples."""

    type: Literal["precision"]


class Recall(OfCounts):
    """Σ tp / (Σ tp + Σ fn) over all samples."""

    type: Literal["recall"]


class F1(OfCounts):
    """2·Σ tp / (2·Σ tp + Σ fp + Σ fn) over all samples."""

    type: Literal["f1", "f1_score"]


class BinaryClassification(Strict):
    """Accuracy, precision, recall and F1 of two answers. Samples with any other answer are left out, and
    counted."""

    type: Literal["binary_classification"]
    field_gt: str = Field(min_length=1, description="The right answer, such as sample.label.")
    field_pred: str = Field(min_length=1, description="The predicted answer, such as output.")
    positive_answer: str | bool | int
    negative_answer: str | bool | int
    zero_division: Literal[0, 1] | None = ZERO_DIVISION
    name: str | None = NAME


class MulticlassClassification(Strict):
    """Accuracy; precision, recall and F1 of each class, their means (macro), and those of all together
    (micro)."""

    type: Literal["multiclass_classification"]
    field_gt: str = Field(min_length=1, description="The right label, such as sample.label.")
    field_pred: str = Field(min_length=1, description="The predicted label, such as output.")
    zero_division: Literal[0, 1] | None = ZERO_DIVISION
    name: str | None = NAME


class PythonMetric(Strict):
    """A function, ``pkg.mod:name``, called by the names of its parameters: `values`, `scores`, `results`.

    It returns a number, None, or a mapping of names to numbers.
    """

    type: Literal["python"]
    function: str = Field(min_length=1, description="package.module:function")
    field: str = FIELD
    name: str | None = NAME


MetricEntry = (
    Mean
    | Max
    | Min
    | StdDev
    | Frequency
    | Precision
    | Recall
    | F1
    | BinaryClassification
    | MulticlassClassification
    | PythonMetric
)
"""Any of them."""

Metrics = list[Annotated[MetricEntry, Field(discriminator="type")]]
"""A list of them, told apart by `type`."""


def _types() -> dict[str, type[Strict]]:
    kinds: Any = get_args(MetricEntry)
    return {word: kind for kind in kinds for word in get_args(kind.model_fields["type"].annotation)}


METRICS = _types()
"""The model of each `type`."""
