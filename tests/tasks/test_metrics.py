"""Each metric against arithmetic written down anew, and against numpy and scikit-learn where they are there."""

# ruff: noqa: E501 - a case a line

import math
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import Example, Score
from agenttrace.core.report import ScoringResult
from agenttrace.tasks.metric_entries import METRICS
from agenttrace.tasks.metrics import measured


def result(details=None, *, value=1.0, at=0, sample=None, output=None, outcome="passed"):
    score = Score.of("s", value, 0.5, details=details or {})
    example = Example(additional_metadata=sample or {}, actual_output=output, name=f"e{at}")
    return ScoringResult(example=example, scores=(score,), outcome=outcome, position=at)


def of_numbers(numbers):
    return [result({"n": number}, at=at) for at, number in enumerate(numbers)]


def of_labels(pairs):
    return [result(sample={"label": right}, output=got, at=at) for at, (right, got) in enumerate(pairs)]


def metric(results, **options):
    entry = METRICS[options["type"]].model_validate(options)
    return measured(entry, results, scorer="s")


def number(results, kind, **options):
    done = metric(results, type=kind, field="n", **options)
    assert done.error is None
    return done.value


def library(name):
    return pytest.importorskip(name, reason=f"{name} is not installed: compared with the oracle alone")


NUMBERS = st.lists(
    st.floats(-1e6, 1e6, allow_subnormal=False) | st.integers(-(10**6), 10**6), min_size=1, max_size=30
)
LABELS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=40)
ANSWERS = st.lists(
    st.tuples(st.sampled_from(["yes", "no"]), st.sampled_from(["yes", "no"])), min_size=1, max_size=40
)


@given(NUMBERS)
def test_numbers_are_those_of_exact_arithmetic(numbers):
    results, exact = of_numbers(numbers), [Fraction(one) for one in numbers]
    middle = sum(exact) / len(exact)
    assert number(results, "mean") == pytest.approx(float(middle), rel=1e-12, abs=1e-12)
    assert number(results, "max") == max(numbers)
    assert number(results, "min") == min(numbers)
    squares = sum((one - middle) ** 2 for one in exact)
    population = math.sqrt(squares / len(exact))
    assert number(results, "std_dev", ddof=0) == pytest.approx(population, rel=1e-6, abs=1e-9)
    if len(numbers) > 1:
        assert number(results, "std_dev") == pytest.approx(statistics.stdev(exact), rel=1e-6, abs=1e-9)


@given(NUMBERS)
def test_numbers_are_those_of_numpy(numbers):
    numpy = library("numpy")
    results = of_numbers(numbers)
    assert number(results, "mean") == pytest.approx(numpy.mean(numbers), rel=1e-9, abs=1e-9)
    assert number(results, "max") == numpy.max(numbers)
    assert number(results, "min") == numpy.min(numbers)
    assert number(results, "std_dev", ddof=0) == pytest.approx(numpy.std(numbers), rel=1e-6, abs=1e-6)
    if len(numbers) > 1:
        assert number(results, "std_dev") == pytest.approx(numpy.std(numbers, ddof=1), rel=1e-6, abs=1e-6)


@given(st.lists(st.sampled_from(["a", "b", "c", True, 2]), min_size=1, max_size=30))
def test_shares_are_counted_and_sum_to_one(values):
    done = metric(of_numbers(values), type="frequency", field="n")
    texts = ["true" if one is True else str(one) for one in values]
    assert done.values == {text: texts.count(text) / len(texts) for text in set(texts)}
    assert math.isclose(sum(done.values.values()), 1.0)
    assert done.details["counts"] == {text: texts.count(text) for text in sorted(set(texts))}


COUNTS = st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=20)
COUNT_NAMES = ("num_true_positives", "num_false_positives", "num_false_negatives")


@given(COUNTS)
def test_precision_recall_and_f1_are_pooled_from_the_counts_of_all_samples(counts):
    results = [result(dict(zip(COUNT_NAMES, one, strict=True)), at=at) for at, one in enumerate(counts)]
    hits, wrong, missed = map(sum, zip(*counts, strict=True))
    wanted = {
        "precision": Fraction(hits, hits + wrong) if hits + wrong else None,
        "recall": Fraction(hits, hits + missed) if hits + missed else None,
        "f1_score": Fraction(2 * hits, 2 * hits + wrong + missed) if hits + wrong + missed else None,
    }
    for kind, value in wanted.items():
        done = metric(results, type=kind)
        assert done.value == (None if value is None else pytest.approx(float(value)))
        assert (done.reason == "nothing by nothing") is (value is None)
        assert metric(results, type=kind, zero_division=0).value == pytest.approx(float(value or 0))
    assert metric(results, type="f1").value == metric(results, type="f1_score").value


@given(COUNTS)
def test_pooled_counts_are_those_of_scikit_learn_over_the_labels_that_they_stand_for(counts):
    metrics = library("sklearn.metrics")
    results = [result(dict(zip(COUNT_NAMES, one, strict=True)), at=at) for at, one in enumerate(counts)]
    right, got = [0], [0]
    for hits, wrong, missed in counts:
        right += [1] * hits + [0] * wrong + [1] * missed
        got += [1] * hits + [1] * wrong + [0] * missed
    for kind, function in (("precision", "precision_score"), ("recall", "recall_score"), ("f1", "f1_score")):
        theirs = getattr(metrics, function)(right, got, zero_division=0)
        assert metric(results, type=kind, zero_division=0).value == pytest.approx(theirs)


def binary(results, **options):
    asked = {"type": "binary_classification", "field_gt": "sample.label", "field_pred": "output"}
    return metric(results, **asked, positive_answer="yes", negative_answer="no", **options)


@given(ANSWERS)
def test_two_answers_are_counted_one_by_one(pairs):
    values = binary(of_labels(pairs)).values
    hits = sum(pair == ("yes", "yes") for pair in pairs)
    predicted = sum(got == "yes" for _, got in pairs)
    actual = sum(right == "yes" for right, _ in pairs)
    assert values["accuracy"] == sum(right == got for right, got in pairs) / len(pairs)
    assert values["precision"] == (hits / predicted if predicted else None)
    assert values["recall"] == (hits / actual if actual else None)
    assert values["f1"] == (pytest.approx(2 * hits / (predicted + actual)) if predicted + actual else None)


@given(ANSWERS)
def test_two_answers_are_those_of_scikit_learn(pairs):
    metrics = library("sklearn.metrics")
    right, got = zip(*pairs, strict=True)
    values = binary(of_labels(pairs), zero_division=0).values
    options = {"pos_label": "yes", "zero_division": 0}
    assert values["accuracy"] == pytest.approx(metrics.accuracy_score(right, got))
    assert values["precision"] == pytest.approx(metrics.precision_score(right, got, **options))
    assert values["recall"] == pytest.approx(metrics.recall_score(right, got, **options))
    assert values["f1"] == pytest.approx(metrics.f1_score(right, got, **options))


def multiclass(results, **options):
    asked = {"type": "multiclass_classification", "field_gt": "sample.label", "field_pred": "output"}
    return metric(results, **asked, **options)


@given(LABELS)
def test_classes_are_counted_one_by_one(pairs):
    done = multiclass(of_labels(pairs))
    labels = sorted({label for pair in pairs for label in pair})
    each = {"precision": [], "recall": [], "f1": []}
    for label in labels:
        hits = sum(pair == (label, label) for pair in pairs)
        predicted = sum(got == label for _, got in pairs)
        actual = sum(right == label for right, _ in pairs)
        each["precision"].append(hits / predicted if predicted else None)
        each["recall"].append(hits / actual if actual else None)
        each["f1"].append(2 * hits / (predicted + actual))
    accuracy = sum(right == got for right, got in pairs) / len(pairs)
    assert done.values["accuracy"] == accuracy
    for word, values in each.items():
        assert [done.values[f"{label}_{word}"] for label in labels] == pytest.approx(values)
        defined = [value for value in values if value is not None]
        assert done.values[f"macro_{word}"] == pytest.approx(sum(defined) / len(defined))
        assert done.values[f"micro_{word}"] == pytest.approx(accuracy)  # of one label each
    assert done.details["confusion"] == {
        right: {got: pairs.count((right, got)) for got in labels} for right in labels
    }


@pytest.mark.filterwarnings("ignore:A single label")
@pytest.mark.parametrize("zero", [None, 0, 1])
@given(pairs=LABELS)
def test_classes_are_those_of_scikit_learn(zero, pairs):
    metrics = library("sklearn.metrics")
    right, got = zip(*pairs, strict=True)
    values = multiclass(of_labels(pairs), zero_division=zero).values
    division = math.nan if zero is None else zero
    labels = sorted({*right, *got})
    for average in ("macro", "micro", None):
        theirs = metrics.precision_recall_fscore_support(
            right, got, labels=labels, average=average, zero_division=division
        )
        for word, value in zip(("precision", "recall", "f1"), theirs, strict=False):
            ours = (
                [values[f"{one}_{word}"] for one in labels]
                if average is None
                else values[f"{average}_{word}"]
            )
            mine = [math.nan if one is None else one for one in (ours if average is None else [ours])]
            assert mine == pytest.approx(list(value) if average is None else [value], nan_ok=True)
    table = metrics.confusion_matrix(right, got, labels=labels).tolist()
    confusion = multiclass(of_labels(pairs)).details["confusion"]
    assert [[confusion[a][b] for b in labels] for a in labels] == table


def test_values_by_hand():
    assert number(of_numbers([1, 2, 3, 6]), "mean") == 3
    assert number(of_numbers([2, 4, 4, 4, 5, 5, 7, 9]), "std_dev", ddof=0) == 2
    assert number(of_numbers([True, False, True, True]), "mean") == 0.75
    pairs = [("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no"), ("no", "no")]
    assert binary(of_labels(pairs)).values == {"accuracy": 0.6, "precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert binary(of_labels(pairs)).details == {
        "true_positives": 1,
        "false_positives": 1,
        "false_negatives": 1,
        "true_negatives": 2,
    }


def errored(at=9):
    return ScoringResult(
        example=Example(name="broken"),
        scores=(Score.errored("s", 0.5, "broke"),),
        outcome="errored",
        position=at,
    )


def test_samples_without_a_value_are_left_out_and_counted_by_the_reason():
    results = [
        *of_numbers([1, 0]),
        errored(),
        errored(),
        ScoringResult(example=Example(), scores=(Score.skipped("s", 0.5, "why"),), outcome="errored"),
        ScoringResult(example=Example(), outcome="failed", error="ValueError: x"),
        ScoringResult(example=Example(), outcome="not_run", error="the budget is spent"),
        result({}),
        result({"n": None}),
    ]
    done = metric(results, type="mean", field="n")
    assert (done.value, done.count, done.total) == (0.5, 2, 9)
    assert done.left_out == {
        "errored": 2,
        "skipped": 1,
        "agent failed": 1,
        "not run": 1,
        "no 'n' in the score's details": 1,
        "n is nothing": 1,
    }


def test_samples_that_have_the_scores_of_others_alone_do_not_count():
    other = ScoringResult(example=Example(), scores=(Score.of("other", 1.0, 0.5),), outcome="passed")
    done = metric([*of_numbers([1]), other], type="mean", field="n")
    assert (done.count, done.total) == (1, 1)


@pytest.mark.parametrize("kind", ["mean", "max", "min", "std_dev", "frequency"])
def test_without_any_value_a_metric_is_undefined_and_not_0(kind):
    done = metric([errored()], type=kind)
    assert done.value is None
    assert done.error is None
    assert (done.count, done.total, done.left_out) == (0, 1, {"errored": 1})
    assert done.reason


def test_one_sample_has_no_deviation_of_a_sample():
    assert metric(of_numbers([1]), type="std_dev", field="n").value is None
    assert metric(of_numbers([1]), type="std_dev", field="n", ddof=0).value == 0


def test_another_answer_is_left_out_and_counted():
    pairs = [("yes", "yes"), ("yes", "perhaps"), ("no", "no"), (None, "no")]
    done = binary(of_labels(pairs))
    assert (done.values["accuracy"], done.count, done.total) == (1.0, 2, 4)
    assert done.left_out == {"another answer": 1, "sample.label is nothing": 1}


def test_answers_are_compared_as_text():
    results = of_labels([(True, "true"), (1, 1.0), (False, "1")])
    asked = {"field_gt": "sample.label", "field_pred": "output"}
    done = metric(results, type="binary_classification", **asked, positive_answer=True, negative_answer=False)
    assert (done.values["accuracy"], done.count) == (1.0, 1)
    assert multiclass(results).values["accuracy"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("options", "details", "message"),
    [
        ({"type": "mean", "field": "n"}, {"n": "high"}, "n is str 'high' in example 1"),
        ({"type": "max", "field": "n"}, {"n": [1]}, "wanted a number"),
        ({"type": "min", "field": "n"}, {"n": {"a": 1}}, "wanted a number"),
        ({"type": "std_dev", "field": "n"}, {"n": math.nan}, "wanted a number"),
        (
            {"type": "mean", "field": "outcome"},
            {},
            "outcome is str 'passed' in example 1 ('e0'), wanted a number",
        ),
        (
            {"type": "mean", "field": "num"},
            {"number": 1},
            "no 'num' in the score's details; did you mean 'number'?",
        ),
        ({"type": "mean", "field": "n.deep"}, {"n": 1}, "n is int, without 'deep'"),
        ({"type": "frequency", "field": "n"}, {"n": [1]}, "wanted a text, a number or a bool"),
        ({"type": "recall"}, {"made": 1}, "no count 'num_true_positives' in the score's details"),
        ({"type": "precision"}, {"num_true_positives": -1, "num_false_positives": 0}, "wanted a count"),
        ({"type": "mean", "field": "sample.label"}, {}, "no 'label' in sample"),
    ],
)
def test_a_value_of_the_wrong_type_is_an_error_that_says_where(options, details, message):
    done = metric([result(details)], **options)
    assert done.error is not None
    assert message in done.error
    assert done.values == {}


def test_the_counts_of_function_call_coverage_are_known():
    details = {"num_required_calls_made": 2, "num_required_calls_not_made": 1, "num_unrequired_calls": 2}
    values = [metric([result(details)], type=kind).value for kind in ("precision", "recall", "f1")]
    assert values == [0.5, pytest.approx(2 / 3), pytest.approx(4 / 7)]


def test_fields_of_counts_may_be_named():
    fields = {"num_true_positives_field": "tp", "num_false_positives_field": "fp"}
    assert metric([result({"tp": 1, "fp": 3})], type="precision", **fields).value == 0.25


def own(module, **functions):
    import sys
    import types

    made = types.ModuleType(module)
    vars(made).update(functions)
    sys.modules[module] = made


@pytest.fixture
def function():
    def use(function):
        own("metric_of_a_test", metric=function)
        return {"type": "python", "function": "metric_of_a_test:metric", "field": "n"}

    yield use
    import sys

    sys.modules.pop("metric_of_a_test", None)


def test_a_function_of_ones_own_gets_what_its_parameters_name(function):
    def span(values, scores, results, least=0):
        assert [score.name for score in scores] == ["s", "s"]
        return {"span": max(values) - min(values), "count": len(results), "none": None}

    done = metric([*of_numbers([1, 5]), errored()], **function(span))
    assert done.values == {"span": 4.0, "count": 2.0, "none": None}
    assert done.left_out == {"errored": 1}


@pytest.mark.parametrize("answer", ["high", [1], {"a": "b"}, {1: 2}, math.inf, math.nan])
def test_a_function_that_returns_no_number_is_an_error(function, answer):
    assert "wanted" in metric(of_numbers([1]), **function(lambda values: answer)).error


def test_a_function_that_does_not_return_is_an_error(function, monkeypatch):
    from threading import Event

    from agenttrace.tasks import metrics as module

    monkeypatch.setattr(module, "SECONDS", 0.05)
    end = Event()
    done = metric(of_numbers([1]), **function(lambda values: end.wait(60)))
    end.set()
    assert done.error == "metric_of_a_test:metric did not return within 0.05 s"


def test_a_function_s_own_timeout_is_its_own_error(function):
    def late(values):
        raise TimeoutError("of mine")

    assert metric(of_numbers([1]), **function(late)).error == "TimeoutError: of mine"


def test_a_function_that_raises_is_an_error_of_its_metric_alone(function):
    def broken(values):
        raise ZeroDivisionError("of mine")

    assert metric(of_numbers([1]), **function(broken)).error == "ZeroDivisionError: of mine"
