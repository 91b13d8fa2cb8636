"""Addresses that no request may go to (scenario 102)."""

from __future__ import annotations

import pytest

from agenttrace.http.endpoint import forbidden_peer


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.1.1",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "::ffff:169.254.169.254",
        "fe80::1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "fd20:ce::254",
        "192.0.0.192",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
        "100.100.100.200",
    ],
)
def test_where_clouds_keep_credentials_is_forbidden_in_every_spelling(host: str) -> None:
    why = forbidden_peer(host)
    assert why is not None
    assert "metadata address" in why


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "::1",
        "10.0.0.7",
        "192.168.1.5",
        "100.100.100.201",
        "api.openai.com",
        "localhost",
        "",
        "fd00::1",
    ],
)
def test_local_private_and_public_hosts_are_allowed(host: str) -> None:
    assert forbidden_peer(host) is None
