"""`Links`: the addresses of pages. Ids in them are hex digits, everything else is quoted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from agenttrace.core.query import Labelled

_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class Links:
    """Makes addresses below a root; None for each where the page lies in a file."""

    root: str = ""
    is_live: bool = True

    def to(self, path: str, /, **asked: object) -> str | None:
        """The address of a page of ours, asked so, by whatever names; without what is None or empty."""
        if not self.is_live:
            return None
        values = {name.rstrip("_"): str(value) for name, value in asked.items() if value not in (None, "")}
        return f"{self.root}{path}" + (f"?{urlencode(values, errors='replace')}" if values else "")

    def changed(self, path: str, asked: Mapping[str, str], /, **changes: object) -> str | None:
        """The address of the same page, asked otherwise in some points."""
        return self.to(path, **{**asked, **changes})

    def here(self, asked: Mapping[str, str], /, **changes: object) -> str | None:
        """The same as `changed`, as seen from the page itself: shorter where a page has hundreds of them."""
        address = Links().to("", **{**asked, **changes}) if self.is_live else None
        return "?" if address == "" else address

    def traces(self, query: object = "", **asked: object) -> str | None:
        """The list of traces that match."""
        return self.to("/traces", q=query, **asked)

    def label(self, key: str, value: str) -> str | None:
        """The list of traces that have a label."""
        return self.traces(Labelled(key, (value,)))

    def trace(self, trace_id: str, **asked: object) -> str | None:
        """A trace's page."""
        return self.to(f"/t/{hex_id(trace_id)}", **asked)

    def span(self, trace_id: str, span_id: str, **asked: object) -> str | None:
        """A span's page."""
        return self.to(f"/t/{hex_id(trace_id)}/s/{hex_id(span_id)}", **asked)

    def run(self, run_id: str, **asked: object) -> str | None:
        """A run's page."""
        return self.to(f"/r/{hex_id(run_id)}", **asked)

    def session(self, session: str) -> str | None:
        """A session's page."""
        return self.to(f"/session/{quote(session, safe='', errors='backslashreplace')}")

    def scorer(self, name: str, **asked: object) -> str | None:
        """The page of a scorer's values over time."""
        return self.to(f"/scores/{quote(name, safe='', errors='backslashreplace')}", **asked)

    def group(self, by: str, **asked: object) -> str | None:
        """The page of traces by the values of a label."""
        return self.to(f"/groups/{quote(by, safe='', errors='backslashreplace')}", **asked)


def hex_id(text: str) -> str:
    """An id that may stand in an address: one that is no id would be somebody's text."""
    return text if text and set(text) <= _HEX else "0"
