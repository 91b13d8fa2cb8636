"""Regular expressions in a JSON schema, searched with a deadline so that none can stop the process.

`jsonschema` itself searches without a deadline. Here the keywords `pattern`, `patternProperties` and
`additionalProperties` search with one. `unevaluatedProperties` looks into other parts of the schema, and so
is left as it is: each property's name is first tried with a short deadline. A part of the schema that names a
dialect of its own keeps the keywords of that dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agenttrace.process.bounded_search import SECONDS, bounded_search, compiled

Keyword = Callable[[Any, Any, Any, Any], Iterator[Any]]
"""Takes a validator, the keyword's value, the instance and the schema; yields the faults."""

NAME_SECONDS = 0.05
"""Seconds of processor time that `unevaluatedProperties` may take for one name; other threads wait for it."""


def bounded_keywords(validators: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Keyword]:
    """Return the keywords that search with a deadline, and raise ScorerError where it is over."""
    keywords: dict[str, Keyword] = {"pattern": _pattern, "patternProperties": _pattern_properties}
    if "additionalProperties" in validators:
        keywords["additionalProperties"] = _additional(validators["additionalProperties"])
    if "unevaluatedProperties" in validators:
        keywords["unevaluatedProperties"] = _unevaluated(validators["unevaluatedProperties"], schema)
    return keywords


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema import ValidationError

    if validator.is_type(instance, "string") and not _is_found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, _: Any) -> Iterator[Any]:
    if validator.is_type(instance, "object"):
        for pattern, subschema in patterns.items():
            for key, value in instance.items():
                if _is_found(pattern, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional(original: Keyword) -> Keyword:
    """Wrap the original keyword, which then gets the names that match instead of the patterns."""

    def additional(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        patterns = schema.get("patternProperties")
        if patterns and validator.is_type(instance, "object"):
            names = {key: True for key in instance if any(_is_found(pattern, key) for pattern in patterns)}
            rest = {key: item for key, item in schema.items() if key != "patternProperties"}
            schema = {**rest, "properties": {**names, **schema.get("properties", {})}}
        yield from original(validator, value, instance, schema) or ()

    return additional


def _unevaluated(original: Keyword, root: Mapping[str, Any]) -> Keyword:
    patterns = [pattern for pattern in _name_patterns(root) if _is_pattern(pattern)]

    def unevaluated(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if validator.is_type(instance, "object"):
            for pattern in patterns:
                for key in instance:
                    _is_found(pattern, key, NAME_SECONDS)
        yield from original(validator, value, instance, schema) or ()

    return unevaluated


def _name_patterns(schema: Any) -> Iterator[str]:
    """Yield the patterns of every `patternProperties` in a schema."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key == "patternProperties" and isinstance(value, Mapping):
                yield from value
            yield from _name_patterns(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _name_patterns(item)


def _is_found(pattern: str, text: str, seconds: float = SECONDS) -> bool:
    return bounded_search(compiled(pattern), text, "search", seconds) is not None


def _is_pattern(pattern: Any) -> bool:
    """Return True if the pattern can be searched: a `const` may hold anything that looks like one."""
    try:
        compiled(pattern)
    except ValueError:
        return False
    return True
