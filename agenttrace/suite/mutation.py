"""`mutation_score`: damage passing runs, score them again, count what is noticed. No model is asked."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Unpack, get_args

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.mutation_score import DamageKind, MutationOptions, MutationScore, Tally
from agenttrace.core.numbers import is_whole
from agenttrace.core.protocols import Scorer
from agenttrace.core.report import ScoringResult
from agenttrace.core.tool_call import ToolCall
from agenttrace.matching.selection import Selection
from agenttrace.scoring.checks import gates
from agenttrace.suite.coverage import ScorersOf, constant, run_of
from agenttrace.suite.damage import Damage, Effects, Run, guests_among
from agenttrace.suite.damaged_run import ScoredRun, why_left_out
from agenttrace.suite.suggestions import Suggestions, Trial

KINDS: tuple[DamageKind, ...] = get_args(DamageKind)
PER_RUN = 60
MOST = 5_000


def mutation_score(
    report: Iterable[ScoringResult],
    scorers: Iterable[Scorer] | ScorersOf,
    **options: Unpack[MutationOptions],
) -> MutationScore:
    """Damage the passing runs of a report in every small way, and count how much of it its scorers notice.

    A damaged run was noticed where it no longer passes. Scorers that inform (`gate=False`) decide nothing
    here either, and are not asked. Scorers that ask a model are left out, and named in the notes; so are runs
    that do not pass without them. The same report, options and seed give the same
    score. See `MutationOptions` for the options, `agenttrace.suite.damage` for what is no damage.

    Raises:
        ConfigError: an unknown kind of damage, a limit that is no whole number from 1.
    """
    check_options(options)
    notes: dict[str, None] = {}
    runs = list(_passing(list(report), scorers if callable(scorers) else constant(scorers), notes))
    calls = [call for run in runs for call in run.calls]
    effects = Effects.of(calls, options.get("writes"))
    tools = options.get("tools")
    names = None if tools is None else {call.name for call in Selection.of(tools=tools).calls(tuple(calls))}
    trials, cut = _trials(runs, effects, guests_among(calls, effects), options, names)
    if runs and names == set():
        wanted = tools if isinstance(tools, str) else ", ".join(tools or ())
        notes[f"No passing run calls {wanted}: nothing was damaged."] = None
    if cut:
        notes[f"{cut} more damaged runs were not scored (per_run, most); the seed chose which."] = None
    if not runs and not notes:
        notes["No run passed: nothing was damaged."] = None
    tallies = tallied(trials)
    search = Suggestions(trials, effects, sum(tallies.values(), Tally()))
    suggestions = tuple(search.all()) if options.get("suggest", True) else ()
    _note_the_answer(trials, notes)
    return MutationScore(
        tallies=tallies,
        runs=len(runs),
        errored=sum(trial.errored for trial in trials),
        cut=cut,
        seed=options.get("seed", 0),
        suggestions=suggestions,
        together=search.together() if suggestions else None,
        notes=tuple(notes),
    )


def check_options(options: MutationOptions) -> None:
    """Raise ConfigError for an option that cannot be used."""
    for option in options:
        if option not in MutationOptions.__annotations__:
            hint = did_you_mean(option, MutationOptions.__annotations__)
            raise ConfigError(f"mutation_score has no option {option!r}{hint}")
    for kind in options.get("kinds") or ():
        if kind not in KINDS:
            raise ConfigError(
                f"kinds are among {', '.join(KINDS)}, got {kind!r}{did_you_mean(str(kind), KINDS)}"
            )
    for word, value in (("per_run", options.get("per_run", PER_RUN)), ("most", options.get("most", MOST))):
        if not is_whole(value, 1):
            raise ConfigError(f"{word} is a whole number from 1, got {value!r}")


def tallied(trials: Iterable[Trial]) -> dict[tuple[DamageKind, str], Tally]:
    """Return the tallies by kind of damage, in their order, and tool."""
    tallies: dict[tuple[DamageKind, str], Tally] = {}
    for trial in trials:
        key = trial.damage.kind, trial.damage.tool
        tallies[key] = tallies.get(key, Tally()) + Tally(int(trial.noticed), 1)
    return {key: tallies[key] for key in sorted(tallies, key=lambda key: (KINDS.index(key[0]), key[1]))}


def _passing(
    results: Sequence[ScoringResult], scorers_of: ScorersOf, notes: dict[str, None]
) -> Iterator[ScoredRun]:
    """The runs that passed, and do so without the scorers that are left out; what is left out is noted."""
    numbers: dict[tuple[int, str], int] = {}
    scores = (score for result in results for score in result.scores)
    asked_a_model = {score.name for score in scores if score.model or score.cost is not None}
    not_damaged: Counter[str] = Counter()
    for result in results:
        number = numbers.setdefault((result.position, result.example.example_id), len(numbers))
        if not result.success:
            continue
        pure = []
        for scorer in filter(gates, scorers_of(result.example)):
            why = why_left_out(scorer, asked_a_model)
            if why is None:
                pure.append(scorer)
            else:
                notes[f"The scorer {scorer.name!r} was left out: {why}."] = None
        run = ScoredRun(number, result.example, run_of(result), tuple(pure))
        if not pure:
            not_damaged["no scorer is left to ask"] += 1
        elif run.outcome(run.calls, run.output) == "passed":
            yield run
        else:
            not_damaged[f"scored again, they do not pass: {_not_passing(run)}"] += 1
    for why, count in not_damaged.items():
        notes[f"{count} passing runs were not damaged: {why}."] = None


def _not_passing(run: ScoredRun) -> str:
    """The names of the scorers by which a run does not pass."""
    scores = run.scores(run.calls, run.output)
    bad = [score.name for score in scores if score.outcome in ("failed", "errored")]
    return ", ".join(map(repr, bad)) or "every scorer that was asked skipped it"


def _trials(
    runs: Sequence[ScoredRun],
    effects: Effects,
    guests: tuple[ToolCall, ...],
    options: MutationOptions,
    names: Collection[str] | None,
) -> tuple[list[Trial], int]:
    """The damaged runs, each scored, and how many were left out; damage to the tools of these `names`."""
    most = options.get("most", MOST)
    kinds = frozenset(options.get("kinds") or KINDS)
    chance = random.Random(options.get("seed", 0))  # noqa: S311 - a choice that can be repeated
    per_run = min(options.get("per_run", PER_RUN), max(1, most // max(1, len(runs))))
    trials: list[Trial] = []
    cut = 0
    for number, run in enumerate(runs):
        first = number % max(1, len(guests))  # so that every tool is unasked somewhere
        others = guests[first:] + guests[:first] if run.trace is not None else ()
        damaged = Run(run.calls, run.output, effects, others)
        damages = [
            damage
            for damage in damaged.damages()
            if damage.kind in kinds and (names is None or damage.tool in names or damage.other in names)
        ]
        chosen = _chosen(damages, min(per_run, most - len(trials)), chance)
        cut += len(damages) - len(chosen)
        for damage in chosen:
            outcome = run.outcome(damage.calls, damage.output)
            trials.append(Trial(run, damage, outcome != "passed", outcome == "errored"))
    return trials, cut


def _note_the_answer(trials: Iterable[Trial], notes: dict[str, None]) -> None:
    unnoticed = [trial for trial in trials if trial.damage.kind == "answer" and not trial.noticed]
    if unnoticed:
        notes[
            f"Nobody notices another answer in {len(unnoticed)} runs: no scorer that was asked compares it."
        ] = None


def _chosen(damages: Sequence[Damage], most: int, chance: random.Random) -> list[Damage]:
    """At most so many, in turn from every kind of damage, in their order."""
    if len(damages) <= most:
        return list(damages)
    by_kind: dict[DamageKind, list[int]] = {}
    for at, damage in enumerate(damages):
        by_kind.setdefault(damage.kind, []).append(at)
    for places in by_kind.values():
        chance.shuffle(places)
    turns = sorted((turn, kind, at) for kind, places in by_kind.items() for turn, at in enumerate(places))
    return [damages[at] for at in sorted(at for _, _, at in turns[:most])]
