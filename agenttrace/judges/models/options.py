"""Options of a model that cannot work are refused when the model is made, not when it is first asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.numbers import is_finite


def check_options(name: Any, temperature: Any, timeout: Any, extra: Any) -> None:
    """Check what the models of all endpoints have in common.

    Raises:
        ConfigError: a name that is empty or no text, a temperature that is no number from 0, a timeout that
            is no number above 0, an `extra` that is no mapping.
    """
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"a model's name is a non-empty string, got {name!r}")
    if temperature is not None and not (is_finite(temperature) and temperature >= 0):
        raise ConfigError(f"temperature is a number from 0, or None, got {temperature!r}")
    if not (is_finite(timeout) and timeout > 0):
        raise ConfigError(f"timeout is a number of seconds above 0, got {timeout!r}")
    if extra is not None and not isinstance(extra, Mapping):
        raise ConfigError(f"extra is a mapping, got {extra!r}")
