"""``agenttrace schema``: the JSON schema of a kind of file, for editors and other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from agenttrace.core.jsonable import readable_json
from agenttrace.datasets.schema import examples_schema
from agenttrace.reports import report_schema
from agenttrace.tasks.schema import task_schema

SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "examples": examples_schema,
    "report": report_schema,
    "task": task_schema,
}
"""The kinds of files that have a schema; a new kind is added here."""


@click.command("schema")
@click.argument("kind", type=click.Choice(list(SCHEMAS)), default="examples")
def schema(kind: str) -> None:
    """Print the JSON schema (draft 2020-12) of files of examples, of tasks, or of reports of eval run."""
    click.echo(readable_json(SCHEMAS[kind](), indent=2))
