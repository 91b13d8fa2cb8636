"""Evaluations without secrets: reports and examples are redacted before they are stored, as spans are.

What stands in a span under its own name (a parameter, an item of metadata, the output) stands deeper in an
example: the user's own rule sees it under the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from agenttrace.core.changed import changed
from agenttrace.core.jsonable import clean, clean_text, jsonable, to_json
from agenttrace.core.marks import without_digests
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.shown_text import ShownText
from agenttrace.core.trace import Trace
from agenttrace.redaction import Redaction
from agenttrace.redaction.excerpts import without_pieces
from agenttrace.redaction.expected_calls import output_without_secret, without_secret_outputs
from agenttrace.redaction.harmless_copy import harmless_copy
from agenttrace.redaction.repeated import (
    beginnings_in,
    secret_texts,
    sought_elsewhere,
    taken_out_of,
    without_repeated,
    without_repeated_in,
)
from agenttrace.redaction.scores import score_without_repeated
from agenttrace.redaction.spans import span_without_repeated

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


class _Secrets(NamedTuple):
    """The secrets of an example and of its run, which what is said of them may repeat."""

    in_messages: Set[str]
    """What errors and reasons may repeat: words of a secret input, too."""
    in_values: Set[str]
    """What is looked for in every text."""
    in_excerpts: Set[str]
    """What is looked for beside the cuts of a text: there also words."""


_NONE = _Secrets(frozenset(), frozenset(), frozenset())


def redacted_report(
    report: EvaluationReport, redaction: Redaction, facts: Mapping[str, Any] = MappingProxyType({})
) -> EvaluationReport:
    """Return a copy of a report without secrets; the report itself stays as it is.

    The project's name is not redacted, so that results stand beside the traces of the same project. `facts`
    are further metadata, which agenttrace itself added: no rule of the user's sees them, which could make two
    runs look different.
    """
    known: set[str] = set()
    results = tuple(_result(result, redaction, known) for result in report.results)
    metadata = redaction.fields(jsonable(dict(report.metadata)))
    if facts:
        metadata = {**redacted_facts(facts, redaction), **metadata}
    examples = {name: metadata.pop(name) for name in ("examples",) if name in metadata}
    of_run = {
        "name": redaction.inside(clean(report.name)),
        "model": redaction.inside(clean(report.model)),
        "metadata": metadata,
    }
    of_run = without_repeated_in(of_run, beginnings_in(to_json(of_run), known))
    # Ids stay as they are, also those that repeat a secret: examples are compared by them.
    return replace(report, results=results, **{**of_run, "metadata": {**of_run["metadata"], **examples}})


def redacted_facts(facts: Mapping[str, Any], redaction: Redaction) -> dict[str, Any]:
    """The facts of `run_metadata` without secrets. Of an example that has no id of the user's there is only
    its fingerprint, a number of ours."""
    examples = [
        redaction.inside(clean(one)) if "id" in one else dict(one) for one in facts.get("examples", ())
    ]
    rest = clean({name: fact for name, fact in facts.items() if name != "examples"})
    cleaned = without_secret_outputs(redaction.inside(rest), redaction)
    cleaned = without_repeated_in(cleaned, sought_elsewhere(taken_out_of(rest, cleaned)))
    return {**cleaned, **({"examples": examples} if examples else {})}


def redacted_example(fields: Mapping[str, Any], redaction: Redaction) -> dict[str, Any]:
    """Return the redacted fields of an example, which repeat no secret of one another; `fields` are those of
    `Example.to_dict`."""
    return _redacted_fields(clean(dict(fields)), redaction)[0]


def judged_fields(example: Example, redaction: Redaction, of_run: Set[str] = frozenset()) -> dict[str, Any]:
    """Return what an online evaluation judged, redacted, for its score: the fields that have a value.

    Each is cut to `JUDGED_FIELD` characters, so that a page shows what was expected; the trace has the rest.
    `of_run` are secrets of the run that is judged.
    """
    fields = without_repeated_in(redacted_example(example.to_dict(), redaction), of_run)
    return {
        name: without_digests(jsonable(value, limit=JUDGED_FIELD))
        for name, value in fields.items()
        if value is not None and name not in _NOT_JUDGED
    }


def without_secrets_of(
    scores: Iterable[Score], example: Example | None, redaction: Redaction, of_run: Set[str] = frozenset()
) -> tuple[Score, ...]:
    """Return the scores without what they repeat of secrets in the example, and of those of its run."""
    scores = tuple(scores)
    if example is None or not scores:
        return scores
    secrets = _example(example, redaction, of_run)[1]
    if not secrets.in_excerpts:
        return scores
    return tuple(_score(score, secrets, redaction) for score in scores)


def repeated_secrets(
    secrets: Set[str], example: Example, scores: Iterable[Score], error: str | None
) -> frozenset[str]:
    """Those of a run's secrets that its result repeats: no other is held longer than the run."""
    data = [clean(example.to_dict()), [jsonable(score.to_dict()) for score in scores], clean(error)]
    return frozenset(beginnings_in(to_json(data), secrets))


def _redacted_fields(whole: dict[str, Any], redaction: Redaction) -> tuple[dict[str, Any], _Secrets]:
    """The redacted fields of an example, and the secrets that are taken out of them."""
    redacted = {name: _field(name, value, redaction) for name, value in whole.items()}
    values = whole.get("input")
    own = secret_texts(values.items(), redaction) if type(values) is dict else set()
    taken_out = own | taken_out_of(whole, redacted)
    in_values = own | sought_elsewhere(taken_out)
    redacted = without_repeated_in(redacted, in_values)
    name = redacted.get("name")
    if name is not None and not isinstance(name, str):  # the user's own rule may return anything
        redacted["name"] = to_json(name)
    return redacted, _Secrets(in_values, in_values, taken_out)


def _example(example: Example, redaction: Redaction, of_run: Set[str]) -> tuple[dict[str, Any], _Secrets]:
    """The redacted fields of an example that have a value, and the secrets of it and of its run."""
    # Outputs have another name in spans: a rule about it sees them as that.
    written = {name: value for name, value in example.__dict__.items() if value is not None}
    fields = None if redaction.is_secret("output") else harmless_copy(written, redaction)
    secrets = _NONE  # what is harmless has none that an output, an error or a reason could repeat
    if fields is None or without_secret_outputs(fields, redaction) is not fields:
        fields, secrets = _redacted_fields(clean(example.to_dict()), redaction)
    if of_run:
        in_values = secrets.in_values | sought_elsewhere(of_run)
        secrets = _Secrets(secrets.in_messages | of_run, in_values, secrets.in_excerpts | of_run)
        fields = without_repeated_in(fields, in_values)
    return fields, secrets


def _score(score: Score, secrets: _Secrets, redaction: Redaction) -> Score:
    """The redacted score, without what it repeats of the secrets."""
    if secrets.in_excerpts:
        texts = {name: text for name in ("error", "reason") if (text := getattr(score, name))}
        texts = {name: _without(text, secrets) for name, text in texts.items()}
        # A whole one stands there as a value, by which its name is known.
        if score.diff and not isinstance(score.diff, ShownText):
            texts["diff"] = without_pieces(score.diff, secrets.in_excerpts)
        score = changed(score, **texts)
    return score_without_repeated(redaction.score(score), secrets.in_values)


def _without(text: str, secrets: _Secrets) -> str:
    return without_repeated(without_pieces(clean_text(text), secrets.in_excerpts), secrets.in_messages)


def _result(result: ScoringResult, redaction: Redaction, known: set[str]) -> ScoringResult:
    """The redacted result; the secrets that the run's metadata may repeat are added to `known`."""
    # No validation: a redacted date is no date, and is stored all the same.
    fields, secrets = _example(result.example, redaction, result.repeated_secrets)
    known |= sought_elsewhere(secrets.in_values)
    example = result.example.changed(**fields)
    source = redaction.inside(clean(example.source))
    if source is not example.source:
        example._source = source
    return changed(
        result,
        example=example,
        scores=tuple(_score(score, secrets, redaction) for score in result.scores),
        trace=_trace(result.trace, secrets, redaction),
        error=None if result.error is None else redaction.text("error", _without(result.error, secrets)),
        source=redaction.inside(clean(result.source)),
        repeated_secrets=frozenset(),
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
        if clean.get("output") is not None:
            clean["output"] = output_without_secret(value, clean["output"], redaction)
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


def _trace(trace: Trace | None, secrets: _Secrets, redaction: Redaction) -> Trace | None:
    """Redact a run that was read from an example; one that was recorded live is redacted already."""
    if trace is None or not trace.is_recorded_run:
        return trace
    spans = [span_without_repeated(redaction.span(span), secrets.in_values) for span in trace.spans]
    return Trace(spans, trace_key=trace.trace_key, tools=trace.tools)
