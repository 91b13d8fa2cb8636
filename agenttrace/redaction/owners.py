"""Names under which stands whose secret it is, or of which kind: ``user_id``, ``service``."""

from __future__ import annotations

from agenttrace.redaction.names import words_of

_OF_OTHERS = frozenset(
    {
        *("name", "user", "username", "login", "email", "mail", "account", "id", "key", "service", "path"),
        *("url", "uri", "host", "hostname", "provider", "env", "environment", "region", "version", "type"),
        *("kind", "label", "description", "project", "site", "domain", "role", "scope", "scopes", "owner"),
        *("tenant", "namespace", "vault", "expires", "expiry", "ttl", "at", "date", "time", "reason"),
        *("comment", "tag", "tags", "device", "client", "app", "application", "arn", "title", "hint"),
        "algorithm",
    }
)
"""Last words of parameters that say whose secret it is, and of which kind."""


def says_whose(name: str) -> bool:
    """Returns True for a name under which stands whose secret it is, or of which kind: ``user_id``."""
    return (words_of(name) or [""])[-1] in _OF_OTHERS
