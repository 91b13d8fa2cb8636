"""How an example's input becomes the arguments of the function under test."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.example import Example


@dataclass(frozen=True, slots=True)
class Target:
    """The function under test, with its signature where Python knows it."""

    function: Callable[..., Any]
    name: str
    signature: inspect.Signature | None

    @classmethod
    def of(cls, function: Any) -> Target:
        """Check that it can be called, once, before anything runs.

        Raises:
            ConfigError: a class, or something that is not callable.
        """
        if inspect.isclass(function):
            raise ConfigError(
                f"function is the class {function.__name__}; pass what runs the agent, such as the method "
                f"of an instance: function={function.__name__}().run"
            )
        if not callable(function):
            raise ConfigError(
                f"function must be callable, got {type(function).__name__}; pass the function itself, "
                "without calling it: function=agent.run"
            )
        name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # some builtins have none
            signature = None
        said = str(name or type(function).__name__).rpartition("<locals>.")[2]
        return cls(function, said, signature)

    def misfit(self, example: Example) -> str | None:
        """Why the example's input does not fit the signature, or None: it does."""
        if self.signature is None:
            return None
        args, kwargs = arguments(example.input)
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return f"the input does not fit {self.name}{_bare(self.signature)}: {error}{self._hint(example)}"
        return None

    def _hint(self, example: Example) -> str:
        assert self.signature is not None
        if example.input is None:
            return "; this example has no input"
        if isinstance(example.input, str):
            return "; a text input is passed as the one argument, a mapping as keyword arguments"
        unknown = [key for key in example.input if key not in self.signature.parameters]
        if not unknown:
            return ""
        return (
            f"; the input has {str(unknown[0])!r}{did_you_mean(str(unknown[0]), self.signature.parameters)}"
        )


def _bare(signature: inspect.Signature) -> inspect.Signature:
    """The signature without its annotations."""
    return signature.replace(
        parameters=[p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()],
        return_annotation=inspect.Signature.empty,
    )


def arguments(given: str | Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A mapping becomes keyword arguments, a text the one argument, None no argument."""
    if isinstance(given, Mapping):
        return (), dict(given)
    return ((), {}) if given is None else ((given,), {})
