"""`echo_json`: what the option ``--json`` prints."""

from __future__ import annotations

from typing import Any

import click

from agenttrace.core.jsonable import json_text
from agenttrace.reports.text import safe_json


def echo_json(value: Any) -> None:
    """Print a value as JSON on one line; control characters in recorded text are written as escapes."""
    click.echo(safe_json(json_text(value)))
