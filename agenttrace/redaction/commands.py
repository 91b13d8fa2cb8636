"""Passwords among the arguments of a command, each where that command's manual has them."""

from __future__ import annotations

import re

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.values import is_placeholder

_VALUE = r"""["']?(?P<value>[^\s"'$;|&<>(){}`]+)"""
_BETWEEN = r"(?:[^\n;|&]|\\\n){0,300}?"
"""The other arguments, also on a line that goes on."""


def _after(command: str, option: str, value: str = _VALUE) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-])(?:{command})(?:\.exe)?(?=\s){_BETWEEN}\s(?:{option}){value}")


_COMMANDS = (
    (
        "curl ",
        re.compile(
            r"""(?<=\s)(?:-[a-zA-Z]*[uU]|--user|--proxy-user)[= ]?["']?[^\s:"']*:(?!//)(?P<value>[^\s"']+)"""
        ),
    ),
    ("mysql", _after(r"mysql\w*", "-p")),
    ("mariadb", _after(r"mariadb[\w-]*", "-p")),
    ("sshpass", _after("sshpass", r"-p\s*")),
    ("redis-cli", _after("redis-cli", r"-a\s+|--pass\s+")),
    (
        " login ",
        _after(r"(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm registry|az|oc) login", r"-p\s+"),
    ),
    ("ldap", _after(r"ldap\w+", r"-w\s+")),
    ("smbclient", _after("smbclient", "-U\\s*[\"']?[^\\s%\"']+%")),
    ("sqlcmd", _after("sqlcmd", r"-P\s*")),
    ("zip ", _after("(?:un)?zip", r"-P\s*")),
    ("7z", _after("7z[ar]?", "-p")),
    ("htpasswd", _after("htpasswd", r"-[a-zA-Z]*b[a-zA-Z]*\s+\S+\s+\S+\s+")),
    ("openssl ", _after("openssl", r"-[kK]\s+")),
    ("mongo", _after(r"mongo\w*", r"-p\s+")),
    ("sqlplus ", _after("sqlplus", r"[\w.-]+/")),
    ("keytool ", _after("keytool", r"-(?:store|key)pass\s+")),
)
"""What is in each text with such a command, in lower case, and how the password is found."""

_SIGNS = tuple(sign for sign, _ in _COMMANDS)


def may_have_command(lowered: str) -> bool:
    """Returns True if a text could have one of the commands with an option."""
    return " -" in lowered and any(sign in lowered for sign in _SIGNS)


def without_arguments(text: str) -> tuple[str, int]:
    """The text without passwords among the arguments of commands, and how many were found."""
    lowered, count = text.lower(), 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        value = match["value"]
        if value.startswith((REDACTED, "-")) or is_placeholder(value):
            return match[0]
        count += 1
        begin, end = match.start("value") - match.start(), match.end("value") - match.start()
        return f"{match[0][:begin]}{REDACTED}{match[0][end:]}"

    for sign, pattern in _COMMANDS:
        if sign in lowered:
            text = pattern.sub(replace, text)
    return text, count
