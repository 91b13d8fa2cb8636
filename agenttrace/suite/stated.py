"""What an example and its scorers state about tools: expectations, whoever holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer
from agenttrace.core.tool_call import ANY
from agenttrace.expectations.expectation import Expectation, Mode, expect
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.pattern import Call
from agenttrace.scorers.comparing_scorer import ComparingScorer
from agenttrace.scorers.tool_call_args import ToolCallArgsScorer
from agenttrace.scorers.tool_call_count import OPERATORS, ToolCallCountScorer
from agenttrace.scorers.tool_call_output import ToolCallOutputScorer
from agenttrace.scorers.tool_permission import ToolPermissionScorer

_CLOSED: frozenset[Mode] = frozenset({"exact", "any_order", "only"})
"""Modes that allow no call outside the path."""


@dataclass(frozen=True, slots=True)
class Stated:
    """One expectation as the examples of a suite hold it; `mode` is that of the scorer that reads it."""

    expectation: Expectation
    mode: Mode = "in_order"

    def names(self, tool: str) -> bool:
        """Whether the path, a guard or a count names the tool."""
        expectation = self.expectation
        words = {
            *(call.name for call in expectation.calls),
            *expectation.at_most,
            *expectation.at_least,
            *(name for pair in expectation.before for name in pair),
        }
        return tool in words or _any_matches((*expectation.never, *(expectation.only or ())), tool)

    @property
    def mentioned(self) -> set[str]:
        """The names of tools that stand in it, without globs."""
        expectation = self.expectation
        globs = {name for name in (*expectation.never, *(expectation.only or ())) if _is_name(name)}
        pairs = {name for pair in expectation.before for name in pair}
        counted = {*expectation.at_most, *expectation.at_least}
        return {call.name for call in expectation.calls} | globs | pairs | counted

    def forbids(self, tool: str) -> bool:
        """Whether every call of the tool breaks it."""
        expectation = self.expectation
        if _any_matches(expectation.never, tool) or expectation.at_most.get(tool) == 0:
            return True
        if expectation.max_calls == 0:
            return True
        if expectation.only is not None and not _any_matches(expectation.only, tool):
            return True
        if expectation.path is None:
            return False
        closed = not expectation.calls or (expectation.mode or self.mode) in _CLOSED
        return closed and tool not in {call.name for call in expectation.calls}

    @property
    def pinned(self) -> Iterator[tuple[str, str]]:
        """Each argument that the path states with anything but `ANY`, as tool and argument."""
        for call in self.expectation.calls:
            if (call.mode or self.expectation.match) == "ignore":
                continue
            yield from ((call.name, name) for name in pinned_arguments(call))


def pinned_arguments(call: Call) -> set[str]:
    """The arguments that an expected call states with anything but `ANY`."""
    if not isinstance(call.arguments, Mapping):
        return set()
    return {name for name, value in call.arguments.items() if value is not ANY and name not in call.ignore}


def stated_by(example: Example, scorers: Iterable[Scorer]) -> list[Stated]:
    """Return every expectation of the example and of its scorers.

    `expected_tools` counts whichever scorers read it. Of the scorers with an expectation of their own, those
    of this package are known.

    Raises:
        ExpectationError: an expectation cannot be read.
    """
    scorers = tuple(scorers)
    stated: list[Stated] = []
    if example.expected_tools is not None:
        expectation = parse_expectation(example.expected_tools, example.source)
        modes = [s.mode for s in scorers if isinstance(s, ComparingScorer) and s.expected is None]
        closed: list[Mode] = [mode for mode in modes if mode in _CLOSED]
        stated.append(Stated(expectation, closed[0]) if closed else Stated(expectation))
    stated += [own for scorer in scorers if (own := _own_expectation(scorer)) is not None]
    return stated


def _own_expectation(scorer: Scorer) -> Stated | None:
    if isinstance(scorer, ComparingScorer):
        return None if scorer.expected is None else Stated(scorer.expected, scorer.mode)
    if isinstance(scorer, ToolPermissionScorer):
        return Stated(expect(never=scorer.deny, only=scorer.allow))
    if isinstance(scorer, ToolCallCountScorer):
        return Stated(_counts(scorer))
    if isinstance(scorer, ToolCallArgsScorer):
        return None if scorer.tool_calls is None else Stated(parse_expectation(scorer.tool_calls))
    if isinstance(scorer, ToolCallOutputScorer):
        return None if scorer.tool_outputs is None else Stated(parse_expectation(scorer.tool_outputs))
    return None


def _counts(scorer: ToolCallCountScorer) -> Expectation:
    """The counts as an expectation that names the same tools, and forbids those that may have no call."""
    at_most: dict[str, int] = {}
    at_least: dict[str, int] = {}
    for tool, (word, number) in scorer.counts.items():
        allowed = any(
            OPERATORS[word](count, number) for count in (1, number - 1, number, number + 1) if count > 0
        )
        (at_least if allowed else at_most)[tool] = 0
    return expect(at_most=at_most, at_least=at_least)


def _any_matches(globs: Iterable[str], tool: str) -> bool:
    return any(fnmatchcase(tool, glob) for glob in globs)


def _is_name(glob: str) -> bool:
    return not any(letter in glob for letter in "*?[")
