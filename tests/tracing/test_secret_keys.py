"""Keys of mappings that are texts of another class: their names are looked at as those of plain texts."""

import enum

import pytest

from agenttrace import Example, Tracer, call
from agenttrace.scorers import ToolOrderScorer


class Text(str):
    pass


class OfTexts(enum.StrEnum):
    SECRET = "api_key"
    CITY = "city"


class OfMixedTexts(str, enum.Enum):  # noqa: UP042 - the older way to write it, which code still has
    SECRET = "password"


class Plain(enum.Enum):
    SECRET = "password"


def recorded(value):
    tracer = Tracer("keys", store="memory")
    tool = tracer.observe(span_type="tool", name="tool")(lambda x: None)
    with tracer.capture() as captured:
        tool(value)
    return captured.trace


@pytest.mark.parametrize(
    "key", [OfTexts.SECRET, OfMixedTexts.SECRET, Plain.SECRET, Text("client_secret"), b"password"]
)
def test_a_secret_under_a_name_of_another_class_is_taken_out(key):
    for value in ({key: "hunter2"}, {"a": [{key: ["hunter2"]}]}):
        assert "hunter2" not in str(recorded(value).to_dict())


def test_a_secret_under_a_name_of_numpys_is_taken_out():
    numpy = pytest.importorskip("numpy")
    assert "hunter2" not in str(recorded({numpy.str_("password"): "hunter2"}).to_dict())


def test_a_key_of_another_class_equals_the_same_text():
    trace = recorded({OfTexts.CITY: "Paris", Text("days"): 3})
    for expected in ({"city": "Paris", "days": 3}, {OfTexts.CITY: "Paris", Text("days"): 3}):
        assert ToolOrderScorer().score(Example(expected_tools=[call("tool", x=expected)]), trace).passed
    assert (
        ToolOrderScorer()
        .score(Example(expected_tools=[call("tool", x={OfTexts.CITY: "Paris"})]), recorded({"city": "Paris"}))
        .passed
    )
