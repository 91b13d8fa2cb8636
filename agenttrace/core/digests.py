"""Digests by which a value that was not kept can still be compared with a whole one.

Of what is cut, a plain digest stands in its mark (`marks.cut`): it is only made of what holds no secret. Of a
secret, a digest keyed with a number of this process stays beside the mark, in memory: it is neither stored
nor exported, and nothing can be learned from it in another process. Only the workers of an evaluation share
the number of the process that asks them, and give it their digests. Both are BLAKE2b of 16 bytes (RFC
7693).
"""

from __future__ import annotations

import os
from typing import Any

from agenttrace.core.jsonable import clean_text
from agenttrace.core.marks import cause_within
from agenttrace.core.value_key import value_key

_SIZE = 16
_KEY = os.urandom(32)


def secret_key() -> bytes:
    """The number that digests of secrets are keyed with in this process."""
    return _KEY


def share_secret_key(key: bytes) -> None:
    """Key digests as the process does whose work this one does from now on."""
    global _KEY
    _KEY = key


def digest_of(content: str | bytes) -> str:
    """The digest of a text, or of bytes, as 32 hex digits."""
    from hashlib import blake2b  # on the worker: the program's start need not wait for it

    data = content if isinstance(content, bytes) else clean_text(content).encode()
    return blake2b(data, digest_size=_SIZE).hexdigest()


def secret_digest(value: Any) -> bytes | None:
    """The keyed digest of a value, equal for two that agree; None where the value is not known whole."""
    from hashlib import blake2b

    if cause_within(value) is not None:
        return None
    return blake2b(value_key(value).encode(), digest_size=_SIZE, key=_KEY).digest()
