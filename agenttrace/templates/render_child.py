"""The child process that renders templates: it limits its own time and memory, and is killed by the limit.

It loads Jinja and this room, nothing else of the package.
"""

from __future__ import annotations

import os
import sys
from typing import Any, BinaryIO

from jinja2 import TemplateError, Undefined, nodes
from jinja2.environment import Template as CompiledTemplate

from agenttrace.core.json_reader import strict_json
from agenttrace.core.jsonable import readable_json
from agenttrace.templates.sandbox import DataEnvironment

MAX_MEMORY = 64 * 1024 * 1024
"""Bytes that rendering may take beyond what the process has at its start."""

MAX_OUTPUT = 1_000_000
"""Characters of what a template gives, as JSON."""


class Renderer:
    """Renders templates over JSON data; the last ones stay compiled."""

    def __init__(self) -> None:
        self.environment = DataEnvironment()
        self._compiled: dict[str, tuple[CompiledTemplate, bool]] = {}

    def answer(self, source: str, context: dict[str, Any]) -> dict[str, Any]:
        """``{"value": …}``, or ``{"error": …}`` with the template's line where it is known."""
        try:
            value = self._value(source, context)
            text = readable_json({"value": value})
        except MemoryError:
            return {"error": f"it takes more than {MAX_MEMORY // 1024 // 1024} MB"}
        except RecursionError:
            return {"error": "it is nested too deeply"}
        except Exception as error:  # choke-point: whatever a template raises is the answer
            return {"error": str(error) or type(error).__name__, "line": _line_of(error)}
        if len(text) > MAX_OUTPUT:
            return {"error": f"it gives more than {MAX_OUTPUT:,} characters"}
        return {"value": value}

    def _value(self, source: str, context: dict[str, Any]) -> Any:
        template, is_expression = self._template(source)
        if not is_expression:
            parts, length = [], 0
            for part in template.generate(context):
                length += len(part)
                if length > MAX_OUTPUT:
                    raise TemplateError(f"it gives more than {MAX_OUTPUT:,} characters")
                parts.append(part)
            return "".join(parts)
        scope = template.new_context(context)
        try:
            for _ in template.root_render_func(scope):
                pass
        except Exception:  # choke-point: raised again, with the template's lines in the traceback
            self.environment.handle_exception()
        return _data(scope.vars["result"])

    def _template(self, source: str) -> tuple[CompiledTemplate, bool]:
        if source not in self._compiled:
            if len(self._compiled) >= 64:
                self._compiled.clear()
            tree = self.environment.parse(source)
            expression = expression_of(tree)
            if expression is not None:  # its value is wanted, not its text
                target = nodes.Name("result", "store", lineno=1)
                tree = nodes.Template([nodes.Assign(target, expression, lineno=1)], lineno=1)
                tree.set_environment(self.environment)
            compiled = self.environment.from_string(tree)
            self._compiled[source] = compiled, expression is not None
        return self._compiled[source]


def _line_of(error: Exception) -> int | None:
    """The line of the template on which it failed: Jinja puts it into the traceback."""
    line: int | None = getattr(error, "lineno", None)
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def expression_of(tree: nodes.Template) -> nodes.Expr | None:
    """The expression of a template that is nothing else: ``{{ sample.calls }}``."""
    if len(tree.body) == 1 and isinstance(tree.body[0], nodes.Output) and len(tree.body[0].nodes) == 1:
        only = tree.body[0].nodes[0]
        return None if isinstance(only, nodes.TemplateData) else only
    return None


def _data(value: Any) -> Any:
    """The value as JSON data.

    Raises:
        TemplateError: it is undefined, or no data.
    """
    if isinstance(value, Undefined):
        str(value)  # raises: strict
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): _data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_data(item) for item in value]
    if hasattr(value, "__next__") or isinstance(value, range) or type(value).__name__ in ("dict_items",):
        raise TemplateError("it gives a sequence that is still to be made; end it with | list")
    raise TemplateError(f"it gives {type(value).__name__}, which is no JSON data")


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until their end: a line of seconds and size, then JSON of that size."""
    import signal

    _limit_memory()
    renderer = Renderer()
    answers.write(b"ready\n")
    while line := requests.readline().split():
        seconds, size = float(line[0]), int(line[1])
        request = strict_json(requests.read(size).decode("utf-8", "surrogatepass"))
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answer = renderer.answer(request["source"], request["context"])
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(readable_json(answer).encode("utf-8", "surrogatepass") + b"\n")


def _limit_memory() -> None:
    """Limit the address space, where the system tells how much is taken already."""
    try:
        import resource

        with open("/proc/self/statm", "rb") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (used + MAX_MEMORY, used + MAX_MEMORY))
    except (ImportError, OSError, ValueError):
        sys.stderr.write("")  # no such system: the time is limited all the same
