"""Addresses that no request may go to: where clouds keep a machine's credentials."""

from __future__ import annotations

import ipaddress
import socket

_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            "fd00:ec2::254",  # AWS over IPv6
            "100.100.100.200",  # Alibaba Cloud
        ),
    )
)


def forbidden_peer(host: str) -> str | None:
    """Why no request may go to this host, or None.

    Told by its address, in every spelling (decimal, hexadecimal, IPv4 in IPv6, with a scope); for a name the
    answer is None: what it leads to is looked at when it is connected to.
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
    return getattr(address, "ipv4_mapped", None) or address
