"""Which tools are known, and whether those that an expectation names are among them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches

from agenttrace.core.errors import ExpectationError, ScorerError, did_you_mean
from agenttrace.core.tool import TOOL, ToolDefinition
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.matcher import matchers_in
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.references import Ref
from agenttrace.matching.selection import TAG, Selection, has_tag, is_tagged, tags_of

UNKNOWN_TOOL = "no known tool has such a name"
"""Why a guard of a tool cannot fail."""

_MISSPELT = 0.8
"""How alike two names are of which one is taken for the other, misspelt."""


def check_tools(
    expected: Iterable[Call],
    tools: Mapping[str, ToolDefinition],
    selection: Selection,
    actual_calls: Iterable[ToolCall] = (),
    trace: Trace | None = None,
) -> None:
    """Refuse an unknown expected tool, or an unknown source of a `ref`, where all tools are known.

    Known are `tools` and those that a model was offered in the `trace`. An actual call of a tool without
    definition (a user's span, a framework's tool) shows that not all tools are known: then nothing is
    refused. A call that was not executed shows nothing. Where tools are known by what a model was offered
    alone, an agent may have others; see `check_spelling`.

    Raises:
        ExpectationError: a tool is unknown; it names the nearest known one.
    """
    if not recorded(tools):
        return
    names = {*tools, *(trace.offered_tools if trace is not None else ())}
    if selection.names:
        names.update([selection.name_of(name) for name in names])
    for actual in actual_calls:
        if actual.name not in names and actual.status != "attempted":
            return
    calls = tuple(expected)
    sources = names | {call.label for call in calls if call.label is not None}
    for call in calls:
        if call.name not in names and selection.name_of(call.name) not in names:
            raise ExpectationError(
                f"{_place(call)}the expected tool {call.name!r} is not among the recorded tools"
                + ("; ".join(["", *ran_as_no_tool(trace, [call.name])]) or did_you_mean(call.name, names))
            )
        for matcher in matchers_in((call.arguments, call.output)):
            if isinstance(matcher, Ref) and not {matcher.source, selection.name_of(matcher.source)} & sources:
                raise ExpectationError(
                    f"{_place(call)}{matcher!r} in {call.name!r} begins with no label and no recorded tool"
                    + did_you_mean(matcher.source, sources)
                )


def ran_as_no_tool(trace: Trace | None, names: Iterable[str]) -> list[str]:
    """What says of tools that spans of their names ran, and none as a tool: those are no calls."""
    if trace is None:
        return []
    wanted = {*names}
    types = {span.name: span.span_type for span in trace.spans if span.name in wanted}
    tools = {span.name for span in trace.spans if span.span_type == TOOL}
    return [
        f"{name} ran, recorded as a span of type {kind!r}: calls are those of observe(span_type='tool')"
        for name, kind in types.items()
        if name not in tools
    ]


def recorded(tools: Mapping[str, ToolDefinition]) -> dict[str, ToolDefinition]:
    """The tools that were recorded themselves: whose tags are known, beside their parameters."""
    return {name: tool for name, tool in tools.items() if not tool.described}


def check_spelling(
    expected: Iterable[Call], trace: Trace | None, selection: Selection, actual_calls: Iterable[ToolCall]
) -> None:
    """Refuse an expected tool that is nearly one of those that a model was offered, and was not asked for,
    where tools are known by that alone: it is misspelt. An agent may have others, which are not refused.

    Raises:
        ExpectationError: a tool is misspelt; it names the one that was offered.
    """
    if trace is None or trace.is_recorded_run or recorded(trace.tools) or not trace.offered_tools:
        return
    offered = trace.offered_tools
    names = {*offered, *(call.name for call in actual_calls)}
    names.update([selection.name_of(name) for name in names])
    for call in expected:
        unknown = call.name not in names and selection.name_of(call.name) not in names
        if unknown and get_close_matches(call.name, offered, n=1, cutoff=_MISSPELT):
            raise ExpectationError(
                f"{_place(call)}the expected tool {call.name!r} is not among the tools that the model was "
                f"offered{did_you_mean(call.name, offered)}"
            )


def check_choice(
    selection: Selection, tools: Mapping[str, ToolDefinition], calls: Sequence[ToolCall], trace: Trace | None
) -> None:
    """Refuse a name, pattern or tag in `tools=` that chooses nothing and is nearly one that is known, where
    all tools are known: it is misspelt, and nothing would be compared.

    Raises:
        ScorerError: it names the one that is known.
    """
    if selection.tools is None or not recorded(tools):
        return
    names = {*tools, *(trace.offered_tools if trace is not None else ())}
    if any(call.name not in names and call.status != "attempted" for call in calls):
        return
    for chosen in selection.tools:
        word, words = _choice(chosen, tools, calls, trace, selection)
        if not has_tag(words, word) and get_close_matches(word, words, n=1, cutoff=_MISSPELT):
            what = "tag" if chosen.startswith(TAG) else "tool"
            raise ScorerError(f"tools={chosen!r} chooses no {what} that is known{did_you_mean(word, words)}")


def chooses_nothing(
    selection: Selection, tools: Mapping[str, ToolDefinition], calls: Sequence[ToolCall], trace: Trace | None
) -> bool:
    """Whether no known tool is among those that `tools=` chooses, and it is known which there are."""
    return selection.tools is not None and not any(
        not words or has_tag(words, word)
        for word, words in (_choice(chosen, tools, calls, trace, selection) for chosen in selection.tools)
    )


def _choice(
    chosen: str,
    tools: Mapping[str, ToolDefinition],
    calls: Sequence[ToolCall],
    trace: Trace | None,
    selection: Selection,
) -> tuple[str, Collection[str]]:
    """A name, pattern or tag of `tools=`, and the names or tags that are known; none where none are."""
    if not chosen.startswith(TAG):
        return chosen, known_names(tools, calls, trace, selection)
    tags = {tag for tool in tools.values() for tag in tool.tags}
    return chosen[len(TAG) :], tags.union(*map(tags_of, calls), *selection.kinds.values())


def check_tags(selection: Selection, calls: Sequence[ToolCall], tools: Mapping[str, ToolDefinition]) -> None:
    """Refuse a choice by tag where calls were made and nothing says which tags any of their tools has.

    Raises:
        ScorerError: neither a tool's definition nor the kind of a recorded call is known.
    """
    tags = [tool for tool in selection.tools or () if tool.startswith(TAG)]
    if tags and calls and not recorded(tools) and not any(is_tagged(call) for call in calls):
        raise ScorerError(
            f"{tags[0]!r} chooses by tag, and nothing in the run says which tags its tools have; choose the "
            "tools by name, or have tags recorded: observe(tags=…), or the kind of a recorded call"
        )


def known_names(
    tools: Mapping[str, ToolDefinition], calls: Iterable[ToolCall], trace: Trace | None, selection: Selection
) -> frozenset[str]:
    """The names of the tools that are known, aliases resolved; empty where nothing says which there are.

    Known are recorded tools, and those that a model was offered in the trace (LangGraph's, a wrapped
    client's); where there are any, also what was called.
    """
    names = {*tools, *(trace.offered_tools if trace is not None else ())}
    if not names:
        return frozenset()
    return frozenset({*names, *map(selection.name_of, names), *(call.name for call in calls)})


def _place(call: Call) -> str:
    return f"{call.source}: " if call.source else ""
