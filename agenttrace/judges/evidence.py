"""The fields and the trajectory of an example as bounded text for a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable, readable_json, to_json
from agenttrace.core.marks import TRUNCATED, Cause, cause_of, cause_within, cut, known_part, without_digests
from agenttrace.core.span import Span
from agenttrace.core.tool import TOOL
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace

MAX_FIELD = 60_000
"""Characters of one text that a judge sees; of a longer one its head and tail, with a mark between them."""
MAX_VALUE = 1_000
"""Characters of one argument mapping, output or error in a trajectory."""

TRAJECTORY = "trajectory"
FIELDS = (
    "input",
    "actual_output",
    "expected_output",
    "context",
    "retrieval_context",
    "tools_called",
    "expected_tools",
    "additional_metadata",
    TRAJECTORY,
)
"""The fields that a judge can see."""
FILLED_BY_RUN = ("input", "actual_output", "tools_called", TRAJECTORY)
"""The fields that an example may lack before its agent has run."""


class Evidence:
    """The texts about one example that a judge may see, and which of them had to be cut.

    `input` and `actual_output` come from the trace where the example does not have them. `not_whole` says of
    which fields a part was not recorded, and why: the marks in them are written in words for the judge.
    """

    def __init__(
        self, example: Example, trace: Trace | None, scorer: str, *, before_run: bool = False
    ) -> None:
        self.example = example
        self.trace = trace
        self.scorer = scorer
        self.to_come = FILLED_BY_RUN if before_run else ()
        self.cut: list[str] = []
        self.not_whole: dict[str, Cause] = {}

    def has(self, field: str) -> bool:
        """Return True if the field has a value; an empty text is a value, an empty list is not."""
        value = self.value(field)
        return field in self.to_come or (value is not None and value != [])

    def require(self, *fields: str) -> None:
        """Check that fields have a value.

        Raises:
            ScorerError: a field has none; the text names it.
        """
        for field in fields:
            cause = None if field == TRAJECTORY else cause_of(self.value(field))
            if not self.has(field) or (cause is not None and cause != "cut"):
                state = "is empty" if self.value(field) == [] else "is missing"
                state = state if cause is None else f"was {cause}, so that nothing of it is known"
                raise ScorerError(f"{self.scorer} needs {field!r}, which {state}; {_remedy(field)}")

    def require_list(self, field: str) -> None:
        """Check that a list is there; it may be empty.

        Raises:
            ScorerError: it is missing.
        """
        if self.value(field) is None:
            self.require(field)

    def value(self, field: str) -> Any:
        """Return a field's value, or None."""
        if field == TRAJECTORY:
            return self.trace if self.trace is not None and self.trace.spans else None
        value = getattr(self.example, field)
        if value is None and self.trace is not None and field in ("input", "actual_output"):
            return self.trace.input if field == "input" else self.trace.output
        return value

    def text(self, field: str) -> str:
        """Return a field as bounded text."""
        value = self.value(field)
        self._note(field, value)
        return self.bounded(field, trajectory(value) if isinstance(value, Trace) else as_text(value))

    def blocks(self, *fields: str) -> dict[str, str]:
        """Return fields as texts by their names."""
        return {field: self.text(field) for field in fields}

    def nodes(self, field: str) -> list[str]:
        """Return the texts of a list field; together they are bounded like one field."""
        items = self.value(field) or []
        self._note(field, items)
        share = MAX_FIELD // max(1, len(items))
        return [self.bounded(f"{field}[{place}]", as_text(item), share) for place, item in enumerate(items)]

    def _note(self, field: str, value: Any) -> None:
        parts = [value]
        if isinstance(value, Trace):
            parts = [part for span in value.spans for part in (span.input, span.output)]
        causes: list[Cause] = [cause for part in parts if (cause := cause_within(part)) is not None]
        if causes:
            self.not_whole[field] = causes[0]

    def bounded(self, label: str, text: str, limit: int = MAX_FIELD) -> str:
        """Return the text, or its head and tail where it is longer than `limit`."""
        if len(text) <= limit:
            return text
        self.cut.append(label)
        head, tail = limit * 2 // 3, limit // 3
        return f"{text[:head]}\n… {len(text) - head - tail:,} characters left out …\n{text[-tail:]}"


def as_text(value: Any) -> str:
    """Return a value as text: a text as it is, a list of texts numbered, anything else as JSON."""
    value = _in_words(value)
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return "\n".join(f"{number}. {item}" for number, item in enumerate(value, 1))
    return readable_json(jsonable(value), indent=1)


def trajectory(trace: Trace) -> str:
    """Return a trace as one line for each span, under its parent, with input, output and error.

    Calls that a model asked for and whose execution was not recorded stand below its answer, as what they
    are.
    """
    lines: list[str] = []
    for depth, span in trace.walk():
        calls = trace.unrecorded_calls.get(span.span_id, [])
        texts = (
            map(_call_line, calls)
            if span.span_type == TOOL and calls
            else [_line(span), *map(_call_line, calls)]
        )
        lines += [f"{'  ' * min(depth, 12)}{text}" for text in texts]
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


def _call_line(call: ToolCall) -> str:
    """A call whose execution was not recorded."""
    line = _called(TOOL, call.name, call.arguments)
    answer = "" if call.output is None else f"; the model was told {_short(call.output)}"
    if call.arguments_error is not None:
        line += f" with {_one_line(call.arguments_error)}"
    if call.remark:
        return f"{line} was {call.remark}{answer}"
    verb = "was answered with" if call.status == "answered" else "failed with" if call.failed else "returned"
    return f"{line} {verb} {_short(call.output)}"


def _called(kind: str, name: str, arguments: Mapping[str, Any]) -> str:
    listing = ", ".join(f"{name}={_short(value)}" for name, value in arguments.items())
    return f"{kind} {name}({_one_line(listing)})"


def _line(span: Span) -> str:
    line = _called(span.span_type, span.name, span.input or {})
    if span.error is not None:
        return f"{line} raised {_one_line(str(span.error))}"
    if span.status != "ok":
        return f"{line} was {span.status}"
    return line if span.output is None else f"{line} returned {_short(span.output)}"


def _short(value: Any) -> str:
    return _one_line(to_json(_in_words(jsonable(value, limit=4 * MAX_VALUE))))


def _in_words(value: Any) -> Any:
    """A recorded value with its marks in words: a judge does not know them."""
    cause, known = cause_of(value), known_part(value)
    if isinstance(value, str):
        if cause == "cut" and known is not None and known.total is not None:
            return f"{known.part}… ({known.total - len(known.part):,} more characters were not recorded)"
        return without_digests(value)
    if cause == "cut" and known is not None and isinstance(known.part, list):
        return [*_in_words(known.part), f"({value[-1][TRUNCATED]:,} more items were not recorded)"]
    if cause == "cut" and known is not None and isinstance(known.part, dict):
        return {**_in_words(known.part), "…": f"({value[TRUNCATED]:,} more entries were not recorded)"}
    if cause is not None:
        return f"({cause})"
    if isinstance(value, Mapping):
        return {key: _in_words(item) for key, item in value.items()}
    return [_in_words(item) for item in value] if isinstance(value, list | tuple) else value


def _one_line(text: str) -> str:
    return cut(text.replace("\n", "\\n"), MAX_VALUE)


def _remedy(field: str) -> str:
    if field == TRAJECTORY:
        return "run the agent under a tracer, or give tools_called"
    return f"set {field}= on the Example"


def named_nodes(label: str, nodes: Sequence[str]) -> Mapping[str, str]:
    """Return each text as a block of its own, numbered from 1."""
    return {f"{label}_{number}": text for number, text in enumerate(nodes, 1)}
