"""`ToolDefinition`: a tool's name, parameters, tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, final

from agenttrace.core.errors import ExpectationError, did_you_mean

TOOL = "tool"

ParameterKind = Literal[
    "positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"
]


@final
class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"

    def __reduce__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
"""The default of a parameter that has none."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool: `default` is a JSON-safe snapshot, or `REQUIRED`."""

    name: str
    kind: ParameterKind = "positional_or_keyword"
    default: Any = REQUIRED


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A known tool: its name, its parameters in order (without self), its tags.

    `described` is True where it is known by the description that a model was offered: then calls are recorded
    as they were asked for, without the defaults, which comparing adds. `description` is the first line of
    its docstring; two definitions that differ in nothing else are equal.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    tags: tuple[str, ...] = ()
    described: bool = False
    description: str = field(default="", compare=False)

    @property
    def rest(self) -> str | None:
        """The parameter that takes all further names (``**options``), or None."""
        return next((p.name for p in self.parameters if p.kind == "var_keyword"), None)

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Bring expected arguments into the shape in which a call of this tool is recorded.

        Defaults are filled in; names that the tool takes through ``**options`` are moved under that
        parameter's own name. That name itself stands for the recorded mapping, or, with a plain value or
        beside other such names, for an argument that happens to be called the same.

        Raises:
            ExpectationError: an argument that the tool does not have.
        """
        by_name = {p.name: p for p in self.parameters}
        rest = self.rest
        bound: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        for name, value in arguments.items():
            if name in by_name:
                bound[name] = value
            elif rest is not None:
                extra[name] = value
            else:
                raise ExpectationError(
                    f"the tool {self.name!r} has no parameter {name!r}" + did_you_mean(name, by_name)
                )
        if rest in bound and (extra or isinstance(bound[rest], str | int | float | list | None)):
            extra[rest] = bound.pop(rest)
        for parameter in self.parameters:
            if parameter.name not in bound:
                if parameter.kind == "var_positional":
                    bound[parameter.name] = []
                elif parameter.kind == "var_keyword":
                    bound[parameter.name] = extra
                elif parameter.default is not REQUIRED:
                    bound[parameter.name] = parameter.default
        return bound
