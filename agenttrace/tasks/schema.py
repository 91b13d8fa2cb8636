"""`task_schema`: the JSON schema of task files, made of the models that read them."""

from __future__ import annotations

from typing import Any

from agenttrace.datasets.schema import DRAFT, examples_schema
from agenttrace.tasks.task_file import ScorerEntry, TaskFile

_PATH = {"type": "string", "minLength": 1}


def task_schema() -> dict[str, Any]:
    """The schema of a YAML or JSON task file, draft 2020-12.

    What the names in it stand for (files, functions, scorers and their options, templates) only the reader
    can tell, and which sources contradict each other.
    """
    schema = TaskFile.model_json_schema()
    of_examples = examples_schema()["$defs"]
    definitions = {**of_examples, **schema.pop("$defs")}
    definitions["ScorerEntry"] = ScorerEntry.model_json_schema(ref_template="#/$defs/{model}")
    definitions.update(definitions["ScorerEntry"].pop("$defs", {}))
    fields = schema["properties"]
    short = next(one for one in of_examples["scorers"]["items"]["anyOf"] if one.get("type") == "object")
    fields["scorers"]["items"] = {
        "anyOf": [{"type": "string", "pattern": r"\S"}, {"$ref": "#/$defs/ScorerEntry"}, _short_form(short)]
    }
    fields["examples"] = {
        "anyOf": [{"type": "array", "items": {"$ref": "#/$defs/example"}, "minItems": 1}, {"type": "null"}],
        "description": fields["examples"]["description"],
    }
    for name in ("dataset", "traces"):
        fields[name] = {**fields[name], "anyOf": [_PATH, *fields[name]["anyOf"]]}
    fields["require"] = {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        "description": fields["require"]["description"],
    }
    fields["$schema"] = {"type": "string"}
    return {
        "$schema": DRAFT,
        **schema,
        "title": "An evaluation for agenttrace",
        "anyOf": [{"required": [name]} for name in ("dataset", "examples", "traces")],
        "$defs": definitions,
    }


def _short_form(short: dict[str, Any]) -> dict[str, Any]:
    return {**short, "propertyNames": {"not": {"enum": sorted(ScorerEntry.model_fields)}}}
