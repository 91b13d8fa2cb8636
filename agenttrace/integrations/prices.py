"""The cost of a call to a model, with cached tokens at their own price."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from agenttrace.core.errors import ConfigError
from agenttrace.judges.models.prices import price_of


class Price(NamedTuple):
    """US dollars for a million tokens; None for a cache means the price of other input."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


Prices = Mapping[str, Price | tuple[float, float]]
"""Prices by model: ``{"my-model": (0.5, 1.5)}``, input first."""

_RELEASE = re.compile(r"[-@](latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{4})$")

# The prices of reading and of writing a cache, as a share of the price of input.
_CACHED = (
    ("gpt-4o", 0.5, 1.0),
    ("gpt-4.1", 0.25, 1.0),
    ("gpt-5", 0.1, 1.0),
    ("o3-mini", 0.5, 1.0),
    ("o3", 0.25, 1.0),
    ("o4", 0.25, 1.0),
    ("claude", 0.1, 1.25),
)


def checked_prices(prices: Prices | None) -> dict[str, Price]:
    """Return the user's own prices, checked.

    Raises:
        ConfigError: they are not a mapping of model names to two to four numbers from 0.
    """
    if prices is None:
        return {}
    if not isinstance(prices, Mapping):
        raise ConfigError(
            f"prices map a model to its price, got {prices!r}; write {{'my-model': (0.5, 1.5)}}"
        )
    return {model: _checked(model, price) for model, price in prices.items()}


def _checked(model: object, price: object) -> Price:
    numbers = tuple(price) if isinstance(price, tuple | list) else ()
    amounts = [n for n in numbers if n is not None]
    right = all(
        isinstance(n, int | float) and not isinstance(n, bool) and 0 <= n < float("inf") for n in amounts
    )
    if not isinstance(model, str) or not 2 <= len(numbers) <= 4 or None in numbers[:2] or not right:
        raise ConfigError(
            f"the price of {model!r} is (input, output) in US dollars for a million tokens, got {price!r}"
        )
    return Price(*numbers)


def cost_of(model: str | None, usage: Mapping[str, int], prices: Mapping[str, Price]) -> float | None:
    """Return the cost in US dollars, or None (never 0) where the price or the usage is not known.

    The user's own `prices` come first, then the list prices of `agenttrace.judges` with what
    `agenttrace.judges.set_price` changed; by the exact name, or the name without its release date.
    """
    input_tokens, output_tokens = usage.get("input_tokens"), usage.get("output_tokens")
    if not model or input_tokens is None or output_tokens is None:
        return None
    price = prices.get(model) or prices.get(_RELEASE.sub("", model)) or _listed(model)
    if price is None:
        return None
    cache_read, cache_write = usage.get("cache_read_tokens", 0), usage.get("cache_write_tokens", 0)
    cost = price.input * (input_tokens - cache_read - cache_write) + price.output * output_tokens
    cost += cache_read * (price.input if price.cache_read is None else price.cache_read)
    cost += cache_write * (price.input if price.cache_write is None else price.cache_write)
    return cost / 1_000_000


def _listed(model: str) -> Price | None:
    listed = price_of(model) or price_of(_RELEASE.sub("", model))
    if listed is None:
        return None
    for family, read_share, write_share in _CACHED:
        if model.startswith(family):
            return Price(listed.input, listed.output, listed.input * read_share, listed.input * write_share)
    return Price(listed.input, listed.output)
