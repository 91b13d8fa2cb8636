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
_POSTAL = frozenset({"pincode", "pin_code", "pinCode", "PinCode", "Pincode", "PIN"})
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


def names_another(name: str, entry: Mapping[str, Any]) -> bool:
    """Returns True if the value of this name in an entry is no secret, as what stands beside it tells."""
    if name == "token":
        return _is_token_of_text(entry)
    if name in _POSTAL:
        return not _OF_ADDRESSES.isdisjoint(entry) and _POSTAL_CODE.fullmatch(str(entry[name])) is not None
    return False


def _is_token_of_text(entry: Mapping[str, Any]) -> bool:
    """Returns True for a token of a text, which has a label or a count, or of a model's vocabulary:
    ``{"token": "Paris", "label": "LOC"}``."""
    if "logprob" in entry:
        return True
    token = entry.get("token")
    is_short = type(token) is str and len(token) <= _LONGEST_TOKEN and token.isalpha()
    return is_short and not _OF_TEXTS.isdisjoint(entry)
