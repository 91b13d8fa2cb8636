"""The metrics that a task file may ask for, each with its options, as strict models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.evaluation.bound import Bound


class Strict(BaseModel):
    """A mapping of a task file: unknown keys are errors, values are never converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


FIELD = Field(
    default="value",
    min_length=1,
    description="What each score gives: value, outcome, an item of its details, output, or sample.…",
)
ZERO_DIVISION = Field(default=None, description="In place of nothing by nothing; by default it is undefined.")


def _checked(value: Any) -> Any:
    """A value of `require` that can be read, so that its trouble is told in one sentence."""
    if isinstance(value, Mapping) and not value:
        raise ValueError("require is empty; name a number and what it must be, such as {f1: '>= 0.8'}")
    try:
        for one in value.values() if isinstance(value, Mapping) else () if value is None else (value,):
            Bound.parse(one)
    except ConfigError as error:
        raise ValueError(str(error)) from None
    return value


Bounds = str | float | dict[str, str | float]


class Metric(Strict):
    """What every metric has: a name, and what its numbers must be for the run to pass."""

    SEVERAL: ClassVar[tuple[str, ...] | None] = ()
    """The names of its numbers, as far as they are known before the run; () where it has one, without a
    name. None where it has one, or several."""

    name: str | None = Field(default=None, min_length=1, description="What the metric is called in reports.")
    require: Annotated[Bounds | None, BeforeValidator(_checked)] = Field(
        default=None,
        description="For the run to pass: the least value, '<= 0.1', or a mapping of names to them.",
    )

    @model_validator(mode="after")
    def _one_or_several(self) -> Metric:
        names, bounds = self.SEVERAL, self.bounds
        if names is None or not bounds:
            return self
        if not names and "" not in bounds:
            raise ValueError("require is a mapping, and this metric is one number; write require: '>= 0.8'")
        if names and "" in bounds:
            raise ValueError(f"require names one of its numbers, such as {{{names[0]}: '>= 0.8'}}")
        return self

    @property
    def bounds(self) -> dict[str, Bound]:
        """What is required, by the names of the metric's numbers; of a metric's only one by an empty name."""
        if self.require is None:
            return {}
        required = self.require if isinstance(self.require, dict) else {"": self.require}
        return {name: Bound.parse(value) for name, value in required.items()}


class Mean(Metric):
    """The mean of a number over all samples; true and false count as 1 and 0."""

    type: Literal["mean"]
    field: str = FIELD


class Max(Metric):
    """The largest number."""

    type: Literal["max"]
    field: str = FIELD


class Min(Metric):
    """The smallest number."""

    type: Literal["min"]
    field: str = FIELD


class StdDev(Metric):
    """The standard deviation: of the sample (divided by n − 1), or with `ddof` 0 of the population."""

    type: Literal["std_dev"]
    field: str = FIELD
    ddof: Literal[0, 1] = 1


class Frequency(Metric):
    """The share of each value, under its name; they sum to 1."""

    SEVERAL = ("value",)

    type: Literal["frequency"]
    field: str = FIELD


class OfCounts(Metric):
    """The fields of counts that precision, recall and F1 are pooled from.

    By default those of the scorer: ``num_true_positives`` …, or of function_call_coverage (what was made, not
    made, not required).
    """

    num_true_positives_field: str | None = None
    num_false_positives_field: str | None = None
    num_false_negatives_field: str | None = None
    zero_division: Literal[0, 1] | None = ZERO_DIVISION


class Precision(OfCounts):
    """Σ tp / (Σ tp + Σ fp) over all samples."""

    type: Literal["precision"]


class Recall(OfCounts):
    """Σ tp / (Σ tp + Σ fn) over all samples."""

    type: Literal["recall"]


class F1(OfCounts):
    """2·Σ tp / (2·Σ tp + Σ fp + Σ fn) over all samples."""

    type: Literal["f1", "f1_score"]


class BinaryClassification(Metric):
    """Accuracy, precision, recall and F1 of two answers. Samples with any other answer are left out, and
    counted."""

    NUMBERS: ClassVar[tuple[str, ...]] = ("accuracy", "precision", "recall", "f1")
    SEVERAL = NUMBERS

    type: Literal["binary_classification"]
    field_gt: str = Field(min_length=1, description="The right answer, such as sample.label.")
    field_pred: str = Field(min_length=1, description="The predicted answer, such as output.")
    positive_answer: str | bool | int
    negative_answer: str | bool | int
    zero_division: Literal[0, 1] | None = ZERO_DIVISION

    @model_validator(mode="after")
    def _names_of_its_numbers(self) -> BinaryClassification:
        names = BinaryClassification.NUMBERS
        for name in self.bounds:
            if name not in names:
                raise ValueError(f"require asks for {name!r}{did_you_mean(name, names)}")
        return self


class MulticlassClassification(Metric):
    """Accuracy; precision, recall and F1 of each class, their means (macro), and those of all together
    (micro)."""

    SEVERAL = ("macro_f1",)

    type: Literal["multiclass_classification"]
    field_gt: str = Field(min_length=1, description="The right label, such as sample.label.")
    field_pred: str = Field(min_length=1, description="The predicted label, such as output.")
    zero_division: Literal[0, 1] | None = ZERO_DIVISION


class PythonMetric(Metric):
    """A function, ``pkg.mod:name``, called by the names of its parameters: `values`, `scores`, `results`.

    It returns a number, None, or a mapping of names to numbers.
    """

    SEVERAL = None

    type: Literal["python"]
    function: str = Field(min_length=1, description="package.module:function")
    field: str = FIELD


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
