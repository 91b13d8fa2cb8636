"""Sessions that agents wrote down themselves, as traces: ATIF, Claude Code, Codex; a trace as ATIF."""

from agenttrace.transcripts.atif_writing import trace_to_atif
from agenttrace.transcripts.reading import Format, format_of, traces_from_transcript

__all__ = ["Format", "format_of", "trace_to_atif", "traces_from_transcript"]
