"""To which hosts the headers of a trace are sent, and to which what is said of customers."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, MutableMapping
from fnmatch import fnmatchcase
from typing import Any

from agenttrace.core.errors import ConfigError
from agenttrace.core.interruptions import pass_on_interruption
from agenttrace.tracing.baggage import remove_baggage
from agenttrace.tracing.remote import HEADER, inject

_INNER_ENDINGS = (".local", ".localhost", ".internal", ".svc", ".lan", ".test")


class Outgoing:
    """Adds the running call's headers to requests.

    Args:
        hosts: Patterns of hosts that get them, such as ``"api.shop.example"`` or ``"*.shop.example"``. None:
            ``traceparent``, which says nothing but two random ids, goes to all; ``baggage`` only to hosts of
            private networks.
        baggage: Whether ``baggage`` is sent at all.

    Raises:
        ConfigError: `hosts` are not texts.
    """

    def __init__(self, hosts: Iterable[str] | None, baggage: bool) -> None:
        if isinstance(hosts, str) or (hosts is not None and not isinstance(hosts, Iterable)):
            raise ConfigError(f'hosts is a list of names such as ["*.shop.example"], got {hosts!r}')
        self._hosts = None if hosts is None else [_lowered(host) for host in hosts]
        self._baggage = baggage

    def add_to(self, headers: MutableMapping[str, str], host: str | None) -> None:
        """Add the headers to a request to `host`; None for a message that goes to no host.

        A ``traceparent`` that the user set stays. On a redirect to a host that gets none, ours are removed.
        Never raises but what interrupts the user's program.
        """
        try:
            ours = inject({}, baggage=False)
            present = headers.get(HEADER)
            if not ours or (present is not None and present != ours[HEADER]):
                return
            is_sent, with_baggage = self._allowed(host)
            if is_sent:
                inject(headers, baggage=with_baggage)
            elif present is not None:
                del headers[HEADER]
            if not with_baggage:
                remove_baggage(headers)
        except Exception as error:  # choke-point: a request goes out with or without a trace
            pass_on_interruption(error)

    def _allowed(self, host: str | None) -> tuple[bool, bool]:
        """Whether a host gets ``traceparent``, and ``baggage``."""
        if host is None:
            return True, self._baggage
        host = host.lower().strip("[]").rstrip(".")
        if self._hosts is None:
            return True, self._baggage and is_inner(host)
        is_named = any(fnmatchcase(host, pattern) for pattern in self._hosts)
        return is_named, is_named and self._baggage


def is_inner(host: str) -> bool:
    """Returns True for a host of a private network: by its address, or a name unknown to public DNS."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith(_INNER_ENDINGS)


def _lowered(host: Any) -> str:
    if not isinstance(host, str) or not host or "/" in host:
        raise ConfigError(f'a host is a name such as "*.shop.example", without a path, got {host!r}')
    return host.lower()
