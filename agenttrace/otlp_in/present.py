"""Which rows of the tables a span has: found once for each set of names, as spans of one kind repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from agenttrace.core import semconv
from agenttrace.otlp_in import model_tables, tables

_Keys = tuple[str, ...]
_MOST_KEPT = 2_048
"""Sets of names; what a framework writes has a few dozen."""


class Present(NamedTuple):
    """For each table the keys that a span has, the first one first."""

    types: _Keys
    method: _Keys
    tool_names: _Keys
    tool_entities: _Keys
    not_executed: _Keys
    agent_names: _Keys
    call_ids: _Keys
    arguments: _Keys
    results: _Keys
    failures: _Keys
    types_of_failure: _Keys
    messages_of_failure: _Keys
    usage: _Keys
    usage_in_json: _Keys
    models: _Keys
    sessions: _Keys
    customers: _Keys
    tags: _Keys
    inputs: _Keys
    outputs: _Keys
    input_messages: _Keys
    output_messages: _Keys
    definitions: _Keys
    own_schemas: _Keys


_TABLES = Present(
    types=tuple(tables.TYPES),
    method=(semconv.MCP_METHOD,),
    tool_names=tables.TOOL_NAMES,
    tool_entities=tables.TOOL_ENTITIES,
    not_executed=tables.NOT_EXECUTED,
    agent_names=tables.AGENT_NAMES,
    call_ids=tables.CALL_IDS,
    arguments=tables.ARGUMENTS,
    results=tables.RESULTS,
    failures=tuple(tables.FAILURES),
    types_of_failure=tables.TYPES_OF_FAILURE,
    messages_of_failure=tables.MESSAGES_OF_FAILURE,
    usage=tuple(chain.from_iterable(model_tables.USAGE.values())),
    usage_in_json=tuple(model_tables.USAGE_IN_JSON),
    models=model_tables.MODELS,
    sessions=tables.SESSIONS,
    customers=tables.CUSTOMERS,
    tags=tables.TAGS,
    inputs=tables.INPUTS,
    outputs=tables.OUTPUTS,
    input_messages=model_tables.INPUT_MESSAGES,
    output_messages=model_tables.OUTPUT_MESSAGES,
    definitions=model_tables.DEFINITIONS,
    own_schemas=model_tables.OWN_SCHEMAS,
)
_KNOWN = frozenset(chain.from_iterable(_TABLES))


def present_in(attributes: Mapping[str, Any]) -> Present:
    """The keys of the tables that are among these attributes."""
    return _present(_KNOWN.intersection(attributes))


@lru_cache(maxsize=_MOST_KEPT)
def _present(keys: frozenset[str]) -> Present:
    return Present(*(tuple(key for key in table if key in keys) for table in _TABLES))
