"""A dataset's data as the text that stores keep."""

from __future__ import annotations

import json
from typing import Any

from agenttrace.core.errors import StoreError
from agenttrace.core.jsonable import to_json


def dataset_text(alias: str, content: Any) -> str:
    """Strict JSON text; the alias is any name, never a path.

    Raises:
        StoreError: the data is not JSON data, or the alias is no name.
    """
    if not isinstance(alias, str) or not alias.strip():
        raise StoreError(f"a dataset needs a name, got {alias!r}")
    try:
        text = to_json(content)
        text.encode()
        alias.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreError(
            f"the dataset {alias!r} is not JSON data: {error}; give dicts, lists, texts, finite numbers"
        ) from error
    return text


def dataset_value(text: str) -> Any:
    """The data of such a text."""
    return json.loads(text)
