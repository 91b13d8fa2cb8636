"""Names of two words before a colon that end in *code*: ``verification code: …``, ``mot de passe : …``."""

from __future__ import annotations

import re
from collections.abc import Collection

from agenttrace.redaction.name_before import WINDOW
from agenttrace.redaction.naming import Names

OF_CODES = frozenset({"code", "Code", "CODE", "passe", "accesso", "acceso", "acesso", "المرور", "السر"})
"""What such a name ends with."""
_NAME_OF_CODE = (
    r"(?:(\w[\w-]*)[ \t]+(?i:code)|\b(?:[Mm]ot[ ]de[ ]passe|[Pp]assword[ ]di[ ]accesso"
    r"|[Cc]ontrase[nñ]a[ ]de[ ]acceso|[Ss]enha[ ]de[ ]acesso|كلمة[ ](?:المرور|السر)))[*`]*[ \t\u00a0]*"
)
_CODE = re.compile(rf"{_NAME_OF_CODE}\Z")
_CODES = re.compile(f"{_NAME_OF_CODE}:")
"""``verification code: …``, ``mot de passe : …``: such a name is of several words."""


def holds_code(text: str, named: Collection[str], names: Names) -> bool:
    """Returns True if a secret's name of two words, ``verification code``, stands before a colon; `named` are
    the names before one."""
    return not OF_CODES.isdisjoint(named) and any(
        names.is_secret(_name(one)) for one in _CODES.finditer(text)
    )


def name_of_code(text: str, place: int) -> str:
    """The name of two words before a colon at a place; an empty one for none."""
    of_code = _CODE.search(text, max(0, place - WINDOW), place)
    return _name(of_code) if of_code else ""


def _name(match: re.Match[str]) -> str:
    return f"{match[1]}_code" if match[1] else "mot_de_passe"
