"""LangChain's messages, answers and documents as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core.hosted_calls import part
from agenttrace.core.json_reader import json_or_literal
from agenttrace.providers.answer import Answer, Choice, Text, parts, text_of
from agenttrace.providers.usage import read_usage

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


class ToolFailed(Exception):
    """The failure of a tool that became an answer to the model."""


def plain_messages(question: dict[str, Any]) -> dict[str, Any]:
    """Return a model's input: one conversation as its list of messages, several as a list of such lists."""
    if "prompts" in question:
        return question
    conversations = [
        [plain_message(message) for message in conversation] for conversation in question["messages"] or []
    ]
    return {"messages": conversations[0] if len(conversations) == 1 else conversations}


def plain_message(message: Any) -> Any:
    """Return a message by its role, content and tool calls."""
    kind = text_of(message, "type")
    if not kind:
        return message
    fields: dict[str, Any] = {"role": _ROLES.get(kind, kind), "content": part(message, "content")}
    if parts(message, "tool_calls"):
        fields["tool_calls"] = [_call(call) for call in parts(message, "tool_calls")]
    for name in ("tool_call_id", "name", "status"):
        if part(message, name):
            fields[name] = part(message, name)
    return fields


def plain_state(state: Any) -> Any:
    """Return a graph's state with its lists of messages as plain data; anything else as it is."""
    if type(state) is not dict:
        return state
    return {key: _plain_list(value) for key, value in state.items()}


def _plain_list(value: Any) -> Any:
    if type(value) is not list or not all(
        hasattr(item, "content") and hasattr(item, "type") for item in value
    ):
        return value
    return [plain_message(item) for item in value]


def plain_documents(documents: Any) -> Any:
    """Return documents by their content and metadata."""
    if not isinstance(documents, list | tuple):
        return documents
    return [{"content": part(d, "page_content"), "metadata": part(d, "metadata")} for d in documents]


def tool_output(output: Any) -> tuple[Any, ToolFailed | None]:
    """Return a tool's output (of a message its content), and its failure or None."""
    if text_of(output, "type") != "tool":
        return output, None
    content = part(output, "content")
    is_error = part(output, "status") == "error"
    return content, ToolFailed(content if isinstance(content, str) else repr(content)) if is_error else None


class AnswerReader:
    """Reads LangChain's ``LLMResult``, and the tokens or chunks that come before it."""

    def __init__(self) -> None:
        self._answer = Answer()
        self._text = Text()

    def reply(self, reply: Any) -> None:
        """Take the whole answer."""
        generations = [generation for several in parts(reply, "generations") for generation in several]
        llm_output = part(reply, "llm_output") or {}
        self._answer = answer = Answer(
            model=text_of(llm_output, "model_name") or text_of(llm_output, "model") or None
        )
        for generation in generations:
            message = part(generation, "message")
            about = part(message, "response_metadata") or part(generation, "generation_info") or {}
            answer.choices.append(_choice(generation, message, about))
            answer.model = text_of(about, "model_name") or text_of(about, "model") or answer.model
            answer.id = text_of(about, "id") or answer.id
            answer.usage = read_usage(part(message, "usage_metadata")) or answer.usage
        answer.usage = answer.usage or read_usage(part(llm_output, "token_usage"))

    def item(self, item: Any) -> bool:
        """Take a token, or a chunk that holds one."""
        if isinstance(item, str):
            return self._text.add(item)
        has_text = self._text.add(part(item, "text"))
        return has_text or bool(parts(part(item, "message"), "tool_call_chunks"))

    def answer(self) -> Answer:
        """Return the answer as far as it was read."""
        if not self._answer.choices and str(self._text):
            return Answer(choices=[Choice(text=str(self._text))])
        return self._answer


def _choice(generation: Any, message: Any, about: Any) -> Choice:
    text, reasoning = _texts(part(message, "content"))
    return Choice(
        text=text or text_of(generation, "text"),
        tool_calls=[_call(call) for call in parts(message, "tool_calls")]
        + [_call(call) for call in parts(message, "invalid_tool_calls")],
        finish_reason=text_of(about, "finish_reason") or text_of(about, "stop_reason") or None,
        reasoning=reasoning or text_of(part(message, "additional_kwargs"), "reasoning_content"),
        refusal=text_of(part(message, "additional_kwargs"), "refusal"),
    )


def _texts(content: Any) -> tuple[str, str]:
    """Return the text and the reasoning in a message's content, which is a text or a list of blocks."""
    if isinstance(content, str):
        return content, ""
    text = reasoning = ""
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            text += block
        elif part(block, "type") == "text":
            text += text_of(block, "text")
        else:
            reasoning += text_of(block, "thinking") or text_of(block, "reasoning")
    return text, reasoning


def _call(call: Any) -> dict[str, Any]:
    return {"id": part(call, "id"), "name": part(call, "name"), "arguments": part(call, "args")}


def arguments_of(inputs: Any, text: Any) -> dict[str, Any]:
    """Return a mapping of arguments: `inputs`, else those in `text`, else the text as ``input``."""
    if isinstance(inputs, Mapping):
        return {str(name): value for name, value in inputs.items()}
    if not isinstance(text, str):
        return {"input": text}
    value = json_or_literal(text)
    if isinstance(value, dict):
        return {str(name): item for name, item in value.items()}
    return {"input": text}
