"""A trace as an indented tree of its spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.core.tool import TOOL
from agenttrace.core.tool_call import OUTPUT_NOT_NAMED, UNRECORDED_STATUSES, ToolCall
from agenttrace.core.trace import Trace
from agenttrace.reports.clock import clock_text
from agenttrace.reports.terminal import number
from agenttrace.reports.text import Line, safe, safe_line, value_text

MAX_SPANS = 500
MAX_DEPTH = 40
"""Deeper spans are drawn at this depth: an endless recursion must stay readable."""

MAX_DIFF = 60
"""Lines of a failed score's diff."""

MAX_NOTES = 20
"""Notes that are shown of one span."""

_TYPE_STYLES = {"tool": "cyan", "agent": "magenta", "llm": "blue", "retriever": "cyan"}

SpanScores = Sequence[tuple[str | None, Score]]


def trace_lines(trace: Trace, scores: SpanScores = (), *, value_length: int = 160) -> Iterator[Line]:
    """The trace with durations, parameters, outputs, errors and scores.

    `scores` carry a span id each, None for the whole trace. Values are cut at `value_length` characters.
    """
    yield from _head(trace)
    by_span: dict[str | None, list[Score]] = {}
    for span_id, score in scores:
        by_span.setdefault(span_id, []).append(score)
    for score in by_span.pop(None, []):
        yield from _score_lines(score, "")
    yield Line("")
    rails: list[str] = []
    steps = list(zip(trace.walk(), range(MAX_SPANS), strict=False))
    for (depth, span), _ in steps:
        level = min(depth, MAX_DEPTH)
        branch, below = _rails(trace, span, level, rails)
        yield _span_line(span, branch)
        yield from _facts(span, below, value_length)
        for call in trace.unrecorded_calls.get(span.span_id, ()):
            yield from _call_line(call, span, below, value_length)
        for score in by_span.get(span.span_id, []):
            yield from _score_lines(score, below)
    if len(trace) > MAX_SPANS:
        yield Line(f"… {len(trace) - MAX_SPANS} more spans", "dim")


def _head(trace: Trace) -> Iterator[Line]:
    root = trace.root
    if root is None:
        yield Line(f"Trace {trace.trace_id}: no spans", "bold")
        return
    yield Line(f"Trace {trace.trace_id}", "bold")
    parts = [
        f"project {safe_line(root.project, 80)}" if root.project else "",
        clock_text(trace.spans[0].start_ns),
        trace_duration_text(trace),
        count_text(len(trace), "span"),
        _call_counts(trace),
    ]
    yield Line(" · ".join(part for part in parts if part), "dim")
    facts: Mapping[str, Any] = {
        "tags": list(trace.tags),
        "customer": trace.customer_id,
        "session": trace.session_id,
        "metadata": dict(trace.metadata),
    }
    for name, value in facts.items():
        if value:
            yield Line(f"{name}: {value_text(value)}", "dim")


def _call_counts(trace: Trace) -> str:
    """How many tool calls there were, and of how many no execution was recorded."""
    statuses = Counter(call.status for call in trace.tool_calls)
    unrecorded = [f"{statuses[status]} {status}" for status in sorted(UNRECORDED_STATUSES & statuses.keys())]
    return count_text(statuses.total(), "tool call") + (f" ({', '.join(unrecorded)})" if unrecorded else "")


def _call_line(call: ToolCall, span: Span, indent: str, value_length: int) -> Iterator[Line]:
    """A call below the answer that asked for it; of a recorded run's tool span only what is not known."""
    style = "red" if call.failed else "yellow"
    if span.span_type == TOOL:
        if call.remark:
            yield Line(f"{indent}{call.remark}", style)
        return
    arguments = ", ".join(f"{safe_line(k, 40)}={value_text(v, 60)}" for k, v in call.arguments.items())
    what = call.remark or f"answered with {value_text(call.output, value_length)}"
    yield Line(f"{indent}⇢ {safe_line(call.name, 80)}({arguments})  {what}", style)


def _rails(trace: Trace, span: Span, level: int, rails: list[str]) -> tuple[str, str]:
    """The text before a span's own line, and the text before the lines below it."""
    del rails[level:]
    siblings = trace.children.get(span.parent_key) or trace.roots
    last = not siblings or siblings[-1] is span
    if level == 0:
        rails.append("")
        return "", "    "
    before = "".join(rails)
    rails.append("   " if last else "│  ")
    return before + ("└─ " if last else "├─ "), before + rails[-1] + "    "


def _span_line(span: Span, branch: str) -> Line:
    status = "" if span.status == "ok" else f"  {span.status.upper()}"
    style = "red" if span.status == "error" else _TYPE_STYLES.get(span.span_type, "")
    name, kind = safe_line(span.name, 120), safe_line(span.span_type, 40)
    return Line(f"{branch}{name}  [{kind}]  {span_duration_text(span)}{status}", style)


def _facts(span: Span, indent: str, value_length: int) -> Iterator[Line]:
    for name, value in (span.input or {}).items():
        yield Line(f"{indent}{safe_line(str(name), 60)} = {value_text(value, value_length)}")
    yield from _note_lines(span, indent, value_length)
    if span.output is not None:
        yield Line(f"{indent}→ {value_text(span.output, value_length)}", "green")
    if span.error is not None:
        yield Line(f"{indent}✗ {safe(str(span.error)).replace(chr(10), ' ')}", "red")
        for frame in span.error.frames[-3:]:
            yield Line(f"{indent}  at {safe_line(str(frame))}", "dim")
    simulated = span.attributes.get(semconv.SIMULATED)
    if simulated:
        yield Line(f"{indent}simulated: {safe_line(str(simulated), 80)}", "yellow")
    lacking = lacking_text(span)
    if lacking:
        yield Line(f"{indent}{safe_line(lacking)}", "yellow")
    if span.usage:
        yield Line(f"{indent}usage: {value_text(dict(span.usage), value_length)}", "dim")


def _note_lines(span: Span, indent: str, value_length: int) -> Iterator[Line]:
    """What `tracer.log` noted, with the time since the span began; earlier versions did not note that."""
    entries = span.attributes.get(semconv.LOGS)
    notes = [note for note in entries if isinstance(note, Mapping)] if isinstance(entries, list) else []
    for note in notes[:MAX_NOTES]:
        message, label, score, after = map(note.get, ("message", "label", "score", "after_ns"))
        parts = [
            f"after {duration_text(after)}  " if type(after) is int else "",
            "" if label in ("log", None) else f"{safe_line(str(label), 40)}: ",
            safe_line(message, value_length)
            if isinstance(message, str)
            else value_text(message, value_length),
            "" if score is None else f"  (score {value_text(score, 20)})",
        ]
        yield Line(f"{indent}· {''.join(parts)}")
    if len(notes) > MAX_NOTES:
        yield Line(f"{indent}… {len(notes) - MAX_NOTES} more notes", "dim")


def lacking_text(span: Span) -> str:
    """What another library left out of a call, and what would have it recorded; empty where nothing is."""
    remedy = span.attributes.get(semconv.NOT_RECORDED)
    if remedy == OUTPUT_NOT_NAMED:
        return ""
    parts = {"arguments": span.input, "output": span.output if span.error is None else span.error}
    lacking = " and ".join(name for name, value in parts.items() if value is None)
    return f"{lacking} not recorded: {remedy}" if lacking and isinstance(remedy, str) else ""


def _score_lines(score: Score, indent: str) -> Iterator[Line]:
    """A score, and where it failed its diff."""
    mark = {"passed": "✓", "failed": "✗", "skipped": "·"}.get(score.outcome, "!")
    value = score.outcome if score.value is None else number(score.value)
    reason = f"  {safe_line(score.reason)}" if score.reason else ""
    style = {"passed": "green", "failed": "red"}.get(score.outcome, "yellow")
    yield Line(
        f"{indent}{mark} {safe_line(score.name, 80)}: {value} (threshold {number(score.threshold)}){reason}",
        style,
    )
    if score.outcome == "failed" and score.diff:
        lines = safe(score.diff, 64_000).strip("\n").split("\n")
        yield from (Line(f"{indent}{line}") for line in lines[:MAX_DIFF])
        if len(lines) > MAX_DIFF:
            yield Line(f"{indent}    … {len(lines) - MAX_DIFF} more lines", "dim")


def span_duration_text(span: Span) -> str:
    """How long a span took; of one that came without its end, that it had not ended."""
    return "not ended" if semconv.UNFINISHED in span.attributes else duration_text(span.duration_ns)


def trace_duration_text(trace: Trace) -> str:
    """From a trace's first start to its last end, ``so far`` where spans of it came without theirs."""
    so_far = any(semconv.UNFINISHED in span.attributes for span in trace.spans)
    return duration_text(trace.duration_ns) + (" so far" if so_far else "")


def duration_text(nanoseconds: int) -> str:
    """A duration with a unit that keeps it readable: µs, ms, s, min; a dash for a run without times."""
    if not nanoseconds:
        return "–"
    if nanoseconds < 1_000_000:
        return f"{nanoseconds / 1e3:.0f} µs"
    if nanoseconds < 1_000_000_000:
        return f"{nanoseconds / 1e6:.1f} ms"
    if nanoseconds < 60_000_000_000:
        return f"{nanoseconds / 1e9:.2f} s"
    return f"{nanoseconds / 60e9:.1f} min"


def count_text(count: int, word: str) -> str:
    """``1 span``, ``2 spans``."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
