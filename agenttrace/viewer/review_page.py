"""The page of what people should look at: cases whose judging tells most, each with a form to judge it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from agenttrace.core.annotation import Annotation
from agenttrace.core.errors import ConfigError
from agenttrace.core.people import ToReview, replaced, review_queue
from agenttrace.core.trace_facts import TraceFacts
from agenttrace.viewer.annotating import own_address
from agenttrace.viewer.people import MOST_WORDS, WordView, labels_of, word_view
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.trace_list import Row, row_of
from agenttrace.viewer.values import arguments_text, short_value

CASES = 20
LONGEST_QUEUE = 1_000
LIGHT = 500
"""Spans of a trace up to which the page reads it for what was asked and answered."""
LONGEST_WORDS = 300


class Subject(NamedTuple):
    """What a form is about, as it is shown: what was asked, called and answered."""

    name: str
    run_name: str | None
    row: Row | None
    question: str
    answer: str


class CaseView(NamedTuple):
    """A case to look at: why, what the scorer said of it, what people said."""

    case: ToReview
    subject: Subject
    reason: str
    labels: Sequence[str]
    words: Sequence[WordView]


def review_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The queue from the place ``from`` on, of one ``project`` or all.

    Or the one case that is asked for: a ``trace``, or a ``result`` as RUN:PLACE; ``back`` is the page to go
    back to. ``kept`` is the id of what was said last.
    """
    annotations = reads.watch.annotations(project=asked.get("project") or None, limit=MOST_WORDS)
    one = _single(asked)
    start = int(asked["from"]) if asked.get("from", "").isdecimal() and len(asked["from"]) < 6 else 0
    queue = [one] if one else queue_of(reads, asked.get("project") or None, annotations)
    cases = _case_views(reads, queue[start : start + CASES], annotations)
    last = next((a for a in annotations if asked.get("kept") and a.annotation_id == asked["kept"]), None)
    return 200 if cases or not one else 404, render(
        "review_page.html",
        reads,
        cases=cases,
        is_single=one is not None,
        back=own_address(asked.get("back", ""), "/review"),
        count=len(queue),
        is_capped=len(queue) >= LONGEST_QUEUE,
        start=start,
        after=start + CASES if start + CASES < len(queue) else None,
        project=asked.get("project"),
        last=None if last is None else word_view(last),
        last_name="" if last is None else _name_of(reads, last),
    )


def queue_of(
    reads: Reads, project: str | None, annotations: Sequence[Annotation], limit: int = LONGEST_QUEUE
) -> list[ToReview]:
    """What people should look at, as ``agenttrace review`` lists it."""
    watch = reads.watch
    scores, failures = watch.stored_scores(project=project), watch.failures(project=project)
    return review_queue(scores, annotations, failures, limit=limit)


def _name_of(reads: Reads, annotation: Annotation) -> str:
    facts = None if annotation.trace_id is None else reads.facts(annotation.trace_id)
    return "" if facts is None else facts.name


def _single(asked: Asked) -> ToReview | None:
    trace_id, result = asked.get("trace") or None, asked.get("result")
    if trace_id is None and not result:
        return None
    run_id, place = None, None
    if result:
        run_id, _, digits = result.rpartition(":")
        if not run_id or not digits.isdecimal() or len(digits) > 8:
            raise ConfigError(f"got result {result[:60]!r}, wanted RUN:PLACE, places from 0")
        place = int(digits)
    return ToReview(trace_id, run_id, place, (), "", None, None, 0)


def _case_views(reads: Reads, queue: Iterable[ToReview], annotations: Sequence[Annotation]) -> list[CaseView]:
    runs = lru_cache(maxsize=4)(reads.store.run)
    views = (
        _case_view(reads, case, None if case.run_id is None else runs(case.run_id), annotations)
        for case in queue
    )
    return [view for view in views if view is not None]


def _case_view(
    reads: Reads, case: ToReview, run: Mapping[str, Any] | None, annotations: Sequence[Annotation]
) -> CaseView | None:
    """A case as it is shown; None for one that was deleted since."""
    results = [] if run is None or case.result is None else run["results"][case.result : case.result + 1]
    result: Mapping[str, Any] | None = next(iter(results), None)
    trace_id = case.trace_id or (None if result is None else result["trace_id"])
    facts = None if trace_id is None else reads.facts(trace_id)
    if facts is None and result is None:
        return None
    if result is not None:
        reasons = {score["name"]: score.get("reason") or "" for score in result["scores"]}
    else:
        reasons = {score.name: score.reason for _, score in reads.store.scores(str(trace_id))}
    words_of_case = [one for one in annotations if _is_about(one, case, trace_id)]
    older = replaced(words_of_case)
    words = [word_view(one, older=older) for one in words_of_case]
    names = labels_of([name for name in (case.scorer, *reasons) if name])
    return CaseView(case, _subject(reads, facts, run, result), reasons.get(case.scorer, ""), names, words)


def _subject(
    reads: Reads,
    facts: TraceFacts | None,
    run: Mapping[str, Any] | None,
    result: Mapping[str, Any] | None,
) -> Subject:
    trace = None if facts is None or facts.spans > LIGHT else reads.store.trace(facts.trace_id)
    root = None if trace is None else trace.root
    question: Any = None if root is None else root.input
    name = "" if facts is None else facts.name
    if result is not None:
        question = question or result["example"].get("input")
        name = result["name"] or f"example {result['position'] + 1}"
    return Subject(
        name=name,
        run_name=None if run is None else run["name"],
        row=None if facts is None else row_of(facts, None),
        question="" if question is None else _words(question),
        answer="" if root is None or root.output is None else short_value(root.output, LONGEST_WORDS),
    )


def _words(value: Any) -> str:
    """What was asked: the one argument itself where there is one."""
    if isinstance(value, Mapping) and len(value) == 1:
        return short_value(next(iter(value.values())), LONGEST_WORDS)
    return (
        arguments_text(value, LONGEST_WORDS)
        if isinstance(value, Mapping)
        else short_value(value, LONGEST_WORDS)
    )


def _is_about(annotation: Annotation, case: ToReview, trace_id: str | None) -> bool:
    if case.run_id is not None and annotation.run_id == case.run_id:
        return annotation.result == case.result
    return trace_id is not None and annotation.trace_id == trace_id
