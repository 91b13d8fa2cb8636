"""The JSON schema for editors agrees with the reader of task files."""

# ruff: noqa: E501 - a case a line

import json

import jsonschema
import pytest
from click.testing import CliRunner

from agenttrace.cli.main import cli
from agenttrace.core.errors import DatasetError
from agenttrace.datasets.yaml_format import parse_yaml
from agenttrace.tasks.metric_entries import METRICS
from agenttrace.tasks.schema import task_schema
from agenttrace.tasks.task_file import TaskFile, read_task_file

VALID = [
    "dataset: a.yaml\nscorers: [ToolOrder]",
    "dataset: {path: a.csv, columns: [x], only: [a*], tags: [t], limit: 3}\nfunction: a:b\nscorers: ['a:b:c=1']",
    "$schema: x\nkey: k\ndisplay_name: n\ndescription: d\ntags: [a]\nexamples: [{input: a, expected_tools: [b]}]\nscorers: [{ToolOrder: {threshold: 0.5}}]",
    "traces: runs.jsonl\nrequire: pass_rate >= 0.5",
    "traces: {where: 'since:1d', store: a.db, project: p, limit: 1, by: input}\nrequire: ['pass_rate > 0.5', 'mean(T) < 0.1']\nscorers: [{type: t, any: {option: [1]}, key: k, purpose: qa, display_name: d}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: mean}, {type: max, field: a}, {type: min, name: n, require: '>= 0.5'}, {type: std_dev, ddof: 0}, {type: frequency}]}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: precision, num_true_positives_field: a}, {type: recall, zero_division: 1}, {type: f1}, {type: f1_score}]}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: binary_classification, field_gt: a, field_pred: b, positive_answer: true, negative_answer: 0, require: {f1: 0.5, recall: '> 0.5'}}]}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: multiclass_classification, field_gt: a, field_pred: b}, {type: python, function: 'a:b'}]}]",
]
INVALID = [
    "scorers: [ToolOrder]",
    "dataset: 3",
    "datset: a.yaml",
    "dataset: a\nmetrics: []",
    "dataset: {columns: [a]}",
    "dataset: {path: a, limit: 0}",
    "dataset: {path: a, limt: 1}",
    "dataset: ''",
    "examples: []",
    "examples: 3",
    "dataset: a\nscorers: ToolOrder",
    "dataset: a\nscorers: [3]",
    "dataset: a\nscorers: ['']",
    "dataset: a\nscorers: [{key: k, purpose: qa}]",
    "dataset: a\nscorers: [{type: t, purpose: quality}]",
    "dataset: a\nscorers: [{type: t, display_name: 3}]",
    "dataset: a\nscorers: [{type: t, metrics: {}}]",
    "dataset: a\nscorers: [{type: t, metrics: [{field: a}]}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: median}]}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: mean, ddof: 1}]}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: std_dev, ddof: 2}]}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: recall, zero_division: 2}]}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: binary_classification, field_gt: a}]}]",
    "dataset: a\nscorers: [{type: t, metrics: [{type: python}]}]",
    "traces: {by: name, path: a}",
    "dataset: a\nrequire: 3",
    "dataset: a\ntags: a",
]


def is_read(text, path):
    path.write_text(text)
    try:
        read_task_file(path)
    except DatasetError:
        return False
    return True


def fits(text, path):
    return jsonschema.Draft202012Validator(task_schema()).is_valid(parse_yaml(text, path).data)


@pytest.mark.parametrize("text", VALID)
def test_what_the_reader_takes_fits_the_schema(text, tmp_path):
    path = tmp_path / "task.yaml"
    assert is_read(text, path)
    assert fits(text, path)


@pytest.mark.parametrize("text", INVALID)
def test_what_the_reader_refuses_does_not_fit_the_schema(text, tmp_path):
    path = tmp_path / "task.yaml"
    assert not is_read(text, path)
    assert not fits(text, path)


def test_every_key_and_every_metric_is_in_the_schema_and_in_the_valid_files():
    schema = task_schema()
    assert set(schema["properties"]) == {*TaskFile.model_fields, "$schema"}
    text = "\n".join(VALID)
    assert [kind for kind in METRICS if f"type: {kind}" not in text] == []
    assert [key for key in TaskFile.model_fields if f"{key}:" not in text] == []


def test_the_schema_is_one_and_the_command_prints_it():
    jsonschema.Draft202012Validator.check_schema(task_schema())
    done = CliRunner().invoke(cli, ["schema", "task"])
    assert json.loads(done.output) == json.loads(json.dumps(task_schema()))


def test_every_reference_of_the_schema_leads_somewhere():
    schema = task_schema()

    def references(value):
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for item in value.values():
                yield from references(item)
        elif isinstance(value, list):
            for item in value:
                yield from references(item)

    assert {
        name for name in references(schema) if name.removeprefix("#/$defs/") not in schema["$defs"]
    } == set()
