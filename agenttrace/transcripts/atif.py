"""Reads the Agent Trajectory Interchange Format (ATIF 1.0 to 1.8), as Harbor and others write it.

A step of the agent is one answer of a model with the calls that it asked for and what these gave. The
format has no place for whether a call failed: unless ``extra`` says so (as `trace_to_atif` writes it), calls
are *answered*. Steps that were copied from an earlier trajectory are context, not done again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agenttrace.core.errors import DatasetError
from agenttrace.core.marks import not_read
from agenttrace.core.message_parts import text_in
from agenttrace.core.numbers import is_number, is_whole
from agenttrace.core.tool_call import UNRECORDED_STATUSES
from agenttrace.core.trace import Trace
from agenttrace.transcripts.records import (
    Clock,
    Records,
    list_field,
    mapping_field,
    read_records,
    text_field,
)
from agenttrace.transcripts.session import AgentRun, Call, ModelAnswer, trace_of
from agenttrace.transcripts.skills import skill_name

OWN = "agenttrace"
"""The key in a result's ``extra`` under which `trace_to_atif` says what the format has no place for."""

MAX_DEPTH = 50
"""Sub-agents inside sub-agents that are read."""

_COUNTS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cache_read_tokens",
}


def looks_like(records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether these are trajectories."""
    first = records[0] if records else {}
    version = first.get("schema_version")
    named = isinstance(version, str) and version.upper().startswith("ATIF")
    return isinstance(first.get("steps"), list) and (named or isinstance(first.get("agent"), Mapping))


def traces_in(records: Records) -> list[Trace]:
    """The trace of each trajectory.

    Raises:
        DatasetError: a trajectory whose steps are no list of mappings; it names the place.
    """
    traces = []
    for record in records.records:
        run = _Trajectory(record, records.path, {}, MAX_DEPTH).run
        run.metadata = {"format": "atif", **run.metadata}
        if records.unreadable:
            run.metadata["unreadable_lines"] = records.unreadable
        traces.append(trace_of(run))
    return traces


class _Trajectory:
    """One trajectory, with the sub-agents that it refers to."""

    def __init__(
        self,
        record: Mapping[str, Any],
        path: Path | None,
        around: Mapping[str, Any],
        depth: int,
        start_ns: int = 0,
    ) -> None:
        agent = mapping_field(record, "agent")
        self._path = path
        self._depth = depth
        self._agents = dict(around)
        for entry in list_field(record, "subagent_trajectories"):
            for name in ("trajectory_id", "session_id"):
                if key := text_field(entry, name):
                    self._agents.setdefault(key, entry)
        steps = record.get("steps")
        if not isinstance(steps, list):
            raise DatasetError("wanted a list of steps", path=path, field="steps")
        for index, step in enumerate(steps):
            if not isinstance(step, Mapping):
                raise DatasetError("wanted a step: a mapping", path=path, field=f"steps[{index}]")
        self._clock = Clock(steps, start_ns)
        self._model = text_field(agent, "model_name")
        self._tools = list_field(agent, "tool_definitions")
        self._turn = 0
        self._new: list[Mapping[str, Any]] = []
        self._before = 0
        self._model_spoke = True
        self.run = AgentRun(
            text_field(agent, "name") or "agent",
            session_id=text_field(record, "session_id"),
        )
        self.run.metadata = _facts(record, agent)
        for step in steps:
            self._take(step)

    def _take(self, step: Mapping[str, Any]) -> None:
        now = self._clock.at(step)
        if not self._before:
            self.run.start_ns = self._before = now
        self.run.end_ns = max(self.run.end_ns, now)
        text = text_in(step.get("message"))
        if step.get("is_copied_context") is True:
            self.run.metadata["copied_steps"] = self.run.metadata.get("copied_steps", 0) + 1
            self._new.append({"role": _role(step), "content": text})
        elif step.get("source") == "agent":
            self._answer(step, text, now)
        else:
            self._message(step, text)
        self._before = now

    def _message(self, step: Mapping[str, Any], text: str) -> None:
        if text:
            self._new.append({"role": _role(step), "content": text})
        if step.get("source") == "user" and text:
            if self.run.prompt is None:
                self.run.prompt = text
            self._turn += self._model_spoke
            self._model_spoke = False
        for result in _results(step):
            self.run.agents += self._sub_agents(result)

    def _answer(self, step: Mapping[str, Any], text: str, now: int) -> None:
        calls = [self._call(entry, now) for entry in list_field(step, "tool_calls")]
        by_key = {call.key: call for call in calls if call is not None}
        for result in _results(step):
            call = by_key.get(text_field(result, "source_call_id"))
            if call is None:
                self.run.agents += self._sub_agents(result)
            else:
                self._result(call, result, now)
        asked = [call for call in calls if call is not None]
        if step.get("llm_call_count") == 0:  # the program's own step, in which no model was asked
            self.run.steps += asked
            self.run.output = text or self.run.output
            return
        answer = ModelAnswer(
            self._before, now, text_field(step, "model_name") or self._model,
            text=text, reasoning=text_field(step, "reasoning_content") or "", calls=asked,
            finish_reason="tool_calls" if asked else "stop", usage=_usage(mapping_field(step, "metrics")),
            messages=self._new, turn=max(self._turn, 1), tools=self._tools,
        )  # fmt: skip
        self._new, self._model_spoke = [], True
        self.run.steps.append(answer)
        self.run.output = None if asked else text or None

    def _call(self, entry: Any, now: int) -> Call | None:
        tool = text_field(entry, "function_name")
        if tool is None:
            return None
        arguments = entry.get("arguments")
        extra = dict(mapping_field(entry, "extra"))
        extra.pop(OWN, None)
        call = Call(
            skill_name(tool, arguments) or tool, {} if arguments is None else arguments,
            text_field(entry, "tool_call_id"), now, turn=max(self._turn, 1), metadata=extra,
        )  # fmt: skip
        own = mapping_field(mapping_field(entry, "extra"), OWN)
        call.hosted = own.get("hosted") is True
        if own.get("status") == "attempted":
            call.status, call.error, call.end_ns = "attempted", text_field(own, "error"), now
        return call

    def _result(self, call: Call, result: Mapping[str, Any], now: int) -> None:
        call.end_ns = now
        extra = mapping_field(result, "extra")
        own = mapping_field(extra, OWN)
        content = result.get("content")
        call.output = own.get("output", content if isinstance(content, str) else _content(content))
        call.agents += self._sub_agents(result)
        if own.get("output_recorded") is False:
            call.output = not_read()
        if "error" in own or extra.get("is_error") is True:
            call.error = text_field(own, "error") or text_in(content)
            call.status = "attempted" if own.get("status") == "attempted" else "error"
        elif text_field(own, "status") in UNRECORDED_STATUSES or (
            not own and extra.get("is_error") is not False
        ):
            call.status = "answered"

    def _sub_agents(self, result: Mapping[str, Any]) -> list[AgentRun]:
        """The runs of the sub-agents that a result refers to; one that is not found is one without steps."""
        runs = []
        for ref in list_field(result, "subagent_trajectory_ref"):
            record = self._referred(ref)
            if record is not None and self._depth:
                around = {key: entry for key, entry in self._agents.items() if entry is not record}
                runs.append(_Trajectory(record, self._path, around, self._depth - 1, self._clock.last).run)
            elif isinstance(ref, Mapping):
                at = self._clock.last
                runs.append(AgentRun("sub-agent", at, at, metadata={"not_found": dict(ref)}))
        return runs

    def _referred(self, ref: Any) -> Mapping[str, Any] | None:
        for name in ("trajectory_id", "session_id"):
            if entry := self._agents.get(text_field(ref, name) or ""):
                return entry if isinstance(entry.get("steps"), list) else None
        file = text_field(ref, "trajectory_path")
        if self._path is None or file is None:
            return None
        place = self._path.parent.resolve()
        target = (place / file).resolve()
        if not target.is_relative_to(place) or not target.is_file():  # no file elsewhere is read
            return None
        records = read_records(target).records
        return records[0] if looks_like(records) else None


def _facts(record: Mapping[str, Any], agent: Mapping[str, Any]) -> dict[str, Any]:
    facts = {
        "agent_version": text_field(agent, "version"),
        "notes": text_field(record, "notes"),
        "extra": dict(mapping_field(record, "extra")) or None,
        "continued_in": text_field(record, "continued_trajectory_ref"),
    }
    return {name: value for name, value in facts.items() if value is not None}


def _role(step: Mapping[str, Any]) -> str:
    return {"agent": "assistant", "user": "user"}.get(str(step.get("source")), "system")


def _results(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    results = list_field(mapping_field(step, "observation"), "results")
    return [result for result in results if isinstance(result, Mapping)]


def _content(content: Any) -> Any:
    """A result's content: one text where all its parts are text, else the parts."""
    parts = content if isinstance(content, list) else []
    if parts and all(isinstance(part, Mapping) and part.get("type") == "text" for part in parts):
        return text_in(parts)
    return content


def _usage(metrics: Mapping[str, Any]) -> dict[str, Any] | None:
    usage: dict[str, Any] = {
        word: metrics[name] for name, word in _COUNTS.items() if is_whole(metrics.get(name))
    }
    if {"input_tokens", "output_tokens"} <= usage.keys():
        usage["total_tokens"] = usage["input_tokens"] + usage["output_tokens"]
    extra = mapping_field(metrics, "extra")
    for word in ("reasoning_tokens", "cache_write_tokens", "cache_write_1h_tokens"):
        if is_whole(extra.get(word)):
            usage[word] = extra[word]
    if is_number(metrics.get("cost_usd")):
        usage["cost"] = metrics["cost_usd"]
    return usage or None
