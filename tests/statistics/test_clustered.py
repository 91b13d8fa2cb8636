"""Standard errors and intervals of values in clusters, against statsmodels and by simulation."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.statistics import Interval, clustered_standard_error, interval_of_mean, wilson_interval

VALUES = st.floats(0, 1, allow_subnormal=False)
CLUSTERS = st.lists(st.lists(VALUES, min_size=1, max_size=5), min_size=2, max_size=12)


@given(CLUSTERS)
def test_the_standard_error_is_that_of_a_regression_on_a_constant_clustered(clusters):
    import numpy
    from statsmodels.api import OLS

    values = [value for each in clusters for value in each]
    groups = [number for number, each in enumerate(clusters) for _ in each]
    fit = OLS(values, numpy.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": numpy.array(groups)}
    )
    assert clustered_standard_error(clusters) == pytest.approx(fit.bse[0], abs=1e-9)


@given(st.lists(VALUES, min_size=2, max_size=30))
def test_with_one_value_a_cluster_it_is_the_usual_standard_error(values):
    from scipy.stats import sem

    assert clustered_standard_error([[value] for value in values]) == pytest.approx(sem(values), abs=1e-9)


def test_one_cluster_does_not_say_how_clusters_differ():
    assert clustered_standard_error([[0.0, 1.0]]) is None
    assert clustered_standard_error([[0.0, 1.0], []]) is None


@given(st.lists(st.booleans(), min_size=2, max_size=40))
def test_of_single_trials_the_interval_is_wilson_s_or_a_little_wider(passes):
    interval = interval_of_mean([[float(passed)] for passed in passes])
    n = len(passes)
    assert interval == pytest.approx(wilson_interval(sum(passes), n), abs=0.5 / n)


@given(CLUSTERS)
def test_the_interval_holds_the_mean(clusters):
    values = [value for each in clusters for value in each]
    interval = interval_of_mean(clusters)
    assert interval.low - 1e-9 <= sum(values) / len(values) <= interval.high + 1e-9
    assert 0 <= interval.low <= interval.high <= 1


def test_trials_of_one_example_that_agree_say_no_more_than_one_trial_each():
    alike = [[1.0] * 10] * 6 + [[0.0] * 10] * 4
    assert interval_of_mean(alike) == pytest.approx(wilson_interval(6, 10), abs=0.02)


def test_an_interval_has_a_width_even_where_all_trials_passed():
    assert interval_of_mean([[1.0, 1.0]] * 3) == wilson_interval(6, 6)
    assert interval_of_mean([]) == Interval(0.0, 1.0)


@pytest.mark.parametrize("trials", [1, 5])
def test_the_interval_holds_the_true_rate_about_as_often_as_it_says(trials):
    rng = Random(7)
    held = 0
    for _ in range(400):
        rates = [rng.betavariate(4, 1) for _ in range(30)]
        clusters = [[float(rng.random() < rate) for _ in range(trials)] for rate in rates]
        held += interval_of_mean(clusters).contains(0.8)
    assert 0.92 <= held / 400 <= 0.99


def test_values_beyond_a_share_are_an_error():
    with pytest.raises(ValueError):
        interval_of_mean([[1.5]])
