"""Hooks that turn the tool calls of the Claude Agent SDK, which runs in another process, into spans."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import MissingDependency
from agenttrace.core.interruptions import raised_by_signal
from agenttrace.integrations.spans import Tracing, spans_of
from agenttrace.tracing.open_span import OpenSpan

MAX_OPEN = 10_000
"""Open calls and sub-agents that are remembered; beyond it the oldest is ended as abandoned."""

EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart", "SubagentStop")

MCP_PREFIX = "mcp__"
"""What the SDK puts before the name of a server's tool: ``mcp__hotels__book``."""


class ToolFailed(Exception):
    """What the SDK reports as text of a tool that failed."""


def _guarded(step: Callable[..., None]) -> Callable[..., None]:
    @wraps(step)
    def guarded(hooks: AgentTraceHooks, *args: Any) -> None:
        try:
            step(hooks, *args)
        except Exception as error:  # choke-point: a hook that raises would stop the agent's tool
            if raised_by_signal(error):
                raise
            hooks.recording_errors += 1

    return guarded


class AgentTraceHooks:
    """Records the tool calls and sub-agents of the Claude Agent SDK: ``hooks=AgentTraceHooks().hooks()``.

    Each tool call is a span of type *tool* with its arguments, its response or its error; a sub-agent one of
    type *agent*, with its tool calls under it. They stand under the call that runs where the SDK is used, or
    are traces of their own. A tool of an MCP server goes by its own name, ``book`` for ``mcp__hotels__book``,
    with ``full_names`` by the whole one. The hooks decide nothing: every call goes on as without them.

    Args:
        tracer: Where spans go; the process's first tracer by default.
        full_names: Whether tools of MCP servers keep the server's name.

    Raises:
        ConfigError: `tracer` is not a tracer.
    """

    def __init__(self, tracer: Tracing | None = None, *, full_names: bool = False) -> None:
        self._spans = spans_of(tracer)
        self._full_names = full_names
        self._open: dict[str, OpenSpan] = {}
        self._lock = threading.Lock()
        self.recording_errors = 0

    def hooks(self) -> dict[str, list[Any]]:
        """What ``ClaudeAgentOptions(hooks=…)`` takes, to be merged with hooks of your own by event.

        Raises:
            MissingDependency: the SDK is not installed.
        """
        try:
            matcher = import_module("claude_agent_sdk").HookMatcher
        except (ImportError, AttributeError) as error:
            text = "AgentTraceHooks.hooks needs the Claude Agent SDK: pip install claude-agent-sdk"
            raise MissingDependency(text) from error
        return {event: [matcher(hooks=[self.on_event])] for event in EVENTS}

    async def on_event(self, event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Take one event, as the SDK calls its hooks. Returns an empty answer: nothing is decided."""
        self._record(event)
        return {}

    @_guarded
    def _record(self, event: Mapping[str, Any]) -> None:
        name = event.get("hook_event_name")
        if name == "PreToolUse":
            self._tool_begins(event)
        elif name == "PostToolUse":
            self._tool_ends(event, None)
        elif name == "PostToolUseFailure":
            self._tool_ends(event, ToolFailed(str(event.get("error") or "the tool failed")))
        elif name == "SubagentStart":
            self._agent_begins(event)
        elif name == "SubagentStop":
            self._agent_ends(event)

    def _tool_begins(self, event: Mapping[str, Any]) -> OpenSpan:
        full_name = str(event.get("tool_name") or "tool")
        is_mcp = full_name.startswith(MCP_PREFIX)
        short_name = full_name.removeprefix(MCP_PREFIX).partition("__")[2] if is_mcp else ""
        arguments = event.get("tool_input")
        span = self._spans.span(
            full_name if self._full_names else short_name or full_name,
            span_type="tool",
            input=dict(arguments) if isinstance(arguments, Mapping) else None,
        ).open(self._open.get(f"agent {event.get('agent_id')}"))
        span.set_attribute(semconv.TOOL_CALL_ID, event.get("tool_use_id"))
        span.set_attribute(semconv.TOOL_TYPE, "extension" if is_mcp else "function")
        span.set_attribute(semconv.CONVERSATION_ID, event.get("session_id"))
        self._remember(f"tool {event.get('tool_use_id')}", span)
        return span

    def _tool_ends(self, event: Mapping[str, Any], error: ToolFailed | None) -> None:
        span = self._forget(f"tool {event.get('tool_use_id')}")
        if span is None:  # its beginning was not told, as where another hook was added later
            span = self._tool_begins(event)
            self._forget(f"tool {event.get('tool_use_id')}")
        response, text = event.get("tool_response"), _text_of(event.get("tool_response"))
        if response is not None:
            span.output = response if text is None else text
        if error is None and isinstance(response, Mapping) and response.get("is_error") is True:
            error = ToolFailed(text or "the tool failed")
        interrupted = event.get("is_interrupt") is True
        span.end(error=None if interrupted else error, status="cancelled" if interrupted else None)

    def _agent_begins(self, event: Mapping[str, Any]) -> None:
        span = self._spans.span(str(event.get("agent_type") or "agent"), span_type="agent").open()
        span.set_attribute(semconv.AGENT_ID, event.get("agent_id"))
        self._remember(f"agent {event.get('agent_id')}", span)

    def _agent_ends(self, event: Mapping[str, Any]) -> None:
        span = self._forget(f"agent {event.get('agent_id')}")
        if span is not None:
            if event.get("last_assistant_message") is not None:
                span.output = event["last_assistant_message"]
            span.end()

    def _remember(self, key: str, span: OpenSpan) -> None:
        with self._lock:
            self._open[key] = span
            oldest = next(iter(self._open)) if len(self._open) > MAX_OPEN else None
        if oldest is not None and (lost := self._forget(oldest)) is not None:
            lost.end(status="abandoned")

    def _forget(self, key: str) -> OpenSpan | None:
        with self._lock:
            return self._open.pop(key, None)


def _text_of(response: Any) -> str | None:
    """The text of an MCP tool's response, which is a list of blocks; None for a response of another form."""
    blocks = response.get("content") if isinstance(response, Mapping) else response
    if not isinstance(blocks, list) or len(blocks) != 1 or not isinstance(blocks[0], Mapping):
        return None
    text = blocks[0].get("text") if blocks[0].get("type") == "text" else None
    return text if isinstance(text, str) else None
