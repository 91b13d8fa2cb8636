"""`Trace`: what happened in one run, as spans in start order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.cached import cached_property
from agenttrace.core.conversation import Conversation, conversation_of
from agenttrace.core.identity import new_trace_key, trace_id_text
from agenttrace.core.model_requests import LLM, cut_answer, offered_tools
from agenttrace.core.span import Span, SpanError
from agenttrace.core.state import STATE, StateReading
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import UNRECORDED_STATUSES, ToolCall
from agenttrace.core.tool_schemas import tool_definitions
from agenttrace.core.trace_calls import tool_calls_of

TURN = "turn"
"""The type of spans that say of the calls below them which turn they are of."""


class Trace:
    """What happened in one run: its spans in start order.

    A trace may have several roots (an undecorated agent that calls two tools), missing parents (a process
    died) and even parents that form a loop (foreign data); every method here terminates on all of them.
    `tools` are the tools known to the recorder, called or not, by name.
    """

    def __init__(
        self,
        spans: Iterable[Span] = (),
        *,
        trace_key: int | None = None,
        tools: Mapping[str, ToolDefinition] | None = None,
        output: Any = None,
    ) -> None:
        self.spans: tuple[Span, ...] = tuple(sorted(spans, key=lambda span: (span.start_ns, span.index)))
        if trace_key is None:
            trace_key = self.spans[0].trace_key if self.spans else new_trace_key()
        self.trace_key = trace_key
        self._known_tools = tools or {}
        self._output = output

    @classmethod
    def from_calls(
        cls,
        calls: Sequence[Mapping[str, Any] | str | ToolCall],
        *,
        output: Any = None,
        name: str | None = None,
        input: str | Mapping[str, Any] | None = None,  # noqa: A002 - the field's own word
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Trace:
        """A trace of plain tool calls, in the order given.

        Each is a name, a `ToolCall`, or a mapping with ``name`` (or ``tool_name``) and optionally
        ``arguments`` (or ``args``, ``parameters``), ``output``, ``error``, ``agent``, ``turn``; other keys
        are kept in the call's `metadata`. The rest is of the run as a whole: its name (``recorded run`` by
        default), what the agent was given (a mapping of its arguments, or its one text, which stands under
        the name ``input``) and what it answered, its tags and metadata.

        Raises:
            AgentTraceError: an entry that is neither.
        """
        from agenttrace.core.recorded_calls import RecordedRoot, spans_of_calls

        root = RecordedRoot(name=name, input=input, output=output, tags=tags, metadata=metadata)
        return cls(spans_of_calls(calls, root))

    @classmethod
    def from_messages(cls, messages: Sequence[Mapping[str, Any]]) -> Trace:
        """A trace of the tool calls in an OpenAI-style or Anthropic-style list of messages.

        Raises:
            AgentTraceError: an entry that is not a message.
        """
        from agenttrace.core.recorded_messages import spans_of_messages

        return cls(spans_of_messages(messages))

    def _repr_html_(self) -> str:
        """What a notebook shows: the page of agenttrace.viewer, loaded on use as it needs much else."""
        html: str = import_module("agenttrace.viewer.notebook").html_of(self)
        return html

    @property
    def trace_id(self) -> str:
        """32 hex digits."""
        return trace_id_text(self.trace_key)

    @cached_property
    def by_key(self) -> Mapping[int, Span]:
        """The spans by their integer id."""
        return {span.span_key: span for span in self.spans}

    @cached_property
    def roots(self) -> tuple[Span, ...]:
        """The spans without a parent in this trace, in start order."""
        by_key = self.by_key
        return tuple([s for s in self.spans if s.parent_key is None or s.parent_key not in by_key])

    @cached_property
    def _models(self) -> Sequence[Span]:
        """The requests to models, in start order."""
        return [span for span in self.spans if span.span_type == LLM]

    @property
    def root(self) -> Span | None:
        """The first root, or None for an empty trace."""
        return self.roots[0] if self.roots else None

    @property
    def name(self) -> str:
        """The root's name, or ``""``."""
        return self.root.name if self.root else ""

    @property
    def input(self) -> Mapping[str, Any] | None:
        """The root's input."""
        return self.root.input if self.root else None

    @property
    def output(self) -> Any:
        """The output the trace was made with, or the root's."""
        if self._output is not None:
            return self._output
        return self.root.output if self.root else None

    @property
    def error(self) -> SpanError | None:
        """The root's error."""
        return self.root.error if self.root else None

    @property
    def duration_ns(self) -> int:
        """Nanoseconds from the first start to the last end."""
        if not self.spans:
            return 0
        return max(span.end_ns for span in self.spans) - self.spans[0].start_ns

    @cached_property
    def is_recorded_run(self) -> bool:
        """Whether this trace was made from plain calls or messages.

        Then `tools` defines its calls' parameters. In a live trace each call has its own definition, and a
        tool of the same name in `tools` may belong to another project.
        """
        return bool(self.root and self.root.attributes.get(semconv.RECORDED))

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of all roots, each once."""
        each = [root.attributes.get(semconv.TAGS) for root in self.roots]
        lists = [tags for tags in each if isinstance(tags, list | tuple)]  # anybody may set anything
        return tuple(dict.fromkeys(tag for tags in lists for tag in tags if isinstance(tag, str)))

    @property
    def customer_id(self) -> str | None:
        """The id that `tracer.set_customer_id` set, or None."""
        return self._root_attribute(semconv.CUSTOMER_ID)

    @property
    def session_id(self) -> str | None:
        """The id that `tracer.set_session_id` set, or None."""
        return self._root_attribute(semconv.SESSION_ID)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata that `tracer.update_metadata` set, of all roots together."""
        metadata: dict[str, Any] = {}
        for span in self.roots:
            of_root = span.attributes.get(semconv.METADATA)
            metadata.update(of_root if isinstance(of_root, Mapping) else {})
        return metadata

    def _root_attribute(self, name: str) -> str | None:
        values = (span.attributes.get(name) for span in self.roots)
        return next((value for value in values if isinstance(value, str)), None)

    @cached_property
    def children(self) -> Mapping[int | None, tuple[Span, ...]]:
        """The spans under each parent's integer id, in start order; roots under None."""
        under: dict[int | None, list[Span]] = {None: list(self.roots)}
        roots = set(map(id, self.roots))
        for span in self.spans:
            if id(span) not in roots:
                under.setdefault(span.parent_key, []).append(span)
        return {key: tuple(spans) for key, spans in under.items()}

    def walk(self) -> Iterator[tuple[int, Span]]:
        """Every span with its depth, parents before children, siblings in start order.

        Spans on a loop of parents come last, at depth 0.
        """
        visited: set[int] = set()
        stack = [(0, span) for span in reversed(self.roots)]
        while stack:
            depth, span = stack.pop()
            if id(span) in visited:
                continue
            visited.add(id(span))
            yield depth, span
            stack.extend((depth + 1, child) for child in reversed(self.children.get(span.span_key, ())))
        for span in self.spans:
            if id(span) not in visited:
                yield 0, span

    @cached_property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in order (see `core.call_order`), also failed ones and those without a recorded
        execution, each of which stands where the model's answer that asked for it does."""
        tools = self.tools if self._models or self.is_recorded_run else {}
        return tool_calls_of(
            self.spans, self.by_key, self._models, tools, is_recorded_run=self.is_recorded_run
        )

    @cached_property
    def unrecorded_calls(self) -> Mapping[str, Sequence[ToolCall]]:
        """The calls without a recorded execution, under the `span_id` of the model's answer that asked for
        them; in a recorded run, of their own span."""
        under: dict[str, list[ToolCall]] = {}
        for call in self.tool_calls:
            if call.status in UNRECORDED_STATUSES or call.from_answer:
                under.setdefault(call.span_id, []).append(call)
        return under

    @cached_property
    def tools(self) -> Mapping[str, ToolDefinition]:
        """The known tools by name: those of the recorder, called or not, and beside them those that are known
        by what models were offered in this trace (`ToolDefinition.described`). Expectations are checked
        against them. They are empty for traces made from plain lists.

        The definition on a call that came by OpenTelemetry is of a single tool: it does not tell that the
        recorder knew no others, so the tool is not among these for that alone."""
        tools: dict[str, ToolDefinition] = {}
        for span in self._models:
            if span.input:
                tools |= tool_definitions(span.input)
        for tool in (*self._known_tools.values(), *_tools_of_calls(self.spans)):
            if not tool.described or tools.get(tool.name, tool).described:
                tools[tool.name] = tool
        return tools

    @cached_property
    def offered_tools(self) -> frozenset[str]:
        """The names of the tools that models were offered in this trace, as far as they were recorded."""
        described = [name for name, tool in self.tools.items() if tool.described]
        return frozenset(described).union(*(offered_tools(span)[0] for span in self._models))

    def conversation(self, span: Span, *, earlier: Iterable[Span] = ()) -> Conversation:
        """What the model of this span saw, also where the request names an earlier answer by its id alone.

        `earlier` are spans of other traces of the session.
        """
        return conversation_of(span, [*earlier, *self.spans])

    @cached_property
    def cut_answer(self) -> Span | None:
        """The first answer of a model that was cut so that calls may be missing, or None."""
        return cut_answer(self._models)

    @cached_property
    def turns(self) -> frozenset[int]:
        """The numbers of the turns that were recorded: of a chat's messages, of `tracer.turn` blocks."""
        return frozenset(
            span.attributes[semconv.TURN] for span in self.spans if semconv.TURN in span.attributes
        )

    @cached_property
    def states(self) -> Mapping[str, StateReading]:
        """What `tracer.state` read at the start and at the end of the capture, by the states' names."""
        return {span.name: StateReading.of(span) for span in self.spans if span.span_type == STATE}

    def under(self, span_key: int) -> Trace:
        """The span with this integer id and all spans below it, also while the span itself has not ended."""
        subtree: dict[int, Span] = {}
        span = self.by_key.get(span_key)
        stack = [span] if span is not None else [top for top in self.roots if top.parent_key == span_key]
        while stack:
            span = stack.pop()
            if id(span) not in subtree:
                subtree[id(span)] = span
                stack.extend(self.children.get(span.span_key, ()))
        return Trace(subtree.values(), trace_key=self.trace_key, tools=self.tools)

    def to_dict(self) -> dict[str, Any]:
        """The trace and its spans as JSON-safe data."""
        return {
            "trace_id": self.trace_id,
            "name": self.name,
            "tags": list(self.tags),
            "customer_id": self.customer_id,
            "session_id": self.session_id,
            "metadata": dict(self.metadata),
            "spans": [span.to_dict() for span in self.spans],
        }

    def __len__(self) -> int:
        return len(self.spans)

    def __repr__(self) -> str:
        counts = f"{len(self.spans)} spans, {len(self.tool_calls)} tool calls"
        return f"<Trace {self.trace_id[:8]} {self.name!r}: {counts}>"


def _tools_of_calls(spans: Iterable[Span]) -> list[ToolDefinition]:
    """The definitions on calls that tell of the tools that the recorder knew."""
    return [
        span.tool
        for span in spans
        if span.tool is not None and (span.tool.described or semconv.RECEIVED not in span.attributes)
    ]
