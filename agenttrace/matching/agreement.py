"""`CallAgreement`: how far actual calls agree with expected ones, from 0 to 1.

The tool's name, and the agent and turn where they are stated, decide whether a call fits at all. Then
agreement is that of the arguments, of the output, or the mean of both where both are stated, and 1 where
neither is. Expected arguments are bound through the tool's parameters, where the tool is known: defaults,
spelled out or not, compare equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from agenttrace.core.cached import cached_property
from agenttrace.core.tool import ToolDefinition
from agenttrace.core.tool_call import ANY, ArgumentMode, ToolCall
from agenttrace.expectations.matcher import Answerer, Context
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Step, scalar_kinds
from agenttrace.expectations.reading import comparing, is_favourable
from agenttrace.expectations.scalars import agree_scalars
from agenttrace.expectations.values import Difference, agree, prepare
from agenttrace.matching.argument_index import ArgumentIndex, is_plain
from agenttrace.matching.binding import agree_unusual, bound_arguments, states_all, without_ignored
from agenttrace.matching.compared import Comparators, Compared
from agenttrace.matching.earlier import EarlierCalls
from agenttrace.matching.failures import failed_names, retried_names
from agenttrace.matching.outputs import agree_with_output
from agenttrace.matching.pairing import Pairing
from agenttrace.matching.selection import Selection, agent_matches

_INDEX_FROM = 16
"""The number of candidates from which an index is faster."""

_TOOL = attrgetter("tool")

_Prepared = tuple[Call, ToolDefinition | None, Any, Any, ArgumentMode]


class CallAgreement:
    """The agreement of expected calls with the calls of one trace. Each pair is compared once.

    `comparisons` counts the pairs that were compared value by value, for an agreement or for its differences.
    `pairing` says which calls labels may stand for, and which pairs there may be at all. `in_any_order`: a
    value may come from a call that overlaps this one, too. It may also come from the calls `elsewhere`, which
    are not compared; the tools with the names `uncompared` are none of those that are.
    """

    def __init__(
        self,
        calls: Sequence[ToolCall],
        *,
        mode: ArgumentMode = "exact",
        tools: Mapping[str, ToolDefinition] | None = None,
        comparators: Comparators | None = None,
        answers: Answerer | None = None,
        selection: Selection | None = None,
        expected_calls: Sequence[Call] = (),
        pairing: Pairing | None = None,
        in_any_order: bool = False,
        elsewhere: Sequence[ToolCall] = (),
        uncompared: frozenset[str] = frozenset(),
    ) -> None:
        self.calls = calls
        self.selection = selection or Selection()
        self.comparisons = 0
        self._mode: ArgumentMode = mode
        self._tools = tools or {}
        self._comparators = comparators or {}
        if comparators and self.selection.names:  # a tool's own name goes before its other ones
            others = {self.selection.name_of(name): compare for name, compare in comparators.items()}
            self._comparators = {**others, **comparators}
        self._answers = answers
        self._expected_calls = expected_calls
        self.pairing = pairing
        self._narrowed_by = pairing if pairing is not None and pairing.decides else None
        self._reads_in_favour = False
        self._in_any_order = in_any_order
        self._elsewhere = elsewhere
        self._all_calls = [*calls, *elsewhere] if elsewhere else calls
        self._uncompared = uncompared
        self._contexts: dict[ArgumentMode, Context] = {}
        self._definitions_of: dict[tuple[str, str], Sequence[ToolDefinition]] = {}
        self._indexes: dict[str, ArgumentIndex] = {}
        self._prepared: dict[tuple[int, int], _Prepared] = {}
        self._agreements: dict[tuple[int, int, bool], float] = {}
        self._all_agreements: dict[tuple[int, bool], tuple[Call, Mapping[int, float]]] = {}

    @property
    def is_repeatable(self) -> bool:
        """Whether neither a judge nor a comparator of the user's decides."""
        return self._answers is None and not self._comparators

    # Made on first use: a run that goes just as expected needs none of it.

    @cached_property
    def _earlier(self) -> EarlierCalls:
        return EarlierCalls(self._all_calls, len(self.calls), in_any_order=self._in_any_order)

    @cached_property
    def _positions(self) -> Mapping[str, list[int]]:
        """The positions of the calls, by name."""
        positions: dict[str, list[int]] = {}
        for position, call in enumerate(self.calls):
            positions.setdefault(call.name, []).append(position)
        return positions

    @cached_property
    def _called_tools(self) -> Mapping[str, list[ToolDefinition]]:
        """The definitions of the calls, by name."""
        tools: dict[str, list[ToolDefinition]] = {}
        for call in self.calls:
            if call.tool is not None:
                tools.setdefault(call.name, []).append(call.tool)
        return tools

    def _definitions(self, expected: Call) -> Sequence[ToolDefinition]:
        """The definitions of the tool: those of the calls (several may share a name), then the known one."""
        name = self.name(expected)
        known = self._definitions_of.get((name, expected.name))
        if known is not None:
            return known
        definitions: list[ToolDefinition] = []
        for tool in (
            *self._called_tools.get(name, ()),
            self._tools.get(name),
            self._tools.get(expected.name),
        ):
            if tool is not None and not any(tool is other or tool == other for other in definitions):
                definitions.append(tool)
        self._definitions_of[name, expected.name] = definitions
        return definitions

    def _context(self, mode: ArgumentMode) -> Context:
        context = self._contexts.get(mode)
        if context is None:
            by_label: dict[str, list[Call]] = {}
            for expected in self._expected_calls:
                if expected.label is not None:
                    by_label.setdefault(expected.label, []).append(expected)
            labels = {label: self._fits(same) for label, same in by_label.items()}
            names = self.selection.names
            context = Context(mode, self._all_calls, 0, labels, names, self._before, self._answers)
            self._contexts[mode] = context
        return context

    def _before(self, position: int) -> Iterable[int]:
        return self._earlier.before(position, in_negation=is_favourable() != self._reads_in_favour)

    @cached_property
    def failed(self) -> frozenset[str]:
        """The names of the calls that failed."""
        return failed_names(self.calls)

    @cached_property
    def retried(self) -> frozenset[str]:
        """The names of the calls that failed before one that did not."""
        return retried_names(self.calls)

    def name(self, expected: Call) -> str:
        """The tool's name, aliases resolved."""
        names = self.selection.names
        return names.get(expected.name, expected.name) if names else expected.name

    def is_plain(self, expected: Call) -> bool:
        """Whether the name alone decides."""
        return (
            (expected.arguments is ANY or (expected.mode or self._mode) == "ignore")
            and expected.output is ANY
            and expected.agent is None
            and expected.turn is None
            and self._narrowed_by is None
        )

    def candidates(self, expected: Call) -> list[int]:
        """The positions of the calls that fit at all, ascending."""
        positions = self._positions.get(self.name(expected), [])
        narrowed_by = self._narrowed_by
        if narrowed_by is not None:
            positions = [position for position in positions if narrowed_by.may_pair(expected, position)]
        if expected.agent is None and expected.turn is None:
            return positions
        return [position for position in positions if self._stands_right(expected, self.calls[position])]

    def is_candidate(self, expected: Call, position: int) -> bool:
        """Whether the call at a position fits at all."""
        call = self._all_calls[position]
        if self._narrowed_by is not None and not self._narrowed_by.may_pair(expected, position):
            return False
        return call.name == self.name(expected) and self._stands_right(expected, call)

    def _stands_right(self, expected: Call, call: ToolCall) -> bool:
        if expected.agent is not None and not agent_matches(expected.agent, call.agent):
            return False
        return expected.turn is None or call.turn == expected.turn

    def agreements(self, expected: Call) -> Mapping[int, float]:
        """Agreement with each of its candidates, by position."""
        key = (id(expected), is_favourable())
        entry = self._all_agreements.get(key)
        if entry is None:  # kept with the call, so that its id is not reused
            entry = self._all_agreements[key] = (expected, self._compare_all(expected))
        return entry[1]

    def _compare_all(self, expected: Call) -> Mapping[int, float]:
        positions = self.candidates(expected)
        if len(positions) < _INDEX_FROM:
            return {position: self.agreement(expected, position) for position in positions}
        definitions = self._definitions(expected)
        _, _, arguments, output, mode = self._prepare(expected, definitions[0] if definitions else None)
        is_indexed = (
            output is ANY and type(arguments) is dict and not expected.ignore and len(definitions) < 2
        )
        if not is_indexed or not is_plain(arguments):
            return {position: self.agreement(expected, position) for position in positions}
        name = self.name(expected)
        index = self._indexes.get(name)
        if index is None:
            index = self._indexes[name] = ArgumentIndex(self.calls, self._positions[name])
        agreements = index.agreements(arguments, listed=mode == "listed")
        for position in index.rest:
            agreements[position] = self.agreement(expected, position)
        if len(agreements) > len(positions):
            return {position: agreements[position] for position in positions}
        return agreements

    def agreement(self, expected: Call, position: int) -> float:
        """Agreement of an expected call with the call at a position, which is one of its candidates."""
        key = (id(expected), position, is_favourable())
        agreement = self._agreements.get(key)
        if agreement is None:
            if self._in_any_order:  # of values that would come from each other, none does
                self._agreements[key] = 0.0
            agreement = self._agreements[key] = self._agree(expected, position, None)
        return agreement

    def agrees(self, expected: Call, position: int) -> bool:
        """Whether the call at a position, which has the expected name, fits and agrees fully."""
        call = self.calls[position]
        if not self.is_candidate(expected, position):
            return False
        kinds = scalar_kinds(expected)
        if kinds is not None and self._is_the_same(expected.arguments, kinds, call):
            return True
        return self.agreement(expected, position) == 1.0

    def agreeing(self, steps: Iterable[tuple[Step, int]]) -> int:
        """How many of the first steps have at their positions just the calls that they expect.

        A call that failed, before another one of its name that did not, is none.
        """
        count, calls, aliases, is_narrowed = (
            0,
            self.calls,
            self.selection.names,
            self._narrowed_by is not None,
        )
        for (expected, kinds, is_placed), position in steps:
            call = calls[position]
            if call.name != (self.name(expected) if aliases else expected.name):
                break
            if (is_placed or is_narrowed) and not self.is_candidate(expected, position):
                break
            is_same = kinds is not None and self._is_the_same(expected.arguments, kinds, call)
            if not is_same and self.agreement(expected, position) < 1.0:
                break
            # Of nearly none it is to be asked whether it failed.
            if (call.status != "ok" or call.error is not None) and call.failed and call.name in self.retried:
                break
            count += 1
        return count

    def _is_the_same(self, wanted: Any, kinds: Sequence[type], call: ToolCall) -> bool:
        """Whether the arguments are plainly those scalars, so that they agree in every mode."""
        if wanted is ANY:
            return True
        actual, tool = call.arguments, call.tool
        if wanted != actual or self._comparators or call.arguments_error is not None:
            return False
        if tool is None and self._tools:
            tool = self._tools.get(call.name)
        if tool is not None and not states_all(tool, wanted):
            return False
        if bool not in kinds and [*map(type, actual.values())] == kinds:
            return True  # in whatever order: of the values that are equal, only 1 and True are not the same
        return [*map(type, map(actual.__getitem__, wanted))] == kinds

    def differences(self, expected: Call, position: int) -> list[Difference]:
        """Where they part; empty exactly where `agreement` is 1."""
        places: list[Difference] = []
        self._agree(expected, position, places)
        return places

    def value_agrees(self, expected: Any, actual: Any, position: int, mode: ArgumentMode) -> bool:
        """Whether one prepared value agrees with one that the call at a position was given."""
        context = self._context(mode)
        before = (context.position, self._reads_in_favour)
        context.position, self._reads_in_favour = position, is_favourable()
        agrees = agree(expected, actual, context) == 1.0
        context.position, self._reads_in_favour = before
        return agrees

    def _agree(self, expected: Call, position: int, into: list[Difference] | None) -> float:
        self.comparisons += 1
        actual = self._all_calls[position]
        if into is None and (agreement := self._agree_plainly(expected, actual)) is not None:
            return agreement
        tool = actual.tool
        prepared = self._prepared.get((id(expected), id(tool))) or self._prepare(expected, tool)
        _, _, arguments, output, mode = prepared
        context = self._context(mode)
        # One context for all pairs; a `ref` may compare another pair while this one is compared.
        before, context.position = (context.position, self._reads_in_favour), position
        if self.pairing is not None or self._elsewhere:
            self._reads_in_favour = is_favourable()
        comparing(actual)
        if arguments is ANY:
            value = 1.0 if output is ANY else agree_with_output(output, actual, context, into)
        else:
            if actual.arguments_error is None and not expected.ignore:
                value = agree(arguments, actual.arguments, context, "", into)
            else:
                value = agree_unusual(expected, arguments, actual, context, into)
            if output is not ANY:
                value = (value + agree_with_output(output, actual, context, into)) / 2
        context.position, self._reads_in_favour = before
        return value

    def _agree_plainly(self, expected: Call, actual: ToolCall) -> float | None:
        """The agreement where both have the same arguments by name, all plain scalars: most that differ do so
        in one of these. None elsewhere."""
        wanted, arguments, tool = expected.arguments, actual.arguments, actual.tool
        if type(wanted) is not dict or type(arguments) is not dict or wanted.keys() != arguments.keys():
            return None
        if expected.output is not ANY or expected.ignore or (expected.mode or self._mode) == "ignore":
            return None
        if self._comparators or actual.arguments_error is not None:
            return None
        if tool is not None:
            is_bound = states_all(tool, wanted)
        else:
            is_bound = not (self._tools or any(map(_TOOL, self.calls))) or not self._definitions(expected)
        return agree_scalars(wanted, arguments) if is_bound else None

    def _prepare(self, expected: Call, tool: ToolDefinition | None) -> _Prepared:
        """What is compared with calls of a tool; kept with both, so that their ids are not reused."""
        key = (id(expected), id(tool))
        prepared = self._prepared.get(key)
        if prepared is None:
            mode: ArgumentMode = expected.mode or self._mode
            bare = mode == "ignore" or expected.arguments is ANY
            arguments = ANY if bare else self._bound_arguments(expected, tool, mode)
            prepared = self._prepared[key] = (expected, tool, arguments, expected.output, mode)
        return prepared

    def _bound_arguments(self, expected: Call, tool: ToolDefinition | None, mode: ArgumentMode) -> Any:
        name = self.name(expected)
        definitions = self._definitions(expected)
        tool = tool or (definitions[0] if definitions else None)
        compare = self._comparators.get(name) or self._comparators.get(expected.name)
        if tool is None and compare is None and not expected.ignore:
            return expected.arguments
        arguments = {**expected.arguments} if isinstance(expected.arguments, Mapping) else {}
        if tool is not None:
            arguments = bound_arguments(tool, definitions, expected, mode)
        arguments = without_ignored(arguments, expected, tool)
        if callable(compare):
            return Compared(arguments, compare)
        if compare:
            arguments = {k: Compared(v, compare[k]) if k in compare else v for k, v in arguments.items()}
        return prepare(arguments)

    def _fits(self, same_label: Sequence[Call]) -> Callable[[int], bool]:
        """Whether a call may be the one that a label stands for: it fits any of the expected calls that bear
        it, which may be several, and its pair with that one may be a source. Where the expected one is not
        compared, and so has no pair, any call that fits it may be."""

        known: dict[tuple[int, bool, bool], bool] = {}  # asked of many calls for each value

        def fits(position: int) -> bool:
            favourable = is_favourable()
            key = (position, favourable, favourable != self._reads_in_favour)
            if key not in known:
                pairing = self.pairing or Pairing()
                is_compared = position < len(self.calls)
                known[key] = any(
                    is_compared == (expected.name not in self._uncompared)
                    and (not is_compared or pairing.may_be_source(expected, position, in_negation=key[2]))
                    and self.is_candidate(expected, position)
                    and self.agreement(expected, position) == 1.0
                    for expected in same_label
                )
            return known[key]

        return fits
