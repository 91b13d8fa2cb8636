"""Whether each turn of a conversation went as expected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from agenttrace.core import semconv
from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score, checked_gate, checked_threshold
from agenttrace.core.tool_call import ArgumentMode
from agenttrace.core.trace import TURN, Trace
from agenttrace.expectations.expectation import Expectation, Mode, check_options
from agenttrace.expectations.matcher import read_value
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.reading import in_both_readings
from agenttrace.expectations.values import differences
from agenttrace.matching.compare import compare
from agenttrace.matching.explain import difference_text, explain
from agenttrace.matching.known_tools import UNKNOWN_TOOL
from agenttrace.matching.selection import actual_calls

_MOST_DIFFERENCES = 6


@dataclass(frozen=True, slots=True)
class _Turn:
    """One expected turn as it went: what was compared holds, does not, or was not compared (None).

    `vacuous` are its guards that could not fail, `why_vacuous` says why.
    """

    number: int
    tools: bool | None
    output: bool | None
    lines: tuple[str, ...]
    note: str = ""
    vacuous: tuple[str, ...] = ()
    why_vacuous: str = ""

    @property
    def holds(self) -> bool:
        return not self.note and self.tools is not False and self.output is not False


class TurnsScorer:
    """The share of the expected turns that went as `Example.turns` says.

    A turn may say `expected_tools`, in all forms that an example has, which only the calls of this turn are
    compared with, and `expected_output`, a value or matcher for the agent's answer in this turn. A turn that
    was not reached does not hold; turns of which nothing is said are free. Guards that cannot fail are
    reported as *vacuous*. The trace's turns are those of `tracer.turn`, of `Conversation`, or of a chat's
    messages, which have no answers by turn.
    """

    def __init__(
        self,
        threshold: float = 1.0,
        mode: Mode = "in_order",
        parameters: ArgumentMode = "exact",
        *,
        name: str = "Turns",
        gate: bool = True,
    ) -> None:
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        self.gate = checked_gate(gate, name)
        check_options(mode, parameters)
        self.mode: Mode = mode
        self.parameters: ArgumentMode = parameters

    def check(self, example: Example) -> None:
        """Raise ScorerError or ExpectationError where nothing readable says what is expected of a turn."""
        list(self._expected(example))

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Compare turn by turn.

        Raises:
            ScorerError: no turn is expected, nothing says what was called, or no turns were recorded.
            ExpectationError: what is expected cannot be understood.
        """
        run = actual_calls(example, trace)
        if not run.turns:
            raise ScorerError(
                f"{self.name}: no turns were recorded; mark them with tracer.turn(), or run a Conversation"
            )
        turns = [self._turn(run, *expected) for expected in self._expected(example)]
        held = sum(turn.holds for turn in turns)
        details: dict[str, Any] = {
            "matched": held,
            "expected": len(turns),
            "recorded": len(run.turns),
            "turns": [
                {"turn": t.number, "holds": t.holds, "tools": t.tools, "output": t.output, "note": t.note}
                for t in turns
            ],
        }
        diff = "\n".join(line for turn in turns if not turn.holds for line in turn.lines) or None
        reason = f"{held} of {len(turns)} expected turns held"
        broken = [str(turn.number) for turn in turns if not turn.holds]
        reason += f"; not turn {', '.join(broken)}" if broken else ""
        vacuous = [f"turn {turn.number}: {guard}" for turn in turns for guard in turn.vacuous]
        if vacuous:
            why = "; ".join(dict.fromkeys(turn.why_vacuous for turn in turns if turn.vacuous))
            reason += f"; vacuous: {', '.join(vacuous)} ({why})"
            details |= {"vacuous": vacuous, "vacuous_because": why}
        return Score.of(
            self.name, held / len(turns), self.threshold, reason=reason, details=details, diff=diff
        )

    def _expected(self, example: Example) -> Iterator[tuple[int, Expectation | None, Any, bool]]:
        """The turns of which something is said: number, calls, answer, whether one is expected."""
        turns = [(n, turn) for n, turn in enumerate(example.turns or (), 1) if turn]
        if not turns:
            raise ScorerError(f"{self.name} needs the example's turns, and something expected of one")
        for number, turn in turns:
            raw, expectation = turn.get("expected_tools"), None
            if raw is not None:
                expectation = parse_expectation(raw, example.source)
                if expectation.turn not in (None, number):
                    raise ScorerError(
                        f"turns[{number - 1}] is turn {number}, and says turn {expectation.turn}"
                    )
                expectation = replace(expectation, turn=number)
            output = turn.get("expected_output")
            yield number, expectation, read_value(output), output is not None

    def _turn(
        self, run: Trace, number: int, expectation: Expectation | None, wanted: Any, has_output: bool
    ) -> _Turn:
        head = f"    turn {number}"
        if number not in run.turns:
            note = f"was not reached: there were {len(run.turns)}"
            return _Turn(number, None, None, (f"{head} {note}",), note)
        tools: bool | None = None
        output: bool | None = None
        lines = [head]
        vacuous: tuple[str, ...] = ()
        why = ""
        if expectation is not None:
            comparison = compare(expectation, run, mode=self.mode, match=self.parameters)
            tools = comparison.value == 1.0 and comparison.constraints_hold
            vacuous, why = tuple(comparison.vacuous), comparison.empty_scope or UNKNOWN_TOOL
            lines += [] if tools else explain(comparison).split("\n")
        if has_output:
            places = differences(wanted, _answer(run, number))
            output = not places
            texts = [difference_text(place) for place in places[:_MOST_DIFFERENCES]]
            lines += [f"    ~    the answer: {text}" for text in texts]
        return _Turn(number, tools, output, tuple(lines), vacuous=vacuous, why_vacuous=why)


def _answer(run: Trace, number: int) -> Any:
    """What the agent answered in a turn; of several spans of one turn, the last that says it."""
    spans = [s for s in run.spans if s.span_type == TURN and s.attributes.get(semconv.TURN) == number]
    return next((span.output for span in reversed(spans) if span.output is not None), None)
