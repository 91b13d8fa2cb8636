"""Arguments that were passed through ``*args, **kwargs``, under the names of the function that they reach."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from agenttrace.core.jsonable import jsonable


class Rebinding:
    """Binds recorded arguments to the parameters that a callable claims to have.

    A decorator of the user's (``@retry`` over ``def search(city)``) takes anything and claims, through
    `functools.wraps`, the signature of what it wraps. It must be called as it is; scorers want ``city``.
    The binding is done on the pipeline's worker.
    """

    def __init__(self, taken: Sequence[inspect.Parameter], claimed: Sequence[inspect.Parameter]) -> None:
        self._taken = tuple(taken)
        self._claimed = inspect.Signature(claimed)
        self._defaults = {p.name: jsonable(p.default) for p in claimed if p.default is not p.empty}

    def bind(self, values: Sequence[Any]) -> dict[str, Any] | None:
        """The values of the parameters that are taken, bound to those that are claimed; None where they do
        not fit: the decorator adds or removes arguments, or too many were given to be recorded."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter, value in zip(self._taken, values, strict=False):
            if parameter.kind is parameter.VAR_POSITIONAL:
                if not isinstance(value, list):
                    return None
                positional += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                if not isinstance(value, dict) or "$truncated" in value:
                    return None
                named |= value
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                positional.append(value)
        try:
            bound = self._claimed.bind(*positional, **named).arguments
        except TypeError:
            return None
        return {name: self._bound(bound, p) for name, p in self._claimed.parameters.items()}

    def _bound(self, bound: dict[str, Any], parameter: inspect.Parameter) -> Any:
        if parameter.name in bound:
            value = bound[parameter.name]
            return list(value) if parameter.kind is parameter.VAR_POSITIONAL else value
        if parameter.kind is parameter.VAR_POSITIONAL:
            return []
        return {} if parameter.kind is parameter.VAR_KEYWORD else self._defaults.get(parameter.name)
