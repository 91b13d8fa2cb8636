"""What else a secret's name stands for: the token of a text or a chain, the code of an address, a pin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agenttrace.redaction.names import NameRule

_OF_TEXTS = frozenset(
    {
        *("label", "entity", "entity_group", "entity_type", "lemma", "pos", "tag", "ner", "score", "prob"),
        *("probability", "count", "frequency", "idf", "amount", "symbol", "whitespace", "offset", "offsets"),
    }
)
_OF_WORDS = frozenset({"lemma", "pos", "tag", "ner", "upos", "xpos", "dep", "whitespace", "is_stop"})
_WORD = re.compile(r"(?=(?:\D*\d){0,4}\D*\Z)[^\W_]{0,20}(?:['’.-][^\W_]{1,20}){0,2}")
"""A word of a text, *don't*, *2nd*, *COVID19*, *U.S*."""
_LONGEST_TOKEN = 24
_OF_COINS = frozenset(
    {
        *(
            "chain",
            "chain_id",
            "chainId",
            "network",
            "blockchain",
            "contract",
            "contract_address",
            "decimals",
        ),
        *("balance", "price", "price_usd", "priceUsd", "wallet", "pool", "swap", "dex"),
    }
)
_COIN_BESIDE = re.compile("[A-Z]{2,8}")
_POSTAL = frozenset({"pin", "pincode", "pin_code", "pinCode", "PinCode", "Pincode", "Pin", "PIN"})
_OF_ADDRESSES = frozenset(
    {
        *("city", "street", "state", "address", "country", "district"),
        *("locality", "area", "town", "landmark"),
        *("line1", "line2", "address1", "address2", "address_line1", "addressLine1", "street_address"),
        *("City", "Street", "State", "Address", "Country", "District"),
    }
)
_POSTAL_CODE = re.compile(r"[1-9]\d{2} ?\d{3}")
"""As India Post has them; the code of a card has no six digits."""
_PLACE_BEFORE = re.compile(
    r"(?i)\b(?:address|road|rd|street|nagar|marg|lane|block|sector|floor|district|dist|city|town|state|india|colony"
    r"|post\s?office|village|postal|zip)\b"
)
_PLACE_BEHIND = re.compile(r"[1-9]\d{2} ?\d{3}(?!\d)(?:,\s?|\s)[A-Z][a-z]{2,20}(?:,|\.|\s[A-Z]|\Z)")
_WINDOW = 120


def names_another(name: str, entry: Mapping[str, Any]) -> bool:
    """Returns True if the value of this name in an entry is no secret, as what stands beside it tells."""
    if name == "token":
        return _is_token_of_text(entry)
    if name in _POSTAL:
        return not _OF_ADDRESSES.isdisjoint(entry) and _POSTAL_CODE.fullmatch(str(entry[name])) is not None
    return False


def is_postal_code(name: str, text: str, begin: int) -> bool:
    """Returns True for the code of an address that a text names like a card's, *12 MG Road, PIN: 560001*;
    `begin` is where the code does."""
    if name.lower().replace(" ", "").replace("_", "") not in ("pin", "pincode", "code"):
        return False
    code = _POSTAL_CODE.match(text, begin)
    if code is None or text[code.end() : code.end() + 2].strip(" ").isdigit():
        return False
    if name.lower() == "pincode":  # as India calls it; of a card one has four digits
        return True
    before = text[max(0, begin - _WINDOW) : begin]
    return _PLACE_BEFORE.search(before) is not None or _PLACE_BEHIND.match(text, begin) is not None


def describes_token(value: Mapping[str, Any]) -> bool:
    """Returns True for a mapping that describes a token of a chain, or of a parser:
    ``{"symbol": "ETH", "decimals": 18}``, ``{"type": "NAME", "string": "foo"}``."""
    is_coin = "symbol" in value and not _OF_COIN.isdisjoint(value)
    return is_coin or ("type" in value and not _OF_PARSERS.isdisjoint(value))


_OF_COIN = frozenset({"decimals", "address", "name", "chainId", "chain_id", "logoURI", "amount", "network"})
_OF_PARSERS = frozenset(
    {"string", "lexeme", "line", "lineno", "start", "pos", "col", "column", "range", "loc"}
)


def _is_token_of_text(entry: Mapping[str, Any]) -> bool:
    """Returns True for a token of a text, which has a label or a count, or of a model's vocabulary,
    ``{"token": "Paris", "label": "LOC"}``, and for one of a chain, ``{"token": "ETH", "chain": "base"}``."""
    if "logprob" in entry:
        return True
    token = entry.get("token")
    if type(token) is str and not _OF_WORDS.isdisjoint(entry) and _WORD.fullmatch(token):
        return True
    if type(token) is str and _COIN_BESIDE.fullmatch(token) and not _OF_COINS.isdisjoint(entry):
        return True
    is_short = type(token) is str and len(token) <= _LONGEST_TOKEN and token.isalpha()
    return is_short and not _OF_TEXTS.isdisjoint(entry)


_HEADER = re.compile(
    r"(?:[A-Z]+[a-z]*-){1,5}[A-Z]+[a-z]*|Authorization|(?:[a-z]{1,20}-){1,5}(?:key|token|auth)"
)


def is_header(name: str, text: str) -> bool:
    """Returns True for a header's name under the name of a setting: ``API_KEY_HEADER=X-API-Key``."""
    is_setting = name.lower().replace("_", "").endswith(("header", "headername", "headerkey"))
    return is_setting and _HEADER.fullmatch(text) is not None


_TOKENS, _OF_A_KIND = "tokens", "keys of a kind"
_COIN = re.compile(r"[A-Z]{2,6}|[a-z][a-z-]{1,30}(?:\.[a-z][a-z-]{1,30}){1,5}")
"""The token of a chain, ``USDC``, and of a grammar, ``keyword.operator``."""
_LICENCE = re.compile(
    r"(?i)(?:apache|mit|[la]?gpl|bsd|mpl|epl|isc|cc|unlicense)(?:[-_ ]?v?\d(?:\.\d)?)?(?:-[a-z]{2,8}){0,3}"
)
_ELEMENT = "(?:H|C|N|O|F|S|P|K|I|B|Na|Cl|Mg|Ca|Fe|Cu|Zn|Li|Br|Al|Ag|Ba|Mn|Ni|Co|Pb|Si|Cr|Sr)"
_FORMULA = re.compile(
    rf"(?=.{{2,14}}\Z){_ELEMENT}\d?(?:{_ELEMENT}\d?|\((?:{_ELEMENT}\d?){{1,4}}\)\d?){{1,5}}"
)
"""The formula of a salt, ``MgCl2``."""
_DEGREE = re.compile(
    r"(?:Ph\.?D|M\.?D|M\.?B\.?A|[MB]\.?Sc|[MB]\.?[AS]|J\.?D|LL\.?[BM]|R\.?N|CPA|CFA|PMP|P\.?E|M\.?Eng|B\.?Eng)"
    r"\.?(?:,? [A-Za-z][A-Za-z.&-]{1,30}){0,6}"
)
"""The credentials of a person: a degree, and where from."""
_POWER = re.compile(r"\d{1,6}(?:[.,]\d{1,3})? [kMGT]?W[ph]?")
_PINS = "PINs"
_OF_BOARD = re.compile(
    r"-?\d{1,3}\.\d+, ?-?\d{1,3}\.\d+|[A-Z]{1,2}\d{1,2}\.\d{1,2}"
    r"|(?i:gpio(?:_num)?|io|pin|p[a-k]|p\d\.|adc|dac|tx|rx|sda|scl|mosi|miso|sck|cs|led|btn|pwm|[adj])"
    r"_?\d{1,2}(?:[.-]\d{1,2})?"
)
"""The pin of a board, ``GPIO17``, and of a map."""
_OF_VAULT = "ids that are secrets"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What Vault calls a `secret_id`: with others it is a secret's name."""
_OF_DEVICES = "codes of devices"
_SHORTEST_OF_DEVICES = 20
"""A code that a device trades for a token is long; shorter ones say which device it is."""


def is_another_value(rule: NameRule, text: str) -> bool:
    """Returns True for a text that is no secret under a name of this row: ``USDC``, ``MgCl2``, ``GPIO17``."""
    another = _OTHERS.get(rule.what)
    if another is not None:
        return another.fullmatch(text) is not None
    if rule.what == _OF_VAULT:
        return _UUID.fullmatch(text) is None
    if rule.what == _OF_DEVICES:
        return len(text) < _SHORTEST_OF_DEVICES
    if "salt" in rule.words:
        return _FORMULA.fullmatch(text) is not None
    if "credentials" in rule.words:
        return _DEGREE.fullmatch(text) is not None
    if "pw" in rule.words:
        return _POWER.fullmatch(text) is not None
    return "card" in rule.words and text.startswith(("hw:", "plughw:"))


_OTHERS = {_TOKENS: _COIN, _OF_A_KIND: _LICENCE, _PINS: _OF_BOARD}
