"""Evaluations without secrets: reports and examples are redacted before they are stored, as spans are.

What stands in a span under its own name (a parameter, an item of metadata, the output) stands deeper in an
example: the user's own rule sees it under the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from agenttrace.core.changed import changed
from agenttrace.core.jsonable import clean, clean_text, jsonable, to_json
from agenttrace.core.marks import without_digests
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.redaction import Redaction
from agenttrace.redaction.harmless_copy import harmless_copy
from agenttrace.redaction.repeated import secret_texts, without_repeated, without_repeated_in
from agenttrace.redaction.spans import may_give, without_given

if TYPE_CHECKING:
    from agenttrace.core.example import Example

JUDGED_FIELD = 8_000
"""Characters of one field of an example that are kept with an online score."""

_NOT_JUDGED = frozenset({"example_id", "created_at"})

_OUTPUTS = frozenset({"actual_output", "expected_output"})
_BY_NAME = frozenset({"input", "additional_metadata"})
_CALLS = frozenset({"tools_called", "expected_tools"})
"""Fields of an example by kind: outputs, mappings that are redacted item by item, tool calls."""

_TOOL_NAMES = frozenset({"name", "tool_name"})
_PATTERNS = frozenset({"path", "opt", "many"})
"""The keys of a pattern whose values are patterns themselves."""


def redacted_report(report: EvaluationReport, redaction: Redaction) -> EvaluationReport:
    """Return a copy of a report without secrets; the report itself stays as it is.

    The project's name is not redacted, so that results stand beside the traces of the same project.
    """
    return replace(
        report,
        results=tuple(_result(result, redaction) for result in report.results),
        name=redaction.inside(clean(report.name)),
        model=redaction.inside(clean(report.model)),
        metadata=redaction.fields(jsonable(dict(report.metadata))),
    )


def redacted_example(fields: Mapping[str, Any], redaction: Redaction) -> dict[str, Any]:
    """Return the redacted fields of an example; `fields` are those of `Example.to_dict`."""
    redacted = {name: _field(name, value, redaction) for name, value in clean(dict(fields)).items()}
    name = redacted.get("name")
    if name is not None and not isinstance(name, str):  # the user's own rule may return anything
        redacted["name"] = to_json(name)
    return redacted


def judged_fields(example: Example, redaction: Redaction) -> dict[str, Any]:
    """Return what an online evaluation judged, redacted, for its score: the fields that have a value.

    Each is cut to `JUDGED_FIELD` characters, so that a page shows what was expected; the trace has the rest.
    """
    secrets = _secrets_of_input(example, redaction)
    fields = without_repeated_in(redacted_example(example.to_dict(), redaction), secrets)
    return {
        name: without_digests(jsonable(value, limit=JUDGED_FIELD))
        for name, value in fields.items()
        if value is not None and name not in _NOT_JUDGED
    }


def without_secret_input(
    scores: Iterable[Score], example: Example | None, redaction: Redaction
) -> tuple[Score, ...]:
    """Return the scores without what their errors and reasons repeat of secrets in the example's input."""
    scores = tuple(scores)
    if example is None or not any(score.error or score.reason for score in scores):
        return scores
    secrets = _secrets_of_input(example, redaction)
    return tuple(_without(score, secrets) for score in scores)


def _secrets_of_input(example: Example, redaction: Redaction) -> set[str]:
    values = example.input
    return secret_texts(jsonable(dict(values)).items(), redaction) if isinstance(values, Mapping) else set()


def _without(score: Score, secrets: set[str]) -> Score:
    if not secrets or not (score.error or score.reason):
        return score
    error = None if score.error is None else without_repeated(clean_text(score.error), secrets)
    return changed(score, error=error, reason=without_repeated(clean_text(score.reason), secrets))


def _in_details(score: Score, secrets: set[str]) -> Score:
    """The redacted score without the secrets in its details and its diff."""
    if not secrets:
        return score
    diff = None if score.diff is None else without_repeated(score.diff, secrets)
    return changed(score, details=without_repeated_in(dict(score.details), secrets), diff=diff)


def _result(result: ScoringResult, redaction: Redaction) -> ScoringResult:
    # No validation: a redacted date is no date, and is stored all the same.
    # Outputs have another name in spans: a rule about it sees them as that.
    written = {name: value for name, value in result.example.__dict__.items() if value is not None}
    may_hide = redaction.is_secret("output") or may_give(result.example.tools_called)
    fields = None if may_hide else harmless_copy(written, redaction)
    is_harmless = fields is not None
    # What is harmless has no secret that an output, an error or a reason could repeat.
    secrets = set() if is_harmless else _secrets_of_input(result.example, redaction)
    if fields is None:
        fields = without_repeated_in(redacted_example(result.example.to_dict(), redaction), secrets)
    example = result.example.changed(**fields)
    source = redaction.inside(clean(example.source))
    if source is not example.source:
        example._source = source
    error = None if result.error is None else without_repeated(clean_text(result.error), secrets)
    return changed(
        result,
        example=example,
        scores=tuple(
            _in_details(redaction.score(_without(score, secrets)), secrets) for score in result.scores
        ),
        trace=_trace(result.trace, redaction),
        error=None if error is None else redaction.text("error", error),
        source=redaction.inside(clean(result.source)),
    )


def _field(name: str, value: Any, redaction: Redaction) -> Any:
    if value is None:
        return None
    if redaction.is_secret(name):
        return redaction.value(name, value)
    if name in _BY_NAME and type(value) is dict:
        return redaction.fields(value)
    if name in _CALLS:
        return _calls(value, redaction)
    return redaction.value("output" if name in _OUTPUTS else name, value)


def _calls(value: Any, redaction: Redaction) -> Any:
    """Redact tool calls, recorded or expected, in whatever lists and mappings they are written."""
    if type(value) is list:
        return [_calls(item, redaction) for item in value]
    if type(value) is dict:
        clean = {redaction.key(key): _entry(key, item, redaction) for key, item in value.items()}
        arguments = value.get("arguments")
        if type(arguments) is dict and clean.get("arguments") != arguments:
            clean = without_repeated_in(clean, secret_texts(arguments.items(), redaction))
        name = value.get("name")
        if type(name) is str and "output" in clean:  # what this call returns that asks for a secret
            of_call = arguments if type(arguments) is dict else None
            clean["output"] = without_given(name, of_call, clean["output"], redaction)
        return clean
    return redaction.inside(value)


def _entry(key: str, item: Any, redaction: Redaction) -> Any:
    """Redact one entry of a mapping that stands for a tool call, or for a pattern of several."""
    if key in _TOOL_NAMES:  # like a span's name, which the user's own rule does not see
        return redaction.inside(item)
    if key in ("output", "error") or redaction.is_secret(key):
        return redaction.value(key, item)
    if type(item) is list or key in _PATTERNS:
        return _calls(item, redaction)
    if type(item) is dict:  # the arguments, under any key
        return redaction.fields(item)
    return redaction.value(key, item)


def _trace(trace: Trace | None, redaction: Redaction) -> Trace | None:
    """Redact a run that was read from an example; one that was recorded live is redacted already."""
    if trace is None or not trace.is_recorded_run:
        return trace
    spans = [redaction.span(span) for span in trace.spans]
    return Trace(spans, trace_key=trace.trace_key, tools=trace.tools)
