# ruff: noqa: D102 - overridden methods are described once, in Matcher
"""`Ref`: a value that must come from an earlier call.

A path names a call and what to take from it: ``find.output.items[*].id``. The first part is the label of an
expected call (``as_="f"``) or a tool's name; then ``output`` or ``arguments`` (also ``input``); then keys,
``[n]`` (negative from the end) and ``[*]`` (every item or value). Results that are JSON text are read. The
value agrees where it equals one that the path finds in a call that stands before and is not failed (of
overlapping calls: in an order that the record admits, `matching.source_order`). Of a
tool's calls any may be the source, also one that is not compared (`matching.earlier`); a label stands for the
call that is paired with the expected one (`matching.labels`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenttrace.core.errors import ExpectationError, did_you_mean
from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.marks import Cause, cause_of, hidden_keys, known_part, may_be_key
from agenttrace.core.possible_outputs import possible_outputs
from agenttrace.core.tagged import opened
from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.matcher import PLAIN, Context, Matcher, matchers_in
from agenttrace.expectations.partly_recorded import with_doubts
from agenttrace.expectations.reading import cannot_tell, has_failed
from agenttrace.expectations.values import agree

if TYPE_CHECKING:
    from agenttrace.expectations.pattern import Call

Step = str | int | None
"""A key, an index, or None for every member."""

_STEP = re.compile(
    r"\.(?P<key>[^.\[\]]+)|\[(?P<index>-?\d+)\]|\[(?P<all>\*)\]|\[(?P<q>['\"])(?P<text>.*?)(?P=q)\]"
)
_SIDES = ("output", "arguments", "input")


@dataclass(frozen=True, slots=True, repr=False)
class Ref(Matcher):
    """A value that an earlier call received or returned."""

    word = "ref"
    looks_inside = True
    takes_recorded = True
    operator = "$ref"
    path: str

    def __post_init__(self) -> None:
        split_path(self.path)

    @property
    def source(self) -> str:
        """The label or tool name that the path begins with."""
        return split_path(self.path)[0]

    def agree(self, actual: Any, context: Context) -> float:
        _, side, steps = split_path(self.path)
        for call in self._sources(context):
            values = possible_outputs(call) if side == "output" else (call.arguments,)
            agreeing = [self._is_from(value, steps, actual) for value in values]
            agrees = all(agreeing) or (any(agreeing) and cannot_tell("not recorded", self.path) == 1.0)
            if agrees and not has_failed(call):
                return 1.0
        return 0.0

    def _is_from(self, value: Any, steps: tuple[Step, ...], actual: Any) -> bool:
        for source_value in _select(value, steps):
            if type(source_value) is _NotThere:
                agreement = cannot_tell(source_value.cause, self.path)
            else:
                agreement = agree(with_doubts(source_value), actual, PLAIN)
            if agreement == 1.0:
                return True
        return False

    def why(self, actual: Any, context: Context) -> str:
        count = sum(1 for _ in self._sources(context))
        if not count:
            return f"no earlier call of {self.source}"
        return f"not in the result of {'the earlier call' if count == 1 else f'any of {count} earlier calls'}"

    def _sources(self, context: Context) -> Iterator[ToolCall]:
        fits, name = context.labels.get(self.source), context.names.get(self.source, self.source)
        for position in context.earlier(context.position):
            call = context.calls[position]
            if not call.failed and (call.name == name if fits is None else fits(position)):
                yield call


def ref(path: str) -> Matcher:
    """A value that came from an earlier call: ``ref("find.output.items[*].id")``."""
    return Ref(path)


def sources_of(calls: Iterable[Call]) -> set[str]:
    """What the paths in expected calls begin with: labels, and names of tools."""
    values = [value for call in calls for value in (call.arguments, call.output)]
    return {matcher.source for matcher in matchers_in(values) if isinstance(matcher, Ref)}


def split_path(path: str) -> tuple[str, str, tuple[Step, ...]]:
    """The source, the side and the steps of a path.

    Raises:
        ExpectationError: `path` is not such a path.
    """
    example = "a path is like 'find.output.items[*].id'"
    if not isinstance(path, str):
        raise ExpectationError(f"ref takes a path, got {path!r}; {example}")
    head = re.match(r"(?P<name>.+?)\.(?P<side>output|arguments|input)(?=[.\[]|\Z)", path)
    if head is None:
        parts = path.split(".")
        hint = did_you_mean(re.sub(r"\[.*", "", parts[1]), _SIDES) if len(parts) > 1 else ""
        raise ExpectationError(f"ref({path!r}) does not say output or arguments{hint}; {example}")
    steps: list[Step] = []
    at = head.end()
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise ExpectationError(f"ref({path!r}) cannot be read from {path[at:]!r} on; {example}")
        if step["all"]:
            steps.append(None)
        elif step["index"]:
            steps.append(int(step["index"]))
        else:
            steps.append(step["key"] or step["text"])
        at = step.end()
    return head["name"], head["side"], tuple(steps)


@dataclass(frozen=True, slots=True)
class _NotThere:
    """What the steps may have selected in a part that was not recorded."""

    cause: Cause


def _select(value: Any, steps: tuple[Step, ...]) -> Iterator[Any]:
    """Every value that the steps select."""
    if not steps:
        yield value
        return
    cause: Cause | None = cause_of(value)
    known = None
    if isinstance(value, str):
        value = _read_json(value)
    elif cause is not None:
        known = known_part(value)
        value = None if known is None else known.part
    elif type(value) is dict:
        value = opened(value)
    step, rest = steps[0], steps[1:]
    selected: list[Any] = []
    if isinstance(value, Mapping):
        selected = [*value.values()] if step is None else [value[str(step)]] if str(step) in value else []
        if cause is None and not selected and step is not None:
            hidden = [key for key in hidden_keys(value) if may_be_key(key, str(step))]
            cause = cause_of(hidden[0]) if hidden else None
    elif isinstance(value, list | tuple):
        if step is None:
            selected = [*value]
        elif isinstance(step, int) and (0 if known else -len(value)) <= step < len(value):
            selected = [value[step]]
    for item in selected:
        yield from _select(item, rest)
    if cause is not None and (step is None or not selected):
        yield _NotThere(cause)


def _read_json(text: str) -> Any:
    try:
        return lenient_json(text)
    except InvalidJSON:
        return None
