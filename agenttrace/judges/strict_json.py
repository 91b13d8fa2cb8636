"""A judge's or an endpoint's JSON text, read strictly: one document, each key once, finite numbers.

The datasets' reader is another one on purpose: its messages quote the key or number that they refuse, so that
the author finds it. A judge's reply may repeat the judged text, so these messages quote nothing. Integers
have a smaller limit here, because a token count is multiplied with a price.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn


class StrictJSONError(ValueError):
    """The text is not strict JSON; the message says why without quoting the text."""


def parse_strict(text: str) -> Any:
    """Read one whole JSON document.

    Python's own reader takes the last of two equal keys, NaN and Infinity, and 1e999 as infinity. Here they
    are errors, as are text before or after the document and nesting that the interpreter cannot follow.

    Raises:
        StrictJSONError: the text is not strict JSON.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_integer,
        )
    except StrictJSONError:
        raise
    except json.JSONDecodeError as error:
        raise StrictJSONError(f"not one JSON document: {error.msg} at character {error.pos}") from None
    except RecursionError:
        raise StrictJSONError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise StrictJSONError("a key stands twice in one object")
    return mapping


def _no_constant(_: str) -> NoReturn:
    raise StrictJSONError("NaN and Infinity are not JSON numbers")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise StrictJSONError("a number is too large")
    return number


def _integer(text: str) -> int:
    if len(text) > 300:
        raise StrictJSONError("a number is too large")
    return int(text)
