"""Forbidden addresses: the cloud metadata services, which hand out a machine's credentials."""

from __future__ import annotations

import ipaddress
import socket

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
