"""Reads the answers of Gemini's ``generateContent``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agenttrace.core.hosted_calls import HostedCall, HostedStatus, part
from agenttrace.core.json_reader import lenient_json
from agenttrace.core.marks import not_read
from agenttrace.core.numbers import is_whole
from agenttrace.providers.answer import Answer, Choice, Text, parts, text_of
from agenttrace.providers.usage import count_of

_COUNTS = {
    "input_tokens": ("promptTokenCount", "toolUsePromptTokenCount"),
    "output_tokens": ("candidatesTokenCount", "thoughtsTokenCount"),
    "total_tokens": ("totalTokenCount",),
    "cache_read_tokens": ("cachedContentTokenCount",),
    "reasoning_tokens": ("thoughtsTokenCount",),
}
"""Thoughts are counted beside the answer, a tool's prompt beside the user's."""


class GeminiReader:
    """An answer: whole, or in chunks. Each is the JSON, or the client's response with the JSON as its body.

    Searches that the answer is grounded in, code that it ran and pages that it read are hosted calls.
    """

    def __init__(self) -> None:
        self._id: str | None = None
        self._model: str | None = None
        self._usage: dict[str, int] = {}
        self._candidates: dict[int, _Candidate] = {}

    def reply(self, reply: Any) -> None:
        """Take a whole answer."""
        self.item(reply)

    def item(self, item: Any) -> bool:
        """Take one chunk."""
        body = item if isinstance(item, Mapping) else part(item, "body")
        chunk = lenient_json(body) if isinstance(body, str | bytes) and body else body
        self._id = text_of(chunk, "responseId") or self._id
        self._model = text_of(chunk, "modelVersion") or self._model
        self._usage = _usage(part(chunk, "usageMetadata")) or self._usage
        has_content = False
        for place, candidate in enumerate(parts(chunk, "candidates")):
            index = count_of(candidate, "index")
            key = place if index is None else index
            has_content |= self._candidates.setdefault(key, _Candidate()).add(candidate)
        blocked = text_of(part(chunk, "promptFeedback"), "blockReason")
        if blocked:
            self._candidates.setdefault(0, _Candidate()).finish_reason = blocked
        return has_content

    def answer(self) -> Answer:
        """Return the answer as far as it was read."""
        choices = [self._candidates[index].whole() for index in sorted(self._candidates)]
        return Answer(self._id, self._model, choices, self._usage)


def _usage(counts: Any) -> dict[str, int]:
    usage = {}
    for word, names in _COUNTS.items():
        known = [count for name in names if is_whole(count := part(counts, name))]
        if known:
            usage[word] = sum(known)
    return usage


class _Candidate:
    """One answer of possibly several, whose parts may arrive in chunks."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._text, self._reasoning = Text(), Text()
        self._calls: list[dict[str, Any]] = []
        self._code: list[tuple[Any, Any]] = []
        self._grounding: Any = None
        self._pages: list[Any] = []

    def add(self, candidate: Any) -> bool:
        self.finish_reason = text_of(candidate, "finishReason") or self.finish_reason
        self._grounding = part(candidate, "groundingMetadata") or self._grounding
        self._pages = parts(part(candidate, "urlContextMetadata"), "urlMetadata") or self._pages
        pieces = parts(part(candidate, "content"), "parts")
        for piece in pieces:
            (self._reasoning if part(piece, "thought") is True else self._text).add(part(piece, "text"))
            asked = part(piece, "functionCall")
            if asked is not None:
                arguments = part(asked, "args")
                self._calls.append(
                    {
                        "id": part(asked, "id"),
                        "name": part(asked, "name"),
                        "arguments": {} if arguments is None else arguments,
                    }
                )
            if part(piece, "executableCode") is not None:
                self._code.append((part(piece, "executableCode"), None))
            elif part(piece, "codeExecutionResult") is not None and self._code:
                self._code[-1] = (self._code[-1][0], part(piece, "codeExecutionResult"))
        return bool(pieces)

    def whole(self) -> Choice:
        return Choice(
            str(self._text),
            list(self._calls),
            self.finish_reason,
            str(self._reasoning),
            hosted_calls=[*self._searches(), *self._read_pages(), *self._executions()],
        )

    def _searches(self) -> Iterator[HostedCall]:
        queries = parts(self._grounding, "webSearchQueries")
        if queries:
            pages = [
                page for chunk in parts(self._grounding, "groundingChunks") if (page := part(chunk, "web"))
            ]
            yield HostedCall(name="google_search", arguments={"queries": queries}, output=pages or not_read())

    def _read_pages(self) -> Iterator[HostedCall]:
        for page in self._pages:
            status = text_of(page, "urlRetrievalStatus")
            failed = bool(status) and not status.endswith("SUCCESS")
            yield HostedCall(
                name="url_context",
                arguments={"url": part(page, "retrievedUrl")},
                output=None if failed else not_read(),
                error=status if failed else None,
                status="error" if failed else "ok",
            )

    def _executions(self) -> Iterator[HostedCall]:
        for code, result in self._code:
            arguments = {name: value for name in ("language", "code") if (value := part(code, name))}
            outcome, output = text_of(result, "outcome"), part(result, "output")
            failed = bool(outcome) and not outcome.endswith("_OK")
            status: HostedStatus = "error" if failed else "ok"
            if result is None:
                output = not_read()
                status = "ok" if self.finish_reason else "abandoned"
            yield HostedCall(
                name="code_execution",
                arguments=arguments,
                output=None if failed else output,
                error=str(output or outcome) if failed else None,
                status=status,
            )
