"""`DataEnvironment`: Jinja that reaches nothing but JSON data, with what is allowed in a template as tables.

A dot or a bracket gives an item of a mapping or a list, never an attribute of a Python object; the few
objects of Jinja's own (``loop``, ``namespace``, a group) show what stands in a table here. This module loads
Jinja, so it is imported where a template is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined, nodes
from jinja2.runtime import LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from jinja2.utils import Namespace

from agenttrace.core.errors import did_you_mean
from agenttrace.core.jsonable import readable_json

# fmt: off
FILTERS = frozenset([
    "abs", "batch", "capitalize", "count", "d", "default", "dictsort", "first", "float", "groupby",
    "int", "items", "join", "last", "length", "list", "lower", "map", "max", "min", "reject",
    "rejectattr", "replace", "reverse", "round", "select", "selectattr", "slice", "sort", "string",
    "sum", "title", "tojson", "trim", "truncate", "unique", "upper", "wordcount",
])
# fmt: on
"""The filters of a template. Those that pad, wrap, format or escape are for pages; *attr* reaches attributes,
*random* would make two runs differ."""

# fmt: off
TESTS = frozenset([
    "!=", "<", "<=", "==", ">", ">=", "boolean", "defined", "divisibleby", "eq", "equalto", "even",
    "false", "float", "ge", "greaterthan", "gt", "in", "integer", "iterable", "le", "lessthan",
    "lower", "lt", "mapping", "ne", "none", "number", "odd", "sequence", "string", "true",
    "undefined", "upper",
])
# fmt: on

FUNCTIONS = frozenset({"range", "dict", "namespace"})
"""The functions that a template may call."""

FORBIDDEN_TAGS: Mapping[type[nodes.Node], str] = {
    nodes.Include: "include",
    nodes.Import: "import",
    nodes.FromImport: "from … import",
    nodes.Extends: "extends",
    nodes.Block: "block",
    nodes.Macro: "macro",
    nodes.CallBlock: "call",
}
"""Tags that read other templates, or make functions."""

_LOOP = frozenset(
    [
        "index",
        "index0",
        "revindex",
        "revindex0",
        "first",
        "last",
        "length",
        "depth",
        "depth0",
        "previtem",
        "nextitem",
    ]
)
_GROUP = frozenset({"grouper", "list"})


class DataEnvironment(ImmutableSandboxedEnvironment):
    """Strict and immutable; names of attributes are keys of data alone."""

    def __init__(self) -> None:
        # Not optimized: what is constant would be worked out while the template is read, without a limit.
        super().__init__(undefined=StrictUndefined, finalize=_text_of, optimized=False, cache_size=64)
        self.filters = {name: self.filters[name] for name in FILTERS}
        self.filters["tojson"] = readable_json
        self.tests = {name: self.tests[name] for name in TESTS}
        self.globals = {name: self.globals[name] for name in FUNCTIONS}
        self.policies.clear()
        self.policies["truncate.leeway"] = 5

    def getattr(self, obj: Any, attribute: str) -> Any:
        """The item of data of this name, else undefined."""
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """The item of a mapping or a list, else undefined: an error as soon as it is used."""
        if isinstance(obj, Mapping):
            if isinstance(argument, str | int | float | bool | None) and argument in obj:
                return obj[argument]
        elif isinstance(obj, LoopContext):
            if argument in _LOOP:
                return getattr(obj, argument)
        elif isinstance(obj, Namespace):
            return SandboxedEnvironment.getattr(self, obj, argument)
        elif type(obj).__name__ == "_GroupTuple":
            if argument in _GROUP or isinstance(argument, int):
                return getattr(obj, argument) if isinstance(argument, str) else obj[argument]
        elif isinstance(obj, list | tuple | str) and isinstance(argument, int | slice):
            try:
                return obj[argument]
            except IndexError:
                pass
        where = did_you_mean(str(argument), map(str, obj)) if isinstance(obj, Mapping) else ""
        what = "" if isinstance(obj, Mapping) else f", which {type(obj).__name__} has none of"
        return self.undefined(hint=f"there is no {str(argument)!r}{what}{where}", name=str(argument))


def _text_of(value: Any) -> Any:
    """Lists and mappings are put out as JSON."""
    return readable_json(value) if isinstance(value, list | tuple | dict) else value
