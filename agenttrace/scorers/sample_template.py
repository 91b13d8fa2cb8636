"""JSON that is written down, or that a Jinja template renders from an example."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example


def rendering(scorer: str, text: str) -> Callable[[Example], Any]:
    """What gives the JSON value for an example.

    A template sees ``sample``: the example's fields, with its additional_metadata beside them (which go
    first). Lists and mappings that it puts out are written as JSON; a field that is not there is an error.
    Templates are run in Jinja's sandbox.

    Raises:
        ScorerError: a template that cannot be read, or text that is no JSON. What is returned raises it for a
            template that cannot be rendered or does not render JSON.
    """
    if "{{" not in text and "{%" not in text:
        value = _json(scorer, text)
        return lambda _: value
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, finalize=_as_json)
    try:
        template = environment.from_string(text)
    except TemplateError as error:
        raise ScorerError(f"{scorer}: the template {text!r} cannot be read: {error}") from None

    def render(example: Example) -> Any:
        fields = example.to_dict()
        sample = {**fields, **(fields.get("additional_metadata") or {})}
        try:
            rendered = template.render(sample=sample)
        except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ScorerError(f"{scorer}: the template {text!r} cannot be rendered: {error}") from None
        return _json(scorer, rendered)

    return render


def _as_json(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | tuple | dict) else value


def _json(scorer: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ScorerError(f"{scorer}: this is not a JSON list of names: {text[:200]!r}") from None
