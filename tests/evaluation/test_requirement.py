import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.evaluation.requirement import Requirement


def report(*rows):
    """Each row is one example's trials: p passed, f failed, e errored."""
    words = {"p": "passed", "f": "failed", "e": "errored"}
    return EvaluationReport(
        results=tuple(
            ScoringResult(example=Example(), outcome=words[letter], position=position)
            for position, row in enumerate(rows)
            for letter in row
        )
    )


def test_pass_rate_is_the_share_of_all_results():
    assert Requirement.parse("pass_rate >= 0.5").measured(report("pppp", "ffff")) == 0.5


def test_worst_pass_rate_is_that_of_the_worst_example():
    assert Requirement.parse("worst_pass_rate >= 0.5").measured(report("pppp", "pfff", "ppff")) == 0.25


def test_errored_results_did_not_pass():
    assert Requirement.parse("pass_rate>=0.5").measured(report("pe")) == 0.5


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("pass_rate >= 0.5", True),
        ("pass_rate > 0.5", False),
        ("pass_rate == 0.5", True),
        ("pass_rate >= .51", False),
    ],
)
def test_the_sign_says_how_it_compares(text, holds):
    assert Requirement.parse(text).holds(report("pf")) is holds


@pytest.mark.parametrize(
    "text", ["", "0.8", "pass_rate", "pass_rate >= 1.2", "pass_rate <= 0.5", "pass_rate >= x", 0.8]
)
def test_another_form_is_an_error(text):
    with pytest.raises(ConfigError, match="require is a line such as"):
        Requirement.parse(text)


def test_an_unknown_measure_is_an_error_with_a_suggestion():
    with pytest.raises(ConfigError, match="did you mean 'pass_rate'"):
        Requirement.parse("passrate >= 0.5")
