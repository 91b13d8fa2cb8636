"""A tool call: an actual one (`ToolCall`), an expected one (`ExpectedToolCall`).

A tool call is a span whose `span_type` is ``"tool"``, or a call that a model asked for and that no such span
belongs to (`core.unrecorded_calls`): what became of that one its status says. What two instrumentations
recorded is one call (`core.executions`). Calls are ordered by their start; those that overlap in time by the
model's request, where it is recorded, otherwise they count as unordered (`core.call_order`). Nested tool
spans count, each after the one that it stands in, with its path; so do the calls of sub-agents, with the
agent's path. Calls made in threads, executors and tasks belong to the trace that started them. A failed
attempt counts and carries its error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, cast, final, get_args

from agenttrace.core.errors import ExpectationError, did_you_mean
from agenttrace.core.identity import span_id_text
from agenttrace.core.marks import not_read, not_recorded, remedy_in
from agenttrace.core.span import Span, SpanError, Status
from agenttrace.core.text import shorten
from agenttrace.core.tool import ToolDefinition


@final
class _Any:
    """Equal to anything; as an expectation: unconstrained."""

    _instance: _Any | None = None

    def __new__(cls) -> _Any:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "ANY"

    def __reduce__(self) -> str:
        return "ANY"


ANY: Final = _Any()
"""In an expectation: any value agrees, but there must be one; see `ABSENT`."""


@dataclass(frozen=True, slots=True)
class Window:
    """What is known of the order of a call that overlapped others.

    It counts as made at some time from `start_ns` to `end_ns`. `number` is its number among the trace's
    calls, each counted before those that were made inside it, and `last_inside` the number of the last one
    inside it. Calls with the same `answer` were asked for by one answer of a model, and stand in that order.
    """

    start_ns: int
    end_ns: int
    number: int
    last_inside: int
    answer: int | None = None


CallStatus = Literal[Status, "answered", "requested", "attempted"]
"""How a recorded execution ended; or what is known of a call that a model asked for without one:

- *answered*: the model was given an answer, which is the `output`. Whether the call failed is not recorded.
- *requested*: neither execution nor answer is recorded: what it gave, and whether it failed, is not known.
- *attempted*: it was not executed. No tool of its name was offered, or its arguments cannot be read.
"""

UNRECORDED_STATUSES: frozenset[CallStatus] = frozenset({"answered", "requested", "attempted"})
"""The statuses of calls whose execution was not recorded."""


OUTPUT_NOT_NAMED = "say what the call returned, as its 'output' (null where it returned nothing)"
"""The `remedy` of a call that was written down, ``tools_called=["search"]``, without what it gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What happened: one call of a tool.

    `arguments` maps parameter names to JSON-safe values, defaults applied; it is empty where
    `arguments_error` says that what was recorded could not be read, and a mark (``{"$type": "unreadable"}``)
    where nothing was recorded (``capture_input=False``). `index` is the
    position among the trace's tool calls. `agent` is the path of the agent spans above it, outermost first,
    joined by ``/`` (empty where there are none). Times are nanoseconds since the epoch. `from_answer`: the
    output is the answer that the model was given, text as a rule, not what the tool returned. For a call
    without a span of its own, `span_id` is that of the model's answer that asked for it. `window` is None
    where the call overlapped no other: then its place among the others is sure. `remedy` is None where the
    output is known; else it says what would have had another library record it.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    output: Any = None
    error: SpanError | None = None
    status: CallStatus = "ok"
    index: int = 0
    start_ns: int = 0
    end_ns: int = 0
    agent: str = ""
    path: tuple[str, ...] = ()
    parent_id: str | None = None
    span_id: str = ""
    turn: int | None = None
    tool: ToolDefinition | None = None
    arguments_error: str | None = None
    from_answer: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    window: Window | None = None
    remedy: str | None = None

    @property
    def failed(self) -> bool | None:
        """Whether the call ended with an error, or was not executed; None where that is not recorded."""
        if self.error is not None or self.status in ("error", "attempted"):
            return True
        return None if self.status in ("answered", "requested") else False

    @property
    def known_output(self) -> Any:
        """The output; the mark of a value that was not recorded where nothing tells it."""
        if self.remedy is not None and self.output is None and self.error is None:
            return not_recorded(self.remedy)
        return not_read() if self.status == "requested" and not remedy_in(self.output) else self.output

    @property
    def label(self) -> str:
        """The call in a list of several: ``pay (call 2)``, ``pay (call 2, requested)``."""
        status = f", {self.status}" if self.remark else ""
        return f"{self.name} (call {self.index + 1}{status})"

    @property
    def remark(self) -> str:
        """What is to be said of a call that was not executed, or whose execution is not known; else empty."""
        if self.status == "attempted":
            why = "no such tool" if self.arguments_error is None else "unreadable arguments"
            if self.error is not None:  # what the model was told
                why = self.error.message.strip().partition("\n")[0][:100] or why
            return f"attempted, not executed ({why})"
        return "requested, execution not recorded" if self.status == "requested" else ""


class _Unfinished(ToolCall):
    """A call whose fields are being set: one by one, as each of a frozen class's costs a call of its own."""

    __slots__ = ()
    __setattr__ = object.__setattr__
    __delattr__ = object.__delattr__  # with one of ours, setting would not be the interpreter's own either


def plain_call(
    span: Span,
    index: int,
    agent: str,
    path: tuple[str, ...],
    turn: int | None,
    tool: ToolDefinition | None,
    window: Window | None = None,
) -> ToolCall:
    """The call of a span that says nothing beside its fields, as of most; in a fifth of the time."""
    call: Any = _Unfinished.__new__(_Unfinished)  # to a checker, fields of a frozen class cannot be set
    call.name = span.name
    call.arguments = span.input or {}
    call.output = span.output
    call.error = span.error
    call.status = span.status
    call.index = index
    call.start_ns = span.start_ns
    call.end_ns = span.end_ns
    call.agent = agent
    call.path = path
    call.parent_id = None if span.parent_key is None else span_id_text(span.parent_key)
    call.span_id = span_id_text(span.span_key)
    call.turn = turn
    call.tool = tool
    call.arguments_error = None
    call.from_answer = False
    call.metadata = {}
    call.window = window
    call.remedy = None
    call.__class__ = ToolCall
    return cast(ToolCall, call)


def are_unordered(one: ToolCall, other: ToolCall) -> bool:
    """Whether the record does not tell which of two calls of a trace came first."""
    first, second = one.window, other.window
    return (
        first is not None
        and second is not None
        and first.start_ns < second.end_ns
        and second.start_ns < first.end_ns
        and not first.number <= second.number <= first.last_inside
        and not second.number <= first.number <= second.last_inside
        and (first.answer is None or first.answer != second.answer)
        # Clocks that are too coarse to tell two calls apart are no sign that these overlapped.
        and (first.start_ns, first.end_ns) != (second.start_ns, second.end_ns)
    )


ACTUAL_CALL_HINT = (
    "; that is what happened: agenttrace.expectations.expectation_of(run) makes an expectation of it"
)
"""The end of an error's text where an actual call or a trace stands in place of an expectation."""

ArgumentMode = Literal["exact", "listed", "ignore"]
"""How expected and actual arguments are compared: *exact* the same parameters and nothing more, *listed*
the listed keys at any depth and others free, *ignore* not at all."""

ARGUMENT_MODES: tuple[ArgumentMode, ...] = get_args(ArgumentMode)

EXPECTED_WORDS: Mapping[str, tuple[str, ...]] = {
    "name": ("tool_name", "name", "call"),
    "arguments": ("parameters", "arguments", "args", "input_parameters"),
    "output": ("output",),
    "agent": ("agent_name", "agent"),
    "turn": ("turn",),
    "mode": ("mode", "match"),
    "ignore": ("ignore",),
    "label": ("as",),
    "kind": ("kind",),
    "result_dependencies": ("result_dependencies",),
    "action_dependencies": ("action_dependencies",),
    "require_all": ("require_all",),
}
"""The fields of an expected call, each with the words for it in plain data; the first one is written."""

FIELD_OF: Mapping[str, str] = {word: name for name, words in EXPECTED_WORDS.items() for word in words}
"""The field that a word stands for."""

_TUPLES = frozenset({"ignore", "result_dependencies", "action_dependencies"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedToolCall:
    """What should happen: one call of a tool.

    `arguments` is ANY where they are free; an empty mapping means called without arguments.
    Values may be matchers. `mode` None means the scorer's own argument mode. `label` names the call for
    `ref`. `kind` (``"write"``) says which tool it is where scorers choose by tag and the record does not say.
    `source` is where the expectation was written (``file:line``).
    """

    name: str
    arguments: Mapping[str, Any] | _Any = ANY
    output: Any = ANY
    agent: str | None = None
    turn: int | None = None
    mode: ArgumentMode | None = None
    ignore: tuple[str, ...] = ()
    label: str | None = None
    kind: str | None = None
    result_dependencies: tuple[Any, ...] = ()
    action_dependencies: tuple[Any, ...] = ()
    require_all: bool = True
    source: str | None = None

    @classmethod
    def of(
        cls, item: str | Mapping[str, Any] | ExpectedToolCall, source: str | None = None
    ) -> ExpectedToolCall:
        """Read a tool's name, or a mapping with ``tool_name`` and optionally ``parameters``.

        Raises:
            ExpectationError: `item` is neither, has no name, an unknown key, or two keys that contradict
                each other.
        """
        if isinstance(item, ExpectedToolCall):
            return item
        if isinstance(item, str):
            if not item:
                raise ExpectationError("an expected tool has an empty name")
            return cls(name=item, source=source)
        if not isinstance(item, Mapping):
            raise ExpectationError(
                f"an expected tool is a name or a mapping with 'tool_name',"
                f" got {type(item).__name__} {shorten(repr(item), 200)}"
                + (ACTUAL_CALL_HINT if isinstance(item, ToolCall) else "")
            )
        return cls(**cls.values_of(item), source=source)

    @staticmethod
    def values_of(item: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a mapping with ``tool_name``, by their names here; without those that it leaves out.

        Raises:
            ExpectationError: as `of`.
        """
        values = _values_by_field(item)
        name = values.get("name")
        if not isinstance(name, str) or not name:
            raise ExpectationError(f"an expected tool needs a 'tool_name', got {dict(item)!r}")
        arguments = values.get("arguments", ANY)
        if arguments is not ANY and type(arguments) is not dict and not isinstance(arguments, Mapping):
            raise ExpectationError(
                f"the parameters of the expected tool {name!r} are a mapping of names to values,"
                f" got {arguments!r}"
            )
        return values

    def to_data(self) -> dict[str, Any]:
        """The mapping that `of` reads back, without unconstrained fields. Values are left as they are."""
        data: dict[str, Any] = {}
        for name, word, unconstrained in _WRITTEN:
            value = getattr(self, name)
            if value is not unconstrained:
                data[word] = list(value) if name in _TUPLES else value
        return data


def _values_by_field(item: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a mapping by the fields that its words stand for, without those that are None.

    An output of None stays: what is expected then is null.
    """
    values: dict[str, Any] = {}
    for key, value in item.items():
        name = FIELD_OF.get(key)
        if name is None:
            hint = did_you_mean(str(key), FIELD_OF)
            raise ExpectationError(f"unknown key {key!r} in the expected tool {_tool_text(item)}{hint}")
        if value is None and name != "output":
            continue
        if name in values and values[name] != value:
            raise ExpectationError(f"{key!r} contradicts another key of the expected tool {dict(item)!r}")
        values[name] = _checked(name, value, item) if name in _CHECKED else value
    return values


def _checked(name: str, value: Any, item: Mapping[str, Any]) -> Any:
    """The value of a field that takes texts, a bool or a tuple only."""
    if name == "kind" and not isinstance(value, str):
        raise ExpectationError(f"the kind of the expected tool {_tool_text(item)} is a text, got {value!r}")
    if name == "require_all" and not isinstance(value, bool):
        raise ExpectationError(f"require_all is true or false, got {value!r}")
    if name in _TUPLES:
        several: Any = value
        if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
            value = tuple(several)
        else:
            value = (several,)
    parameters: Any = value
    if name == "ignore" and not all(isinstance(parameter, str) for parameter in parameters):
        raise ExpectationError(f"ignore is a parameter's name or a list of names, got {item['ignore']!r}")
    return value


def _tool_text(item: Mapping[str, Any]) -> str:
    tool = next((item[word] for word in EXPECTED_WORDS["name"] if word in item), dict(item))
    return f"{shorten(repr(tool), 100)}"


_CHECKED = _TUPLES | {"kind", "require_all"}

_WRITTEN = [(item.name, EXPECTED_WORDS[item.name][0], item.default)
            for item in fields(ExpectedToolCall) if item.name in EXPECTED_WORDS]  # fmt: skip
