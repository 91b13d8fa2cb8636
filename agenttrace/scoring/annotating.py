"""Makes an annotation of what a person said, once it is checked, without secrets."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.annotation import Annotation, Thumbs
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.json_reader import InvalidJSON, strict_json
from agenttrace.core.jsonable import clean_text, jsonable
from agenttrace.core.numbers import is_number, is_whole
from agenttrace.core.protocols import Store
from agenttrace.redaction import Redaction
from agenttrace.redaction.fields import is_labelled_secret

LONGEST_NOTE = 10_000
LONGEST_LABEL = 200
_HEX = frozenset("0123456789abcdef")
_THUMBS: Mapping[Any, Thumbs] = {"up": "up", "down": "down", True: "up", False: "down"}


def annotate(
    store: Store,
    project: str | None,
    redaction: Redaction,
    trace_id: str | None,
    span_id: str | None,
    result: str | tuple[str, int] | None,
    word: Mapping[str, Any],
) -> str:
    """Keep what a person says in a store, as an annotation and as a score; see `Tracer.annotate`.

    `project` None is that of the result's run. `word` has the ``label``, ``note``, ``thumbs``, ``score``,
    ``expected`` and who says it (``by``), or None.

    Raises:
        ConfigError: it says nothing, of nothing, or something that cannot be read.
        ExpectationError: what is expected is no expectation.
        StoreError: the run that `result` names is not in the store, or the store cannot be used.
    """
    annotation = _annotation(store, project, redaction, trace_id, span_id, result, word)
    score = annotation.as_score()
    rows = []
    if score is not None and annotation.trace_id is not None:
        rows.append(ScoreRow(annotation.trace_id, annotation.span_id, score))
    store.write(Batch(scores=rows, annotations=[annotation]))
    return annotation.annotation_id


def stored_trace(store: Store, prefix: str) -> tuple[str, str]:
    """Return the whole id of the stored trace whose id begins so, and its project.

    Raises:
        StoreError: there is none, several begin so, or the store cannot be read.
    """
    trace = store.trace(prefix)
    if trace is None:
        raise StoreError(f"no trace begins with {prefix!r}; `agenttrace traces list` lists them")
    return trace.trace_id, next((span.project for span in trace.spans), "default")


def expectation_in(text: str) -> Any:
    """Return what a person wrote of what should have happened: calls if it is JSON, else the right answer.

    Raises:
        ConfigError: it begins as JSON does, and is none.
    """
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        return strict_json(text)
    except InvalidJSON as error:
        raise ConfigError(f"what is expected is no JSON: {error.problem}") from None


def _annotation(
    store: Store,
    project: str | None,
    redaction: Redaction,
    trace_id: str | None,
    span_id: str | None,
    result: str | tuple[str, int] | None,
    word: Mapping[str, Any],
) -> Annotation:
    thumbs, score, expected = word.get("thumbs"), word.get("score"), word.get("expected")
    if trace_id is None and result is None:
        raise ConfigError("an annotation is about a trace (trace_id) or about a result of a run (result=)")
    if all(word.get(name) is None for name in ("label", "note", "thumbs", "score", "expected")):
        raise ConfigError("an annotation says something: label=, note=, thumbs=, score= or expected=")
    if thumbs is not None and not (isinstance(thumbs, str | bool) and thumbs in _THUMBS):
        raise ConfigError(f"thumbs is 'up' or 'down', got {thumbs!r}")
    if score is not None and not (is_number(score) and 0 <= score <= 1):
        raise ConfigError(f"score is a number from 0 to 1, got {score!r}")
    note = _text("note", word.get("note"), LONGEST_NOTE, redaction)
    if is_labelled_secret(word.get("label"), word.get("note"), redaction):
        note = str(redaction.taken_out(note))
    run_id, place = (None, None) if result is None else _result(result)
    if run_id is not None:
        run_id, of_result, of_run = _stored_result(store, run_id, place)
        trace_id, project = trace_id or of_result, project or of_run
    return Annotation(
        annotation_id=os.urandom(16).hex(),
        project=project or "default",
        trace_id=None if trace_id is None else _hex("trace_id", trace_id, 32),
        span_id=None if span_id is None else _hex("span_id", span_id, 16),
        run_id=run_id,
        result=place,
        label=_text("label", word.get("label"), LONGEST_LABEL, redaction),
        thumbs=None if thumbs is None else _THUMBS[thumbs],
        score=None if score is None else float(score),
        note=note,
        expected=None if expected is None else redaction.fields(_expected(expected)),
        by=_text("by", word.get("by"), LONGEST_LABEL, redaction),
        created_ns=time.time_ns(),
    )


def _hex(name: str, text: Any, digits: int) -> str:
    whole = text.strip().lower() if isinstance(text, str) else ""
    if len(whole) != digits or not set(whole) <= _HEX:
        raise ConfigError(f"a {name} is {digits} hex digits, got {text!r}")
    return whole


def _text(name: str, text: Any, longest: int, redaction: Redaction) -> str | None:
    if text is None:
        return None
    if not isinstance(text, str) or not text.strip() or len(text) > longest:
        raise ConfigError(f"{name} is a text of 1 to {longest} characters, got {text!r:.100}")
    return redaction.text(name, clean_text(text))


def _result(result: Any) -> tuple[str, int]:
    """The run and the place of a result, given as a pair or as ``"RUN:PLACE"``."""
    run, place = None, None
    if isinstance(result, str):
        run, _, digits = result.rpartition(":")
        place = int(digits) if digits.isascii() and digits.isdigit() else None
    elif isinstance(result, Sequence) and len(result) == 2:
        run, place = result
    if not isinstance(run, str) or not run or not is_whole(place, 0):
        raise ConfigError(f"result is 'RUN:PLACE', such as '6d09469a:3', places from 0; got {result!r}")
    return run, place


def _stored_result(store: Store, run: str, place: int | None) -> tuple[str, str | None, str]:
    """The whole id of a run, the trace of one of its results, the run's project."""
    stored = store.run(run)
    if stored is None:
        raise StoreError(f"there is no run {run!r} in the store")
    results = stored["results"]
    if place is None or place >= len(results):
        raise StoreError(f"the run {run} has results 0 to {len(results) - 1}, got {place}")
    return stored["run_id"], results[place]["trace_id"], stored["project"]


def _expected(expected: Any) -> dict[str, Any]:
    """The corrected expectation in the form of files: a text is the right answer, anything else calls."""
    if isinstance(expected, str):
        return {"expected_output": expected}
    from agenttrace.core.file_form import lossy, to_file_form
    from agenttrace.expectations.parse import parse_expectation

    parse_expectation(expected)
    return {"expected_tools": jsonable(to_file_form(expected, lossy, "expected"))}
