"""`Comparison`: the result of comparing an expectation with a run: numbers, constraints, rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agenttrace.core.cached import cached_property
from agenttrace.core.errors import ExpectationError
from agenttrace.core.tool_call import UNRECORDED_STATUSES, ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Expectation, Mode
from agenttrace.expectations.plans import Group
from agenttrace.matching.agreement import CallAgreement
from agenttrace.matching.align import UNORDERED_MODES, Alignment, Pair, align, required_names
from agenttrace.matching.checks import Check
from agenttrace.matching.fitting_order import fitting_orders
from agenttrace.matching.known_tools import ran_as_no_tool
from agenttrace.matching.parallel import has_unordered, parallel_facts
from agenttrace.matching.rows import FreeCalls, Row, rows_of
from agenttrace.matching.selection import indexes_of
from agenttrace.matching.weights import Credit

SAYS_NOTHING = "the expectation says nothing"
"""Why an expectation without a path and without limits cannot fail."""


def says_nothing(expectation: Expectation) -> bool:
    """Whether every run fulfils it: it has no path and no constraints."""
    return expectation.path is None and expectation.is_path_only


@dataclass(eq=False)  # frozen would cost more than comparing a short run does
class Comparison:
    """The result of comparing an expectation with a run.

    `calls` are the actual calls that count; `attempts` is the number of attempts of those that had several
    (by `ToolCall.index`). `alignment` is the optimal pairing, with the way to fulfil the path that fits best
    (`alignment.plan`) of those that `plan` leaves open. `expects_calls` is false where the path is empty, or
    names no tool that is compared. `empty_scope` says why no call of the run could be compared (it has no
    such agent, or no such turn). `trace` is the run itself, where it was not given as a list of calls.
    """

    expectation: Expectation
    mode: Mode
    credit: Credit
    calls: Sequence[ToolCall]
    attempts: Mapping[int, int]
    plan: Group
    alignment: Alignment
    expects_calls: bool
    checks: tuple[Check, ...]
    call_agreement: CallAgreement
    empty_scope: str = ""
    trace: Trace | None = None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of the alignment, by place."""
        return self.alignment.pairs

    @property
    def required(self) -> int:
        """How many calls are needed."""
        return self.alignment.required

    @property
    def matched(self) -> int:
        """How many of the needed calls were made, agreeing fully."""
        return self.alignment.matched

    @property
    def missing(self) -> tuple[int, ...]:
        """The required places, by number from 0, that no call of their name was paired with."""
        if len(self.alignment.pairs) == len(self.alignment.plan.places) or self.matched == self.required:
            return ()
        paired_places = {pair.place for pair in self.pairs}
        return tuple(
            number
            for number, place in enumerate(self.alignment.places)
            if place.role == "required" and number not in paired_places
        )

    @property
    def remarks(self) -> list[str]:
        """What the trace says of missing calls: that spans of their names ran, which are no calls."""
        if self.trace is None or not (missing := self.missing):
            return []
        places = self.alignment.places
        return ran_as_no_tool(self.trace, [place.name for n in missing for place in places[n].options])

    @property
    def extra(self) -> tuple[ToolCall, ...]:
        """The actual calls that no expected call was paired with."""
        if len(self.pairs) == len(self.calls):
            return ()
        paired_positions = {pair.position for pair in self.pairs}
        return tuple(call for position, call in enumerate(self.calls) if position not in paired_positions)

    @property
    def coverage(self) -> float:
        """The mean agreement over the needed calls (recall); 1 where none is needed."""
        return self.alignment.coverage(self.credit)

    @property
    def precision(self) -> float:
        """The total agreement by the number of actual calls; without calls 1 where none is needed, else 0."""
        if not self.calls:
            return 0.0 if self.required else 1.0
        agreements = (
            float(pair.agreement == 1.0) if self.credit == "full" else pair.agreement for pair in self.pairs
        )
        return math.fsum(agreements) / len(self.calls)

    @property
    def f1(self) -> float:
        """The harmonic mean of coverage and precision."""
        both = self.coverage + self.precision
        return 2 * self.coverage * self.precision / both if both else 0.0

    @property
    def order(self) -> float:
        """The share of the needed calls that were made in order, by name alone; 1 where none is needed."""
        return 1.0 if self.in_order is None else self.in_order.coverage("full")

    @cached_property
    def in_order(self) -> Alignment | None:
        """The needed calls in order, by name alone; None where the alignment has all of them in order.

        Of all ways to fulfil the path, and of all orders of overlapping calls, it is the one that has the
        greatest share in order, whichever `alignment` took: of equally good ones that is the first written.
        """
        if not self.required or (self.mode not in UNORDERED_MODES and not self.missing):
            return None
        plan, chosen = required_names(self.plan), required_names(self.alignment.plan)
        try:
            best = align(plan, self._names_of(self.calls))
        except ExpectationError:  # it holds or not all the same; too many are only the orders of all ways
            plan = chosen
            best = align(plan, self._names_of(self.calls))
        if best.coverage("full") < 1 and has_unordered(calls := sorted(self.calls, key=_index)):
            for fixed in (best.plan, chosen):
                for order in fitting_orders(fixed, self._names_of(calls), "full"):
                    other = align(plan, self._names_of([calls[at] for at in order]))
                    best = max(best, other, key=lambda one: one.coverage("full"))
        return best

    def _names_of(self, calls: Sequence[ToolCall]) -> CallAgreement:
        return CallAgreement(calls, mode="ignore", selection=self.call_agreement.selection)

    @property
    def arguments(self) -> float:
        """The mean agreement of the needed calls that were paired by name; 1 where none is needed."""
        agreements = [
            pair.agreement for pair in self.pairs if self.alignment.places[pair.place].role == "required"
        ]
        if agreements:
            return math.fsum(agreements) / len(agreements)
        return 0.0 if self.required else 1.0

    @property
    def holds(self) -> bool:
        """Whether the path holds in its mode. No path always holds; an empty path allows no calls at all."""
        if self.expectation.path is None:
            return True
        if not self.expects_calls:
            return not self.calls
        full = self.alignment.full
        if self.mode == "only":
            return full == len(self.calls)
        if self.matched < self.required:
            return False
        return self.mode not in ("exact", "any_order") or full == len(self.calls)

    @property
    def constraints_hold(self) -> bool:
        """Whether every constraint of severity *fail* holds."""
        return not any(check.fails for check in self.checks)

    @property
    def vacuous(self) -> list[str]:
        """What could not fail, in words: constraints, and a path that holds of no calls, where the run has no
        such agent or turn as they look at."""
        vacuous = [check.wanted for check in self.checks if check.vacuous]
        if self.empty_scope and self.expectation.path is not None and self.holds:
            vacuous.insert(0, f"the path ({self.mode})" if self.expects_calls else "no calls expected")
        return ["nothing expected"] if says_nothing(self.expectation) else vacuous

    @property
    def value(self) -> float:
        """1 if the path holds, else 0; in mode *lcs* the coverage (0 for calls where none were expected)."""
        if self.mode == "lcs" and (self.expects_calls or self.expectation.path is None):
            return self.coverage
        return 1.0 if self.holds else 0.0

    @property
    def aligned(self) -> str:
        """The arithmetic in words: ``"2 of 3 expected calls aligned"``."""
        if self.expectation.path is None:
            return "no path is expected"
        if not self.expects_calls:
            names = ", ".join(call.name for call in self.calls[:5]) + (", …" if len(self.calls) > 5 else "")
            return "no calls expected, " + (f"{len(self.calls)} made: {names}" if self.calls else "none made")
        if self.mode == "only":
            return f"{self.alignment.full} of {len(self.calls)} calls allowed"
        return f"{self.matched} of {self.required} expected calls aligned"

    @property
    def is_repeatable(self) -> bool:
        """Whether comparing again gives the same: it asks nobody, and runs no code but ours."""
        return self.call_agreement.is_repeatable and not self.expectation.runs_other_code

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The aligned diff as data, in the order of the run, missing calls where they were expected."""
        return rows_of(
            self.alignment, self.calls, self.call_agreement, self.free_calls, self.checks, self.attempts
        )

    @cached_property
    def free_calls(self) -> FreeCalls:
        """The actual calls without a partner, among which the diff looks for what is nearest."""
        return FreeCalls(self.calls, {pair.position for pair in self.pairs}, self.call_agreement)

    def facts(self) -> dict[str, Any]:
        """The pairs, and the constraints, as JSON-safe data.

        `pairs`, `extra`, `attempts` and `parallel` name calls by their positions in `actual`. Where `actual`
        leaves out calls of the trace, or has overlapping ones in another order, `indexes` has for each
        position the call's index in the trace. `statuses` has those of calls whose execution was not
        recorded.
        """
        calls, extra = self.calls, self.extra
        positions: dict[int, int] = {}
        if extra or self.attempts:
            positions = {call.index: position for position, call in enumerate(calls)}
        facts: dict[str, Any] = {
            "mode": self.mode,
            "expected": [*self.alignment.plan.names],
            "actual": [call.name for call in calls],
            "required": self.required,
            "matched": self.matched,
            "pairs": [[place, position, agreement] for place, _, position, agreement in self.pairs],
            "missing": list(self.missing),
            "extra": [positions[call.index] for call in extra],
            **indexes_of(calls),
        }
        statuses = {str(at): one.status for at, one in enumerate(calls) if one.status in UNRECORDED_STATUSES}
        if statuses:
            facts["statuses"] = statuses
        if self.checks:
            facts["checks"] = [check.to_dict() for check in self.checks]
        if self.call_agreement.selection.names:
            facts["names"] = dict(self.call_agreement.selection.names)
        facts.update(parallel_facts(self.calls))
        if self.attempts:
            facts["attempts"] = {str(positions[index]): count for index, count in self.attempts.items()}
        return facts

    def to_dict(self) -> dict[str, Any]:
        """The facts with the numbers."""
        return {
            **self.facts(),
            "coverage": self.coverage,
            "precision": self.precision,
            "f1": self.f1,
            "order": self.order,
            "arguments": self.arguments,
        }


def _index(call: ToolCall) -> int:
    return call.index
