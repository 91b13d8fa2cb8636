"""The token counts of a model's reply, in the same words for every provider."""

from __future__ import annotations

from typing import Any

from agenttrace.core.hosted_calls import part
from agenttrace.core.numbers import is_whole

# Where OpenAI's two APIs, Anthropic's and LangChain write each count; the first place that holds one counts.
_PLACES = {
    "input_tokens": (("input_tokens",), ("prompt_tokens",)),
    "output_tokens": (("output_tokens",), ("completion_tokens",)),
    "total_tokens": (("total_tokens",),),
    "cache_read_tokens": (
        ("cache_read_input_tokens",),
        ("prompt_tokens_details", "cached_tokens"),
        ("input_tokens_details", "cached_tokens"),
        ("input_token_details", "cache_read"),
    ),
    "cache_write_tokens": (("cache_creation_input_tokens",), ("input_token_details", "cache_creation")),
    "cache_write_1h_tokens": (("cache_creation", "ephemeral_1h_input_tokens"),),
    "reasoning_tokens": (
        ("completion_tokens_details", "reasoning_tokens"),
        ("output_tokens_details", "reasoning_tokens"),
        ("output_token_details", "reasoning"),
    ),
}
_BESIDE_INPUT = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Anthropic counts these beside ``input_tokens``, the others and OpenTelemetry's conventions inside them."""


def read_usage(usage: Any) -> dict[str, int]:
    """Return the counts of a reply's usage in the words of `Span.usage`, without what is absent or no count.

    ``input_tokens`` are all of them, cached ones included. ``cache_write_1h_tokens`` are those among
    ``cache_write_tokens`` that stay for an hour, at another price.
    """
    counts = {}
    for word, places in _PLACES.items():
        count = next((count for place in places if (count := count_of(usage, *place)) is not None), None)
        if count is not None and (count or word != "cache_write_1h_tokens"):
            counts[word] = count
    if "input_tokens" in counts:
        counts["input_tokens"] += sum(count_of(usage, name) or 0 for name in _BESIDE_INPUT)
        if "output_tokens" in counts:
            counts.setdefault("total_tokens", counts["input_tokens"] + counts["output_tokens"])
    return counts


def count_of(whole: Any, *path: str) -> int | None:
    """Return a count in a reply by its path, or None where it is absent."""
    for name in path:
        whole = part(whole, name)
    return whole if is_whole(whole) and whole < 1 << 53 else None
