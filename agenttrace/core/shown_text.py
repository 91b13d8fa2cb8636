"""`ShownText`: a text that shows values, and can be written again without the secrets in them.

Once values are cut and stand in one text, nothing tells where a secret ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ShownText(str):
    """A text, and how it is written with a redaction. Copies in other processes are plain texts."""

    __slots__ = ("_rewrite", "is_redacted")
    is_redacted: bool
    _rewrite: Callable[[Any], ShownText]

    def __new__(
        cls, text: str, rewrite: Callable[[Any], ShownText], *, is_redacted: bool = False
    ) -> ShownText:
        """The text as it is; `rewrite` takes a redaction. `is_redacted`: it shows values that are."""
        self = super().__new__(cls, text)
        self._rewrite, self.is_redacted = rewrite, is_redacted
        return self

    def redacted(self, redaction: Any) -> ShownText:
        """The text that shows the redacted values."""
        return self._rewrite(redaction)

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str.__str__(self),)
