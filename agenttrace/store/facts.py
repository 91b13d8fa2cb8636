"""Makes the facts of a trace, as lists show and queries compare them, from its spans, scores and results."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.executions import Execution, executions_of
from agenttrace.core.query import LONGEST_FIELD, METADATA
from agenttrace.core.score import Score
from agenttrace.core.span import EMPTY, Span
from agenttrace.core.tool import TOOL
from agenttrace.core.trace import Trace
from agenttrace.core.trace_facts import (
    CallFacts,
    ResultFacts,
    ScoreFacts,
    SearchedTrace,
    TraceFacts,
    scalar_text,
    verdict_of,
)
from agenttrace.core.words import words_of
from agenttrace.matching.spending import total_cost, total_tokens, without_totals
from agenttrace.store.rows import loaded

LONGEST_TEXT = 2_000
"""Characters of a root's input, of its output and of its error that words are taken from."""

LONGEST_JSON = 20_000
"""Characters of an output that is read as JSON text: a tool for a language model answers so."""

LONGEST_LABEL = 200
"""Characters of a metadata value that is a label."""

Kind = tuple[str, str, str]
"""Name, type and project of a span."""

SpanOutline = tuple[
    int, int, int, int | None, int, Kind, Mapping[str, Any] | None, Any, Mapping[str, Any] | None
]
"""Of a span: start, index, id, parent, end, kind; input and output of a tool or a root; what is rare, as the
column ``rest`` has it."""


def facts_of(
    trace: Trace, scores: Iterable[Score], results: Iterable[ResultFacts] = ()
) -> SearchedTrace | None:
    """The facts of a trace; None for one without spans."""
    outlines = [_outline(span) for span in trace.spans]
    calls = [_call(execution) for execution in executions_of(trace.spans, trace.by_key)]
    return facts_of_outlines(trace.trace_id, outlines, score_facts(scores), tuple(results), calls)


def score_facts(scores: Iterable[Score]) -> tuple[ScoreFacts, ...]:
    """What lists show of scores."""
    return tuple(ScoreFacts(score.name, score.value, score.threshold, score.outcome) for score in scores)


def _outline(span: Span) -> SpanOutline:
    rest: dict[str, Any] = {"status": span.status, "attributes": span.attributes, "usage": span.usage}
    if span.error is not None:
        rest["error"] = {"type": span.error.type, "message": span.error.message}
    return (
        span.start_ns,
        span.index,
        _signed(span.span_key),
        None if span.parent_key is None else _signed(span.parent_key),
        span.end_ns,
        (span.name, span.span_type, span.project),
        span.input,
        span.output,
        rest,
    )


_PLACE = itemgetter(0, 1, 2)

_Call = tuple[int, int, int, int, str, Any, bool]
"""Of a call: start, index, id, end, name, arguments, whether it failed."""


def _call(execution: Execution) -> _Call:
    span = execution.span
    status, error = execution.ending
    attempted = span.attributes.get(semconv.CALL_STATUS) == "attempted"
    failed = error is not None or status == "error" or attempted
    arguments = next((one.input for one in (span, *execution.inner) if one.input is not None), None)
    return span.start_ns, span.index, _signed(span.span_key), span.end_ns, span.name, arguments, failed


def _signed(key: int) -> int:
    return key - (1 << 64) if key >= 1 << 63 else key


def may_be_one_call(tools: Sequence[SpanOutline], parents: Mapping[int, int | None]) -> bool:
    """Whether two tool spans may be one call: one stands in another of its name, not both by `observe` alone.

    Only `executions_of` tells, which needs the spans themselves.
    """
    marked = {tool[2] for tool in tools if _is_marked(tool[8])}
    if not marked:
        return False
    names = {key: kind[0] for _, _, key, _, _, kind, _, _, _ in tools}
    for _, _, key, parent, _, kind, _, _, _ in tools:
        visited = {key}
        while parent is not None and parent not in visited:
            visited.add(parent)
            if names.get(parent) == kind[0] and (key in marked or parent in marked):
                return True
            parent = parents.get(parent)
    return False


def _is_marked(rest: Mapping[str, Any] | None) -> bool:
    """Whether something else than `observe` alone recorded a span, or it knows the id of its call."""
    attributes = rest.get("attributes") if rest else None
    return bool(attributes and (semconv.SCOPE_NAME in attributes or semconv.TOOL_CALL_ID in attributes))


def _plain_call(tool: SpanOutline) -> _Call:
    start, index, key, _, end, kind, arguments, _, rest = tool
    if rest is None:
        return start, index, key, end, kind[0], arguments, False
    attempted = (rest.get("attributes") or EMPTY).get(semconv.CALL_STATUS) == "attempted"
    failed = rest.get("status") == "error" or rest.get("error") is not None or attempted
    return start, index, key, end, kind[0], arguments, failed


def facts_of_outlines(
    trace_id: str,
    outlines: list[SpanOutline],
    scores: Sequence[ScoreFacts],
    results: Sequence[ResultFacts],
    calls: Iterable[_Call] | None = None,
) -> SearchedTrace | None:
    """The facts of a trace of these spans; None without any, or where `calls` must be given.

    Without `calls`, each tool span is a call. `outlines` is put into order. An index is built by this, so it
    goes through the spans once.
    """
    if not outlines:
        return None
    outlines.sort(key=_PLACE)
    parents: dict[int, int | None] = {}
    tools, true_roots, rare = [], [], []
    start, end = outlines[0][0], outlines[0][4]
    for outline in outlines:
        _, _, key, parent, ended, kind, _, _, rest = outline
        parents[key] = parent
        if ended > end:
            end = ended
        if kind[1] == TOOL:
            tools.append(outline)
        if parent is None:
            true_roots.append(outline)
        if rest:
            rare.append((key, rest))
    if calls is None:
        if len(tools) > 1 and may_be_one_call(tools, parents):
            return None
        calls = map(_plain_call, tools)
    ordered = sorted(calls, key=_PLACE)
    labels = _own_labels(true_roots[0] if true_roots else None, outlines[0], ordered)
    _label_by_roots(labels, [outline for outline in outlines if outline[3] not in parents])
    _label_by_verdicts(labels, scores, results)
    usages: dict[int, Mapping[str, Any]] = {}
    errors = _read_rare(rare, labels, usages)
    spent = list(without_totals(usages, parents)) if usages else ()
    facts = TraceFacts(
        trace_id=trace_id,
        start_ns=start,
        duration_ns=end - start,
        spans=len(outlines),
        errors=errors,
        looped=_looped(ordered),
        tokens=total_tokens(spent),
        cost=total_cost(spent),
        calls=tuple(map(CallFacts, [c[4] for c in ordered], [c[6] for c in ordered], _durations(ordered))),
        scores=tuple(scores),
        labels=_each_once(labels),
    )
    return SearchedTrace(facts, _words(true_roots), _fields(tools, true_roots))


def _each_once(labels: Mapping[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
    return {
        key: tuple(dict.fromkeys(values)) if len(values) > 1 else (values[0],)
        for key, values in labels.items()
        if values
    }


def _durations(calls: Sequence[_Call]) -> array[float]:
    """Durations as an index keeps them, in four bytes."""
    return array("f", [call[3] - call[0] for call in calls])


def _own_labels(root: SpanOutline | None, first: SpanOutline, calls: Sequence[_Call]) -> dict[str, list[str]]:
    name, _, project = first[5] if root is None else root[5]
    status = "open" if root is None else str((root[8] or EMPTY).get("status", "ok"))
    return {
        "name": [name],
        "project": [project],
        "status": [status],
        "tool": [call[4] for call in calls],
        "failed": [call[4] for call in calls if call[6]],
    }


def _read_rare(
    rare: Iterable[tuple[int, Mapping[str, Any]]],
    labels: dict[str, list[str]],
    usages: dict[int, Mapping[str, Any]],
) -> int:
    """Add the models' names to the labels, and what spans used; returns how many spans failed."""
    errors = 0
    models = labels["model"] = []
    for key, rest in rare:
        if rest.get("status") == "error":
            errors += 1
        usage = rest.get("usage")
        if usage and isinstance(usage, Mapping):
            usages[key] = usage
        attributes = rest.get("attributes")
        if attributes:
            model = attributes.get(semconv.REQUEST_MODEL)
            if isinstance(model, str):
                models.append(model)
    return errors


def _label_by_roots(labels: dict[str, list[str]], roots: Iterable[SpanOutline]) -> None:
    """Add what was set of the trace: the first customer and session, all tags, the last of each metadata."""
    metadata: dict[str, Any] = {}
    for root in roots:
        attributes = (root[8] or EMPTY).get("attributes") or EMPTY
        for key, name in (("customer", semconv.CUSTOMER_ID), ("session", semconv.SESSION_ID)):
            value = scalar_text(attributes.get(name))
            if value is not None and key not in labels:
                labels[key] = [value]
        tags = attributes.get(semconv.TAGS)
        labels.setdefault("tag", []).extend(_scalars(tags))
        of_root = attributes.get(semconv.METADATA)
        metadata |= of_root if isinstance(of_root, Mapping) else {}
    for name, value in metadata.items():
        labels[METADATA + name] = [text for text in _scalars(value) if len(text) <= LONGEST_LABEL]


def _scalars(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [text for one in values if (text := scalar_text(one)) is not None]


def _label_by_verdicts(
    labels: dict[str, list[str]], scores: Sequence[ScoreFacts], results: Sequence[ResultFacts]
) -> None:
    labels["verdict"] = [verdict_of([*(s.outcome for s in scores), *(r.outcome for r in results)])]
    labels["scorer"] = [score.name for score in scores]
    labels["run"] = [text for result in results for text in (result.run_id, result.run_name) if text]
    labels["example"] = [result.example for result in results if result.example]


def _looped(calls: Sequence[_Call]) -> int:
    """How often the most repeated call was made; the order of its arguments' names does not matter."""
    counts = Counter([call[4] for call in calls if not call[6] and call[5] is not None])
    if not counts:
        return 0
    same: Counter[tuple[str, str]] = Counter()
    for _, _, _, _, name, arguments, failed in calls:
        if counts[name] > 1 and not failed and arguments is not None:
            same[name, repr(sorted(arguments.items()))] += 1
    return max(same.values(), default=1)


def _fields(tools: Iterable[SpanOutline], roots: Iterable[SpanOutline]) -> frozenset[str]:
    fields: set[str] = set()
    for outlines in (tools, roots):
        for outline in outlines:
            arguments, output = outline[6], outline[7]
            if arguments:
                _add_fields(fields, "input", arguments)
            if type(output) is str and output[:1] == "{" and len(output) <= LONGEST_JSON:
                output = loaded(output)
            if isinstance(output, Mapping):
                _add_fields(fields, "output", output)
    return frozenset(fields)


def _add_fields(fields: set[str], side: str, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        kind = type(value)  # asked for a million times: what `scalar_text` does, without the calls
        if kind is str:
            text = value
        elif kind is int:
            text = str(value)
        elif kind is list or kind is dict or value is None:
            continue
        else:
            text = scalar_text(value)
        if text is not None and len(text) <= LONGEST_FIELD and len(name) <= LONGEST_FIELD:
            fields.add(f"{side}\0{name}\0{text}")


def _words(roots: Iterable[SpanOutline]) -> list[str]:
    words: list[str] = []
    for root in roots:
        error = (root[8] or EMPTY).get("error")
        for value in (root[6], root[7], [error.get("type"), error.get("message")] if error else None):
            if value is not None:
                words += words_of(_text_of(value))
    return words


def _text_of(value: Any) -> str:
    """The texts and numbers in a value, one after the other, up to `LONGEST_TEXT` characters."""
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    parts: list[str] = []
    room, waiting = LONGEST_TEXT, [value]
    while waiting and room > 0:
        item = waiting.pop()
        if isinstance(item, Mapping):
            waiting += reversed(list(item.values()))
        elif isinstance(item, list | tuple):
            waiting += reversed(item)
        elif (text := scalar_text(item)) is not None:
            parts.append(text[:room])
            room -= len(text) + 1
    return " ".join(parts)
