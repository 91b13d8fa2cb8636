"""Makes the facts of a trace, as lists show and queries compare them, from its spans, scores and results."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any, NamedTuple, TypeGuard

from pydantic_core import from_json

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
    field_text,
    scalar_text,
    verdict_of,
)
from agenttrace.core.words import words_of
from agenttrace.matching.spending import total_cost, total_tokens, without_totals
from agenttrace.store.rows import loaded
from agenttrace.store.sound_rows import sound_mapping

LONGEST_TEXT = 2_000
"""Characters of a root's input, of its output and of its error that words are taken from."""

LONGEST_JSON = 20_000
"""Characters of an output that is read as JSON text: a tool for a language model answers so."""

LONGEST_LABEL = 200
"""Characters of a metadata value that is a label."""

Kind = tuple[str, str, str]
"""Name, type and project of a span."""

SpanOutline = tuple[int, int, int, int | None, int, Kind, Any, Any, Mapping[str, Any] | None]
"""Of a span: start, index, id, parent, end, kind; the input of a tool or a root; the output of a root; what
is rare, as the column ``rest`` has it. Values that were not looked at yet are bytes of JSON text."""


def value_of(text: bytes) -> Any:
    """The value of a JSON text as a store keeps it."""
    try:
        return from_json(text, cache_strings="keys")
    except ValueError:
        return loaded(text.decode("utf-8", "replace"))


def facts_of(
    trace: Trace, scores: Iterable[Score], results: Iterable[ResultFacts] = ()
) -> SearchedTrace | None:
    """The facts of a trace; None for one without spans."""
    outlined = outlined_of(trace, score_facts(scores), tuple(results))
    if outlined is None:
        return None
    fields: list[Field] = []
    for span in trace.spans:
        if span.span_type == TOOL or span.parent_key is None:
            fields += fields_of(span.input, span.output)
    texts = frozenset(text for field in fields if (text := text_of_field(*field)) is not None)
    return SearchedTrace(outlined.facts, outlined.words(), texts)


def outlined_of(
    trace: Trace, scores: Sequence[ScoreFacts], results: Sequence[ResultFacts]
) -> Outlined | None:
    """The facts of a trace, whose tool spans may be one call; None for one without spans."""
    outlines = sorted(map(_outline, trace.spans), key=_PLACE)
    calls = sorted(map(_call, executions_of(trace.spans, trace.by_key)), key=_PLACE)
    return facts_of_outlines(trace.trace_id, outlines, scores, results, calls)


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
_KEY_AND_PARENT = itemgetter(2, 3)
_END = itemgetter(4)

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
    marked = {tool[2] for tool in tools if tool[8] and _is_marked(tool[8])}
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


def _is_marked(rest: Mapping[str, Any]) -> bool:
    """Whether something else than `observe` alone recorded a span, or it knows the id of its call."""
    attributes = rest.get("attributes")
    return bool(attributes and (semconv.SCOPE_NAME in attributes or semconv.TOOL_CALL_ID in attributes))


def _plain_call(tool: SpanOutline) -> _Call:
    start, index, key, _, end, kind, arguments, _, rest = tool
    if rest is None:
        return start, index, key, end, kind[0], arguments, False
    attempted = (rest.get("attributes") or EMPTY).get(semconv.CALL_STATUS) == "attempted"
    failed = rest.get("status") == "error" or rest.get("error") is not None or attempted
    return start, index, key, end, kind[0], arguments, failed


Field = tuple[str, str, Any]
"""The side (input or output), a name and its value."""


class Outlined(NamedTuple):
    """The facts of a trace, and the roots of which its words are made where they are wanted."""

    facts: TraceFacts
    roots: Sequence[SpanOutline]

    def words(self) -> list[str]:
        """The words of the roots' texts."""
        return _words(self.roots)


def facts_of_outlines(
    trace_id: str,
    outlines: Sequence[SpanOutline],
    scores: Sequence[ScoreFacts],
    results: Sequence[ResultFacts],
    calls: Sequence[_Call] | None = None,
) -> Outlined | None:
    """The facts of a trace of these spans; None without any, or where `calls` must be given.

    Spans and calls stand in the order of their places. Without `calls`, each tool span is a call. An index is
    built by this, so what most traces do not need is passed over.
    """
    if not outlines:
        return None
    parents: dict[int, int | None] = dict(map(_KEY_AND_PARENT, outlines))
    tools = [outline for outline in outlines if outline[5][1] == TOOL]
    if calls is None:
        if len(tools) > 1 and may_be_one_call(tools, parents):
            return None
        calls = list(map(_plain_call, tools))
    true_roots = [outline for outline in outlines if outline[3] is None]
    labels = _own_labels(true_roots[0] if true_roots else None, outlines[0], calls)
    usages: dict[int, Mapping[str, Any]] = {}
    _label_by_roots(labels, [outline[8] for outline in outlines if outline[8] and outline[3] not in parents])
    _label_by_verdicts(labels, scores, results)
    errors = _read_rare(outlines, labels, usages)
    spent = list(without_totals(usages, parents)) if usages else ()
    start = outlines[0][0]
    facts = TraceFacts(
        trace_id=trace_id,
        start_ns=start,
        duration_ns=max(map(_END, outlines)) - start,
        spans=len(outlines),
        errors=errors,
        looped=_looped(calls),
        tokens=total_tokens(spent),
        cost=total_cost(spent),
        calls=_call_facts(calls),
        scores=tuple(scores),
        labels=_each_once(labels),
    )
    return Outlined(facts, true_roots)


def _each_once(labels: Mapping[str, list[str]]) -> Mapping[str, tuple[str, ...]]:
    return {
        key: tuple(dict.fromkeys(values)) if len(values) > 1 else (values[0],)
        for key, values in labels.items()
        if values
    }


def _call_facts(calls: Sequence[_Call]) -> tuple[CallFacts, ...]:
    """The calls, with durations as an index keeps them, in four bytes."""
    durations = array("f", [call[3] - call[0] for call in calls])
    rows = zip([call[4] for call in calls], [call[6] for call in calls], durations, strict=True)
    return tuple(map(tuple.__new__, repeat(CallFacts), rows))  # without a call of Python's for each


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
    outlines: Iterable[SpanOutline],
    labels: dict[str, list[str]],
    usages: dict[int, Mapping[str, Any]],
) -> int:
    """Add the models' names to the labels, and what spans used; returns how many spans failed."""
    errors = 0
    models = labels["model"] = []
    for outline in outlines:
        rest = outline[8]
        if not rest:
            continue
        if rest.get("status") == "error":
            errors += 1
        usage = rest.get("usage")
        if usage and _is_mapping(usage):
            usages[outline[2]] = usage
        attributes = rest.get("attributes")
        if attributes:
            model = attributes.get(semconv.REQUEST_MODEL)
            if isinstance(model, str):
                models.append(model)
    return errors


def _label_by_roots(labels: dict[str, list[str]], roots: Iterable[Mapping[str, Any]]) -> None:
    """Add what was set of the trace: the first customer and session, all tags, the last of each metadata.

    `roots` is what is rare of them.
    """
    metadata: dict[str, Any] = {}
    for rest in roots:
        attributes = rest.get("attributes")
        if not attributes:
            continue
        for key, name in _SET_OF_TRACES:
            if key not in labels and (value := scalar_text(attributes.get(name))) is not None:
                labels[key] = [value]
        if semconv.TAGS in attributes:
            labels.setdefault("tag", []).extend(_scalars(attributes[semconv.TAGS]))
        of_root = attributes.get(semconv.METADATA)
        if of_root and _is_mapping(of_root):
            metadata |= of_root
    for name, value in metadata.items():
        labels[METADATA + name] = [text for text in _scalars(value) if len(text) <= LONGEST_LABEL]


_SET_OF_TRACES = (("customer", semconv.CUSTOMER_ID), ("session", semconv.SESSION_ID))


def _scalars(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return [text for one in values if (text := scalar_text(one)) is not None]


def _label_by_verdicts(
    labels: dict[str, list[str]], scores: Sequence[ScoreFacts], results: Sequence[ResultFacts]
) -> None:
    labels["verdict"] = [verdict_of([*(s.outcome for s in scores), *(r.outcome for r in results)])]
    if scores:
        labels["scorer"] = [score.name for score in scores]
        labels["errored"] = [score.name for score in scores if score.outcome == "errored"]
    if results:
        labels["run"] = [text for result in results for text in (result.run_id, result.run_name) if text]
        labels["example"] = [result.example for result in results if result.example]


def _looped(calls: Sequence[_Call]) -> int:
    """How often the most repeated call was made; the order of its arguments' names does not matter."""
    done = [(call[4], call[5]) for call in calls if not call[6] and call[5] is not None]
    names = [name for name, _ in done]
    if len(set(names)) == len(names):
        return min(len(names), 1)
    counts = Counter(names)
    same = [(name, _sorted(arguments)) for name, arguments in done if counts[name] > 1]
    return 1 if len(set(same)) == len(same) else max(Counter(same).values())


def _sorted(arguments: Any) -> str:
    values = sound_mapping(value_of(arguments)) if type(arguments) is bytes else arguments
    return repr(sorted((values or EMPTY).items()))


def fields_of(arguments: Any, output: Any) -> list[Field]:
    """What may be scalars at the top level of what a tool or a root was given and gave back."""
    fields = _short("input", arguments) if arguments else []
    if type(output) is str and output[:1] == "{" and len(output) <= LONGEST_JSON:
        output = loaded(output)
    if _is_mapping(output):
        fields += _short("output", output)
    return fields


def _short(side: str, values: Mapping[str, Any]) -> list[Field]:
    return [
        (side, name, value)
        for name, value in values.items()
        if (len(value) <= LONGEST_FIELD if type(value) is str else type(value) not in _NO_SCALARS)
    ]


_NO_SCALARS = frozenset({dict, list, type(None)})


def _is_mapping(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return type(value) is dict or isinstance(value, Mapping)  # the latter alone is ten times slower


def text_of_field(side: str, name: str, value: Any) -> str | None:
    """A scalar as the text by which it is looked for; None where it is too long for that."""
    text = scalar_text(value)
    if text is None or len(text) > LONGEST_FIELD or len(name) > LONGEST_FIELD:
        return None
    return field_text(side, name, text)


def _words(roots: Iterable[SpanOutline]) -> list[str]:
    words: list[str] = []
    for root in roots:
        error = (root[8] or EMPTY).get("error")
        for value in (root[6], root[7], [error.get("type"), error.get("message")] if error else None):
            if value is not None:
                words += words_of(_text_of(value_of(value) if type(value) is bytes else value))
    return words


def _text_of(value: Any) -> str:
    """The texts and numbers in a value, one after the other, up to `LONGEST_TEXT` characters."""
    if type(value) is dict and len(value) == 1:
        (value,) = value.values()
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    parts: list[str] = []
    room, waiting = LONGEST_TEXT, [value]
    while waiting and room > 0:
        item = waiting.pop()
        if (text := scalar_text(item)) is not None:
            parts.append(text[:room])
            room -= len(text) + 1
        elif _is_mapping(item):
            waiting += reversed(list(item.values()))
        elif isinstance(item, list | tuple):
            waiting += reversed(item)
    return " ".join(parts)
