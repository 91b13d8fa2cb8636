"""An evaluation goes on where an earlier one ended: which of its results stay, and whether they may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agenttrace.core.changed import changed
from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import clean, jsonable, to_json
from agenttrace.core.protocols import Store
from agenttrace.core.report import ScoringResult
from agenttrace.core.text import short_line
from agenttrace.evaluation.schedule import Place
from agenttrace.matching.explain import excerpts
from agenttrace.process.said_once import SaidOnce
from agenttrace.redaction import Redaction
from agenttrace.redaction.repeated import sought_elsewhere, taken_out_of
from agenttrace.redaction.taken_out import places_taken_out
from agenttrace.runs.record import prints_of
from agenttrace.runs.reference import find_run
from agenttrace.scoring.redacted import redacted_example, redacted_facts
from agenttrace.scoring.score_options import option_changes

_warnings = SaidOnce()

_SAME = {
    "function": "the function",
    "code": "the file of the function",
    "scorers": "the scorers",
    "trials": "trials",
}
"""Facts of a run that must not change: results before and after would be of two evaluations."""

_FILLED_IN = ("actual_output", "tools_called")
"""Fields of an example that a run of the agent fills in."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The run that is gone on with, and the results of it that stay, by their places in this one."""

    run_id: str
    name: str
    started_ns: int
    duration: float
    results: Mapping[Place, ScoringResult]


def earlier_run(
    store: Store | None,
    reference: str,
    examples: Sequence[Example],
    facts: Mapping[str, Any],
    *,
    project: str,
    model: str | None,
    trials: int,
    redaction: Redaction,
    one_by_one: bool,
) -> Earlier:
    """Find a stored run and what of it stays.

    An example that is new or has changed since is run, one that is gone is left out; both are logged. A
    result stays whatever its outcome is, but *not_run*; unless its trace did not reach the store. Of trials
    that follow one after the other (`one_by_one`) none stays behind one that does not.

    Raises:
        ConfigError: there is no such run, or its function, the file of that, its scorers, model or trials
            are others.
    """
    run = None if store is None else find_run(store, reference, project=project)
    if run is None or store is None:
        raise ConfigError(
            f"there is no run {reference!r} in project {project!r} to resume; see: agenttrace runs list"
        )
    _check_same(run, redacted_facts(facts, redaction), model)
    rows = [row for row in run["results"] if row["outcome"] != "not_run"]
    moved = _positions(run["metadata"], facts, redaction)
    secrets = _taken_out(facts, {name: run["metadata"].get(name) for name in facts})
    results: dict[Place, ScoringResult] = {}
    for row in rows:
        position, trial = moved.get(row["position"]), row["trial"]
        if position is None or trial > trials or (position, trial - 1) in results:
            continue
        result = _result(row, examples[position], facts.get("function") is not None, redaction)
        if result is not None and _is_whole(result, store):
            secrets_of_result = secrets | _taken_out(result.example.to_dict(), row["example"])
            results[position, trial - 1] = changed(
                result, position=position, trials=trials, repeated_secrets=secrets_of_result
            )
    if one_by_one:
        results = {place: results[place] for place in _in_a_row(results)}
    if len(results) < len(rows):
        text = f"run {run['run_id'][:8]} goes on with {len(results)} of its {len(rows)} results: the other"
        text += " examples are gone or have changed, or their traces did not reach the store"
        _warnings.warn(text, text)
    return Earlier(run["run_id"], run["name"], run["started_ns"], run["duration"] or 0.0, results)


def _in_a_row(results: Mapping[Place, ScoringResult]) -> Iterator[Place]:
    """The places of each example's trials from the first one to the last before one that is missing."""
    for position, trial in sorted(results):
        if all((position, earlier) in results for earlier in range(trial)):
            yield position, trial


def _check_same(run: Mapping[str, Any], facts: Mapping[str, Any], model: str | None) -> None:
    before: Mapping[str, Any] = {**run["metadata"], "model": run["model"]}
    now: Mapping[str, Any] = {**facts, "model": model}
    for name, words in {**_SAME, "model": "the model"}.items():
        if not _agree(clean(jsonable(before.get(name))), clean(jsonable(now.get(name)))):
            difference = _difference(name, before.get(name), now.get(name))
            raise ConfigError(
                f"run {run['run_id'][:8]} cannot be resumed: {words} changed since{difference}, "
                "and its results would be of two evaluations; start a new run"
            )
    git = before.get("git"), now.get("git")
    if git[0] != git[1]:
        text = f"run {run['run_id'][:8]} began at git {git[0]}, and goes on at {git[1]}"
        _warnings.warn(text, text)


def _difference(name: str, before: Any, now: Any) -> str:
    """What differs, in brackets. Of a file there are only hashes, which say nothing."""
    if name == "code":
        return ""
    if name == "scorers":
        return f" ({'; '.join(_scorer_changes(_numbered(before), _numbered(now)))})"
    return f" ({_change(before, now)})"


def _change(before: Any, now: Any) -> str:
    one, other = ("none" if value is None else short_line(str(value), 1_000) for value in (before, now))
    return " → ".join(excerpts(one, other, 100))


_Scorers = Mapping[tuple[str, int], Mapping[str, Any]]
"""The scorers of a run as its metadata have them, by name; those of one name are numbered."""


def _numbered(scorers: Any) -> _Scorers:
    counts: Counter[str] = Counter()
    numbered = {}
    for scorer in scorers or ():
        name = str(scorer["name"])
        numbered[name, counts[name]] = scorer
        counts[name] += 1
    return numbered


def _scorer_changes(before: _Scorers, now: _Scorers) -> Iterator[str]:
    """Which scorers came and went, and what of each other one is not as it was."""
    for key, scorer in now.items():
        earlier = before.get(key)
        if earlier is None:
            yield f"{key[0]} is new"
            continue
        facts = [word for word in ("class", "version") if earlier.get(word) != scorer.get(word)]
        changes = [f"{word}: {_change(earlier.get(word), scorer.get(word))}" for word in facts]
        changes += option_changes(earlier.get("options", {}), scorer.get("options", {}))
        if changes:
            yield f"{key[0]}: {', '.join(changes)}"
    yield from (f"{name} is gone" for name, number in before if (name, number) not in now)
    if list(before) != list(now) and set(before) == set(now):
        yield "their order"


def _agree(before: Any, now: Any) -> bool:
    """Whether a stored fact is that of now; out of it more may be taken, a secret that the run came upon."""
    return bool(before == now) or places_taken_out(to_json(now), to_json(before))[1]


def _taken_out(now: Mapping[str, Any], stored: Mapping[str, Any]) -> frozenset[str]:
    """The secrets of the earlier run, which its store lacks and nobody holds any more, that stand here."""
    return frozenset(sought_elsewhere(taken_out_of(clean(jsonable(dict(now))), clean(dict(stored)))))


def _positions(metadata: Mapping[str, Any], facts: Mapping[str, Any], redaction: Redaction) -> dict[int, int]:
    """Where each example of the earlier run is in this one; of equal ones the first is the first."""
    now = {key: at for at, key in enumerate(_keys(prints_of(redacted_facts(facts, redaction))))}
    before = enumerate(_keys(prints_of(metadata)))
    return {at: now[key] for at, key in before if key in now}


def _keys(prints: Sequence[Mapping[str, Any]]) -> Iterator[Hashable]:
    counts: Counter[Hashable] = Counter()
    for one in prints:
        key = one["fingerprint"], one.get("id")
        counts[key] += 1
        yield *key, counts[key]


def _result(
    row: Mapping[str, Any], example: Example, was_run: bool, redaction: Redaction
) -> ScoringResult | None:
    """A stored result, of the example as it is now; None where the recorded run that it holds has changed."""
    result = ScoringResult.from_dict(row)
    if was_run:
        filled_in = {name: getattr(result.example, name) for name in _FILLED_IN}
        return replace(result, example=example.changed(**filled_in))
    now, before = redacted_example(example.to_dict(), redaction), row["example"]
    same = all(clean(jsonable(now.get(name))) == clean(jsonable(before.get(name))) for name in _FILLED_IN)
    return replace(result, example=example) if same else None


def _is_whole(result: ScoringResult, store: Store) -> bool:
    """Whether the trace of a result is there, where anything was recorded."""
    if not result.example.tools_called or result.trace_id is None:
        return True
    return store.trace(result.trace_id) is not None
