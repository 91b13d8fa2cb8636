"""`Template`: a Jinja template over JSON data, checked when it is read, rendered within limits."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.json_reader import strict_json
from agenttrace.core.jsonable import readable_json
from agenttrace.core.text import short_line
from agenttrace.process.killable_child import PREPARED, SUPPORTED, KillableChild

if TYPE_CHECKING:
    from jinja2 import nodes

SECONDS = 1.0
"""Processor time that a template may take for one example."""

MAX_SOURCE = 64_000
"""Characters of a template."""

_TAG = re.compile(r"\{\{|\{%|\{#")


def is_template(text: str) -> bool:
    """Whether a text has an expression, a tag or a comment of Jinja's in it."""
    return _TAG.search(text) is not None


@dataclass(frozen=True, slots=True)
class Template:
    """The source of a template that was checked; made by `Template.parse`."""

    source: str

    @classmethod
    def parse(cls, source: str, names: frozenset[str] = frozenset({"sample"})) -> Template:
        """Check a template that sees these `names`, without running any of it.

        Raises:
            TemplateTrouble: it cannot be read, reads other templates, uses a filter, a test, a function or a
                name that there is not, reaches for an attribute that begins with an underscore, or calls
                anything but a function of the list.
        """
        from jinja2 import TemplateSyntaxError

        from agenttrace.templates.sandbox import DataEnvironment

        if len(source) > MAX_SOURCE:
            raise TemplateTrouble(f"it has {len(source):,} characters, at most {MAX_SOURCE:,} are read")
        try:
            tree = DataEnvironment().parse(source)
            for node, trouble in _troubles(tree, names):
                raise TemplateTrouble(trouble, node.lineno)
        except TemplateSyntaxError as error:
            raise TemplateTrouble(str(error.message), error.lineno) from None
        except RecursionError:
            raise TemplateTrouble("it is nested too deeply") from None
        return cls(source)

    def render(self, **context: Any) -> Any:
        """What the template gives, as JSON data: the value of a template that is one expression, else a text.

        `context` is JSON data. It is rendered in a process of its own, which is killed after a second of
        processor time and has 64 MB; on a system that cannot limit it (Windows) in this process.

        Raises:
            TemplateTrouble: it cannot be rendered, takes too long, too much memory, or gives more than a
                million characters.
        """
        request = readable_json({"source": self.source, "context": context})
        if not SUPPORTED:
            from agenttrace.templates.render_child import Renderer

            return _value(Renderer().answer(self.source, strict_json(request)["context"]))
        content = request.encode("utf-8", "surrogatepass")
        try:
            answer = _child().ask(f"{SECONDS} {len(content)}\n".encode() + content, SECONDS)
        except TimeoutError:
            raise TemplateTrouble(f"it is not rendered within {SECONDS:g} s") from None
        except ChildProcessError as error:
            raise TemplateTrouble(f"it is not rendered, for nothing could limit it: {error}") from None
        return _value(strict_json(answer.decode("utf-8", "surrogatepass")))


class TemplateTrouble(ConfigError):
    """A template cannot be read or rendered; `line` is its line within the template, where it is known."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def _value(answer: Mapping[str, Any]) -> Any:
    if "error" in answer:
        raise TemplateTrouble(short_line(str(answer["error"]), 300), answer.get("line"))
    return answer["value"]


def _troubles(tree: nodes.Template, names: frozenset[str]) -> Iterator[tuple[nodes.Node, str]]:
    """What is not allowed in a template, each with its node."""
    from jinja2 import nodes

    from agenttrace.templates.sandbox import FILTERS, FORBIDDEN_TAGS, FUNCTIONS, TESTS

    for node in tree.find_all(nodes.Node):
        tag = FORBIDDEN_TAGS.get(type(node))
        if tag is not None:
            yield node, f"the tag {tag!r} is not allowed: a template sees its sample alone"
        if isinstance(node, nodes.Filter) and node.name not in FILTERS:
            yield node, f"there is no filter {node.name!r}{did_you_mean(node.name, FILTERS)}"
        if isinstance(node, nodes.Test) and node.name not in TESTS:
            yield node, f"there is no test {node.name!r}{did_you_mean(node.name, TESTS)}"
        if isinstance(node, nodes.Getattr | nodes.NSRef) and node.attr.startswith("_"):
            yield node, f"{node.attr!r} is an attribute of Python's, and a template has data alone"
        if isinstance(node, nodes.Call) and not _calls_function(node):
            yield node, _call_trouble(node)
    all_names = list(tree.find_all(nodes.Name))
    own = {name.name for name in all_names if name.ctx != "load"} | {"loop"}
    for name in all_names:  # not `jinja2.meta`: it generates code, and works out what is constant
        if name.name not in own | names | FUNCTIONS:
            known = ", ".join(sorted(names))
            yield name, f"there is no {name.name!r}; a template sees {known}, such as {known}.{name.name}"


def _calls_function(node: nodes.Call) -> bool:
    from jinja2 import nodes

    from agenttrace.templates.sandbox import FUNCTIONS

    return isinstance(node.node, nodes.Name) and node.node.name in FUNCTIONS


def _call_trouble(node: nodes.Call) -> str:
    from jinja2 import nodes

    from agenttrace.templates.sandbox import FILTERS

    name = node.node.attr if isinstance(node.node, nodes.Getattr) else getattr(node.node, "name", "this")
    if name in FILTERS:
        return f"{name}() cannot be called: data has no methods; write the filter, | {name}"
    return f"{name}() cannot be called: data has no methods, and the functions are dict, namespace, range"


def _code() -> str:
    """The child's code: it finds modules where this process does."""
    places = [os.path.abspath(place) for place in sys.path]
    return (
        PREPARED
        + f"sys.path[:] = {places!r}\n"
        + "from agenttrace.templates.render_child import serve\nserve(requests, answers)\n"
    )


_children: list[KillableChild] = []


def _child() -> KillableChild:
    """The one that renders for this process; made on use, so that an import registers nothing."""
    if not _children:
        _children.append(KillableChild(_code))
    return _children[0]
