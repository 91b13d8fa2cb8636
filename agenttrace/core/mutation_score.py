"""`MutationScore`: how much damage to passing runs the scorers of a suite would notice."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from agenttrace.core.text import aligned

DamageKind = Literal[
    "dropped", "repeated", "swapped", "argument", "invented", "unasked", "failed", "succeeded", "answer"
]
"""*dropped*: a call is missing; *repeated*: it was made twice; *swapped*: two neighbours changed places;
*argument*: an argument is another; *invented*: so is one that came from an earlier output; *unasked*: a call
was made that nobody asked for; *failed*: a call failed and the run went on as if it had not; *succeeded*: a
failed call had success; *answer*: the run's output is another."""


class MutationOptions(TypedDict, total=False):
    """The options of `mutation_score`.

    `kinds`: the damage that is done (default: all). `writes`: the tools that change something, by name, glob
    or ``tag:write``; only those are repeated and called unasked. `tools`, in the same words: only these are
    damaged (two that are swapped, where one of them is), and the answer is not. `per_run`: at most so many
    damaged copies of one run (default 60); `most`: of all (default 5,000). `seed` chooses which where there
    are more.
    `suggest`: look for constraints that would notice more (default true).
    """

    kinds: Collection[DamageKind] | None
    writes: str | Sequence[str] | None
    tools: str | Sequence[str] | None
    per_run: int
    most: int
    seed: int
    suggest: bool


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of so many damaged runs were noticed."""

    noticed: int = 0
    total: int = 0

    @property
    def percent(self) -> float | None:
        """0 to 100, or None where nothing was damaged."""
        return 100 * self.noticed / self.total if self.total else None

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.noticed + other.noticed, self.total + other.total)

    def __str__(self) -> str:
        return "no damage" if self.percent is None else f"{self.percent:.3g} %"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {"noticed": self.noticed, "total": self.total, "percent": self.percent}


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A constraint that would notice more; all passing runs still pass with it.

    `text` says it as an argument of `expect` or of `call`, `unnoticed` what is not noticed without it, in
    `missed` of `total` damaged runs of this kind.
    `examples` are those that it was added to, by their number from 0 in the report; `additions` is what
    each was given, as data.
    `after` is the tally of all damage with this one added.
    """

    kind: DamageKind
    tool: str
    text: str
    unnoticed: str
    missed: int = 0
    total: int = 0
    examples: tuple[int, ...]
    additions: Mapping[int, Any] = field(repr=False)
    before: Tally
    after: Tally

    def __str__(self) -> str:
        count = len(self.examples)
        what = f"nobody notices {self.unnoticed}"
        if self.missed < self.total:
            what = f"{self.unnoticed} goes unnoticed in {self.missed} of {self.total}"
        return f"{what}: add {self.text} ({count} example{'s' * (count != 1)}): {self.before} -> {self.after}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            "kind": self.kind,
            "tool": self.tool,
            "text": self.text,
            "unnoticed": self.unnoticed,
            "missed": self.missed,
            "total": self.total,
            "examples": list(self.examples),
            "additions": {str(position): data for position, data in self.additions.items()},
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MutationScore:
    """How much damage to passing runs is noticed: a damaged run that no longer passes was noticed.

    `tallies` are by kind of damage and tool (of two swapped calls, the first). `runs` passed and were
    damaged; `notes` say which scorers and runs were left out, and what was cut. `errored` of the noticed runs
    could not be scored, which is no pass either. `together` is the tally with all suggestions at once.
    """

    tallies: Mapping[tuple[DamageKind, str], Tally] = field(default_factory=dict)
    runs: int = 0
    errored: int = 0
    cut: int = 0
    seed: int = 0
    suggestions: tuple[Suggestion, ...] = ()
    together: Tally | None = None
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> Tally:
        """The tally of all damage."""
        return sum(self.tallies.values(), Tally())

    @property
    def percent(self) -> float | None:
        """How much of all damage was noticed, 0 to 100; None where nothing was damaged."""
        return self.total.percent

    @property
    def kinds(self) -> dict[DamageKind, Tally]:
        """The tally of each kind of damage."""
        names: dict[DamageKind, None] = dict.fromkeys([kind for kind, _ in self.tallies])
        return {kind: self._of(0, kind) for kind in names}

    @property
    def tools(self) -> dict[str, Tally]:
        """The tally of each damaged tool, by name; damage to the answer has none."""
        return {tool: self._of(1, tool) for tool in sorted({tool for _, tool in self.tallies if tool})}

    def _of(self, place: int, word: str) -> Tally:
        return sum((tally for key, tally in self.tallies.items() if key[place] == word), Tally())

    @property
    def lines(self) -> list[str]:
        """The score in a line, a table by kind of damage, one by tool, the suggestions, the notes."""
        total = self.total
        lines = [
            f"Mutation score: {total}, {total.noticed} of {total.total} damaged runs would be noticed "
            f"({self.runs} passing runs, seed {self.seed})"
        ]
        if not total.total:
            return [*lines, *self.notes]
        lines += _table("damage", {f"{kind} ({_WORDS[kind]})": tally for kind, tally in self.kinds.items()})
        lines += _table("tool", self.tools)
        lines += [f"+ {suggestion}" for suggestion in self.suggestions]
        if self.together is not None and len(self.suggestions) > 1:
            lines.append(f"+ all of these: {total} -> {self.together}")
        return [*lines, *self.notes]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe data."""
        return {
            **self.total.to_dict(),
            "runs": self.runs,
            "errored": self.errored,
            "cut": self.cut,
            "seed": self.seed,
            "kinds": {kind: tally.to_dict() for kind, tally in self.kinds.items()},
            "tools": {tool: tally.to_dict() for tool, tally in self.tools.items()},
            "tallies": [
                {"kind": kind, "tool": tool, **tally.to_dict()}
                for (kind, tool), tally in self.tallies.items()
            ],
            "suggestions": [suggestion.to_dict() for suggestion in self.suggestions],
            "together": None if self.together is None else self.together.to_dict(),
            "notes": list(self.notes),
        }


_WORDS: Mapping[DamageKind, str] = {
    "dropped": "a call is missing",
    "repeated": "a call made twice",
    "swapped": "two neighbours swapped",
    "argument": "another value",
    "invented": "an id that nobody gave",
    "unasked": "a call nobody asked for",
    "failed": "a failure passed over",
    "succeeded": "a failure hidden",
    "answer": "another answer",
}


def _table(head: str, rows: Mapping[str, Tally]) -> list[str]:
    cells = [(name, f"{tally.noticed} of {tally.total}", str(tally)) for name, tally in rows.items()]
    return aligned([(head, "noticed", "share"), *cells])
