"""The list prices of models, in US dollars for a million tokens."""

from __future__ import annotations

import re
from typing import NamedTuple

from agenttrace.core.errors import ConfigError


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input: float
    output: float


# List prices as the providers published them in late 2025. They change: `set_price` overrides.
_PRICES: dict[str, Price] = {
    "claude-3-5-haiku": Price(0.80, 4.00),
    "claude-3-7-sonnet": Price(3.00, 15.00),
    "claude-haiku-4-5": Price(1.00, 5.00),
    "claude-opus-4-1": Price(15.00, 75.00),
    "claude-opus-4-5": Price(5.00, 25.00),
    "claude-sonnet-4": Price(3.00, 15.00),
    "claude-sonnet-4-5": Price(3.00, 15.00),
    "gemini-2.5-flash": Price(0.30, 2.50),
    "gemini-2.5-flash-lite": Price(0.10, 0.40),
    "gemini-2.5-pro": Price(1.25, 10.00),
    "gpt-3.5-turbo": Price(0.50, 1.50),
    "gpt-4-turbo": Price(10.00, 30.00),
    "gpt-4.1": Price(2.00, 8.00),
    "gpt-4.1-mini": Price(0.40, 1.60),
    "gpt-4.1-nano": Price(0.10, 0.40),
    "gpt-4o": Price(2.50, 10.00),
    "gpt-4o-mini": Price(0.15, 0.60),
    "gpt-5": Price(1.25, 10.00),
    "gpt-5-mini": Price(0.25, 2.00),
    "gpt-5-nano": Price(0.05, 0.40),
    "o3": Price(2.00, 8.00),
    "o3-mini": Price(1.10, 4.40),
    "o4-mini": Price(1.10, 4.40),
}

_RELEASE = re.compile(r"-(latest|\d{8}|\d{4}-\d{2}-\d{2})$")


def set_price(model: str, *, input: float, output: float) -> None:  # noqa: A002 - the field's own word
    """Set a model's price in this process: US dollars for a million tokens, 0 for a model of your own.

    Raises:
        ConfigError: a price is not a number, or negative, or not finite.
    """
    for value in (input, output):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value < float("inf"):
            raise ConfigError(f"the price of {model!r} must be 0 or more dollars, got {value!r}")
    _PRICES[model] = Price(input, output)


def price_of(model: str) -> Price | None:
    """Return the price of a model by its exact name, or by its name without a release date; None if unknown.

    ``gpt-4.1-2025-04-14`` is ``gpt-4.1``; ``gpt-4.1-turbo`` is not known.
    """
    return _PRICES.get(model) or _PRICES.get(_RELEASE.sub("", model))


def cost_of(model: str, input_tokens: int | None, output_tokens: int | None) -> float | None:
    """Return the cost in US dollars, or None where the price or the usage is not known."""
    price = price_of(model)
    if price is None or input_tokens is None or output_tokens is None:
        return None
    return (price.input * input_tokens + price.output * output_tokens) / 1_000_000
