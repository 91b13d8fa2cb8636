"""`examples_schema`: the JSON schema of example files, with which editors complete and check them.

Fields come from `Example`, words of expected calls, groups, constraints and operators from the tables that
the reader uses. What only the reader can tell (regular expressions, paths of `$ref`, numbers that contradict
each other, misspelt keys of recorded calls) is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from agenttrace.core.example import Example
from agenttrace.core.tool_call import ARGUMENT_MODES, EXPECTED_WORDS
from agenttrace.datasets.document import PLATFORM_DATASET_KEYS, PLATFORM_EXAMPLE_KEYS
from agenttrace.expectations.expectation import ATTEMPTS, CHECKS, MODES, Severity
from agenttrace.expectations.matcher import MATCHER_OPTIONS, OPERATORS
from agenttrace.expectations.parse import GROUP_WORDS
from agenttrace.expectations.scalar_matchers import TypeName

Schema = dict[str, Any]

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NOTHING: Schema = {"type": "null"}
_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1}
_NAMES: Schema = {"anyOf": [_NAME, {"type": "array", "items": _NAME}]}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_COUNTS: Schema = {"type": "object", "additionalProperties": _COUNT}
_AMOUNT: Schema = {"type": "number", "minimum": 0}
_PAIR: Schema = {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2}
_SEVERITY: Schema = {"enum": list(get_args(Severity))}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


VALUE = _ref("value")
_LIST_OF_ITEMS: Schema = {"type": "array", "items": _ref("item")}
_TIMES: Schema = {
    "anyOf": [
        {"type": "integer", "minimum": 1},
        {"type": "array", "items": {"anyOf": [_COUNT, _NOTHING]}, "minItems": 2, "maxItems": 2},
    ]
}

CONSTRAINTS: Mapping[str, Schema] = {
    "path": _ref("item"),
    "mode": {"enum": list(MODES)},
    "match": {"enum": list(ARGUMENT_MODES)},
    "never": _NAMES,
    "only": _NAMES,
    "max_calls": _COUNT,
    "at_most": _COUNTS,
    "at_least": _COUNTS,
    "before": {"anyOf": [_PAIR, {"type": "array", "items": _PAIR}]},
    "tool_errors": _COUNT,
    "no_repeats": {"type": "boolean"},
    "tokens": _AMOUNT,
    "seconds": _AMOUNT,
    "cost": _AMOUNT,
    "agent": _TEXT,
    "turn": _COUNT,
    "attempts": {"enum": list(ATTEMPTS)},
    "severity": {
        "anyOf": [
            _SEVERITY,
            {"type": "object", "propertyNames": {"enum": list(CHECKS)}, "additionalProperties": _SEVERITY},
        ]
    },
}
"""The words of an expectation that is a mapping."""

OPERATOR_VALUES: Mapping[str, Schema] = {
    "$any": {"const": True},
    "$absent": {"const": True},
    "$re": _TEXT,
    "$approx": {"type": "number"},
    "$gt": {"type": ["number", "string"]},
    "$gte": {"type": ["number", "string"]},
    "$lt": {"type": ["number", "string"]},
    "$lte": {"type": ["number", "string"]},
    "$in": {"type": "array", "items": VALUE, "minItems": 1},
    "$has": {"anyOf": [VALUE, {"type": "array", "items": VALUE, "minItems": 1}]},
    "$len": {"anyOf": [_AMOUNT, _ref("matcher")]},
    "$type": {"enum": list(get_args(TypeName))},
    "$not": VALUE,
    "$default": VALUE,
    "$ref": _NAME,
    "$semantic": _NAME,
}
"""What each operator takes."""

CALL_VALUES: Mapping[str, Schema] = {
    "name": _NAME,
    "arguments": {"anyOf": [_ref("values"), _NOTHING]},
    "output": VALUE,
    "agent": {"type": ["string", "null"]},
    "turn": {"anyOf": [_COUNT, _NOTHING]},
    "mode": {"enum": [*ARGUMENT_MODES, None]},
    "ignore": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}, _NOTHING]},
    "label": {"type": ["string", "null"]},
    "kind": {"type": ["string", "null"]},
    "result_dependencies": {},
    "action_dependencies": {},
    "require_all": {"type": ["boolean", "null"]},
}
"""What each field of an expected call takes."""


def examples_schema() -> Schema:
    """The schema of a YAML or JSON file of examples, draft 2020-12; a line of JSON Lines is its `example`."""
    top: Schema = {
        "examples": {"type": "array", "items": _ref("example")},
        "scorers": {
            "anyOf": [_ref("scorers"), _NOTHING],
            "description": "Scorers of every example of the file.",
        },
        "$schema": _TEXT,
        **{key: {} for key in sorted(PLATFORM_DATASET_KEYS)},
    }
    return {
        "$schema": DRAFT,
        "title": "Examples for agenttrace",
        "type": "object",
        "properties": top,
        "required": ["examples"],
        "additionalProperties": False,
        "$defs": {
            "example": _example(),
            "scorers": _scorers(),
            "recordedCall": _recorded_call(),
            "expectation": _expectation(),
            "item": {"anyOf": [_NAME, _LIST_OF_ITEMS, _ref("call"), _ref("group"), _ref("shortCall")]},
            "call": _call(),
            "group": _group(),
            "shortCall": _short_call([]),
            "values": {
                "type": "object",
                "patternProperties": {r"^(?!\$(?!\$))": VALUE},
                "additionalProperties": False,
            },
            "value": {
                "anyOf": [
                    {"type": ["string", "number", "boolean", "null"]},
                    {"type": "array", "items": VALUE},
                    _ref("values"),
                    _ref("matcher"),
                    _ref("tagged"),
                ]
            },
            "matcher": _matcher(),
            "tagged": _tagged(),
        },
    }


_FIELDS: Mapping[str, Schema] = {
    "expected_tools": {"anyOf": [_ref("expectation"), _NOTHING]},
    "tools_called": {"anyOf": [{"type": "array", "items": _ref("recordedCall")}, _NOTHING]},
    "scorers": {"anyOf": [_ref("scorers"), _NOTHING]},
    "simulate": {"type": ["object", "null"]},
    "example_id": {"type": ["string", "null"]},
    "created_at": {"type": ["string", "null"]},
}
"""The fields of which pydantic knows less than the reader."""

DESCRIPTIONS: Mapping[str, str] = {
    "input": "What the agent is called with: a mapping as keyword arguments, a text as the one argument.",
    "actual_output": "What a recorded run answered.",
    "expected_output": "What the answer should be.",
    "context": "Texts that are true.",
    "retrieval_context": "Texts that a recorded run retrieved.",
    "tools_called": "The calls of a recorded run.",
    "expected_tools": "The calls that a run should make: names, calls, patterns, constraints.",
    "expected_state": "What the run leaves behind, by the names of states: docs/outcome.md.",
    "turns": "What is expected of each turn of a conversation: expected_tools, expected_output.",
    "additional_metadata": "Anything else that belongs to the example.",
    "skip": "Not run, and why.",
    "xfail": "Expected to fail, and why.",
    "quarantine": "OWNER until YYYY-MM-DD: WHY.",
    "tags": "By which examples are chosen: --tag.",
    "scorers": "Scorers of this example, beside those of the suite or in their place.",
    "simulate": "What tools answer in their place while the agent runs: docs/simulation.md.",
    "name": "What the example is called in reports and tests.",
    "example_id": "An id that stays when the name changes.",
    "created_at": "A date in ISO format.",
}


def _example() -> Schema:
    own = Example.model_json_schema()["properties"]
    fields: Schema = {}
    for name, schema in own.items():
        bare = {key: value for key, value in schema.items() if key not in ("title", "default")}
        fields[name] = {**_FIELDS.get(name, bare), "description": DESCRIPTIONS[name]}
    fields.update({key: {} for key in sorted(PLATFORM_EXAMPLE_KEYS)})
    return {"type": "object", "properties": fields, "additionalProperties": False}


def _scorers() -> Schema:
    options = {"type": ["object", "null"]}
    named = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": options}
    return {"type": "array", "items": {"anyOf": [{"type": "string", "pattern": r"\S"}, named]}}


def _recorded_call() -> Schema:
    arguments = {"type": ["object", "string", "null"]}
    fields = {
        "name": _NAME,
        "tool_name": _NAME,
        **dict.fromkeys(("arguments", "args", "parameters", "input_parameters"), arguments),
        "agent": {"type": ["string", "null"]},
        "turn": {"type": ["integer", "null"]},
    }
    named = {
        "type": "object",
        "properties": fields,
        "anyOf": [{"required": ["name"]}, {"required": ["tool_name"]}],
    }
    return {"anyOf": [_NAME, named]}


def _expectation() -> Schema:
    fields = {name: {"anyOf": [schema, _NOTHING]} for name, schema in CONSTRAINTS.items()}
    constraints: Schema = {
        "type": "object",
        "properties": fields,
        "additionalProperties": False,
        "dependentRequired": {"mode": ["path"]},
    }
    return {
        "anyOf": [
            _LIST_OF_ITEMS,
            constraints,
            _ref("call"),
            _ref("group"),
            _short_call(list(CONSTRAINTS)),
        ]
    }


def _call() -> Schema:
    fields = {
        word: {**CALL_VALUES[field], "description": f"The {field.replace('_', ' ')} of an expected call."}
        for field, words in EXPECTED_WORDS.items()
        for word in words
    }
    return {
        "type": "object",
        "properties": {**fields, "times": _TIMES},
        "anyOf": [{"required": [word]} for word in EXPECTED_WORDS["name"]],
        "dependentRequired": {"times": ["call"]},
        "additionalProperties": False,
    }


def _group() -> Schema:
    lists: Schema = {"type": "array", "items": _ref("item")}
    forms = []
    for word in GROUP_WORDS:
        parts: Schema = _ref("item") if word in ("opt", "many") else lists
        if word in ("par", "any_of"):
            parts = {**lists, "minItems": 1}
        fields = {word: parts, **({"times": _TIMES} if word == "many" else {})}
        forms.append(
            {"type": "object", "properties": fields, "required": [word], "additionalProperties": False}
        )
    return {"anyOf": forms}


def _short_call(others: list[str]) -> Schema:
    """``{tool: {parameter: value}}``, where the tool's name is no word of another form."""
    words = [*EXPECTED_WORDS["name"], *GROUP_WORDS, *others]
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "propertyNames": {"minLength": 1, "not": {"enum": words}},
        "additionalProperties": {"anyOf": [_ref("values"), _NOTHING]},
    }


def _matcher() -> Schema:
    operators = {operator: OPERATOR_VALUES.get(operator, {}) for operator in ("$any", *OPERATORS)}
    return {
        "type": "object",
        "minProperties": 1,
        "properties": {**operators, **dict.fromkeys(MATCHER_OPTIONS, _AMOUNT)},
        "dependentRequired": {option: [owner] for option, owner in MATCHER_OPTIONS.items()},
        "additionalProperties": False,
    }


def _tagged() -> Schema:
    def form(fields: Schema) -> Schema:
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }

    return {
        "anyOf": [
            form({"$float": {"enum": ["NaN", "Infinity", "-Infinity"]}}),
            form({"$int": {"type": "string", "pattern": "^-?0x[0-9a-f]+$"}}),
            form({"$decimal": _TEXT}),
            form({"$bytes": _TEXT, "size": _COUNT}),
        ]
    }
