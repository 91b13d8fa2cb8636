import builtins
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agenttrace.core.errors import MissingDependency, ScorerError
from agenttrace.core.example import Example
from agenttrace.scorers import JSONCorrectnessScorer


class Order(BaseModel):
    id: int
    items: list[str]


SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "items": {"type": "array", "items": {"type": "string"}}},
    "required": ["id", "items"],
}


def scored(schema, actual):
    return JSONCorrectnessScorer(schema).score(Example(actual_output=actual))


@pytest.mark.parametrize("schema", [Order, SCHEMA], ids=["model", "schema"])
@pytest.mark.parametrize(
    ("actual", "value"),
    [
        ('{"id": 1, "items": ["a"]}', 1.0),
        ({"id": 1, "items": ["a"]}, 1.0),
        ('{"id": 1}', 0.0),
        ('{"id": "x", "items": []}', 0.0),
        ("[]", 0.0),
        ("id: 1", 0.0),
        ("", 0.0),
        ('{"id": NaN, "items": []}', 0.0),
        ("[" * 100_000, 0.0),
    ],
)
def test_an_answer_fits_or_does_not(schema, actual, value):
    assert scored(schema, actual).value == value


def test_the_faults_are_told_by_place():
    score = scored(Order, '{"id": "x"}')
    assert score.reason.startswith("2 faults: id: ")
    assert [fault.split(":")[0] for fault in score.details["faults"]] == ["id", "items"]
    assert scored(SCHEMA, {"id": 1, "items": [2]}).details["faults"] == [
        "$.items[0]: 2 is not of type 'string'"
    ]
    assert scored(Order, "oh").reason.startswith("not JSON: ")


def test_data_that_was_read_is_taken_in_its_json_form():
    assert scored(Order, Order(id=1, items=["a"])).value == 1.0
    assert scored({"type": "array"}, (1, 2)).value == 1.0


@pytest.mark.parametrize("schema", [{"type": "objet"}, Order(id=1, items=[]), "object", dict])
def test_what_is_no_schema_is_refused_when_built(schema):
    with pytest.raises(ScorerError, match=r"no valid JSON schema|pydantic model or a JSON schema"):
        JSONCorrectnessScorer(schema)


def test_a_schema_that_refers_elsewhere_fetches_nothing():
    with pytest.raises(
        ScorerError, match=r"refers to 'http://127\.0\.0\.1:9/other\.json', which is not in it"
    ):
        scored({"$ref": "http://127.0.0.1:9/other.json"}, "1")


def test_a_schema_may_refer_into_itself():
    schema = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}
    assert (scored(schema, "1").value, scored(schema, '"x"').value) == (1.0, 0.0)


PATTERNS = st.sampled_from(["a", "^a", "b$", "(a|b)+", "^[ab]{2}$", r"(?=a)\w+"])
LEAVES = st.sampled_from(["", "a", "b", "ab", "abc", 1, None])
VALUES = st.recursive(LEAVES, lambda inner: st.dictionaries(st.sampled_from(["a", "b", "ab", "c"]), inner))
DIALECTS = [
    "http://json-schema.org/draft-03/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
]


def _more(inner):
    keywords = {
        "pattern": PATTERNS,
        "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner),
        "patternProperties": st.dictionaries(PATTERNS, inner),
        "additionalProperties": st.one_of(st.booleans(), inner),
        "unevaluatedProperties": st.one_of(st.booleans(), inner),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "not": inner,
    }
    return st.fixed_dictionaries({}, optional=keywords)


SCHEMAS = st.recursive(st.just({}), _more, max_leaves=8)


@given(SCHEMAS, VALUES, st.sampled_from(DIALECTS), st.booleans())
def test_patterns_mean_what_they_mean_to_jsonschema(schema, value, dialect, recursive):
    schema = {**schema, "$schema": dialect}
    if recursive:
        schema["properties"] = {**schema.get("properties", {}), "c": {"$ref": "#"}}
    kind = jsonschema.validators.validator_for(schema)
    assert scored(schema, json.dumps(value)).passed is kind(schema).is_valid(value)


def test_the_faults_of_patterns_are_told():
    schema = {
        "properties": {"q": {"pattern": "^(a|b)+$"}, "const": {"const": {"patternProperties": {"(": 1}}}},
        "patternProperties": {"^x(y|z)": {"type": "integer"}},
        "additionalProperties": False,
        "unevaluatedProperties": False,
    }
    value = {"q": "abc", "xyz": "1", "x": 2}
    assert scored(schema, value).details["faults"] == [
        "$.q: 'abc' does not match '^(a|b)+$'",
        "$.xyz: '1' is not of type 'integer'",
        "$: Additional properties are not allowed ('x' was unexpected)",
        "$: Unevaluated properties are not allowed ('x' was unexpected)",
    ]


def test_without_the_extra_a_schema_says_what_to_install(monkeypatch):
    load = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "jsonschema":
            raise ImportError(name)
        return load(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependency, match=r"agenttrace-evals\[jsonschema\]"):
        JSONCorrectnessScorer(SCHEMA)
    assert scored(Order, '{"id": 1, "items": []}').value == 1.0
