"""What a run of LangChain's is called, where in a graph it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agenttrace.integrations.langgraph_runs import Run

_PLACES = {"langgraph_node": "langgraph.node", "langgraph_step": "langgraph.step"}
_ATTEMPT = "retry:attempt:"


def name_of(serialized: Any) -> str | None:
    """The name of what runs, as LangChain writes it down; None where it does not."""
    if not isinstance(serialized, Mapping):
        return None
    place = serialized.get("id")
    found = serialized.get("name") or (place[-1] if isinstance(place, Sequence) and place else None)
    return found if isinstance(found, str) else None


def describe_place(run: Run, tags: Sequence[str] | None, metadata: Mapping[str, Any] | None) -> None:
    """Record the node, the step, which attempt it is, and at the top to which conversation it belongs."""
    told = metadata or {}
    for key, name in _PLACES.items():
        if told.get(key) is not None:
            run.span.set_attribute(name, told[key])
    if run.parent_id is None and told.get("thread_id") is not None:
        run.span.set_attribute("session.id", str(told["thread_id"]))
    for tag in tags or ():
        if tag.startswith(_ATTEMPT) and tag[len(_ATTEMPT) :].isdigit():
            run.span.set_attribute("agenttrace.attempt", int(tag[len(_ATTEMPT) :]))
