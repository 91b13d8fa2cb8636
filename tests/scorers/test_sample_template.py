import pytest

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.scorers import FunctionCallCoverageScorer
from agenttrace.scorers.function_call_coverage import json_renderer

SAMPLE = Example(
    input={"n": 2},
    additional_metadata={"function_calls": ["a", "b"], "tools": [{"name": "a"}], "name": "mine"},
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('["a", "b"]', ["a", "b"]),
        ("{{ sample.function_calls }}", ["a", "b"]),
        ("{{ sample.tools | map(attribute='name') | list }}", ["a"]),
        ('{% if sample.input.n > 1 %}["many"]{% else %}[]{% endif %}', ["many"]),
        ('["{{ sample.name }}"]', ["mine"]),
        ("{{ sample.additional_metadata.tools }}", [{"name": "a"}]),
    ],
)
def test_json_or_a_template_over_the_example(text, value):
    assert json_renderer("Coverage", text)(SAMPLE) == value


@pytest.mark.parametrize("text", ["{{ sample.", "{% if %}", "a, b", ""])
def test_what_can_never_be_read_is_refused_when_built(text):
    with pytest.raises(ScorerError, match="Function Call Coverage: "):
        FunctionCallCoverageScorer(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ sample.functions }}", "functions"),
        ("{{ sample.input.n / 0 }}", "division by zero"),
        ("{{ sample.name }}", "not a JSON list"),
    ],
)
def test_a_template_that_cannot_be_rendered_says_why(text, said):
    render = json_renderer("Coverage", text)
    with pytest.raises(ScorerError, match=said):
        render(SAMPLE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ sample.name.__class__.__mro__ }}", "is an attribute of Python's"),
        ("{{ sample.function_calls.append('c') }}", "cannot be called"),
    ],
)
def test_a_template_that_reaches_for_more_than_data_cannot_be_read(text, said):
    with pytest.raises(ScorerError, match=said):
        FunctionCallCoverageScorer(text)


def test_the_check_of_an_example_renders_its_template():
    with pytest.raises(ScorerError, match="cannot be rendered"):
        FunctionCallCoverageScorer("{{ sample.functions }}").check(SAMPLE)
