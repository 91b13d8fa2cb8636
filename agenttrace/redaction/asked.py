"""Calls whose arguments ask for a secret, which they return: ``getenv("DB_PASSWORD")``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from agenttrace.redaction.names import words_of
from agenttrace.redaction.naming import Names
from agenttrace.redaction.questions import IMPERATIVES, asked_name

_SHORTEST = 4
_LONGEST_ASKED, _MOST_TEXTS = 4_000, 20
_NAME = r"[\w.-]*\w"
_VERB = (
    r"(?:printenv|echo|print|unset|getenv|cat|bat|less|more|head|tail|type|gc|[Gg]et-[Cc]ontent|get|show|read"
    r"|output|view|fetch|lookup|reveal|decrypt|auth)"
)
_LAST_NAME = re.compile(
    rf"""(?:
    \A[\w./:@-]*?
    | [$/.#]:?\{{?
    | \b{_VERB}(?:[ ]+-[\w-]+(?:=\S+)?)*[ ]+
    | (?P<quote>["'])
    )(?P<name>{_NAME})(?(quote)(?P=quote))[\s)\]}}"';]*(?:\.(?:value|text|innerText|strip\(\))[\s)\]}}"';]*)?\Z""",
    re.VERBOSE,
)
"""What a text ends with: a name alone, the end of a path, a variable, a literal; no word of a sentence."""
_ASKED_WITHIN = re.compile(
    r"""(?:-field[ =]|--field[ ]|jsonpath=["']?\{[\w.]*\.|\.)(?P<name>[\w-]+)\}?["']?"""
    r"""(?:\s[^\n|;&]*)?(?:\|\s*(?:base64|jq|tr|head)\b[^\n|;&]*)*\Z"""
)
"""A field that a command is asked for: ``vault kv get -field=password …``, ``… | base64 -d``."""
_OF_COMMAND = re.compile(
    r"\b(?:terraform\s+output\s+-(?:raw|json)\s+"
    r"|ssm\s+get-parameters?\s[^|;&]*?--names?[ =](?:[\w.-]*/)*"
    r"|grep\s(?:-\w+\s+)*[\"'^]*"
    rf"|\b(?:sed|awk|perl|rg)\s(?:-\S+\s+)*[\"']?(?:s/)?[\^/]*)(?P<name>{_NAME})"
)
"""What else commands name: ``terraform output -raw db_password``."""
_LAST_PART = re.compile(
    r"(?:(?:;|&&)\s{0,9}echo|;|\d?>\s{0,9}[^\s|;&>]{1,100}"
    r"|\|\s{0,9}(?:tr|head|tail|xargs|cat|sed|cut|jq|base64)\b[^|;&]{0,100}|(?<=\s)--?[a-z][\w-]{0,60})\Z"
)
"""What stands behind all that is asked for: ``… | tr -d '\\n'``, ``… --plain``, ``…; echo``."""
_MOST_PARTS = 6
_SUFFIX = re.compile(r"(?i)\.(?:txt|key|pem|asc|dat|md|env|conf|cfg|secret|token|pass|json|ya?ml)\Z")
_PROGRAMS = re.compile(
    r"""(?:\A|[;&|(]\s*)(?:pass\ (?:show\ )?[\w./-]+|op\ (?:read|item\ get)\ .*
    |aws\ ecr\ get-login-password.*|aws\ ssm\ get-parameters?\ .*--with-decryption.*
    |aws\ secretsmanager\ get-secret-value\ .*--output\ text.*
    |gcloud\ secrets\ versions\ access\ .*
    |gcloud\ auth\ (?:application-default\ )?print-\w+-token.*
    |az\ keyvault\ secret\ show\ .*|az\ account\ get-access-token\ .*
    |az\ (?:[a-z][a-z-]{0,30}\ ){1,5}(?:keys\ (?:list|renew)|list-keys|credential\ (?:show|renew)
    |(?:admin|query)-key\ (?:show|list|renew))\b.*
    |security\ find-(?:generic|internet)-password\ .*-\w*w.*|secret-tool\ lookup\ .*
    |bw\ get\ (?:password|totp|notes)\ .*|gh\ auth\ token.*
    |heroku\ (?:auth:token|config:get\ .*)|kubectl\ create\ token\ .*
    |doppler\ secrets\ get\ .*|(?:gopass|lpass)\ (?:show|get)\ .*|(?:rbw|keyring)\ get\ .*
    |openssl\ rand\ .*|pwgen\b.*|npm\ token\ create.*|sops\ (?:-d|--decrypt|decrypt)\ .*
    |oc\ whoami\ (?:-t|--show-token)|op\ get\ .*)\Z""",
    re.VERBOSE,
)
"""Commands that print a secret and nothing else."""
_QUESTION = re.compile(
    r"(?i)[?:][\s*_`]*\Z|\b(?:please|enter|share|paste|provide|send|give|tell|type|need|what|which|could|confirm)\b"
    rf"|{IMPERATIVES}"
)
_LONGEST_END = 300
"""Letters at the end of an argument that tell what is asked for."""
_OTHER_CALLS = frozenset(
    re.findall(
        r"\w+",
        "create add set put update delete remove write save search find list grep count hash describe"
        " translate check validate verify classify explain log track sha256 md5 tokenize rank score embed"
        " summarize define index",
    )
)
"""Words in the names of calls that return something else of what they are given: an id, a place, a number."""


def may_ask(arguments: Iterable[Any]) -> bool:
    """Returns False for most arguments that ask for no secret: told in a few steps."""
    for text in arguments:
        kind = type(text)
        if kind is str:
            if len(text) >= _SHORTEST and _has_sign(text.lower()):
                return True
        elif kind is dict:
            if may_ask(text.values()):
                return True
        elif kind is list or kind is tuple:
            if may_ask([item for item in text[:_MOST_TEXTS] if type(item) is str]):
                return True
        elif isinstance(text, str):
            return True
    return False


def _has_sign(lowered: str) -> bool:
    return (  # a loop over these would take four times as long
        "pass" in lowered
        or "secret" in lowered
        or "token" in lowered
        or "key" in lowered
        or "cred" in lowered
        or "pwd" in lowered
        or "select" in lowered
        or "returning" in lowered
        or "op read" in lowered
        or "openssl rand" in lowered
        or "pwgen" in lowered
        or "op item" in lowered
        or "decrypt" in lowered
        or "rbw " in lowered
        or "whoami" in lowered
    )


def asked_for(call: str, arguments: Iterable[Any], names: Names) -> str:
    """The name of the secret that the arguments of a call ask for; an empty one where they do not."""
    if not _OTHER_CALLS.isdisjoint(words_of(call.rpartition(".")[2])):
        return ""
    for text in texts_of(arguments):
        if len(text) <= _LONGEST_ASKED and _has_sign(text.lower()):
            name = asked_by(text.strip(), names)
            if name:
                return name
    return ""


def texts_of(arguments: Iterable[Any]) -> Iterator[str]:
    """The first texts among arguments, also those of mappings; of a list one line."""
    return islice(_all_texts(arguments), _MOST_TEXTS)


def _all_texts(arguments: Iterable[Any]) -> Iterator[str]:
    for argument in arguments:
        if isinstance(argument, str):
            yield argument
        elif type(argument) is dict:
            yield from (item for item in argument.values() if isinstance(item, str))
        elif type(argument) is list or type(argument) is tuple:
            yield " ".join(item for item in argument[:_MOST_TEXTS] if type(item) is str)


def asked_by(text: str, names: Names) -> str:
    """The name of the secret that a command, code, a path or a question asks for; an empty one for none."""
    if len(text) <= _LONGEST_END and _PROGRAMS.search(text) is not None and names.is_secret("secret"):
        return "secret"
    end = text.rpartition("\n")[2][-_LONGEST_END:]
    for part in dict.fromkeys((end, _without_tail(end))):
        for pattern in (_LAST_NAME, _ASKED_WITHIN, _OF_COMMAND):
            match = pattern.search(part)
            if match is not None and names.is_secret(without_suffix(match["name"])):
                return without_suffix(match["name"])
    return asked_name(text, names) if _QUESTION.search(end) is not None else ""


def _without_tail(command: str) -> str:
    for _ in range(_MOST_PARTS):
        last = _LAST_PART.search(command)
        if last is None:
            break
        command = command[: last.start()].rstrip()
    return command


def without_suffix(name: str) -> str:
    """The name of a file without what says that it is one: ``token.txt``."""
    return _SUFFIX.sub("", name)
