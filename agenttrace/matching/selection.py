"""`Selection`: which calls are compared and counted, by agent, turn, tool; failed attempts may collapse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from agenttrace.core.errors import ScorerError, did_you_mean
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import ExpectedToolCall, ToolCall, are_unordered
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import ATTEMPTS, Attempts, Expectation
from agenttrace.expectations.reading import has_failed, may_be_left_out

if TYPE_CHECKING:
    from agenttrace.core.example import Example

TAG = "tag:"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which calls are compared.

    `agent`: calls made by an agent of that name (its path may be given too, and globs), not by agents below
    it. `turn`: calls of one turn. `attempts`: what failed calls count for. `names`: aliases, each with the
    name that it stands for; they are applied to calls and expectations alike. `tools`: only these tools, by
    name, by glob, or as ``tag:write``: the tags of the tool, or the ``kind`` of a recorded call; where
    neither is recorded, the ``kind`` of an expected one (`kinds`, by tool). Whether an expected tool is
    compared whose tags nothing tells (it is not recorded, and was not called) cannot be told: it counts as
    missing, or is left out in the reading that favours the run.

    Raises:
        ScorerError: an unknown `attempts`, or a tool that is not a text.
    """

    agent: str | None = None
    turn: int | None = None
    attempts: Attempts = "count"
    names: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.attempts not in ATTEMPTS:
            hint = did_you_mean(str(self.attempts), ATTEMPTS)
            raise ScorerError(f"attempts is one of {', '.join(ATTEMPTS)}, got {self.attempts!r}{hint}")
        if self.tools is not None and not all(isinstance(tool, str) and tool for tool in self.tools):
            raise ScorerError(f"tools are names, globs or 'tag:…', got {self.tools!r}")

    @classmethod
    def of(
        cls,
        agent: str | None = None,
        attempts: Attempts = "count",
        names: Mapping[str, str] | None = None,
        tools: str | Sequence[str] | None = None,
    ) -> Selection:
        """Make the selection from a scorer's options.

        Raises:
            ScorerError: one of another type than it is to have, or as for a selection.
        """
        globs = (tools,) if isinstance(tools, str) else tools
        if globs is not None and not isinstance(globs, list | tuple | set | frozenset):
            raise ScorerError(f"tools are names, globs or 'tag:…', got {tools!r}")
        if agent is not None and not isinstance(agent, str):
            raise ScorerError(f"agent is the name of an agent, got {agent!r}")
        parts = [part for pair in names.items() for part in pair] if isinstance(names, Mapping) else names
        if parts is not None and not (isinstance(names, Mapping) and all(isinstance(p, str) for p in parts)):
            raise ScorerError(f"names maps a tool's other name to the one that it stands for, got {names!r}")
        selection = cls(
            agent=agent,
            attempts=attempts,
            names=dict(names or {}),
            tools=None if globs is None else tuple(globs),
        )
        return EVERYTHING if selection == EVERYTHING else selection

    @property
    def is_everything(self) -> bool:
        """Whether all calls are compared as they are."""
        return self is EVERYTHING or self == EVERYTHING

    def knowing(self, expected: Iterable[ExpectedToolCall]) -> Selection:
        """The same, with the kinds that expected calls say."""
        if self.tools is None or not any(tool.startswith(TAG) for tool in self.tools):
            return self
        kinds: dict[str, frozenset[str]] = {}
        for call in expected:
            if call.kind is not None:
                name = self.name_of(call.name)
                kinds[name] = kinds.get(name, frozenset()) | {call.kind}
        return replace(self, kinds=kinds) if kinds else self

    def name_of(self, name: str) -> str:
        """The name that a name stands for."""
        return self.names.get(name, name)

    def is_named(self, tool: str, glob: str) -> bool:
        """Whether a glob, or a name, fits a tool: its normal name, or another one that stands for that."""
        normal = self.name_of(tool)
        return fnmatchcase(normal, glob) or any(
            fnmatchcase(other, glob) for other, own in self.names.items() if own == normal
        )

    def calls(self, calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
        """The calls that are compared, in order, under their normal names, with all their attempts."""
        if self.is_everything:
            return calls
        return self._named(call for call in calls if self._has(call))

    def elsewhere(self, calls: Sequence[ToolCall], names: set[str]) -> Sequence[ToolCall]:
        """The calls of some tools that are not compared, in order, under their normal names."""
        if self.is_everything or not names:
            return ()
        normal = {*map(self.name_of, names)}
        return self._named(c for c in calls if self.name_of(c.name) in normal and not self._has(c))

    def _named(self, calls: Iterable[ToolCall]) -> list[ToolCall]:
        return [
            replace(call, name=self.names[call.name]) if call.name in self.names else call for call in calls
        ]

    def counted(self, calls: Sequence[ToolCall]) -> tuple[Sequence[ToolCall], Mapping[int, int]]:
        """The calls that count, and for each that had several attempts their number, by index."""
        if self.attempts == "count":
            return calls, {}
        if self.attempts == "successes":
            return [call for call in calls if not has_failed(call)], {}
        return _collapse(calls)

    def _has(self, call: ToolCall) -> bool:
        if self.agent is not None and not agent_matches(self.agent, call.agent):
            return False
        if self.turn is not None and call.turn != self.turn:
            return False
        return self.tools is None or any(_tool_matches(tool, call, self) for tool in self.tools)

    def expects(
        self, name: str, calls: Iterable[ToolCall], known_tools: Mapping[str, ToolDefinition]
    ) -> bool:
        """Whether the expected tool is compared; it is read both ways where nothing says its tags."""
        if self.tools is None:
            return True
        if any(not tool.startswith(TAG) and self.is_named(name, tool) for tool in self.tools):
            return True
        tags = {tool[len(TAG) :] for tool in self.tools if tool.startswith(TAG)}
        if not tags:
            return False
        tool_tags = self._tags_of(name, calls, known_tools)
        if tool_tags is None:
            return not may_be_left_out(name)
        return any(has_tag(tool_tags, tag) for tag in tags)

    def _tags_of(
        self, name: str, calls: Iterable[ToolCall], known_tools: Mapping[str, ToolDefinition]
    ) -> set[str] | None:
        """The tags of an expected tool, or None where nothing says them."""
        normal = self.name_of(name)
        definition = known_tools.get(name) or known_tools.get(normal)
        namesakes = [call for call in calls if self.name_of(call.name) == normal]
        kinds = self.kinds.get(normal)
        if kinds is not None and definition is None and not any(map(is_tagged, namesakes)):
            return {*kinds}
        if definition is None and not namesakes:
            return None
        return set(definition.tags if definition else ()).union(*map(tags_of, namesakes))


EVERYTHING = Selection()


def indexes_of(calls: Sequence[ToolCall]) -> dict[str, list[int]]:
    """The fact ``indexes``: each call's index in the trace; none where that is the position in the list."""
    indexes = [call.index for call in calls]
    return {} if indexes == list(range(len(calls))) else {"indexes": indexes}


def agent_matches(agent: str, path: str) -> bool:
    """Whether a call's agent path is, or ends with, this agent; globs match against the whole path."""
    return path == agent or path.endswith(f"/{agent}") or fnmatchcase(path, agent)


def _tool_matches(tool: str, call: ToolCall, selection: Selection) -> bool:
    if tool.startswith(TAG):
        known = tags_of(call) if is_tagged(call) else selection.kinds.get(selection.name_of(call.name), ())
        return has_tag(known, tool[len(TAG) :])
    return selection.is_named(call.name, tool)


def has_tag(tags: Iterable[str], wanted: str) -> bool:
    """Whether one of the tags is the wanted one, or fits it, which may be a glob."""
    return any(fnmatchcase(tag, wanted) for tag in tags)


def is_tagged(call: ToolCall) -> bool:
    """Whether it is known which tags the tool of a call has, if any."""
    return call.tool is not None or isinstance(call.metadata.get("kind"), str)


def tags_of(call: ToolCall) -> set[str]:
    """The tags of a call's tool, with the kind that the call itself was recorded with."""
    tags = set(call.tool.tags) if call.tool is not None else set()
    kind = call.metadata.get("kind")
    return tags | {kind} if isinstance(kind, str) else tags


def _collapse(calls: Sequence[ToolCall]) -> tuple[Sequence[ToolCall], Mapping[int, int]]:
    attempts: dict[int, int] = {}
    waiting: dict[tuple[str, str], list[ToolCall]] = {}
    overlapping: dict[tuple[str, str], list[ToolCall]] = {}
    earlier_attempts: set[int] = set()
    counts = Counter((call.agent, call.name) for call in calls)
    for call in calls:
        key = (call.agent, call.name)
        if counts[key] == 1:
            continue  # whether it failed makes no difference
        if has_failed(call):
            # A success that overlaps it counts as later, wherever it stands.
            success = next((one for one in overlapping.get(key, ()) if are_unordered(one, call)), None)
            if success is None:
                waiting.setdefault(key, []).append(call)
            else:
                earlier_attempts.add(id(call))
                attempts[success.index] = attempts.get(success.index, 1) + 1
            continue
        if before := waiting.pop(key, None):
            earlier_attempts.update(id(attempt) for attempt in before)
            attempts[call.index] = len(before) + 1
        if call.window is not None:
            overlapping.setdefault(key, []).append(call)
    return [call for call in calls if id(call) not in earlier_attempts], attempts


def check_turns(expectation: Expectation, calls: Iterable[ToolCall], trace: Trace | None) -> None:
    """Refuse an expectation about a turn where no turns were recorded.

    Raises:
        ScorerError: it says how to record them.
    """
    turn = expectation.first_turn
    if turn is None or any(call.turn is not None for call in calls) or (trace is not None and trace.turns):
        return
    raise ScorerError(
        f"the expectation is about turn {turn}, and the run has no turns: record each with "
        "`with tracer.turn():`, or read a chat with Trace.from_messages"
    )


def check_scored(example: Example, trace: Trace | None) -> None:
    """Check that `score` was called with an example and a trace, in this order.

    Raises:
        ScorerError: they are something else; it says how `score` is called.
    """
    if not (trace is None or isinstance(trace, Trace)) or not hasattr(example, "expected_tools"):
        raise ScorerError(
            "a scorer is called as score(example, trace), with an Example and a Trace or None, "
            f"got {type(example).__name__} and {type(trace).__name__}"
        )


def actual_calls(example: Example, trace: Trace | None) -> Trace:
    """The trace to compare: the recorded one, else one made of the example's own `tools_called`.

    Raises:
        ScorerError: there is neither, or they are something else; a model's answer was cut, so that calls may
            be missing; nothing was recorded, and no tool is known that could have been.
    """
    check_scored(example, trace)
    if trace is not None and (trace.spans or example.tools_called is None):
        cut = trace.cut_answer
        if cut is not None:
            raise ScorerError(
                f"the answer of {cut.name!r} (span {cut.span_id}) was cut when it was recorded: it may have "
                "asked for calls that the record does not have"
            )
        if not trace.spans and not trace.tools:
            raise ScorerError(
                "nothing was recorded: no span, and no tool is known that could have been called; decorate "
                "the agent's tools with @observe(span_type='tool'), or an agent without any with @observe"
            )
        return trace
    if example.tools_called is not None:
        return Trace.from_calls(example.tools_called)
    raise ScorerError(
        "there is no trace, and the example has no tools_called: nothing says what was called; "
        "an agent given as function= (--function MODULE:NAME) makes a trace"
    )
