"""`traces_from_transcript`: the traces of a session that an agent wrote down itself, in any known format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from agenttrace.core.errors import ConfigError, DatasetError, did_you_mean
from agenttrace.core.trace import Trace
from agenttrace.transcripts import atif, chat_messages, claude_code, codex
from agenttrace.transcripts.records import Records, Source, read_records

Format = Literal["atif", "claude_code", "codex", "messages"]

_READERS: Mapping[
    Format, tuple[Callable[[Sequence[Mapping[str, Any]]], bool], Callable[[Records], list[Trace]]]
] = {
    "atif": (atif.looks_like, atif.traces_in),
    "claude_code": (claude_code.looks_like, claude_code.traces_in),
    "codex": (codex.looks_like, codex.traces_in),
    "messages": (chat_messages.looks_like, chat_messages.traces_in),
}


def traces_from_transcript(source: Source, format: Format | Literal["auto"] = "auto") -> list[Trace]:  # noqa: A002 - the option's word
    """Read the sessions in a transcript: one trace each, with the agent as its root.

    Below it are the model's answers, the tool calls, and sub-agents inside the calls that started them. A
    skill that was loaded is a call (``skill:refunds``); one that was asked for and refused is *attempted*,
    one of which nothing is known *requested*. A call that nothing answers is *requested*. Lines that cannot
    be read, such as the last one of a session that was interrupted, are counted in
    ``trace.metadata["unreadable_lines"]``; nothing else is lost. Nothing is redacted.

    Args:
        source: A file's path, or its lines (texts, bytes or mappings), or a trajectory as a mapping. Files of
            sub-agents are found beside a file, not beside lines.
        format: *atif* (Harbor's trajectories), *claude_code*, *codex*, *messages* (objects with
            ``messages``, as `Trace.from_messages` takes them); *auto* tells by the content.

    Raises:
        DatasetError: the file cannot be read, or is no transcript of the format; it names path and field.
        ConfigError: there is no such format.
    """
    if format != "auto" and format not in _READERS:
        known = ("auto", *get_args(Format))
        raise ConfigError(f"there is no format {format!r} of transcripts{did_you_mean(str(format), known)}")
    records = read_records(source)
    name = _looks_like(records) if format == "auto" else format
    if name is None:
        raise DatasetError(
            "this is no transcript of ATIF, of Claude Code or of Codex, and no log of messages",
            path=records.path,
        )
    traces = _READERS[name][1](records)
    if not traces:
        if not _READERS[name][0](records.records):
            raise DatasetError(f"this is no transcript of the format {name!r}", path=records.path)
        raise DatasetError(
            "the transcript has settings, and no message of a user or a model", path=records.path
        )
    return traces


def format_of(source: Source) -> Format | None:
    """The format of a transcript; None where it is none that is known, or cannot be read."""
    try:
        return _looks_like(read_records(source))
    except DatasetError:
        return None


def _looks_like(records: Records) -> Format | None:
    return next((name for name, (looks_like, _) in _READERS.items() if looks_like(records.records)), None)
