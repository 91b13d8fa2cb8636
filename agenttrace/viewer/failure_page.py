"""The page of failures: each once, with its state, when and how often it was seen, whom it hits."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from agenttrace.core.errors import ConfigError
from agenttrace.core.failure import State, state_text
from agenttrace.viewer.reads import Asked, Reads
from agenttrace.viewer.render import render
from agenttrace.viewer.words import column_money

ROWS = 40
SHOWN_TRACES = 8
SHOWN_CUSTOMERS = 12
STATES: tuple[tuple[State, str], ...] = (("back", "Back again"), ("open", "Open"), ("fixed", "Fixed"))


def failure_page(reads: Reads, asked: Asked) -> tuple[int, str]:
    """The failures in one ``state`` or all, of one ``project`` or all, from the place ``from`` on.

    ``open`` is the fingerprint of one that is unfolded.
    """
    state = named_state(asked.get("state", ""))
    project = asked.get("project") or None
    start = int(asked["from"]) if asked.get("from", "").isdecimal() and len(asked["from"]) < 6 else 0
    failures = reads.watch.failures(project=project, state=state, limit=start + ROWS + 1)[start:]
    numbers = Counter[str]()
    projects = Counter[str]()
    for (of_project, of_state), number in reads.watch.failure_counts().items():
        projects[of_project] += number
        if project in (None, of_project):
            numbers[of_state] += number
    return 200, render(
        "failure_page.html",
        reads,
        failures=failures[:ROWS],
        money=column_money(failure.cost for failure in failures[:ROWS]),
        tabs=[("", "All", numbers.total()), *((key, word, numbers[key]) for key, word in STATES)],
        state=state,
        project=project,
        projects=sorted(projects),
        start=start,
        before=max(start - ROWS, 0),
        after=start + ROWS if len(failures) > ROWS else None,
        opened=asked.get("open", ""),
        state_text=state_text,
        most_traces=SHOWN_TRACES,
        most_customers=SHOWN_CUSTOMERS,
        path=reads.path,
    )


def named_state(text: str) -> State | None:
    """A state by its name, None for none.

    Raises:
        ConfigError: it is no state.
    """
    for state in get_args(State):
        if text == state:
            return state  # type: ignore[no-any-return]  # one of the literal's own
    if text:
        raise ConfigError(f"got state {text[:40]!r}, wanted one of {', '.join(get_args(State))}")
    return None
