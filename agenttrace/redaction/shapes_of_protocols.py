"""The rows of the table of shapes that are lines of a protocol, or of a service's own file of secrets."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.shape import STAND_IN, Shape, shape

_OF_OPENVPN = r"OpenVPN (?:Static key V\d|tls-crypt-v2 (?:client|server) key)-----"

OF_PROTOCOLS: tuple[Shape, ...] = (
    Shape(
        "static key of OpenVPN",
        "OpenVPN",
        ("-----begin openvpn ",),
        re.compile(rf"-----BEGIN {_OF_OPENVPN}[\s\S]*?(?:-----END {_OF_OPENVPN}|\Z)"),
        0,
    ),
    shape("lnd macaroon", "lnd", "0201036c6e64 agedbg5k", r"0201036c6e64[0-9a-f]{60,}|AgEDbG5k[\w+/=-]{60,}"),
    Shape(
        "key among the protocols of a WebSocket",
        "OpenAI",
        ("-insecure-api-key.",),
        re.compile(r"(openai-insecure-api-key\.)(?!\[redac)[\w.-]{16,}"),
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "credentials of SMTP",
        "RFC 4954",
        ("auth plain ", "auth login "),
        re.compile(r"\b(AUTH (?:PLAIN|LOGIN) )(?!\[redacted\])[A-Za-z0-9+/]{8,}={0,2}(?![\w/+])"),
        0,
        random=True,
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "answer to SMTP's question for a password",
        "RFC 4954",
        ("334 ugfzc3dvcmq6",),
        re.compile(
            r"(\b334 UGFzc3dvcmQ6(?:\s|\\[nr]){1,4}(?:[^\n:>]{0,30}[:>] {0,3}[\"']?)?)[A-Za-z0-9+/]{4,}={0,2}"
        ),
        0,
        replacement=rf"\1{REDACTED}",
    ),
    Shape(
        "shared secrets of IPsec",
        "strongSwan",
        (': psk "', ': eap "', ': xauth "', ': ntlm "'),
        re.compile(
            rf'(:[ \t]{{1,9}}(?:PSK|EAP|XAUTH|NTLM)[ \t]{{1,9}}")(?!(?:\[redacted\]|{STAND_IN})")'
            r'[^"\n]{1,200}(?=")'
        ),
        0,
        replacement=rf"\1{REDACTED}",
    ),
)
