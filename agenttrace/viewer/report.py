"""Reports: a trace, a run or a comparison as one file that asks for nothing, from the parts of the pages."""

from __future__ import annotations

import base64
import copy
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from agenttrace.core.annotation import Annotation
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.span import EMPTY, Span, SpanError
from agenttrace.core.trace import Trace
from agenttrace.reports.requirements import why_expected
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.record import record_of_run
from agenttrace.store.facts import facts_of
from agenttrace.store.light_traces import LightTrace
from agenttrace.store.memory import MemoryStore
from agenttrace.viewer.compact import compact, used_rules
from agenttrace.viewer.compare_page import compare_context
from agenttrace.viewer.loop import LEAST, loop_of
from agenttrace.viewer.people import word_views
from agenttrace.viewer.reads import Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.run_page import ExampleView, run_context
from agenttrace.viewer.scores import in_short, score_view, score_views
from agenttrace.viewer.span_page import span_context
from agenttrace.viewer.trace_page import labels_of_trace, tree_context
from agenttrace.viewer.tree import TraceTree

SPANS = 40
"""Spans of a trace whose values are in its report: those that failed, then the first ones."""
EXAMPLES = 300
WHOLE = 10
"""Examples whose diffs stand in tables; those of the others are as a terminal prints them."""
TRACES = 5
"""Examples that failed whose calls, of the first trial that did, are in the report of a run; those that were
expected to fail come last."""

SpanScores = Sequence[tuple[str | None, Score]]

_SHEET = "<style></style>"
_POLICY = "<meta name=policy>"


def trace_report(
    trace: Trace, scores: SpanScores = (), *, words: Sequence[Annotation] = (), values: bool = True
) -> str:
    """A trace as one HTML file, with people's `words`; without `values`, its names, times, numbers alone."""
    if not values:
        trace = _trace_without_values(trace)
        scores = [(span_id, _score_without_values(score)) for span_id, score in scores]
        words = ()
    searched = facts_of(trace, [score for _, score in scores])
    context = _trace_context(trace, scores, with_details=values)
    facts = None if searched is None else searched.facts
    has_loop = values and facts is not None and facts.looped >= LEAST
    return _file(
        "trace_report.html",
        values,
        facts=facts,
        labels=labels_of_trace(facts) if values else (),
        loop=loop_of(trace) if has_loop else None,
        words=word_views(words, trace),
        **context,
    )


def run_report(
    report: EvaluationReport,
    *,
    against: Mapping[str, Any] | None = None,
    reads: Reads | None = None,
    values: bool = True,
) -> str:
    """A run as one HTML file, compared with the stored run `against`; without `values`, names and numbers.

    What was called in both runs is read from `reads`, where that is given.
    """
    failed = {
        result.position: result.trace
        for result in reversed(report)
        if result.trace is not None and result.outcome != "passed"
    }
    order = sorted(failed, key=lambda position: (why_expected(report, position) is not None, position))
    traces = [failed[position] for position in order]
    if not values:
        report = _report_without_values(report)
        traces = [_trace_without_values(trace) for trace in traces]
    comparison = None
    if against is not None:
        comparison = _comparison(report, against, reads or _nothing(), values=values)
    context = run_context(report, rows=EXAMPLES)
    context["examples"] = [*context["examples"][:WHOLE], *map(_in_short, context["examples"][WHOLE:])]
    trees = [_trace_context(trace, (), with_details=False) for trace in traces[:TRACES]]
    left_out = len(traces) - len(trees)
    return _file("run_report.html", values, compared=comparison, trees=trees, left_out=left_out, **context)


def _in_short(example: ExampleView) -> ExampleView:
    shown = example.shown
    return example._replace(shown=shown._replace(scores=[in_short(view) for view in shown.scores]))


def score_report(score: Score) -> str:
    """A score as one HTML file."""
    return _file("score_report.html", True, view=score_view(score, None))


def _comparison(
    report: EvaluationReport, against: Mapping[str, Any], reads: Reads, *, values: bool
) -> dict[str, Any]:
    after = report.to_dict()
    before, now = record_of_run(against), record_of_run(after)
    if not values:
        before, now = (
            replace(record, examples=tuple(replace(e, why=None, diffs={}) for e in record.examples))
            for record in (before, now)
        )
    return compare_context(
        replace(reads, is_live=False), compare_runs(before, now), against, after, rows=EXAMPLES
    )


def _trace_context(trace: Trace, scores: SpanScores, *, with_details: bool) -> dict[str, Any]:
    tree = TraceTree(trace)
    light = LightTrace(trace)
    context = tree_context(light, tree, {}, tree.deepest_failure)
    spans: list[Span] = []
    if with_details:
        failed = [node.span for node in tree.failures if node.span is not None]
        shown = [view.row.span for view in context["rows"] if view.row.kind == "span"]
        spans = list({span.span_key: span for span in (*failed, *shown) if span is not None}.values())[:SPANS]
        spans.sort(key=lambda span: (span.start_ns, span.index))
    return {
        **context,
        "trace": trace,
        "scores": score_views(scores, trace),
        "details": [span_context(light, span, scores, tree) for span in spans],
        "detailed": {span.span_id for span in spans},
    }


def _file(template: str, values: bool, **context: Any) -> str:
    """A page with its sheet inside, and a policy that lets it load nothing."""
    reads = replace(_nothing(), is_live=False)
    html = render(template, reads, values=values, asked={}, **context)
    html = compact(html)
    sheet = used_rules((files("agenttrace.viewer") / "static" / "view.css").read_text("utf-8"), html)
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    # What is stored is escaped, so these two stand only where the template has them.
    html = html.replace(_POLICY, f'<meta http-equiv="Content-Security-Policy" content="{policy}">', 1)
    return html.replace(_SHEET, f"<style>{sheet}</style>", 1)


def _nothing() -> Reads:
    return Reads.of(MemoryStore())


def _trace_without_values(trace: Trace) -> Trace:
    spans = []
    for span in trace.spans:
        bare = copy.copy(span)
        bare.input = bare.output = None
        bare.attributes = EMPTY
        bare.error = None if span.error is None else SpanError(span.error.type, "")
        spans.append(bare)
    return Trace(spans, trace_key=trace.trace_key)


def _score_without_values(score: Score) -> Score:
    return replace(score, reason="", details={}, diff=None, error=None, metadata={})


def _report_without_values(report: EvaluationReport) -> EvaluationReport:
    return replace(report, results=tuple(map(_result_without_values, report)))


def _result_without_values(result: ScoringResult) -> ScoringResult:
    error = None if result.error is None else result.error.strip().splitlines()[-1].partition(":")[0]
    return replace(
        result,
        example=Example(name=result.name),
        scores=tuple(map(_score_without_values, result.scores)),
        error=error,
        trace=None,
        stored_trace_id=result.trace_id,
    )
