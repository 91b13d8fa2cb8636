"""The arguments of a tool's call by their names."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any


def arguments_of(inputs: Any, text: Any) -> dict[str, Any]:
    """The arguments as a mapping: those given, or those that the text spells, else the text as ``input``."""
    if isinstance(inputs, Mapping):
        return {str(name): value for name, value in inputs.items()}
    if not isinstance(text, str):
        return {"input": text}
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, dict):
            return {str(name): value for name, value in found.items()}
    return {"input": text}
