"""Options that are on or off: a text such as ``"no"`` would count as on."""

from __future__ import annotations

from agenttrace.core.errors import ConfigError


def check_switches(**switches: bool) -> None:
    """Raise ConfigError for an option that is neither True nor False, naming it."""
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise ConfigError(f"{name} is True or False, got {value!r}")
