"""`Score.of`: what a number must be, and what decides."""

import pytest

from agenttrace.core.score import Score


class Liar(float):
    """A number that says of itself that it is large enough."""

    def __ge__(self, other):
        return True

    __gt__ = __ge__

    def __le__(self, other):
        return True


def test_the_number_itself_is_compared_not_what_its_class_says_of_it():
    score = Score.of("s", Liar(0.0), 0.5)
    assert (score.outcome, score.value, type(score.value)) == ("failed", 0.0, float)
    assert Score.of("s", Liar(0.9), 0.5, lower_is_better=True).outcome == "failed"


@pytest.mark.parametrize("value", [Liar(2.0), Liar("nan"), -1, 10**400, float("inf"), True, "1", None])
def test_what_is_no_number_from_0_to_1_is_no_score(value):
    with pytest.raises(ValueError, match="a score must be a number from 0 to 1"):
        Score.of("s", value, 0.5)


@pytest.mark.parametrize("lower_is_better", [True, False])
def test_a_threshold_that_nothing_can_reach_is_refused(lower_is_better):
    with pytest.raises(ValueError, match="a threshold is a number, got nan for 's'"):
        Score.of("s", 0.5, float("nan"), lower_is_better=lower_is_better)
