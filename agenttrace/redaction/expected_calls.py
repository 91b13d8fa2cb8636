"""Calls as plain data, recorded or expected, whose own words say that their output is a secret."""

from __future__ import annotations

from collections.abc import Mapping
from operator import is_
from typing import Any

from agenttrace.core.tool_call import EXPECTED_WORDS
from agenttrace.redaction.spans import Redacts, without_given

_NAMES, _ARGUMENTS = EXPECTED_WORDS["name"], EXPECTED_WORDS["arguments"]
_DEEPEST = 50


def without_secret_outputs(data: Any, redaction: Redacts) -> Any:
    """JSON-safe data without the secret outputs of the calls in it; the same object where there is none."""
    return _without_outputs(data, redaction, _DEEPEST) if _has_secret_output(data, redaction) else data


def _has_secret_output(data: Any, redaction: Redacts) -> bool:
    # Most data has none, and is not copied: a fifth of the time.
    waiting = [data]
    while waiting:
        part = waiting.pop()
        if type(part) is dict:
            output = part.get("output")
            if output is not None and output_without_secret(part, output, redaction) is not output:
                return True
            part = part.values()
        waiting += [item for item in part if type(item) is dict or type(item) is list]
    return False


def _without_outputs(data: Any, redaction: Redacts, levels: int) -> Any:
    if levels <= 0 or type(data) not in (dict, list):
        return data
    if type(data) is list:
        return [_without_outputs(item, redaction, levels - 1) for item in data]
    entries = {key: _without_outputs(item, redaction, levels - 1) for key, item in data.items()}
    if data.get("output") is not None:
        entries["output"] = output_without_secret(data, entries["output"], redaction)
    return entries


def output_without_secret(call: Mapping[str, Any], output: Any, redaction: Redacts) -> Any:
    """The output of a call, as it is recorded or expected, without what its name or arguments say is secret.

    Of a matcher, ``{"$contains": …}``, what it compares with.
    """
    name = next((call[word] for word in _NAMES if type(call.get(word)) is str), "")
    arguments = next((call[word] for word in _ARGUMENTS if type(call.get(word)) is dict), None)
    if not name:
        return output
    if type(output) is dict and output and all(str(key)[:1] == "$" for key in output):
        clean = {key: without_given(name, arguments, item, redaction) for key, item in output.items()}
        return output if all(map(is_, clean.values(), output.values())) else clean
    return without_given(name, arguments, output, redaction)
