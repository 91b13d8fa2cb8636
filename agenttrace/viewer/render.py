"""Fills the templates: everything from a store is escaped, and no character in it moves others about."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jinja2

from agenttrace.core import semconv
from agenttrace.reports.text import safe
from agenttrace.version import __version__
from agenttrace.viewer import words
from agenttrace.viewer.links import Links
from agenttrace.viewer.reads import Reads

_LONGEST = 1 << 30


def _shown(value: Any) -> Any:
    """What is written for a value: control and bidirectional characters of a text as their codes."""
    if type(value) is str:
        return safe(value, _LONGEST)
    return "" if value is None else value


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("agenttrace.viewer", "templates"),
        autoescape=True,
        finalize=_shown,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    for name in words.__all__:
        environment.globals[name] = getattr(words, name)
    environment.filters["cut"] = _cut
    environment.globals["version"] = __version__
    environment.globals["MARKS"] = MARKS
    environment.globals["UNFINISHED"] = semconv.UNFINISHED
    return environment


MARKS = {
    "passed": "●",
    "failed": "■",
    "errored": "▲",
    "skipped": "○",
    "not_run": "○",
    "none": "·",
    "ok": "●",
    "error": "✕",
    "open": "◐",
    "cancelled": "○",
    "abandoned": "○",
}
"""The shape of each outcome and status: colour alone would not tell them apart."""


def _cut(text: str, most: int) -> str:
    """The first characters of a text, with an ellipsis where there are more."""
    return text if len(text) <= most else text[: most - 1] + "…"


def render(name: str, reads: Reads, /, **context: Any) -> str:
    """A page from its template."""
    links = Links(reads.root, reads.is_live)
    return (
        _environment()
        .get_template(name)
        .render(
            links=links,
            root=reads.root,
            live=reads.is_live,
            forms=reads.forms,
            now_ns=reads.now_ns,
            no_store=reads.path if reads.is_live and reads.is_missing else None,
            **context,
        )
    )
