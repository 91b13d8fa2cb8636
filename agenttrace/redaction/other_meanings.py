"""What a secret's name stands for by what is beside it: the token of a text, the code of an address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_OF_TEXTS = frozenset(
    {
        *("label", "entity", "entity_group", "entity_type", "lemma", "pos", "tag", "ner", "score", "prob"),
        *("probability", "count", "frequency", "idf", "amount", "symbol", "whitespace", "offset", "offsets"),
    }
)
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
_COIN = re.compile("[A-Z]{2,8}")
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
    if _POSTAL_CODE.match(text, begin) is None or text[begin + 6 : begin + 8].strip(" ").isdigit():
        return False
    before = text[max(0, begin - _WINDOW) : begin]
    return _PLACE_BEFORE.search(before) is not None or _PLACE_BEHIND.match(text, begin) is not None


def _is_token_of_text(entry: Mapping[str, Any]) -> bool:
    """Returns True for a token of a text, which has a label or a count, or of a model's vocabulary,
    ``{"token": "Paris", "label": "LOC"}``, and for one of a chain, ``{"token": "ETH", "chain": "base"}``."""
    if "logprob" in entry:
        return True
    token = entry.get("token")
    if type(token) is str and _COIN.fullmatch(token) and not _OF_COINS.isdisjoint(entry):
        return True
    is_short = type(token) is str and len(token) <= _LONGEST_TOKEN and token.isalpha()
    return is_short and not _OF_TEXTS.isdisjoint(entry)
