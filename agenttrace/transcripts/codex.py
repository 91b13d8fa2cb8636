"""Reads the sessions of Codex: the rollout files under ``~/.codex/sessions``.

A line is ``{"timestamp", "type", "payload"}``; the oldest files have the bare items of a Responses list. An
answer of the model is the run of items up to the first output, message of the user or count of tokens. The
thread of a sub-agent has a file of its own beside, whose name ends in the id that ``spawn_agent`` gave.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agenttrace.core.hosted_calls import hosted_item, is_hosted, requested_item
from agenttrace.core.json_reader import json_object_in
from agenttrace.core.message_parts import as_output, text_in
from agenttrace.core.numbers import is_whole
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
from agenttrace.transcripts.skills import injected_skill, skill_name

NAME = "codex"
MAX_AGENTS = 1_000
"""Sub-agents that are read of one session."""

_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_CONTEXT = re.compile(r"\s*(?:<[a-z_]+[ >]|# AGENTS\.md)")
_EXIT_CODE = re.compile(r"\A(?:.{0,200}\n)?(?:Process exited with code|Exit code:) (-?\d+)")
_THREAD_ID = re.compile(r"[0-9a-fA-F-]{8,64}")


def looks_like(records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these are lines of a session of Codex."""
    first = records[0] if records else {}
    if any(
        text_field(record, "type") in _TYPES and isinstance(record.get("payload"), Mapping)
        for record in records[:50]
    ):
        return True
    old = "instructions" in first and "timestamp" in first and isinstance(first.get("id"), str)
    return old and "steps" not in first


def traces_in(records: Records) -> list[Trace]:
    """The trace of the session in a file; none where it holds no more than settings."""
    reader = _Thread(records, {text_field(_meta(records), "id") or ""})
    return [trace_of(reader.run)] if reader.run.steps or reader.run.prompt is not None else []


def _meta(records: Records) -> Mapping[str, Any]:
    for record in records.records:
        if record.get("type") == "session_meta":
            return mapping_field(record, "payload")
    return records.records[0] if records.records else {}


class _Thread:
    """One thread of a session, read line by line."""

    def __init__(self, records: Records, seen: set[str]) -> None:
        meta = _meta(records)
        self.run = AgentRun(NAME, session_id=text_field(meta, "id"))
        self._path = records.path
        self._seen = seen
        self._clock = Clock(records.records)
        self._calls: dict[str, Call] = {}
        self._answer: ModelAnswer | None = None
        self._model: str | None = None
        self._new: list[Mapping[str, Any]] = []
        self._before = self._turn = 0
        self._model_spoke = True
        self._total: Any = None
        self._prompts = {
            text_field(payload, "message")
            for record in records.records
            if (payload := mapping_field(record, "payload")).get("type") == "user_message"
        }
        facts = {name: meta[name] for name in ("cli_version", "cwd", "originator") if meta.get(name)}
        self.run.metadata = {"format": "codex", **facts}
        if records.unreadable:
            self.run.metadata["unreadable_lines"] = records.unreadable
        for record in records.records:
            self._take(record)
        self._finish()

    def _take(self, record: Mapping[str, Any]) -> None:
        now = self._clock.at(record)
        if not self._before:
            self.run.start_ns = self._before = now
        self.run.end_ns = max(self.run.end_ns, now)
        kind = record.get("type")
        payload = mapping_field(record, "payload")
        if kind == "response_item" or (not payload and isinstance(kind, str) and kind not in _TYPES):
            self._item(payload or record, now)
        elif kind == "event_msg":
            self._event(payload, now)
        elif kind == "turn_context":
            self._model = text_field(payload, "model") or self._model

    def _item(self, item: Mapping[str, Any], now: int) -> None:
        kind = str(item.get("type"))
        if kind == "message":
            if item.get("role") == "assistant":
                answer = self._answering(now)
                answer.text = joined([answer.text, text_in(item.get("content"))])
            else:
                self._message(str(item.get("role")), text_in(item.get("content")), now)
        elif kind == "reasoning":
            parts = [*list_field(item, "summary"), *list_field(item, "content")]
            answer = self._answering(now)
            answer.reasoning = joined([answer.reasoning, *(text_field(part, "text") or "" for part in parts)])
        elif kind.endswith("_call"):
            self._call(item, now)
        elif kind.endswith("_output"):
            self._output(item, now)

    def _answering(self, now: int) -> ModelAnswer:
        if self._answer is None:
            self._answer = ModelAnswer(
                self._before, now, self._model, "openai", messages=self._new, turn=max(self._turn, 1)
            )
            self.run.steps.append(self._answer)
            self._new = []
        self._answer.end_ns = now
        self._model_spoke = True
        return self._answer

    def _message(self, role: str, text: str, now: int) -> None:
        self._answer, self._before = None, now
        skill = injected_skill(text)
        if skill is not None:
            self.run.steps.append(
                Call(skill, {}, None, now, now, text, turn=max(self._turn, 1), metadata={"asked_by": "user"})
            )
        is_prompt = role == "user" and skill is None and bool(text) and self._is_prompt(text)
        if text:
            self._new.append({"role": "user" if is_prompt else "system", "content": text})
        if is_prompt:
            self.run.prompt = text if self.run.prompt is None else self.run.prompt
            self.run.status = "ok"
            self._turn += self._model_spoke
            self._model_spoke = False

    def _is_prompt(self, text: str) -> bool:
        return text in self._prompts if self._prompts else _CONTEXT.match(text) is None

    def _call(self, item: Mapping[str, Any], now: int) -> None:
        answer = self._answering(now)
        if is_hosted(item):
            hosted = hosted_item(item)
            answer.calls.append(
                Call(
                    hosted.name, hosted.arguments, hosted.key, now, now, hosted.output, hosted.error,
                    turn=answer.turn, hosted=True, metadata=dict(hosted.metadata),
                )
            )  # fmt: skip
            return
        key, tool, arguments = requested_item(item)
        read = json_object_in(arguments) if isinstance(arguments, str) and arguments else arguments
        name = skill_name(tool, read) or str(tool)
        call = Call(name, arguments if read is None else read, key, now, turn=answer.turn)
        if name != tool:
            call.metadata["tool"] = tool
        answer.calls.append(call)
        if isinstance(key, str):
            self._calls[key] = call

    def _output(self, item: Mapping[str, Any], now: int) -> None:
        call = self._calls.get(text_field(item, "call_id") or "")
        self._answer, self._before = None, now
        if call is None:
            return
        content, failed = item.get("output"), None
        if isinstance(content, Mapping):
            success = content.get("success")
            failed = not success if isinstance(success, bool) else None
            content = content.get("content", dict(content))
        text, failure = _outcome(content)
        call.end_ns, call.output = now, text
        if call.status == "ok" and call.error is None:
            self._settle(call, failure if failed is None else text_in(text) if failed else None, failed)
        if call.name == "spawn_agent":
            self._add_agent(call)

    def _settle(self, call: Call, failure: str | None, failed: bool | None) -> None:
        """Say of a call how it ended; *answered* where nothing tells that it did not fail."""
        if failure is not None:
            call.error, call.status = failure, "error"
        elif failed is None and call.metadata.get("outcome") != "ok" and not _has_exit_code(call.output):
            call.status = "answered"

    def _event(self, event: Mapping[str, Any], now: int) -> None:
        kind = event.get("type")
        if kind == "token_count":
            info = mapping_field(event, "info")
            if info and info.get("total_token_usage") != self._total:
                self._total = info.get("total_token_usage")
                last = self.run.last_answer
                if last is not None and last.usage is None:
                    last.usage = _usage(mapping_field(info, "last_token_usage"))
                self._answer = None
        elif kind in ("exec_command_end", "mcp_tool_call_end", "patch_apply_end"):
            self._ended(self._calls.get(text_field(event, "call_id") or ""), event)
        elif kind == "turn_aborted":
            self.run.status, self._answer = "cancelled", None
        elif kind == "error" and text_field(event, "message"):
            self.run.metadata.setdefault("errors", []).append(event["message"])

    def _ended(self, call: Call | None, event: Mapping[str, Any]) -> None:
        """Take what an event tells of the end of a call, which may stand before its output or after."""
        if call is None:
            return
        failure: str | None = None
        code, result = event.get("exit_code"), mapping_field(event, "result")
        if _is_failure(code):
            failure = f"exit code {code}"
        elif "Err" in result:
            failure = text_in(result["Err"])
        elif (
            mapping_field(result, "Ok").get("is_error") is True
            or mapping_field(result, "Ok").get("isError") is True
        ):
            failure = text_in(mapping_field(result, "Ok").get("content"))
        elif event.get("success") is False:
            failure = text_field(event, "stderr") or "failed"
        if failure is not None:
            call.error, call.status = failure, "error"
        elif call.status == "answered":
            call.status = "ok"
        else:
            call.metadata["outcome"] = "ok"

    def _add_agent(self, call: Call) -> None:
        """Put the thread of a sub-agent, where its file is found, inside the call that started it."""
        fields = call.output if isinstance(call.output, Mapping) else json_object_in(str(call.output)) or {}
        agent_id = text_field(fields, "agent_id") or text_field(fields, "thread_id")
        if self._path is None or agent_id is None or not _THREAD_ID.fullmatch(agent_id):
            return
        if agent_id in self._seen or len(self._seen) > MAX_AGENTS:
            return
        self._seen.add(agent_id)
        file = next(iter(sorted(_beside(self._path, f"*-{agent_id}.jsonl"))), None)
        if file is None:
            return
        agent = _Thread(read_records(file), self._seen).run
        arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
        agent.name = text_field(arguments, "agent_type") or "sub-agent"
        call.agents.append(agent)

    def _finish(self) -> None:
        last = self.run.last_answer
        if last is not None and not [call for call in last.calls if not call.hosted]:
            self.run.output = last.text or None
        for answer in self.run.steps:
            if isinstance(answer, Call):
                continue
            answer.finish_reason = "tool_calls" if answer.calls else "stop" if answer.text else None
            for call in answer.calls:
                call.metadata.pop("outcome", None)


def _beside(path: Path, pattern: str) -> list[Path]:
    return [file for file in path.parent.glob(pattern) if file.is_file() and file != path]


def _usage(counts: Mapping[str, Any]) -> dict[str, int] | None:
    usage = read_usage(counts)
    for place, word in (
        ("cached_input_tokens", "cache_read_tokens"),
        ("reasoning_output_tokens", "reasoning_tokens"),
    ):
        if is_whole(counts.get(place)):
            usage[word] = counts[place]
    return usage or None


def _outcome(content: Any) -> tuple[Any, str | None]:
    """What a call gave, and its failure where its exit code is one. A shell's output may stand in JSON."""
    if isinstance(content, str):
        shell = json_object_in(content) if content.startswith("{") else None
        if shell is not None and isinstance(shell.get("metadata"), Mapping) and "output" in shell:
            code = shell["metadata"].get("exit_code")
            return shell, f"exit code {code}" if _is_failure(code) else None
        match = _EXIT_CODE.search(content)
        return content, f"exit code {match[1]}" if match and int(match[1]) else None
    return as_output(content), None


def _is_failure(exit_code: Any) -> bool:
    return isinstance(exit_code, int) and exit_code != 0


def _has_exit_code(output: Any) -> bool:
    if isinstance(output, Mapping):
        return "exit_code" in mapping_field(output, "metadata")
    return isinstance(output, str) and _EXIT_CODE.search(output) is not None
