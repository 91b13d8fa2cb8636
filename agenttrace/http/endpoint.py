"""An endpoint's settings, checked once: its API key; its address, none of a cloud's metadata services.

Those hand out a machine's credentials.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import final
from urllib.parse import SplitResult, urlsplit

from agenttrace.core.errors import ConfigError


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
    parts, host = _checked_parts(url, source)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"{source} for {host} holds a user, a query or a fragment; "
            "give the key apart from it (api_key=, headers=, the environment)"
        )
    return parts.geturl().rstrip("/")


def checked_webhook(url: str, source: str = "a webhook's url") -> str:
    """The whole address of a webhook, whose query may hold its secret.

    Raises:
        ConfigError: not http(s), no host, no port from 1 to 65535, or a link-local host. The text never shows
            more than the host.
    """
    if not isinstance(url, str):
        raise ConfigError(f"{source} is a text, got {type(url).__name__}")
    parts, _ = _checked_parts(url, source)
    return parts.geturl()


def _checked_parts(url: str, source: str) -> tuple[SplitResult, str]:
    """The parts of an address with its host, which requests may go to."""
    parts = _split(url)
    host = parts.hostname if parts is not None else None
    if any(char.isspace() for char in host or ""):
        host = None
    if parts is None or parts.scheme not in ("http", "https") or not host:
        raise ConfigError(
            f"{source} is not a usable address: it must begin with http:// or https:// and name a host"
        )
    why = forbidden_peer(host)
    if why is not None:
        raise ConfigError(f"{source}: {why}")
    return parts, host


def _split(url: str) -> SplitResult | None:
    """The parts of an address, or None. The parser's error quotes the address, so it is not passed on."""
    try:
        parts = urlsplit(url.strip())
        return parts if parts.port is None or parts.port else None
    except ValueError:
        return None


_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            "fd00:ec2::254",  # AWS over IPv6
            "fd20:ce::254",  # Google Cloud over IPv6
            "100.100.100.200",  # Alibaba Cloud
            "192.0.0.192",  # Oracle Cloud
        ),
    )
)


def forbidden_peer(host: str) -> str | None:
    """Why no request may go to this host, or None where one may.

    An address is recognised in every spelling (decimal, hexadecimal, IPv4 in IPv6, with a scope). A name
    gives None: the address that it resolves to is checked when it is connected to.
    """
    address = _address(host.partition("%")[0])
    if address is None:
        return None
    if address.is_link_local or address in _METADATA:
        return f"{address} is a link-local or metadata address, where clouds keep credentials"
    return None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host's spelling stands for (decimal, hexadecimal, mapped …), or None for a name."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        try:
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except (OSError, UnicodeError):
            return None
    return address if isinstance(address, ipaddress.IPv4Address) else _embedded_ipv4(address) or address


_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def _embedded_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 address leads to: mapped, translated, tunnelled."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
