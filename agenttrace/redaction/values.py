"""Which values a name of a secret hides: no flags, counts, schemas, placeholders."""

from __future__ import annotations

import re
from typing import Any

from agenttrace.redaction.grouped import is_grouped
from agenttrace.redaction.names import SMALLEST_NUMBER, NameRule, own_name, plain, words_of
from agenttrace.redaction.names_in_code import (
    LONGEST_NAME,
    SEPARATORS,
    has_random_part,
    is_name_with_digits,
    is_of_words,
)
from agenttrace.redaction.other_meanings import describes_token, is_another_value, is_header
from agenttrace.redaction.packages import VERSION, is_package
from agenttrace.redaction.remarks import is_remark

_JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_OF_SCHEMAS = ("$ref", "anyOf", "oneOf", "allOf", "enum", "const")
_MATCHERS = ({"$any": True}, {"$absent": True})
"""What an expectation says of a value without naming one."""
_SCHEMES = frozenset({"apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"})
"""The types of OpenAPI's security schemes, which are named as what they take."""

_STAND_IN = re.compile(
    r"""[$%@]?\$?\{\{?[^{}"':]*\}\}?|\$\{(?!\w{1,80}:?[-=](?=[^{}\s]{0,64}\d)[^{}\s/$]{6,300}\}\Z)[^{}]*\}|\$\(.*\)|\$\{?|\$\d{1,2}|\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+)|%(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+)%
    |<(?!(?=[^\s<>]{0,64}\d)[^\s<>]{0,64}[\^~!&$%][^\s<>]{0,64}>\Z)[^<>]*>|\W?\*+|/\*+|[A-Za-z_-]{0,12}(?:\.{3}|…)|[xX]{3,}|\.+|…|-+|\?+|:[A-Za-z_]+|@(?:p\d{1,3}|[a-z_]{1,30})|[?:]\d{1,3}|%[sdr]|\[redacted\].*|\#+
    |[012](?:\.\d{1,9}){5,20}
    |(?i:none|null|nil|true|false|undefined|required|optional|redacted|masked|n/a|unset|changeme)
    |(?i:(?:your|my|insert|enter|add|put)[_ -](?:[a-z]+[_ -])*(?:key|token|password|secret|here)s?
    (?:[_ -][a-z]+)*(?:[_ -]?\d{1,2})?)""",
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(
    r"""(?i:hidden|empty|todo|default|basic|bearer|digest|oauth2?|jwt|saml|sso|ldap|kerberos|ntlm|negotiate|cookie
    |session|password|secret|token|str|string|int|bytes|any|text|env|same-origin|include|omit)""",
    re.VERBOSE,
)
"""Words that stand in prose and code after a secret's name."""
_SCHEME = re.compile(
    r"(?i:basic|bearer|digest|oauth2?|saml2?|sso|ldap|kerberos|ntlm(?:v[12])?|negotiate|oidc|mtls|api[_-]?key"
    r"|wpa[23]?(?:[/ _-](?:wpa[23]|psk|personal|enterprise|sae|eap)){0,3}|wep|open|tls ?v?1(?:\.\d)?"
    r"|[hrep]s(?:256|384|512)|ed25519|md5|scram-sha-(?:1|256)|802\.1x|peap|eap-\w{2,9})"
)
_PATH = re.compile(r"(?:~(?:[\w.-]*(?=/)|\Z)|\.{0,2}/|[A-Za-z]:[\\/]|file:)[\w ./\\:~@%-]*")
_SEED_PHRASE = re.compile(r"(?:[a-z]{3,8} ){11,23}[a-z]{3,8}")
"""The words of a wallet, twelve to twenty-four of BIP 39's list."""
_OF_PEOPLE = "numbers of people"
"""A mapping under such a name, ``credit_card_17``, holds more than the number: its own names tell."""
_OF_WEATHER = "keys of OpenWeather"
_OF_TWO_KEYS, _SHORTEST_OF_TWO_KEYS = "keys of which there are two", 32
_HEXADECIMAL = re.compile("[0-9a-f]{32}")
"""A key of OpenWeather: under ``appid`` others say which app it is."""
_SHORTEST_OPAQUE = 4
_LONGEST_LOOKED_AT = 300
"""Characters of a value that tell what it is: the rest of a long text may stand after each of many names."""
_SHORTEST_RANDOM = 12
"""A part of a path with digits and both cases is random, if it is that long."""
_LONGEST_WORD = 24
_SHORTEST_MADE_UP = 6


_OPAQUE = ("if opaque", "if long", "if random", "four digits")
_SHORTEST_LONG = 8
_RANDOM_KEY = re.compile(r"(?![0-9a-f]{8}-)(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9+/=_-]{16,200}")
"""Letters and digits, but no UUID."""
_PASSWORDS, _SEEDS, _SESSIONS = "passwords", "seeds", "sessions"
"""Rows with values of their own: all texts; words, and no numbers that a generator begins with; no dates."""
_PUBLIC = re.compile(
    r"0x(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{1,8})|S-1-\d+(?:-\d+)+|#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})|(?:sha|SHA)-?\d{1,3}|md5"
)
"""The address of a contract (EIP-55), a user's id of Windows, a colour, an algorithm."""
_PATTERN = re.compile(
    r"\(\?[:P<=!]|\[\^|\[[a-zA-Z0-9]-[a-zA-Z0-9]|\\[dwsWSDb](?![a-z])|[\])][*+?]|[\])]\{\d|\)\$\Z|%[sdr](?![\w%])|\{\}"
)
"""What a regular expression, or a template, has: one of them alone stands in passwords, too."""
_SURELY_PATTERN = re.compile(
    r"\A\[[^\]]*\w-\w[^\]]*\][*+?]?\Z|\(\?(?:P<|[:=!])|\\b\w+\\b|\A\^.*\$\Z|\([\w-]+\|[\w|-]+\)"
)
_SCOPES = frozenset({"read", "write", "none", "admin", "same-origin", "include", "omit"})
"""What a permission is worth, ``{"id-token": "write"}``; a choice of `fetch`."""
_PLAIN_URL = re.compile(r"https?://[\w.-]+(?::\d{1,5})?(?:/[\w./#~-]*)?")
_OF_TWILIO = re.compile(r"[A-Z]{2}[0-9a-f]{4,32}")  # the `sid` of a call or a message
_NUMBERED = re.compile(
    r"[A-Za-z]+[-_ ]\d{1,3}|(?i:spring|summer|fall|autumn|winter|term|year|week|day)[-_ ]?\d{1,4}"
)
SMALLEST_PIN = 1_000


def is_placeholder(text: str) -> bool:
    """Returns True for what stands where a secret would: ``None``, ``${API_KEY}``, ``<your key>``."""
    text = text.strip().strip("\"'")
    return _STAND_IN.fullmatch(text) is not None or _WORD.fullmatch(text) is not None


_SAYS = re.compile(
    r"""(?i:(?:option|flag|argument|arg|parameter|param|value|switch)s?|prompt|file|field|column|input|form|name|type|user
    |username|email|login|admin_?name|is|or|and|to|in|for|from|on|at|of|by|as|if|with|was|has|must|may|can|cannot|not|no
    |yes|ok|set|reset|the|a|an|this|that|it|only|invalid|incorrect|wrong|missing|expired|changed|unchanged|updated
    |forgotten|rejected|accepted|correct|mismatch|match(?:es)?|hash|hashed|encrypted|plain|plaintext|protected|policy
    |strength|length|number|float|boolean|bool|object|array|list|dict|varchar|char|binary|blob|date|uuid|stdin|same
    |unknown|given|provided|removed|deleted|new|old|current|previous|confirm(?:ation)?|repeat|again|help|manager|auth)""",
    re.VERBOSE,
)
"""Words that stand after a password's name and say something of it, or are another name."""


def says_something(text: str) -> bool:
    """Returns True for a word that says something of a secret or is another name, and for a placeholder."""
    return _SAYS.fullmatch(text.strip(" .,:;!?")) is not None or is_placeholder(text)


def ends_opaque(text: str) -> bool:
    """Returns True if the last word of a text is opaque, without the signs around it."""
    return is_opaque(text.rpartition(" ")[2].strip("`'\"()[]<>.,;:!?") if " " in text.strip() else text)


def is_opaque(text: str) -> bool:
    """Returns True if a text is neither a word nor a name nor a sentence nor a path."""
    text = text[:_LONGEST_LOOKED_AT].strip()
    if len(text) < _SHORTEST_OPAQUE or any(map(str.isspace, text)) or _is_path(text):
        return False
    if any(map(str.isdigit, text)):
        return True
    letters = re.sub(r"[-_.:/]", "", text)
    if not letters.isalpha():
        return bool(letters)
    parts = re.split(r"[-_.:/]", text)
    return any(len(part) > _LONGEST_WORD or _has_mixed_case(part) for part in parts)


def _is_path(text: str) -> bool:
    """Returns True for a path: base64 has a ``/`` too, but no words between."""
    return (
        _PATH.fullmatch(text) is not None
        and _SLASH_AND_PASSWORD.fullmatch(text) is None
        and not any(_is_random_part(part) for part in re.split(r"[\\/]", text))
    )


_SLASH_AND_PASSWORD = re.compile(r"/(?=\w*[a-z])(?=\w*[A-Z])(?=[A-Za-z]+\d+[A-Za-z])\w{7,}")
"""One word with both cases around digits: a folder at the root has no such name."""


def _is_random_part(part: str) -> bool:
    return (
        len(part) >= _SHORTEST_RANDOM
        and any(map(str.isdigit, part))
        and any(map(str.isupper, part))
        and any(map(str.islower, part))
    )


def _has_mixed_case(part: str) -> bool:
    """Capitals and small letters as no name has them: more often than where its words begin."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", part)
    return len(part) >= 12 and len(words) * 3 > len(part)


def is_schema(value: dict[Any, Any]) -> bool:
    """Returns True if a mapping describes a field rather than holds its value, as JSON Schema does."""
    if not value:
        return True
    own = value.get("value")  # no keyword of JSON Schema: an output of Terraform has one beside its type
    if own is not None and own != "" and not (type(own) is str and is_placeholder(own)):
        return False
    kind = value.get("type")
    if type(kind) is list:
        return all(one in _JSON_TYPES for one in kind if type(one) is str)
    return (type(kind) is str and (kind in _JSON_TYPES or kind in _SCHEMES)) or any(
        key in value for key in _OF_SCHEMAS
    )


def without_random(data: Any, taken_out: Any, name: str) -> Any:
    """The data of that name without long texts that are random: what a session is described by stays,
    and the name itself: ``{"credit_card_9513926": {"id": "credit_card_9513926"}}``."""
    if type(data) is list:
        return [without_random(item, taken_out, name) for item in data]
    if type(data) is dict:
        return {key: without_random(item, taken_out, name) for key, item in data.items()}
    is_secret = type(data) is str and _RANDOM.fullmatch(data) is not None and data != name and is_opaque(data)
    return taken_out(data) if is_secret else data


def without_opaque(items: list[Any], is_hidden: Any, taken_out: Any) -> list[Any]:
    """The items of a list without texts that a secret's name hides and that are no word."""
    return [
        taken_out(one) if type(one) is str and is_hidden(one) and is_opaque(one) else one for one in items
    ]


_RANDOM = re.compile(r"(?![0-9a-f]{8}-[0-9a-f]{4}-)(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[A-Za-z0-9+/=_~.-]{16,}")
"""Letters and digits as a session's id has them, but no UUID: it names a thing."""
_EXAMPLES = ("default", "const", "enum", "example", "examples")


def without_examples(schema: Any, taken_out: Any) -> Any:
    """The schema of a secret field without the values that it gives, which may be real ones."""
    if type(schema) is list:
        return [without_examples(part, taken_out) for part in schema]
    if type(schema) is not dict:
        return schema
    return {
        key: taken_out(part) if key in _EXAMPLES and _is_given(part) else without_examples(part, taken_out)
        for key, part in schema.items()
    }


def _is_given(value: Any) -> bool:
    if type(value) is list:
        return any(map(_is_given, value))
    return type(value) is str and value != "" and not is_placeholder(value) and is_opaque(value)


def hides(rule: NameRule | None, name: str, value: Any) -> bool:
    """Returns True if the value of a name with this row is taken out; without a row, of a user's name."""
    kind = type(value)
    if value is None:
        return False
    if rule is None:
        return True
    if kind is bool or value == "" or value == []:
        return False
    if (kind is int or kind is float) and rule.what == _SEEDS:
        return False
    if kind is int:
        smallest = SMALLEST_PIN if rule.weight == "four digits" else SMALLEST_NUMBER
        return rule.weight == "numbers too" or abs(value) >= smallest
    if kind is float:
        return rule.weight == "numbers too"
    if kind is dict:
        return (
            rule.weight not in _OPAQUE
            and not rule.what.startswith(_OF_PEOPLE)
            and not is_schema(value)
            and value not in _MATCHERS
            and not _is_route(rule, value)
            and not _is_way_to_log_in(rule, value)
            and not ("authorization" in rule.words and "amount" in value)
            and not ("token" in rule.words and describes_token(value))
            and not (name.lower() == "cookies" and all(type(item) is int for item in value.values()))
            and not is_package(value)
            and not (value and all(type(item) is str and is_remark(item) for item in value.values()))
        )
    if kind is list:
        if value and all(is_remark(item) if type(item) is str else _tells_nothing(item) for item in value):
            return False
        if "auth" in rule.words and all(type(item) is str and not is_opaque(item) for item in value):
            return False  # scopes, as OpenAPI asks for
        return rule.weight not in _OPAQUE and not all(type(item) is bool or item is None for item in value)
    return not isinstance(value, str) or (_hides_text(rule, value) and not _names_itself(rule, name, value))


def _tells_nothing(entry: Any) -> bool:
    """Returns True for an entry of a list of keys that says when one was made, and what it is called."""
    return (type(entry) is dict and not _OF_LISTED.isdisjoint(entry)) and not any(
        type(item) not in _OF_ROUTES or (type(item) is str and is_made_up(item)) for item in entry.values()
    )


_OF_LISTED = frozenset({"created", "created_at", "createdAt", "last_used", "expires_at", "scopes", "status"})


def _names_itself(rule: NameRule, name: str, text: str) -> bool:
    """Returns True for a text that is its name again, ``{"utf_8_sig": "UTF-8-SIG"}``, or that of a header; a
    password's in capitals only, as constants are."""
    if len(text) > LONGEST_NAME or (rule.what == _PASSWORDS and not (text.isupper() and text == name)):
        return False
    return plain(text) == plain(own_name(name)) or is_header(name, text)


def _is_route(rule: NameRule, value: dict[Any, Any]) -> bool:
    """Returns True for what describes where and how to log in: a path, and nothing but words beside it."""
    texts = [item for item in value.values() if type(item) is str]
    return (
        "auth" in rule.words
        and any(_is_path(text) or _is_plain_url(text) for text in texts)
        and not any(is_opaque(text) for text in texts if not _is_plain_url(text))
        and all(type(item) in _OF_ROUTES for item in value.values())
    )


def _is_way_to_log_in(rule: NameRule, value: dict[Any, Any]) -> bool:
    """Returns True for ``{"type": "basic"}``: words alone, of which one says how."""
    kind = value.get("type", value.get("method", value.get("scheme")))
    return (
        "auth" in rule.words
        and type(kind) is str
        and _SCHEME.fullmatch(kind) is not None
        and all(type(item) is bool or (type(item) is str and not is_opaque(item)) for item in value.values())
    )


_OF_ROUTES = frozenset({str, int, float, bool, type(None)})
_SLASH_BEFORE = re.compile(r"/[A-Za-z]+[^/\s.]*\d[^/\s.]*")
"""A password that begins with a slash: a path has a folder, or a word."""


def _hides_text(rule: NameRule, text: str) -> bool:
    if is_remark(text):
        return False
    text = text[:_LONGEST_LOOKED_AT]
    if _STAND_IN.fullmatch(text.strip()) or (_is_path(text) and not _SLASH_BEFORE.fullmatch(text)):
        return False
    if rule.what != _PASSWORDS and (_PUBLIC.fullmatch(text) or _is_pattern(text) or _is_plain_url(text)):
        return False
    if text in _SCOPES and rule.what != _PASSWORDS:
        return False
    if VERSION.fullmatch(text) and (rule.what != _PASSWORDS or text[0] in "~^"):
        return False
    if _is_of_another_kind(rule, text):
        return False
    if rule.what.startswith(_OF_WEATHER):
        return _HEXADECIMAL.fullmatch(text) is not None
    if rule.weight == "if random":
        if rule.what.startswith(_OF_TWO_KEYS) and len(text) < _SHORTEST_OF_TWO_KEYS:
            return False  # the id of a row
        return _RANDOM_KEY.fullmatch(text) is not None and not is_name_with_digits(text)
    if rule.weight == "if long" and (len(text) < _SHORTEST_LONG or _PLAIN_URL.fullmatch(text)):
        return False
    if rule.weight in _OPAQUE:
        return is_opaque(text) or is_grouped(rule, text) or _SEED_PHRASE.fullmatch(text) is not None
    return not ("auth" in rule.words and _SCHEME.fullmatch(text))


def _is_of_another_kind(rule: NameRule, text: str) -> bool:
    """Returns True for what else has the name of one row: a talk's session, a pin of a board."""
    if rule.what == _SEEDS:
        return text.lstrip("-").isdigit()
    if rule.what == _SESSIONS:
        return any(one.fullmatch(text) for one in (_MEASURE, _NUMBERED, _OF_TWILIO))
    return is_another_value(rule, text)


def is_name(text: str) -> bool:
    """Returns True for what could be a parameter's name: no value beside another name."""
    return text.replace("_", "").replace("-", "").isalpha() and len(words_of(text)) <= 4 and text.islower()


def _is_pattern(text: str) -> bool:
    """Returns True for a regular expression, and for a template, ``--user=%s --password=%s``."""
    return text[:2] == "/^" or _SURELY_PATTERN.search(text) is not None or len(_PATTERN.findall(text)) > 1


def _is_plain_url(text: str) -> bool:
    """Returns True for an address without a user, a query, and parts that are random."""
    return _PLAIN_URL.fullmatch(text) is not None and all(map(is_of_words, SEPARATORS.split(text)[3:]))


_MEASURE = re.compile(
    r"""0x[0-9A-Fa-f]{1,16}[uUlL]{0,3}|\d{1,5}(?:[.,]\d+)*-?(?:[A-Za-z]{1,3}|%)|\d{1,5}/(?:tcp|udp|sctp)|(?:\d+:)?\d+(?:\.\d+)+[+~-](?:dfsg|deb|ubuntu|git|rc|post|dev)\S*|\d+-[A-Za-z]+|\d+(?:[./:,-]\d+)+\S{0,9}|[vV]\d{1,4}(?:\.\d{1,9})*(?:[-+.]?(?:alpha|beta|dev|post|rc|[ab])[.-]?\d{0,6})?
    |(?i:sha|md|aes|rsa|rs|hs|es|ps|utf|base|ed|x|pkcs|oauth|https?|rfc|ipv|tls|ssl|argon|des|ecdsa|secp|id|iso)
    [-_ ]?\d+(?:[-_][A-Za-z]+)*""",
    re.VERBOSE,
)
"""Measures, moments, versions, and what has a digit in its name: ``32-bit``, ``2026-03-01``, ``SHA256``."""
_ELSEWHERE = re.compile(r"\S*://\S*|[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}|[A-Za-z_]+(?:\.[A-Za-z_]\w*)+")
"""An address, or a name in code, ``settings.key1``."""
_SIGN_WITHIN = re.compile(r"\w[!#$%^*]+\w")


def is_measure(text: str) -> bool:
    """Returns True for a measure, a moment, a version, or a name with a digit such as ``SHA256``."""
    return _MEASURE.fullmatch(text) is not None


def is_made_up(text: str) -> bool:
    """Returns True if a text in running prose is that of a password: letters with digits or signs."""
    text = text[:_LONGEST_LOOKED_AT]
    if len(text) < _SHORTEST_OPAQUE or is_placeholder(text) or _is_path(text):
        return False
    if is_measure(text) or (_ELSEWHERE.fullmatch(text) and not has_random_part(text)):
        return False
    if text.isdigit():
        return True
    has_digit, has_letter = any(map(str.isdigit, text)), any(map(str.isalpha, text))
    is_mixed = has_letter and (has_digit or _SIGN_WITHIN.search(text) is not None)
    return len(text) >= _SHORTEST_MADE_UP and (is_mixed or (text.isalpha() and _has_mixed_case(text)))


_APP_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}")


def is_app_password(text: str) -> bool:
    """Returns True for a password of four times four letters, as Google makes one for a program."""
    return _APP_PASSWORD.fullmatch(text) is not None


def is_phrase(text: str) -> bool:
    """Returns True for words with a blank between, of which one is letters and digits, and no measure."""
    return " " in text.strip() and (is_app_password(text) or any(map(is_mixed, text.split())))


def is_mixed(word: str) -> bool:
    """Returns True for a word of letters and digits that is no measure."""
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word)) and not is_measure(word)
