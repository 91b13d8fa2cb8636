"""Passwords among the arguments of a command, each where that command's manual has them."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from agenttrace.core.marks import REDACTED
from agenttrace.redaction.values import is_placeholder

JOINED = r"""'"'"'|'\\''"""
"""An apostrophe in a word of a shell in apostrophes, as `shlex.quote` and people write it."""
_QUOTED = (
    r"""(?P<quote>["'])(?=(?:[^\s,:}\])"']|[}\])"'](?=[^\s,()\[\]{}"']{6,40}(?P=quote)(?:\s|\Z)))"""
    rf"""(?>{JOINED}|(?!(?P=quote))[^\n\\]|\\[^\n]){{0,300}}"""
    r"""(?P=quote)(?=[\s"'\\;|&)`,]|\Z))"""
)
"""The quote before an argument of which the same quote is the end."""
_VALUE = (
    rf"""(?:{_QUOTED})?(?(quote)|(?:["'](?![,:}}\])]))?)(?!\[redacted\])(?P<value>(?(quote)(?>{JOINED}|(?!(?P=quote))[^\n\\]|\\[^\n])+"""
    r"""|(?:[^\s"'$;|&<>(){}`\\]|\\(?!["']))(?:[^\s"';|&<>(){}`\\]|\\(?!["']))*))"""
)
"""An argument; in quotes it may have any sign in it."""
_BETWEEN = r"(?:[^\n;|&]|\\\n){0,300}?"
"""The other arguments, also on a line that goes on."""
_GAP = r"""(?:(?>(?:\s|\\\r?\n)+)|\\{0,20}["'],\s*\\{0,20}["'])"""
"""What is between two arguments: spaces, the end of a line that goes on, or in a list within a text,
``'-p', '…'``, quotes and a comma."""


def _after(command: str, option: str) -> re.Pattern[str]:
    """An underscore in these stands for what is between two arguments."""
    command, option = command.replace("_", _GAP), option.replace("_", _GAP)
    return re.compile(
        rf"""(?<![\w.\0-])(?:{command})(?:\.exe)?(?=\s|\\{{0,20}}["'],){_BETWEEN}[\s"'](?:{option}){_VALUE}"""
    )


_VARIABLE = r"[A-Z][A-Z0-9\x5f]*"


def _token_after(command: str) -> re.Pattern[str]:
    """The token that is the one argument of a command; what has no digit is a word of prose."""
    command = command.replace("_", _GAP)
    return re.compile(rf"""(?<![\w.\0-]){command}(?=["']?[\w.-]*\d)(?=["']?[\w.-]{{12,}}){_VALUE}""")


def _piped(before: str, into: str) -> re.Pattern[str]:
    """What is printed, after what may stand `before` it, `into` a command that reads a password."""
    return re.compile(
        rf"""(?<![\w.\0-])(?:echo|printf)(?:\s+-\w+)?\s+(?P<quote>["'])?{before}"""
        r"""(?P<value>(?(quote)(?:(?!(?P=quote))[^\n|])+|[^\s"'|$\\]+))"""
        rf"""(?=["']?\s*\|\s*(?:sudo\s+)?{into})"""
    )


def _here(into: str, before: str = "") -> re.Pattern[str]:
    """A word that a shell hands to a command, ``<<< '…'``, for a password; what may stand `before` it."""
    return re.compile(rf"""(?<![\w.\0-])(?:{into})[^\n;|&<]{{0,200}}+<<<[ \t]{{0,9}}{before}{_VALUE}""")


_OPTIONS = rf"(?:{_GAP}(?:-[a-zA-Z]{{0,12}}[Cr]{_GAP}\d{{1,3}}|-[a-zA-Z]{{1,12}})){{1,7}}+"
_ARGUMENT = r"""["']?[^\s"'\\-][^\s"'\\]{0,200}["']?"""
_IN_FILE = re.compile(
    rf"""(?<![\w.\0-])(?:htpasswd|mosquitto_passwd)(?:\.exe)?(?:{_GAP}{_ARGUMENT})?(?={_GAP}-)(?=[^\n;|&]{{0,80}}?[\s"']-[a-zA-Z]{{0,12}}b)"""
    rf"""(?:(?=[^\n;|&]{{0,80}}?[\s"']-[a-zA-Z]{{0,12}}n){_OPTIONS}"""
    rf"""|(?![^\n;|&]{{0,80}}?[\s"']-[a-zA-Z]{{0,12}}n){_OPTIONS}{_GAP}{_ARGUMENT}){_GAP}{_ARGUMENT}{_GAP}{_VALUE}"""
)
"""Options with a ``b``, a file unless one of them is ``n``, a user and a password."""
_ENDS = r"""(?=["']?[^\s"']*\d|["']?[^\s"']+["']?[ \t]*(?:\Z|[\r\n;|&)`>"'\\]))"""
"""Before an argument that has a digit, or with which a command ends: no sentence goes on behind it."""
_USER_OF_ORACLE = r"[A-Za-z][\w$\x23]{0,60}/"
_TOOL_OF_ORACLE = re.compile(
    rf"""(?<![\w.\0-])(?:(?:expdp|impdp|sqlldr)(?:{_GAP}|{_BETWEEN}[\s"'](?i:userid)=)|rman{_GAP}target{_GAP})\\?["']?"""
    rf"""{_USER_OF_ORACLE}(?=[^\s"'/]*[\d@A-Z\x23$!]){_VALUE}"""
)
"""What is no word behind a user and a slash, as one argument: *and/or*."""
_KEY_OF_USER = re.compile(
    rf"""(?<=[\s"'])(?:-[a-zA-Z]{{0,20}}u|--user)(?:=|[ ]?(?=["']?\w)|{_GAP})["']?"""
    r"""(?P<value>(?=[A-Za-z_-]{0,60}\d)(?=[\w.-]{16,200}:(?:["'\s\\;|&)]|\Z))[\w.-]+)"""
)
"""A key that stands for the user, before a colon and no password: ``curl -u sk_…: https://…``."""

_COMMANDS = (
    (
        "curl",
        re.compile(
            r"""(?<=[\s"'])(?:-[a-zA-Z]{0,20}[uU]|--user|--proxy-user)(?:[= ]?(?:"""
            r"""(?P<quote>["'])(?=[^\s:"']*:[^\n]{1,300}?(?P=quote)(?=[\s"'\\;|&)]|\Z))|["']?)"""
            rf"""|{_GAP})[^\s:"']*["']?:(?!//)(?P<inner>["'](?!,\s)(?=[^\n]*["']))?"""
            rf"""(?P<value>(?(quote)(?>{JOINED}|(?!(?P=quote))[^\n\\]|\\[^\n])+"""
            rf"""|(?(inner)(?>{JOINED}|(?!(?P=inner))[^\n\\]|\\[^\n])+|(?:[^\s"'\\]|\\(?!["']))+)))"""
        ),
    ),
    ("mysql", _after(r"mysql\w*", "-p")),
    ("mariadb", _after(r"mariadb[\w-]*", "-p")),
    ("sshpass", _after("sshpass", r"-p_?")),
    ("redis-cli", _after("redis-cli", r"-a_|--pass_")),
    (
        "login",
        _after(
            r"(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|helm_registry|az|oc)_login", r"-p(?:_|=)"
        ),
    ),
    ("ldap", _after(r"ldap\w+", r"-w_")),
    ("smbclient", _after("smbclient", "-U_?[\"']?[^\\s%\"']+%")),
    ("sqlcmd", _after("sqlcmd", r"-P_?")),
    ("zip", _after("(?:un)?zip", r"-P_?")),
    ("7z", _after("7z[ar]?", "-p")),
    ("htpasswd", _IN_FILE),
    ("mosquitto", _IN_FILE),
    ("openssl", _after("openssl", r"-[kK]_")),
    ("openssl", _after("openssl", r"-pass(?:in|out)?_pass:")),
    ("mongo", _after(r"mongo\w*", r"-p_")),
    ("sqlplus", _after("sqlplus", r"[\w.-]+/")),
    *((sign, _TOOL_OF_ORACLE) for sign in ("expdp", "impdp", "sqlldr", "rman target")),
    *(
        (f"az {service}", _after(rf"az_{service}(?=[^\n;|&]{{0,300}}[\s\"'](?:-u|--admin-user))", "-p_"))
        for service in ("sql", "mysql", "mariadb", "postgres")
    ),
    (
        "openssl",
        re.compile(
            rf"""(?<![\w.\0-])openssl{_GAP}passwd(?:{_GAP}(?:-(?:1|5|6|apr1|crypt|noverify|quiet|table)(?=["'\s])"""
            rf"""|-salt{_GAP}[^\s"'\\]{{1,40}})){{1,5}}+(?:[ \t]{{1,9}}|\\{{0,20}}["'],\s*\\{{0,20}}["'])"""
            rf"""{_ENDS}{_VALUE}"""
        ),
    ),
    ("ldappasswd", _after("ldappasswd", "-[as]_")),
    *(
        (sign, _after(sign + r"\w*", r"-p_(?![\w./-]{1,80}\.(?:txt|lst|list)\b)"))
        for sign in ("smbmap", "ncftp", "crackmapexec", "netexec", "evil-winrm")
    ),
    ("rootpw", _after("rootpw", "--plaintext_")),
    ("drush", _after("drush", rf"user[:-]password_{_ARGUMENT}_{_ENDS}")),
    (
        "setuser",
        re.compile(
            rf"""(?i:setuser)[\s"',]{_BETWEEN}(?:(?<=["'])>|(?<=\s)\\?>(?![/&]|[\w.-]+\.(?:txt|log|out|json)\b)){_VALUE}"""
        ),
    ),
    (
        "login ",
        re.compile(
            r"""(?m)(?:^|(?<=[\s>:"']))[A-Za-z]{1,5}\d{1,6} LOGIN (?:"[^"\n]{1,80}"|[^\s"]{1,80}) "?"""
            r"""(?!\[redacted\])(?=[^\s"]*\d)(?=[^\s"]*[A-Za-z])(?P<value>[^\s"]{6,200})(?="?[ \t]*\r?$)"""
        ),
    ),
    ("aws", _after("aws_configure_set", r"[\w.-]*(?:secret.access.key|session.token)_")),
    ("rclone", _after("rclone_config", r"(?:secret\x5faccess\x5fkey|pass(?:word)?2?|token|key)(?:_|=)")),
    ("lftp", _after("lftp", r"-u_?[\"']?[^\s,\"']+,")),
    ("freerdp", _after(r"[wx]?l?freerdp3?", "/p:")),
    ("keytool", _after("keytool", r"-(?:(?:src|dest)?(?:store|key)pass|new)_")),
    (
        "curl",
        _after(
            "curl",
            r"(?:-E|--(?:proxy-)?cert)(?:_|=)[\"']?[^\s:\"'\x5f]+(?:\x5f[^\s:\"'\x5f]*){0,9}:(?![/\\])",
        ),
    ),
    ("curl", _KEY_OF_USER),
    ("aws", _after(r"aws_(?:ssm|secretsmanager)_[\w-]+", r"--(?:value|secret-string)(?:_|=)")),
    ("keyvault", _after("az_keyvault_secret_set", r"--value(?:_|=)")),
    ("secrets set", _after(r"(?:fly|flyctl|doppler|supabase|wrangler)_secrets_set", rf"{_VARIABLE}(?:_|=)")),
    ("config:set", _after("heroku_config:set", rf"{_VARIABLE}=")),
    ("secret generic", _after("kubectl_create_secret_generic", r"--from-literal(?:_|=)[\w.-]+=")),
    ("vault kv", _after(r"vault_kv_(?:put|patch)", r"[\w-]+=")),
    ("gh secret", _after("gh_secret_set", r"--body(?:_|=)|-b(?:_|=)?")),
    (
        "redis-cli",
        re.compile(
            rf"""redis-cli\b{_BETWEEN}\s(?:AUTH|auth){_GAP}(?!\w+{_GAP}[\[(])(?:\w+{_GAP}(?=\S))?{_VALUE}"""
        ),
    ),
    ("twine", _after("twine_(?:upload|register)", "-p_")),
    ("user", _after("user(?:mod|add)", "-p_")),
    (
        "rabbitmqctl",
        _after("rabbitmqctl", r"(?:add\x5fuser|change\x5fpassword|authenticate\x5fuser)_[^\s\"']+_"),
    ),
    ("ssh-keygen", _after("ssh-keygen", "-[NP]_")),
    ("mosquitto", _after(r"mosquitto\x5f(?:pub|sub|rr)", "-P_")),
    ("cqlsh", _after("cqlsh", "-p_")),
    ("ipmitool", _after("ipmitool", "-P_")),
    ("bcp", _after("bcp", r"-P_?")),
    ("cf login", _after("cf_login", "-p_")),
    ("snowsql", _after("snowsql", "-p_")),
    ("psexec", _after(r"psexec(?:64)?", "-p_")),
    ("snmp", _after(r"snmp\w+", "-[AX]_")),
    (" -a", _after("https?|xhs?", r"-a_?[\"']?[^\s:\"']+:")),
    ("login", _token_after("(?:vault|cargo|wandb|fly|npx_wrangler)_login_")),
    (" -pw", _after("plink|pscp|psftp|putty", "-pw_")),
    ("vault write", _after("vault_write", r"(?:secret\x5fid|password|token)=")),
    ("alias set", _after(r"mc(?:li)?_alias_set", r"[\w.-]+_https?://[^\s\"']+_[^\s\"']+_")),
    ("auth init", _after("doctl_auth_init", "-t_|--access-token(?:_|=)")),
    ("config", _after("npm_config_set", r"[\w./:@-]*(?:authToken|\x5fpassword|\x5fauth)(?:_|=)")),
    ("config", _after("poetry_config", r"(?:http-basic\.[\w.-]+_[^\s\"']+|pypi-token\.[\w.-]+)_")),
    ("\\", _after("net_use", r"\\\\[\w.$\\-]+_(?:/user:[^\s\"']+_)?(?!/)")),
    ("net user", _after("net_user", r"[^\s/\"']+_(?!/)")),
    ("securestring", re.compile(rf"(?i)ConvertTo-SecureString(?:\s+-String)?\s+{_VALUE}")),
    ("|", _piped(r"[\w.-]+:", "chpasswd")),
    ("|", _piped("", r"(?:(?:smb)?passwd|openssl\s+passwd)\b")),
    ("|", _piped("", r"sudo\s+(?:-\w+\s+)*-\w*S\b")),
    ("|", _piped("", r"[^\n|]{0,80}--(?:password-stdin|with-token)")),
    (
        "|",
        _piped(
            "",
            r"(?:gh\s+secret\s+set|(?:npx\s+)?wrangler\s+secret\s+put|vercel\s+env\s+add"
            r"|gcloud\s+secrets\s+(?:create|versions\s+add))\b",
        ),
    ),
    ("<<<", _here("chpasswd", r"[\"']?[\w.-]{1,64}:")),
    (
        "<<<",
        _here(
            r"sudo\s(?=[^\n;|&<]{0,60}-\w{0,12}S\b)|(?:smb)?passwd\b|--(?:password-stdin|with-token)\b"
            r"|(?:gh|wrangler)\s{1,9}secret\s{1,9}(?:set|put)\b|vercel\s{1,9}env\s{1,9}add\b"
            r"|gcloud\s{1,9}secrets\s{1,9}(?:create|versions\s{1,9}add)\b|openssl\s{1,9}passwd\b"
        ),
    ),
    ("twilio login", _after("twilio_login", r"AC[0-9a-f]{32}_")),
)
"""What is in each text with such a command, in lower case, and how the password is found."""

_WORDS_WITHOUT_OPTION = frozenset(
    {"sqlplus", "configure", "config", "login", "use", "redis-cli", "rabbitmqctl", "xfreerdp", "user"}
    | {"expdp", "impdp", "sqlldr", "rman", "drush"}
)
"""What a command has among its arguments, if it takes a secret without an option."""

_SIGNS = tuple(dict.fromkeys(sign for sign, _ in _COMMANDS))


_NO_ARGUMENT = re.compile(r"""[\s"'$;|&<>(){}`]""")
"""What ends an argument in a text; in a list of arguments it is a part of one."""
_LONGEST_PATH = 256
_BEGINNING = 64
_MOST_OPTIONS = 4
"""Options with a secret that one command has: ``snmpget -A … -X …``."""


def may_have_command(lowered: str, has_hyphen: bool = True) -> bool:
    """Returns True if a text could have one of the commands: with an option, or with none."""
    if has_hyphen:
        if "redis-cli" in lowered or "securestring" in lowered:
            return True
        has_option = " -" in lowered or "'-" in lowered or '"-' in lowered
        if has_option and any(sign in lowered for sign in _SIGNS):
            return True
    return (
        "login " in lowered
        or "<<<" in lowered
        or "config" in lowered
        or "secrets set" in lowered
        or "vault kv" in lowered
        or "vault write" in lowered
        or "alias set" in lowered
        or ("|" in lowered and ("sudo" in lowered or "passwd" in lowered or "secret" in lowered))
        or (("/" in lowered or "\\" in lowered) and ("sqlplus" in lowered or "net use" in lowered))
        or ("_" in lowered and "rabbitmqctl" in lowered)
        or ("/" in lowered and (" /p:" in lowered or _has_tool_of_oracle(lowered)))
        or (">" in lowered and "setuser" in lowered)
        or ("passw" in lowered and "drush" in lowered)
    )


def _has_tool_of_oracle(lowered: str) -> bool:
    """Returns True for a tool of Oracle's, which takes a user and a password as one argument."""
    return "expdp" in lowered or "impdp" in lowered or "sqlldr" in lowered or "rman target" in lowered


def may_be_command(items: Sequence[Any]) -> bool:
    """Returns True if a list could be a command that takes a secret without an option."""
    return any(type(item) is str and item in _WORDS_WITHOUT_OPTION for item in items[:4])


def _is_password(value: str) -> bool:
    if value[:1] == "-" and not _DASH_AND_PASSWORD.match(value):
        return False
    return not (value.startswith(REDACTED) or is_placeholder(value))


_DASH_AND_PASSWORD = re.compile(r"-(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[A-Za-z\d]\S{5,}\Z")
"""No option has both cases and digits."""


def without_arguments(text: str) -> tuple[str, int]:
    """The text without passwords among the arguments of commands, and how many were found."""
    lowered, count = text.lower(), 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        if not _is_password(match["value"]):
            return match[0]
        count += 1
        begin, end = match.start("value") - match.start(), match.end("value") - match.start()
        return f"{match[0][:begin]}{REDACTED}{match[0][end:]}"

    for sign, pattern in _COMMANDS:
        before = -1 if sign in lowered else count
        for _ in range(_MOST_OPTIONS):  # of one command, which may have several
            if before == count:
                break
            before = count
            text = pattern.sub(replace, text)
    return text, count


def places_in_arguments(items: Sequence[Any]) -> dict[int, int]:
    """The places of passwords in a command that is a list of its arguments, each with the place in that
    argument at which it begins: ``["mysql", "-p…"]``."""
    parts = [_part(item) if type(item) is str else "\0" for item in items]
    line = " ".join(parts)
    lowered = line.lower()
    if not any(sign in lowered for sign in _SIGNS):
        return {}
    starts = [0, *accumulate(len(part) + 1 for part in parts)]
    places: dict[int, int] = {}
    for begin in _begins(line, lowered):
        place = bisect(starts, begin) - 1
        secret = items[place][begin - starts[place] :]
        if _is_password(secret) or (begin > starts[place] and secret[:1] == "-" and len(secret) > 1):
            places.setdefault(place, begin - starts[place])
    return places


def _begins(line: str, lowered: str) -> Iterator[int]:
    for sign, pattern in _COMMANDS:
        read = line if sign in lowered else ""
        for _ in range(_MOST_OPTIONS):
            spans = [match.span("value") for match in pattern.finditer(read)]
            for begin, end in spans:
                yield begin
                read = f"{read[:begin]}{'(' * (end - begin)}{read[end:]}"  # which is no argument
            if not spans:
                break


def _part(item: str) -> str:
    """An argument as it stands in a line: without what would end it, and of a long one its beginning."""
    part = item if len(item) <= _LONGEST_PATH else item[:_BEGINNING]
    return _NO_ARGUMENT.sub("\0", part)
