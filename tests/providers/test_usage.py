"""Token counts as each provider writes them."""

from types import SimpleNamespace

import pytest

from agenttrace.providers.usage import read_usage

EXPECTED = {
    "input_tokens": 1000,
    "output_tokens": 100,
    "total_tokens": 1100,
    "cache_read_tokens": 400,
    "reasoning_tokens": 30,
}
WRITTEN = {**EXPECTED, "cache_write_tokens": 200}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 1000,
                "completion_tokens": 100,
                "total_tokens": 1100,
                "prompt_tokens_details": {"cached_tokens": 400},
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            EXPECTED,
        ),
        (
            {
                "input_tokens": 1000,
                "output_tokens": 100,
                "total_tokens": 1100,
                "input_tokens_details": {"cached_tokens": 400},
                "output_tokens_details": {"reasoning_tokens": 30},
            },
            EXPECTED,
        ),
        (
            {
                "input_tokens": 1000,
                "output_tokens": 100,
                "total_tokens": 1100,
                "input_token_details": {"cache_read": 400, "cache_creation": 200},
                "output_token_details": {"reasoning": 30},
            },
            WRITTEN,
        ),
        (
            {
                "input_tokens": 400,
                "output_tokens": 100,
                "cache_read_input_tokens": 400,
                "cache_creation_input_tokens": 200,
                "cache_creation": {"ephemeral_5m_input_tokens": 50, "ephemeral_1h_input_tokens": 150},
            },
            {
                "input_tokens": 1000,
                "output_tokens": 100,
                "total_tokens": 1100,
                "cache_read_tokens": 400,
                "cache_write_tokens": 200,
                "cache_write_1h_tokens": 150,
            },
        ),
    ],
    ids=["chat completions", "responses", "LangChain", "Anthropic: cached tokens beside the input"],
)
def test_every_provider_s_counts_are_read_in_the_same_words(usage, expected):
    assert read_usage(usage) == expected
    assert read_usage(SimpleNamespace(**usage)) == expected


@pytest.mark.parametrize(
    "usage", [None, "many", [], {}, {"input_tokens": "5"}, {"input_tokens": True}, {"input_tokens": -1}]
)
def test_what_is_no_count_is_left_out(usage):
    assert read_usage(usage) == {}
