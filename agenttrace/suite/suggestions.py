"""Constraints that would notice more damage, each tried: all passing runs must still pass with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenttrace.core.errors import ExpectationError
from agenttrace.core.mutation_score import DamageKind, Suggestion, Tally
from agenttrace.core.tool_call import ToolCall
from agenttrace.expectations.expectation import expectation_of
from agenttrace.suite.addition import Addition
from agenttrace.suite.damage import Damage, Effects
from agenttrace.suite.damaged_run import ScoredRun
from agenttrace.suite.value_flow import Sources

MOST_SUGGESTIONS = 8
MOST_VALUES = 5
"""Values of an argument that are listed where its runs have different ones."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A damaged run, and whether it was noticed: it no longer passes."""

    run: ScoredRun
    damage: Damage
    noticed: bool
    errored: bool = False


@dataclass(frozen=True, slots=True)
class Weakness:
    """One kind of damage that is not noticed: to one tool, to one of its arguments, or to two neighbours.

    Calls that nobody asked for, and failures passed over, are one weakness, whatever the tool.
    """

    kind: DamageKind
    tool: str = ""
    argument: str = ""
    other: str = ""

    @classmethod
    def of(cls, damage: Damage) -> Weakness:
        """The weakness that unnoticed damage shows."""
        if damage.kind in ("unasked", "failed", "succeeded", "answer"):
            return cls(damage.kind)
        return cls(damage.kind, damage.tool, damage.argument, damage.other)

    @property
    def text(self) -> str:
        """What nobody notices."""
        texts: dict[DamageKind, str] = {
            "dropped": f"that {self.tool} is not called",
            "repeated": f"a second {self.tool}",
            "swapped": f"{self.tool} after {self.other}",
            "argument": f"another {self.argument} of {self.tool}",
            "invented": f"an invented {self.argument} of {self.tool}",
            "unasked": "a call that nobody asked for",
            "failed": "a call that failed",
        }
        return texts[self.kind]


@dataclass(frozen=True, slots=True)
class Case:
    """An example with all its passing runs; `writes` are the tools that change something, where told."""

    number: int
    runs: Sequence[ScoredRun]
    writes: frozenset[str]

    @property
    def expected(self) -> Any:
        """What the example expects."""
        return self.runs[0].example.expected_tools

    def passes(self, expected: Any) -> bool:
        """Whether all its runs pass with another expectation."""
        return all(run.outcome(run.calls, run.output, expected) == "passed" for run in self.runs)

    def addition(self, weakness: Weakness) -> Addition | None:
        """What would notice it and is true of all runs; None where there is nothing."""
        tool = weakness.tool
        counts = [Counter(call.name for call in run.calls) for run in self.runs]
        most = max(count[tool] for count in counts)
        if weakness.kind == "unasked":
            return self._unasked(counts)
        if weakness.kind == "failed":
            failures = [sum(call.failed is True for call in run.calls) for run in self.runs]
            return Addition(tool_errors=max(failures))
        if weakness.kind == "repeated":
            return Addition(at_most={tool: most}) if most else None
        if weakness.kind == "dropped":
            least = min(count[tool] for count in counts)
            return Addition(at_least={tool: least}) if least else None
        if weakness.kind == "swapped":
            return Addition(before=((tool, weakness.other),)) if tool != weakness.other else None
        return self._pinned(tool, weakness.argument, weakness.kind == "invented")

    def _unasked(self, counts: Sequence[Counter[str]]) -> Addition:
        """No tool that changes something but those that were called, and no more often."""
        called = frozenset().union(*counts)
        if not self.writes:
            return Addition(only=tuple(sorted(called)))
        at_most = {name: max(count[name] for count in counts) for name in sorted(called & self.writes)}
        return Addition(never=tuple(sorted(self.writes - called)), at_most=at_most)

    def _pinned(self, tool: str, argument: str, is_id: bool) -> Addition | None:
        values: list[Any] = []
        sources: set[str] | None = None
        for run in self.runs:
            calls = run.calls
            flow = Sources(calls)
            for position, call in enumerate(calls):
                if call.name != tool or argument not in call.arguments:
                    continue
                origins = set(flow.of(call.arguments[argument], position))
                sources = origins if sources is None else sources & origins
                value = _as_expected(call, argument)
                if value not in values:
                    values.append(value)
        if is_id and sources:
            path = min(sources, key=lambda source: (len(source), source))
            return Addition(pins={(tool, argument): {"$ref": path}})
        if not values or len(values) > MOST_VALUES:
            return None
        return Addition(pins={(tool, argument): values[0] if len(values) == 1 else {"$in": values}})


def _as_expected(call: ToolCall, argument: str) -> Any:
    """A recorded value as the data of an expectation."""
    (data,) = expectation_of([call])
    return data["parameters"][argument] if isinstance(data, Mapping) else {"$any": True}


@dataclass
class Suggestions:
    """Tries what would notice more, most frequent weaknesses first."""

    trials: Sequence[Trial]
    effects: Effects
    before: Tally
    additions: dict[int, list[Addition]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        by_number: dict[int, dict[int, ScoredRun]] = {}
        for trial in self.trials:
            by_number.setdefault(trial.run.number, {})[id(trial.run)] = trial.run
        calls = [call for runs in by_number.values() for run in runs.values() for call in run.calls]
        writes = frozenset(call.name for call in calls if self.effects.changes(call))
        if self.effects.writes is None:
            writes = frozenset()
        self.cases = {
            number: Case(number, tuple(runs.values()), writes) for number, runs in by_number.items()
        }

    def all(self) -> Iterator[Suggestion]:
        """Every suggestion that notices more."""
        unnoticed = [trial for trial in self.trials if not trial.noticed]
        weaknesses = Counter(
            Weakness.of(trial.damage)
            for trial in unnoticed
            if trial.damage.kind not in ("succeeded", "answer")
        )
        for weakness, _ in weaknesses.most_common(MOST_SUGGESTIONS):
            suggestion = self._tried(weakness, unnoticed)
            if suggestion is not None:
                yield suggestion

    def _tried(self, weakness: Weakness, unnoticed: Sequence[Trial]) -> Suggestion | None:
        numbers = {t.run.number for t in unnoticed if Weakness.of(t.damage) == weakness}
        changed: dict[int, tuple[Addition, Any]] = {}
        for number in sorted(numbers):
            case = self.cases[number]
            addition = case.addition(weakness)
            expected = None if addition is None else _extended(case.expected, [addition])
            if addition is not None and expected is not None and case.passes(expected):
                changed[number] = addition, expected
        gain = sum(
            t.run.outcome(t.damage.calls, t.damage.output, changed[t.run.number][1]) != "passed"
            for t in unnoticed
            if t.run.number in changed
        )
        if not gain:
            return None
        for number, (addition, _) in changed.items():
            self.additions.setdefault(number, []).append(addition)
        return Suggestion(
            kind=weakness.kind,
            tool=weakness.tool,
            text=_text([addition for addition, _ in changed.values()]),
            unnoticed=weakness.text,
            missed=sum(Weakness.of(t.damage) == weakness for t in unnoticed),
            total=sum(Weakness.of(t.damage) == weakness for t in self.trials),
            examples=tuple(changed),
            additions={number: addition.to_dict() for number, (addition, _) in changed.items()},
            before=self.before,
            after=self.before + Tally(gain, 0),
        )

    def together(self) -> Tally:
        """The tally of all damage with all suggestions at once, every damaged run scored anew."""
        expected: dict[int, Any] = {}
        for number, additions in self.additions.items():
            both = _extended(self.cases[number].expected, additions)
            if both is not None and self.cases[number].passes(both):
                expected[number] = both
        noticed = [
            t.run.outcome(t.damage.calls, t.damage.output, expected[t.run.number]) != "passed"
            if t.run.number in expected
            else t.noticed
            for t in self.trials
        ]
        return Tally(sum(noticed), len(noticed))


def _extended(expected: Any, additions: Iterable[Addition]) -> Any:
    """The expectation with more constraints; None where they contradict it."""
    try:
        for addition in additions:
            expected = addition.added_to(expected)
    except ExpectationError:
        return None
    return expected


def _text(additions: Sequence[Addition]) -> str:
    """The constraint as it is written; where examples have different ones, the first with that said."""
    texts = list(dict.fromkeys(addition.text for addition in additions))
    return texts[0] if len(texts) == 1 else f"{texts[0]} (or each example's own)"
