"""What a model's reply costs: by the user's own prices, else by the published ones of ``genai-prices``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from agenttrace.core.errors import ConfigError
from agenttrace.core.numbers import is_number


class Price(NamedTuple):
    """US dollars for a million tokens; None for a cache means the price of other input."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


Prices = Mapping[str, Price | tuple[float, float]]
"""Prices by model: ``{"my-model": (0.5, 1.5)}``, input first."""

_SET: dict[str, Price] = {}
_RELEASE = re.compile(r"[-@](latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{4})$")


def set_price(
    model: str,
    *,
    input: float,  # noqa: A002 - the field's own word
    output: float,
    cache_read: float | None = None,
    cache_write: float | None = None,
) -> None:
    """Set a model's price in this process: US dollars for a million tokens, 0 for a model of your own.

    Cached tokens without a price of their own cost as much as other input.

    Raises:
        ConfigError: a price is not a number, or negative, or not finite.
    """
    _SET[model] = _checked(model, (input, output, cache_read, cache_write))


def checked_prices(prices: Prices | None) -> dict[str, Price]:
    """Return the user's own prices, checked.

    Raises:
        ConfigError: they are not a mapping of model names to two to four numbers from 0.
    """
    import genai_prices  # noqa: F401 - a third of a second, spent here and not in the first recorded call

    if prices is None:
        return {}
    if not isinstance(prices, Mapping):
        raise ConfigError(
            f"prices map a model to its price, got {prices!r}; write {{'my-model': (0.5, 1.5)}}"
        )
    return {model: _checked(model, price) for model, price in prices.items()}


def _checked(model: object, price: object) -> Price:
    numbers = tuple(price) if isinstance(price, tuple | list) else ()
    right = all(is_number(n) and 0 <= n < float("inf") for n in numbers if n is not None)
    if not isinstance(model, str) or not 2 <= len(numbers) <= 4 or None in numbers[:2] or not right:
        raise ConfigError(
            f"the price of {model!r} is (input, output), each 0 or more dollars for a million "
            f"tokens, got {price!r}"
        )
    return Price(*numbers)


def cost_of(
    model: str | None,
    usage: Mapping[str, int],
    prices: Mapping[str, Price] | None = None,
    *,
    requested: str | None = None,
) -> float | None:
    """Return the cost of a reply in US dollars, or None (never 0) where the price or the usage is not known.

    `model` is the name that the reply gives, `requested` the one that was asked for. The user's `prices`,
    then those of `set_price`, apply to either name, with or without its release date. Published prices apply
    to `model` as it is, because another model may have answered; without one, to `requested`.
    """
    input_tokens, output_tokens = usage.get("input_tokens"), usage.get("output_tokens")
    cached = usage.get("cache_read_tokens", 0) + usage.get("cache_write_tokens", 0)
    if input_tokens is None or output_tokens is None or cached > input_tokens:
        return None
    names = [name for name in (model, requested) if isinstance(name, str) and name]
    names = [variant for name in names for variant in (name, _RELEASE.sub("", name))]
    own = next((table[name] for table in (prices or {}, _SET) for name in names if name in table), None)
    if own is not None:
        return _own_cost(own, usage)
    return _published_cost(names[0], usage) if names else None


def _own_cost(price: Price, usage: Mapping[str, int]) -> float:
    cache_read, cache_write = usage.get("cache_read_tokens", 0), usage.get("cache_write_tokens", 0)
    cost = price.input * (usage["input_tokens"] - cache_read - cache_write)
    cost += price.output * usage["output_tokens"]
    cost += cache_read * (price.input if price.cache_read is None else price.cache_read)
    cost += cache_write * (price.input if price.cache_write is None else price.cache_write)
    return cost / 1_000_000


_PRICED = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
)


def _published_cost(model: str, usage: Mapping[str, int]) -> float | None:
    from genai_prices import (  # with pydantic and an HTTP client that it uses on request only
        Usage,
        calc_price,
    )

    if ":" in model:  # Ollama's tag: weights that run here, under the name of a model that is sold elsewhere
        return None
    try:
        result = calc_price(Usage(**{word: usage.get(word, 0) for word in _PRICED}), model)
    except (LookupError, ValueError, ArithmeticError):  # not a listed name; counts that contradict each other
        return None
    price = result.model_price
    if price.input_mtok is None or (price.output_mtok is None and usage["output_tokens"]):
        return None  # sold by the minute or the picture
    return float(result.total_price)
