"""Reads the sessions of Claude Code: the files under ``~/.claude/projects``, the output of ``stream-json``.

A message of the model stands on several lines, one for each of its blocks, under one message id. What a
sub-agent did stands in the same file (``isSidechain``, ``parent_tool_use_id``) or in ``agent-<id>.jsonl``
beside it, which the result of the call that started it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agenttrace.core.hosted_calls import hosted_result
from agenttrace.core.message_parts import as_output, text_in
from agenttrace.core.trace import Trace
from agenttrace.providers.usage import read_usage
from agenttrace.transcripts.records import (
    Clock,
    Records,
    list_field,
    mapping_field,
    read_records,
    text_field,
)
from agenttrace.transcripts.session import AgentRun, Call, ModelAnswer, joined, trace_of
from agenttrace.transcripts.skills import skill_name

NAME = "claude-code"
_SPOKEN = frozenset({"user", "assistant"})
_STARTERS = ("Task", "Agent")
_NOT_EXECUTED = re.compile(
    r"\s*+(?:<tool_use_error>\s*+)?(?:Error: )?(?:No such tool available|InputValidationError|"
    r"The user doesn't want to (?:proceed|take this action))"
)
_INTERRUPTED = "[Request interrupted by user"
_PROGRAM_TEXT = re.compile(r"\s*<(?:command-|local-command|system-reminder|bash-)")
_FILE_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


def looks_like(records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these are lines of a session of Claude Code."""
    return any(
        _is_spoken(record) and not {"sessionId", "session_id", "uuid", "isSidechain"}.isdisjoint(record)
        for record in records[:1_000]
    )


def traces_in(records: Records) -> list[Trace]:
    """The traces of the sessions in a file, one as a rule, in the order in which they began."""
    sessions: dict[str | None, list[Mapping[str, Any]]] = {}
    current: str | None = None
    for record in records.records:
        current = text_field(record, "sessionId") or text_field(record, "session_id") or current
        sessions.setdefault(current, []).append(record)
    known = {key: lines for key, lines in sessions.items() if any(map(_is_spoken, lines))}
    runs = [_Session(lines, key, records.path).run() for key, lines in known.items()]
    if records.unreadable and runs:
        runs[-1].metadata["unreadable_lines"] = records.unreadable
    return [trace_of(run) for run in runs]


def _is_spoken(record: Mapping[str, Any]) -> bool:
    return text_field(record, "type") in _SPOKEN and isinstance(record.get("message"), Mapping)


class _Session:
    """One session: its lines parted into the agent's own and those of each sub-agent."""

    def __init__(self, lines: Sequence[Mapping[str, Any]], session_id: str | None, path: Path | None) -> None:
        self.session_id = session_id
        self.path = path
        self.threads: dict[str | None, _Thread] = {None: _Thread(NAME)}
        self.settings: Mapping[str, Any] = {}
        self.read: set[str] = set()
        self._root_of: dict[str, str] = {}
        self._take(lines, inside=None)

    def run(self) -> AgentRun:
        """The session's agent, with its sub-agents inside the calls that started them."""
        calls = [(thread, call) for thread in list(self.threads.values()) for call in thread.calls.values()]
        while calls:
            thread, call = calls.pop(0)
            for agent_id in thread.started.get(call.key, ()):
                calls += [(self.threads[agent_id], one) for one in self._load(agent_id)]
        main = self.threads[None]
        main.run.session_id = self.session_id
        main.run.metadata = {"format": "claude_code", **self._version(), **main.run.metadata}
        for key, thread in self.threads.items():
            run = thread.finished(list_field(self.settings, "tools"))
            if key is not None:
                starter = self._starter(key, thread)
                if starter is None:
                    main.run.agents.append(run)
                else:
                    run.name = _agent_name(starter)
                    starter.agents.append(run)
        return main.run

    def _take(self, lines: Sequence[Mapping[str, Any]], inside: str | None) -> None:
        seen: set[str] = set()
        for line in lines:
            uuid = text_field(line, "uuid")
            if uuid is not None and uuid in seen:
                continue  # a session that was taken up again repeats lines
            seen.add(uuid or "")
            if line.get("type") == "system" and line.get("subtype") == "init":
                self.settings = line
            elif line.get("type") == "result":
                self.threads[None].note_result(line)
            elif _is_spoken(line):
                key = inside if inside is not None else self._thread_of(line)
                if key not in self.threads:
                    self.threads[key] = _Thread("sub-agent")
                self.threads[key].take(line)

    def _thread_of(self, line: Mapping[str, Any]) -> str | None:
        """Whose line this is: a call or an agent's id, the first line of its chain; None: the session's."""
        if inside := text_field(line, "parent_tool_use_id"):
            return f"call {inside}"
        if line.get("isSidechain") is not True:
            return None
        if agent_id := text_field(line, "agentId"):
            return agent_id
        uuid, parent = text_field(line, "uuid") or "", text_field(line, "parentUuid")
        root = self._root_of.get(parent or "", f"chain {uuid}")
        self._root_of[uuid] = root
        return root

    def _load(self, agent_id: str) -> list[Call]:
        """The calls of a sub-agent whose lines stand in a file of its own, beside that of the session."""
        if self.path is None or agent_id in self.read or not _FILE_ID.fullmatch(agent_id):
            return []
        self.read.add(agent_id)
        if agent_id in self.threads:
            return []
        name = f"agent-{agent_id}.jsonl"
        for place in (
            self.path.with_suffix("") / "subagents",
            self.path.parent,
            self.path.parent / "subagents",
        ):
            if (place / name).is_file():
                records = read_records(place / name)
                self._take(records.records, inside=agent_id)
                if agent_id in self.threads:
                    if records.unreadable:
                        self.threads[agent_id].run.metadata["unreadable_lines"] = records.unreadable
                    return list(self.threads[agent_id].calls.values())
        return []

    def _starter(self, key: str, thread: _Thread) -> Call | None:
        """The call that started a sub-agent: by its id, by the id in its result, by what it was told."""
        calls = [
            call for other in self.threads.values() if other is not thread for call in other.calls.values()
        ]
        for call in calls:
            if key == f"call {call.key}":
                return call
        for other in self.threads.values():
            for call_key, agents in other.started.items():
                if key in agents and call_key in other.calls and other is not thread:
                    return other.calls[call_key]
        prompt = (thread.run.prompt or "").strip()
        same = (
            call
            for call in calls
            if call.name in _STARTERS and not call.agents and isinstance(call.arguments, Mapping)
            and str(call.arguments.get("prompt", "")).strip() == prompt
        )  # fmt: skip
        return next(same, None) if prompt else None

    def _version(self) -> dict[str, Any]:
        lines = self.threads[None].facts
        return {name: lines[name] for name in ("version", "cwd", "gitBranch") if lines.get(name)}


def _agent_name(call: Call) -> str:
    arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
    return text_field(arguments, "subagent_type") or "sub-agent"


class _Thread:
    """The lines of one agent, in order."""

    def __init__(self, name: str) -> None:
        self.run = AgentRun(name)
        self.calls: dict[str | None, Call] = {}
        self.started: dict[str | None, list[str]] = {}
        self.facts: dict[str, Any] = {}
        self._clock = Clock()
        self._answers: dict[str, ModelAnswer] = {}
        self._new: list[Mapping[str, Any]] = []
        self._turn = 0
        self._before = 0
        self._model_spoke = True

    def take(self, line: Mapping[str, Any]) -> None:
        """Take one line."""
        now = self._clock.at(line)
        if not self.facts:
            self.run.start_ns = self._before = now
        for name in ("version", "cwd", "gitBranch"):
            self.facts.setdefault(name, line.get(name))
        message = mapping_field(line, "message")
        if line.get("type") == "assistant":
            self._assistant(line, message, now)
        else:
            self._user(line, message, now)
        self.run.end_ns = max(self.run.end_ns, now)

    def note_result(self, line: Mapping[str, Any]) -> None:
        """Take the last line of ``stream-json``, which sums the session up."""
        facts = {name: line[name] for name in ("subtype", "total_cost_usd", "num_turns") if name in line}
        self.run.metadata["result"] = facts

    def finished(self, tools: Sequence[Any]) -> AgentRun:
        """The agent's run as far as it was written down."""
        self.run.steps = [*self._answers.values()]
        for answer in self._answers.values():
            answer.tools = [{"name": name} for name in tools if isinstance(name, str)]
        last = self.run.last_answer
        if last is not None and not last.calls and last.error is None:
            self.run.output = last.text or None
        return self.run

    def _assistant(self, line: Mapping[str, Any], message: Mapping[str, Any], now: int) -> None:
        texts = text_in(message.get("content"))
        failed = line.get("isApiErrorMessage") is True
        if message.get("model") == "<synthetic>" and not failed:
            return
        key = text_field(message, "id") or text_field(line, "uuid") or str(len(self._answers))
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = ModelAnswer(
                self._before, now, text_field(message, "model"), "anthropic",
                messages=self._new, turn=max(self._turn, 1), key=text_field(message, "id"),
            )  # fmt: skip
            self._new = []
        answer.end_ns = max(answer.end_ns, now)
        answer.finish_reason = text_field(message, "stop_reason") or answer.finish_reason
        answer.usage = read_usage(message.get("usage")) or answer.usage
        if failed:
            answer.error, answer.model = texts, None
            return
        for block in _blocks(message):
            self._block(answer, block, now)
        self._model_spoke = True
        self._before = now

    def _block(self, answer: ModelAnswer, block: Mapping[str, Any], now: int) -> None:
        kind = str(block.get("type"))
        if kind == "text":
            answer.text = joined([answer.text, text_field(block, "text") or ""])
        elif kind == "thinking":
            answer.reasoning = joined([answer.reasoning, text_field(block, "thinking") or ""])
        elif kind.endswith("tool_use") and isinstance(block.get("name"), str):
            key = text_field(block, "id")
            if key is not None and key in self.calls:
                return  # told a second time
            arguments = block.get("input")
            name = skill_name(block["name"], arguments) or block["name"]
            call = Call(name, arguments, key, now, turn=answer.turn, hosted=kind != "tool_use")
            if name != block["name"]:
                call.metadata["tool"] = block["name"]
            self.calls[key if key is not None else f"{len(self.calls)}"] = call
            answer.calls.append(call)
        elif kind.endswith("_tool_result"):
            call_of_result = self.calls.get(text_field(block, "tool_use_id"))
            if call_of_result is not None:
                call_of_result.output, call_of_result.error = hosted_result(block)
                call_of_result.end_ns = now

    def _user(self, line: Mapping[str, Any], message: Mapping[str, Any], now: int) -> None:
        blocks = _blocks(message)
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            self._result(block, line.get("toolUseResult") if len(results) == 1 else None, now)
        text = joined([text_field(block, "text") or "" for block in blocks if block.get("type") == "text"])
        self._before = now
        if not text:
            return
        if text.lstrip().startswith(_INTERRUPTED):
            self.run.status = "cancelled"
            return
        meta = line.get("isMeta") is True or line.get("isCompactSummary") is True
        is_prompt = not (meta or results or _PROGRAM_TEXT.match(text))
        self._new.append({"role": "user" if is_prompt else "system", "content": text})
        if not is_prompt:
            return
        self.run.status = "ok"
        if self.run.prompt is None:
            self.run.prompt = text
        self._turn += self._model_spoke
        self._model_spoke = False

    def _result(self, block: Mapping[str, Any], details: Any, now: int) -> None:
        key = text_field(block, "tool_use_id")
        call = self.calls.get(key)
        if call is None:
            return
        call.end_ns = now
        call.output = as_output(block.get("content"))
        if block.get("is_error") is True:
            call.error = text_in(block.get("content"))
            is_skill = "tool" in call.metadata
            call.status = "attempted" if is_skill or _NOT_EXECUTED.match(call.error) else "error"
        elif isinstance(details, Mapping) and details.get("success") is False and "tool" in call.metadata:
            call.error, call.status = text_in(block.get("content")), "attempted"
        for agent_id in _agent_ids(details):
            self.started.setdefault(key, []).append(agent_id)


def _agent_ids(details: Any) -> Iterator[str]:
    agent_id = text_field(details, "agentId")
    if agent_id is not None:
        yield agent_id


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in list_field(message, "content") if isinstance(block, Mapping)]
