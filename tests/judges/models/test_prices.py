"""What tokens cost."""

from __future__ import annotations

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.judges.models import prices


def test_a_dated_name_has_the_price_of_its_model() -> None:
    assert prices.price_of("gpt-4.1-2025-04-14") == prices.price_of("gpt-4.1")
    assert prices.price_of("claude-sonnet-4-5-20250929") == prices.price_of("claude-sonnet-4-5")
    assert prices.price_of("claude-3-7-sonnet-latest") == prices.price_of("claude-3-7-sonnet")


@pytest.mark.parametrize("name", ["gpt-4.1-turbo", "gpt-4", "my-model", ""])
def test_another_model_of_a_family_is_not_known(name: str) -> None:
    assert prices.cost_of(name, 1, 1) is None


def test_cost_is_dollars_for_a_million_tokens() -> None:
    assert prices.cost_of("gpt-4.1", 1_000_000, 500_000) == pytest.approx(2.0 + 4.0)
    assert prices.cost_of("gpt-4.1", None, 5) is None


def test_a_price_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "_PRICES", dict(prices._PRICES))
    prices.set_price("my-model", input=1, output=2)
    assert prices.cost_of("my-model", 1_000_000, 1_000_000) == 3
    for bad in (-1, float("nan"), float("inf"), "1", None, True):
        with pytest.raises(ConfigError, match="0 or more dollars"):
            prices.set_price("my-model", input=bad, output=1)
