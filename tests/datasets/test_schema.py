# ruff: noqa: E501 - tables of short texts
"""The schema of example files: what loads fits, what has the wrong structure does not."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from agenttrace import Example
from agenttrace.core.errors import DatasetError
from agenttrace.core.tool_call import EXPECTED_WORDS
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.datasets.document import load_examples
from agenttrace.datasets.json_format import without_comments
from agenttrace.datasets.schema import (
    CALL_VALUES,
    CONSTRAINTS,
    DESCRIPTIONS,
    OPERATOR_VALUES,
    examples_schema,
)
from agenttrace.datasets.yaml_format import parse_yaml
from agenttrace.expectations.expectation import Expectation
from agenttrace.expectations.matcher import OPERATORS

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = examples_schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def problems(data):
    return [error.message for error in VALIDATOR.iter_errors(data)]


def test_it_is_a_schema_with_a_word_for_every_field_operator_and_constraint():
    Draft202012Validator.check_schema(SCHEMA)
    assert set(OPERATOR_VALUES) == {"$any", *OPERATORS}
    assert set(CONSTRAINTS) == set(Expectation.__dataclass_fields__) - {"source"}
    assert set(CALL_VALUES) == set(EXPECTED_WORDS)
    assert set(DESCRIPTIONS) == set(Example.model_fields)


def texts():
    """Every YAML text in documents and tests that may be a file of examples."""
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for number, block in enumerate(
            re.findall(r"^```ya?ml[^\n]*\n(.*?)^```", document.read_text(), re.M | re.S)
        ):
            yield f"{document.name}#{number}", block
    for pattern in ("examples/**/*.yaml", "tests/**/*.yaml", "tests/**/*.yml"):
        for path in sorted(ROOT.glob(pattern)):
            yield str(path.relative_to(ROOT)), path.read_text()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for number, text in enumerate(re.findall(r'"""\\?\n(.*?)"""', path.read_text(), re.S)):
            if re.match(r"(#.*\n)*(scorers|examples):", text):
                yield f"{path.relative_to(ROOT)}#{number}", text


TEXTS = dict(texts())


def loads(text):
    try:
        document = parse_yaml(text, Path("x"))
        load_examples(document)
    except DatasetError:
        return None
    return document.data


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_of_the_project_that_loads_fits(name):
    data = loads(TEXTS[name])
    if data is not None:
        assert problems(data) == []


def test_there_are_files_to_look_at():
    assert sum(loads(text) is not None for text in TEXTS.values()) > 8


def test_json_of_the_platform_fits(tmp_path):
    for path in [*ROOT.glob("tests/**/*.json"), *ROOT.glob("examples/**/*.json")]:
        try:
            EvalDataset.from_file(path)
        except DatasetError:
            continue
        assert problems(json.loads(without_comments(path.read_text()))) == []


CALLS = [
    "[]", "[a]", "[[a, b]]", "{path: [a], never: x}", "{}", "{a: {x: 1}}", "[{a: }]", "[{a: {}}]",
    "[{tool_name: a, parameters: {x: 1}, match: listed, ignore: y, agent_name: b, turn: 1, output: null, as: l}]",
    "[{call: a, args: {x: {$gt: 1, $lte: 5}}, times: [1, null]}]", "[{many: a, times: 2}, {many: [a, b]}]",
    "[{par: [a, {opt: b}]}, {any_of: [a, [b, c]]}, {seq: [a]}]", "{par: [a]}", "{call: a}",
    "[{a: {x: {$approx: 1, $abs: 2}, y: {$in: [1, {$re: a}]}, z: {$len: {$gte: 1}}, n: {$not: 0}}}]",
    "[{a: {x: {$any: true}, y: {$absent: true}, z: {$has: b}, t: {$type: integer}, d: {$default: {q: 1}}}}]",
    "[{a: {x: {$ref: b.output}, y: {$semantic: hello}, z: {$$literal: 1}, f: {$float: NaN}}}]",
    "{path: a, mode: exact, at_most: {b: 1}, before: [a, b], severity: {never: warn}, cost: 0.5, attempts: count}",
    "{only: [a, b*], max_calls: 3, no_repeats: true, tool_errors: 0, agent: x, turn: 2, tokens: 9, seconds: 1.5}",
]  # fmt: skip


@pytest.mark.parametrize("expected", CALLS)
def test_every_form_of_an_expectation_fits(expected):
    data = loads(f"examples:\n- expected_tools: {expected}\n")
    assert data is not None
    assert problems(data) == []


@pytest.mark.parametrize(
    "example",
    [
        "inptu: 1", "input: 3", "name: 3", "context: text", "tags: slow", "tags: [1]", "skip: 3", "quarantine: true",
        "tools_called: a", "tools_called: [{x: 1}]", "tools_called: ['']", "tools_called: [{name: a, args: 3}]",
        "scorers: A", "scorers: [{A: 1}]", "scorers: [{A: {}, B: {}}]", "scorers: [3]", "scorers: ['']",
        "additional_metadata: [1]", "example_id: 3", "created_at: 3",
        "expected_tools: a", "expected_tools: 3", "expected_tools: [3]", "expected_tools: ['']",
        "expected_tools: [{a: 1}]", "expected_tools: [{a: [1]}]", "expected_tools: [{a: {}, b: {}}]",
        "expected_tools: [{tool_name: a, parametres: {}}]", "expected_tools: [{tool_name: a, parameters: [1]}]",
        "expected_tools: [{tool_name: a, match: some}]", "expected_tools: [{name: a, times: 2}]",
        "expected_tools: [{par: a}]", "expected_tools: [{par: []}]", "expected_tools: [{opt: a, par: [b]}]",
        "expected_tools: [{many: a, times: [1]}]", "expected_tools: {path: [a], nver: b}",
        "expected_tools: {mode: exact}", "expected_tools: {path: [a], mode: strict}",
        "expected_tools: {max_calls: -1}", "expected_tools: {max_calls: '3'}", "expected_tools: {before: [a]}",
        "expected_tools: {severity: error}", "expected_tools: {severity: {nver: warn}}",
        "expected_tools: [{a: {x: {$gtt: 1}}}]", "expected_tools: [{a: {x: {$gt: 1, y: 2}}}]",
        "expected_tools: [{a: {x: {$abs: 1}}}]", "expected_tools: [{a: {x: {$any: false}}}]",
        "expected_tools: [{a: {x: {$type: int}}}]", "expected_tools: [{a: {x: {$in: 3}}}]",
        "expected_tools: [{a: {x: {$in: []}}}]", "expected_tools: [{a: {x: {$approx: '1'}}}]",
        "expected_tools: [{a: {x: {$float: nan}}}]",
    ],
)  # fmt: skip
def test_what_is_refused_for_its_structure_does_not_fit(example):
    text = f"examples:\n- {example}\n"
    assert loads(text) is None
    assert problems(parse_yaml(text, Path("x")).data) != []


@pytest.mark.parametrize(
    "text", ["[]", "{}", "examples: {}", "examples:", "examples: []\nexample: 1", "examples: [3]"]
)
def test_what_is_no_file_of_examples_does_not_fit(text):
    assert loads(text) is None
    assert problems(parse_yaml(text, Path("x")).data) != []


def test_a_file_may_name_its_schema(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"$schema": "examples.schema.json", "examples": [{"name": "a"}]}')
    dataset = EvalDataset.from_file(path)
    assert problems(json.loads(path.read_text())) == []
    assert EvalDataset.from_file(dataset.save_as("json", tmp_path, "y")) == dataset
