"""A skill that an agent loads is a call, named after the skill: ``skill:refunds``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

PREFIX = "skill:"
_LOADERS = frozenset({"Skill", "skill", "load_skill", "activate_skill"})
_NAMES = ("skill", "skill_name", "command", "name")
_INJECTED = re.compile(r"\s*<skill>\s*<name>([^<]{1,200})</name>", re.DOTALL)


def skill_name(tool: Any, arguments: Any) -> str | None:
    """The name of the call where the tool is one that loads a skill, else None."""
    if not isinstance(tool, str) or tool not in _LOADERS or not isinstance(arguments, Mapping):
        return None
    name = next((arguments[key] for key in _NAMES if isinstance(arguments.get(key), str)), None)
    return f"{PREFIX}{name.strip().removeprefix('/')}" if name and name.strip() else None


def injected_skill(text: str) -> str | None:
    """The name of the call where a message holds a skill that the user asked for (Codex), else None."""
    match = _INJECTED.match(text)
    return None if match is None else f"{PREFIX}{match[1].strip()}"
