"""What tokens cost: the user's prices, else the published ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.providers import prices
from agenttrace.providers.prices import Price, cost_of, set_price

TOKENS = {"input_tokens": 1_000_000, "output_tokens": 500_000}


@pytest.fixture(autouse=True)
def _own_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "_SET", {})


def test_cost_is_dollars_for_a_million_tokens() -> None:
    assert cost_of("gpt-4.1", TOKENS) == pytest.approx(2.0 + 4.0)
    assert cost_of("gpt-4.1", {"output_tokens": 5}) is None
    assert cost_of(None, TOKENS) is None


@pytest.mark.parametrize(
    ("dated", "name"),
    [
        ("gpt-4.1-2025-04-14", "gpt-4.1"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
    ],
)
def test_a_dated_name_has_the_price_of_its_model(dated: str, name: str) -> None:
    assert cost_of(dated, TOKENS) == cost_of(name, TOKENS) is not None


def test_a_release_with_a_price_of_its_own_has_that_price() -> None:
    assert cost_of("gpt-4o-2024-05-13", TOKENS) == pytest.approx(5 + 7.5)
    assert cost_of("gpt-4o-2024-08-06", TOKENS) == pytest.approx(2.5 + 5)


@pytest.mark.parametrize("name", ["gpt-4.1-turbo", "gpt-99", "my-model", "", "deepseek-r1:8b", "whisper-1"])
def test_what_is_not_sold_by_tokens_under_this_very_name_has_no_cost(name: str) -> None:
    assert cost_of(name, TOKENS) is None


def test_a_model_that_answered_for_another_is_not_given_the_other_s_published_price() -> None:
    assert cost_of("my-model", TOKENS, requested="gpt-4.1") is None
    assert cost_of(None, TOKENS, requested="gpt-4.1") == cost_of("gpt-4.1", TOKENS)


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("gpt-4o", {"cache_read_tokens": 400}, 600 * 2.5 + 400 * 1.25),
        ("claude-sonnet-4-5", {"cache_read_tokens": 400}, 600 * 3 + 400 * 0.3),
        ("claude-sonnet-4-5", {"cache_write_tokens": 400}, 600 * 3 + 400 * 3.75),
        (
            "claude-sonnet-4-5",
            {"cache_write_tokens": 400, "cache_write_1h_tokens": 100},
            600 * 3 + 300 * 3.75 + 100 * 6,
        ),
    ],
)
def test_cached_tokens_have_their_own_price(model: str, usage: dict[str, int], dollars: float) -> None:
    cost = cost_of(model, {"input_tokens": 1000, "output_tokens": 0, **usage})
    assert cost == pytest.approx(dollars / 1e6)


def test_counts_that_contradict_each_other_have_no_cost() -> None:
    impossible = {"input_tokens": 10, "output_tokens": 1, "cache_read_tokens": 11}
    assert cost_of("gpt-4o", impossible) is None
    assert cost_of("mine", impossible, {"mine": Price(1, 1)}) is None


def test_the_user_s_prices_come_first_by_either_name_with_or_without_its_date() -> None:
    own = {"gpt-4.1": Price(1, 2)}
    assert cost_of("gpt-4.1-2025-04-14", TOKENS, own) == 2
    assert cost_of("weights.gguf", TOKENS, own, requested="gpt-4.1") == 2
    set_price("gpt-4.1", input=0, output=4)
    assert cost_of("gpt-4.1", TOKENS) == 2
    assert cost_of("gpt-4.1", TOKENS, {"gpt-4.1": Price(0, 0)}) == 0


def test_a_price_can_be_set_with_one_for_cached_tokens() -> None:
    usage = {"input_tokens": 1_000_000, "output_tokens": 0, "cache_read_tokens": 1_000_000}
    set_price("my-model", input=1, output=2)
    assert cost_of("my-model", usage) == 1
    set_price("my-model", input=1, output=2, cache_read=0.5)
    assert cost_of("my-model", usage) == 0.5


@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf"), "1", None, True])
def test_a_price_that_is_none_is_an_error(bad: object) -> None:
    with pytest.raises(ConfigError, match="0 or more dollars"):
        set_price("my-model", input=bad, output=1)  # type: ignore[arg-type]


def test_published_prices_are_read_without_the_network_or_a_thread() -> None:
    """The library can fetch newer prices; it does so only where the user starts that."""
    code = (
        "import sys, threading\n"
        "import genai_prices\n"
        "seen = []\n"
        "sys.addaudithook(lambda event, _: seen.append(event) if event.startswith('socket.') else None)\n"
        "from agenttrace.providers.prices import cost_of\n"
        "assert cost_of('gpt-4o', {'input_tokens': 1, 'output_tokens': 1})\n"
        "assert cost_of('nobody-s', {'input_tokens': 1, 'output_tokens': 1}) is None\n"
        "print(seen, threading.active_count())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("[] 1", "")
