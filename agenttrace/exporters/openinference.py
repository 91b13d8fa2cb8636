"""What a tool's and a retriever's span carry under OpenInference's names.

Phoenix and MLflow show a retriever's documents, and the input and output of either, only under these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.span import Span
from agenttrace.exporters.otlp_encoding import json_text

KINDS = {"agent": "AGENT", "chain": "CHAIN", "llm": "LLM", "retriever": "RETRIEVER", "tool": "TOOL"}
"""OpenInference's word for each span type."""

MAX_DOCUMENTS = 100
"""Documents that have attributes of their own; all of them stand in the output."""

_TEXTS = ("content", "page_content", "text", "document", "page")
_IDS = ("id", "document_id", "doc_id")
_SCORES = ("score", "similarity", "relevance_score")


def openinference_identity(span: Span) -> dict[str, Any]:
    """What kind of span it is, for a tool also its name and its description."""
    kind = KINDS.get(span.span_type)
    if kind is None:
        return {}
    attributes: dict[str, Any] = {semconv.OPENINFERENCE_KIND: kind}
    if span.span_type == "tool":
        attributes[semconv.OPENINFERENCE_TOOL] = span.attributes.get(semconv.TOOL_NAME) or span.name
        if span.tool is not None and span.tool.description:
            attributes[semconv.OPENINFERENCE_TOOL_DESCRIPTION] = span.tool.description
    return attributes


def openinference_content(span: Span) -> dict[str, Any]:
    """The input and the output; of a retriever each document, too."""
    attributes = {**plain_input(span.input), **plain_output(span.output)}
    if span.span_type != "retriever":
        return attributes
    query = (span.input or {}).get("query")
    if isinstance(query, str):
        attributes |= {semconv.INPUT_VALUE: query, semconv.INPUT_MIME_TYPE: "text/plain"}
        rest = {name: value for name, value in (span.input or {}).items() if name != "query"}
        attributes |= {semconv.OTHER_INPUT: json_text(rest)} if rest else {}
    documents = span.output if type(span.output) is list else []
    for number, document in enumerate(documents[:MAX_DOCUMENTS]):
        prefix = f"{semconv.OPENINFERENCE_DOCUMENTS}.{number}.document."
        attributes |= {prefix + name: value for name, value in _document(document).items()}
    return attributes


def _document(document: Any) -> dict[str, Any]:
    if isinstance(document, str):
        return {"content": document}
    if not isinstance(document, Mapping):
        return {"content": json_text(document)}
    text = _first(document, _TEXTS)
    if text is None:
        return {"content": json_text(document)}
    fields: dict[str, Any] = {"content": text if isinstance(text, str) else json_text(text)}
    key, score, metadata = _first(document, _IDS), _first(document, _SCORES), document.get("metadata")
    if key is not None:
        fields["id"] = key if isinstance(key, str) else json_text(key)
    if isinstance(score, int | float) and not isinstance(score, bool):
        fields["score"] = score
    if metadata:
        fields["metadata"] = json_text(metadata)
    return fields


def _first(document: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((document[name] for name in names if document.get(name) is not None), None)


def plain_input(parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments of a call as JSON text."""
    if parameters is None:
        return {}
    return {semconv.INPUT_VALUE: json_text(parameters), semconv.INPUT_MIME_TYPE: "application/json"}


def plain_output(output: Any) -> dict[str, Any]:
    """What a call returned: a text as it is, anything else as JSON."""
    if output is None:
        return {}
    if isinstance(output, str):
        return {semconv.OUTPUT_VALUE: output, semconv.OUTPUT_MIME_TYPE: "text/plain"}
    return {semconv.OUTPUT_VALUE: json_text(output), semconv.OUTPUT_MIME_TYPE: "application/json"}
