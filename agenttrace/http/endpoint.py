"""An endpoint's settings, checked once: its API key, its base URL."""

from __future__ import annotations

from typing import final
from urllib.parse import SplitResult, urlsplit

from agenttrace.core.errors import ConfigError
from agenttrace.http.address import forbidden_peer


@final
class ApiKey:
    """A provider's key that no repr, log or pickle shows.

    Blanks and line ends around it are stripped: they come from files and copied text, and an HTTP library
    would print the whole header in its error.

    Raises:
        ConfigError: the key is empty, or has a character that no key has. The text names `source`, never the
            key.
    """

    __slots__ = ("_text", "source")

    def __init__(self, text: str, source: str = "api_key") -> None:
        key = text.strip()
        self.source = source
        if not key:
            raise ConfigError(f"{source} is empty; put the provider's key there")
        if not all("!" <= char <= "~" for char in key):
            raise ConfigError(
                f"{source} holds a character that no key has (blank, line end, non-ASCII); copy it again"
            )
        self._text = key

    def reveal(self) -> str:
        """The key itself, for a request's header and nothing else."""
        return self._text

    def mask(self, text: str) -> str:
        """Replace the key in a text by ``***``, in case an endpoint has echoed it."""
        return text.replace(self._text, "***")

    def __repr__(self) -> str:
        return f"<ApiKey from {self.source}>"

    def __reduce__(self) -> str:
        raise TypeError("an ApiKey is not pickled: read it from the environment where it is needed")


def checked_base_url(url: str, source: str = "base_url") -> str:
    """An endpoint's address without its trailing slash.

    Local and private addresses are allowed: a base URL comes from the environment or from code, never from
    a project's data files. Link-local ones, where clouds keep credentials, are refused in every spelling.

    Raises:
        ConfigError: not http(s), no host, a link-local host, or with a user, a query or a fragment, where
            keys are sometimes put. The text never shows those parts.
    """
    parts = _split(url)
    host = parts.hostname if parts is not None else None
    if any(char.isspace() for char in host or ""):
        host = None
    if parts is None or parts.scheme not in ("http", "https") or not host:
        raise ConfigError(
            f"{source} is not a usable address: it must begin with http:// or https:// and name a host"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"{source} for {host} holds a user, a query or a fragment; "
            "give the key apart from it (api_key=, headers=, the environment)"
        )
    why = forbidden_peer(host)
    if why is not None:
        raise ConfigError(f"{source}: {why}")
    return parts.geturl().rstrip("/")


def _split(url: str) -> SplitResult | None:
    """The parts of an address, or None. The parser's error quotes the address, so it is not passed on."""
    try:
        parts = urlsplit(url.strip())
        return parts if parts.port is None or parts.port else None
    except ValueError:
        return None
