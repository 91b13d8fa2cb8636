"""What people said, as pages show it: of a trace, of a run's results; how a scorer agrees with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agenttrace.core.annotation import HUMAN, Annotation
from agenttrace.core.people import replaced
from agenttrace.core.protocols import KeepsWatch, optional
from agenttrace.core.report import EvaluationReport
from agenttrace.core.trace import Trace
from agenttrace.reports.agreement import agreement_of
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.values import ValueView, view_of

MOST_WORDS = 10_000
"""The newest words among which those of a run are looked for."""
SHOWN_WORDS = 50


class WordView(NamedTuple):
    """What a person said; `verdict` is the outcome of it, `about` the span that it is about, by name.

    `is_replaced`: the same person gave another verdict on the same thing since.
    """

    annotation: Annotation
    verdict: str | None
    about: str | None
    expected: ValueView | None
    is_replaced: bool = False


def word_view(annotation: Annotation, about: str | None = None, older: Collection[str] = ()) -> WordView:
    """What a person said, as it is shown."""
    verdict = None if annotation.passes is None else "passed" if annotation.passes else "failed"
    expected = annotation.expected
    value = None if expected is None else expected.get("expected_output", expected.get("expected_tools"))
    shown = None if value is None else view_of(value)
    return WordView(annotation, verdict, about, shown, annotation.annotation_id in older)


def words_on_trace(reads: Reads, trace: Trace) -> list[WordView]:
    """What people said of a trace and of its spans, the newest first."""
    watch = optional(reads.store, KeepsWatch)
    if watch is None:
        return []
    return word_views(watch.annotations(trace_id=trace.trace_id, limit=SHOWN_WORDS), trace)


def word_views(words: Sequence[Annotation], trace: Trace) -> list[WordView]:
    """The same of annotations that were read before."""
    names = {span.span_id: span.name for span in trace.spans}
    older = replaced(words)
    return [word_view(one, names.get(one.span_id or "", one.span_id), older) for one in words]


def words_on_run(reads: Reads, report: EvaluationReport) -> Mapping[int, list[WordView]]:
    """What people said of a run's results, by the result's place: of the result itself, or of its trace."""
    watch = optional(reads.store, KeepsWatch)
    if watch is None:
        return {}
    return words_by_place(watch.annotations(limit=MOST_WORDS), report)


def words_by_place(
    annotations: Iterable[Annotation], report: EvaluationReport
) -> Mapping[int, list[WordView]]:
    """The same of annotations that were read before."""
    annotations = list(annotations)
    older = replaced(annotations)
    places = {result.trace_id: place for place, result in enumerate(report) if result.trace_id}
    words: dict[int, list[WordView]] = defaultdict(list)
    for one in annotations:
        of_result = one.result if one.run_id == report.run_id else None
        place = places.get(one.trace_id or "") if of_result is None else of_result
        if place is not None and len(words[place]) < SHOWN_WORDS:
            words[place].append(word_view(one, older=older))
    return dict(words)


def agreement_on(reads: Reads, name: str) -> Mapping[str, Any] | None:
    """How a scorer agrees with people; None for people's own scores, and where no words are kept."""
    watch = optional(reads.store, KeepsWatch)
    return None if watch is None or name.startswith(HUMAN) else agreement_of(watch, name)


def labels_of(names: Sequence[str]) -> list[str]:
    """The scorers of which a word may be about: each once, without people's own."""
    return [name for name in dict.fromkeys(names) if not name.startswith(HUMAN)][:20]
