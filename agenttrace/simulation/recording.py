"""`Recording`: a recorded trace that answers the calls of an agent: tools, and models of wrapped clients."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

from agenttrace.core import semconv
from agenttrace.core.errors import ConfigError, SimulationError, did_you_mean
from agenttrace.core.jsonable import recorded_form
from agenttrace.core.tagged import opened_throughout
from agenttrace.core.text import shorten
from agenttrace.core.trace import Trace
from agenttrace.expectations.matcher import Context
from agenttrace.expectations.partly_recorded import with_doubts
from agenttrace.expectations.reading import in_favour
from agenttrace.expectations.values import Difference, agree
from agenttrace.simulation.callee import Callee
from agenttrace.simulation.performing import perform
from agenttrace.simulation.recorded_call import ANSWERED, RecordedCall, recorded_calls
from agenttrace.simulation.requests import comparable
from agenttrace.simulation.simulation import Block, SimulatedCall, enter_process
from agenttrace.stubs.stub import Reply
from agenttrace.tracing.context import Answering, ModelAnswers, RecordedAnswer
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.stand_in import observed_functions

Models = Literal["recorded", "live"]
_EXACT = Context(mode="exact")


class ReplayedRun:
    """One run that a recording answers. `left` says where the agent did what was not recorded, if it did,
    `refused` names all such calls."""

    def __init__(self, recording: Recording, calls: list[RecordedCall], outer: Answering | None) -> None:
        self.calls: list[SimulatedCall] = []
        self.outer = outer
        self.left: SimulationError | None = None
        self.left_at = 0
        self.refused: list[str] = []
        self._recording = recording
        self._open = calls
        self._used: list[RecordedCall] = []
        self._lock = threading.RLock()

    def answer(
        self, observed: ObservedFunction, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What a call gives; see `Answering`."""
        __tracebackhide__ = True
        if observed.span_type not in ANSWERED or (
            observed.span_type == "llm" and self._recording.models == "live"
        ):
            if self.outer is None:
                return function(*args, **kwargs)
            return self.outer.answer(observed, function, args, kwargs)
        callee = Callee.of(observed)
        return perform(callee.style_now, partial(self._choose, callee, args, kwargs), _never)

    def _choose(self, callee: Callee, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Reply:
        arguments, name = callee.arguments(args, kwargs), callee.observed.name
        try:
            call = self._take(name, arguments)
        except SimulationError as left:
            return Reply("error", left, "left the recording")
        return self._reply(call, callee)

    def _reply(self, call: RecordedCall, callee: Callee) -> Reply:
        """What a recorded call gives again."""
        error, note = call.error, f"recording, call {call.number}"
        if callee.tool.yields:
            return Reply("function", partial(self._items, call, error), note)
        if error is not None:
            return Reply("error", error, note)
        return Reply("value", call.output, note)

    def _items(self, call: RecordedCall, error: BaseException | None) -> Iterator[Any]:
        """What a generator gave: its items, then its error; beyond those that were taken nothing is known."""
        yield from call.output or ()
        if error is not None:
            raise error
        if call.span.status != "ok":
            left = SimulationError(
                f"call {call.number}, {call.text}, was not read to its end when it was recorded"
            )
            self.left, self.left_at = self.left or left, self.left_at or call.number
            raise left

    def enter(self) -> None:
        """Have calls reach this run."""
        enter_process(self)

    def models(self) -> ModelAnswers | None:
        """This one, where requests to models are answered."""
        if self._recording.models == "recorded":
            return self
        return None if self.outer is None else self.outer.models()

    def answer_request(self, request: Mapping[str, Any]) -> RecordedAnswer:
        """The recorded answer to a request; see `ModelAnswers`."""
        call = self._take(None, comparable(recorded_form(dict(request))))
        span, output = call.span, call.output
        return RecordedAnswer(
            choices=output if isinstance(output, list) else [output],
            id=str(span.attributes.get(semconv.RESPONSE_ID, "replayed")),
            model=str(span.attributes.get(semconv.RESPONSE_MODEL, request.get("model", ""))),
            usage=span.usage or {},
        )

    def trouble(self) -> SimulationError | None:
        """Where the recording was left."""
        return self.left

    def unfinished(self) -> SimulationError | None:
        """What was recorded, and not called."""
        if not self._open or not self._recording.complete:
            return None
        count, first = len(self._open), self._open[0]
        return SimulationError(
            f"{count} recorded call{' was' if count == 1 else 's were'} not made; the first is call "
            f"{first.number}: {first.text}"
        )

    def _take(self, name: str | None, arguments: Mapping[str, Any]) -> RecordedCall:
        """The recorded call that answers this one; a request to a model has no name."""
        with self._lock:
            number = len(self.calls) + 1
            shown = name or "a request to a model"
            self.calls.append(SimulatedCall(shown, arguments, "recording"))
            if self.left is not None:
                self.refused.append(shown)
                raise SimulationError(
                    f"{shown} is not answered: the recording was left at call {self.left_at}"
                )
            alike = [call for call in self._open if _is_of(call, name)]
            for call in alike:
                if self._agrees(call, arguments):
                    self._open.remove(call)
                    self._used.append(call)
                    return call
            if self._recording.repeats:
                for call in reversed(self._used):
                    if _is_of(call, name) and self._agrees(call, arguments):
                        return call
            self.refused.append(shown)
            self.left, self.left_at = self._why_left(number, shown, arguments, alike), number
            raise self.left

    def _agrees(self, call: RecordedCall, arguments: Mapping[str, Any]) -> bool:
        expected, recorded = self._both(call, arguments)
        return agree(expected, recorded, _EXACT) == 1.0

    def _both(self, call: RecordedCall, arguments: Mapping[str, Any]) -> tuple[Any, Any]:
        ignored = self._recording.ignore
        expected = {key: value for key, value in arguments.items() if key not in ignored}
        recorded = {key: value for key, value in call.arguments.items() if key not in ignored}
        if call.is_request:
            return opened_throughout(expected), comparable(recorded)
        return {key: opened_throughout(recorded_form(value)) for key, value in expected.items()}, recorded

    def _why_left(
        self, number: int, name: str, arguments: Mapping[str, Any], alike: list[RecordedCall]
    ) -> SimulationError:
        shown = ", ".join(f"{key}={shorten(repr(value), 60)}" for key, value in arguments.items())
        text = f"left the recording at call {number}: {name}({shorten(shown, 160)})"
        if not alike:
            rest = f"; next was {self._open[0].text}" if self._open else "; all of it was used"
            return SimulationError(f"{text} is no recorded call that is left{rest}")
        nearest = max(alike, key=lambda call: (agree(*self._both(call, arguments), _EXACT), -call.number))
        expected, recorded = self._both(nearest, arguments)
        if in_favour(lambda: agree(expected, recorded, _EXACT) == 1.0):
            return SimulationError(
                f"{text}: it cannot be told whether it is call {nearest.number}, of which a part was not "
                "recorded whole; name such arguments in ignore="
            )
        if not nearest.is_request:
            arguments = {key: recorded_form(value) for key, value in arguments.items()}
        first: list[Difference] = []
        agree(with_doubts(recorded), arguments, _EXACT, into=first)
        where = f": {_difference_text(first[0])}" if first else ""
        return SimulationError(f"{text}, where call {nearest.number} was recorded{where}")


def _difference_text(difference: Difference) -> str:
    recorded = "nothing" if difference.kind == "unexpected" else f"{difference.expected!r:.80}"
    got = "nothing" if difference.kind == "missing" else f"{difference.got!r:.80}"
    return f"{difference.path}: recorded {recorded}, got {got}"


def _is_of(call: RecordedCall, name: str | None) -> bool:
    return call.is_request if name is None else call.span.name == name and not call.is_request


def _check_observed(call: RecordedCall, known: Mapping[str, list[ObservedFunction]]) -> None:
    """Raise ConfigError where no function here is answered in the place of the recorded one."""
    name = call.span.name
    functions = known.get(name, [])
    if not functions:
        raise ConfigError(
            f"call {call.number} of the recording, {call.text}, is of no function that is observed "
            f"here{did_you_mean(name, known)}"
        )
    answered = [observed for observed in functions if observed.span_type in ANSWERED]
    if not answered:
        raise ConfigError(
            f"{name} is observed as {functions[-1].span_type!r} here, so it would really run; it was "
            f"recorded as {call.span.span_type!r}"
        )
    if not answered[-1].capture_output:
        raise ConfigError(
            f"{name} is observed with capture_output=False: its outputs were not recorded, so they cannot "
            "be replayed"
        )


def _never() -> Any:
    raise SimulationError("a replayed function was called")


class Recording(Block[ReplayedRun]):
    """Answers the calls of an agent from a recorded trace, inside a ``with`` block; see `Tracer.replay`."""

    def __init__(
        self,
        trace: Trace,
        *,
        models: Models = "recorded",
        ignore: Iterable[str] = (),
        complete: bool = True,
        repeats: bool = False,
    ) -> None:
        if not isinstance(trace, Trace):
            raise ConfigError(f"a recording is a Trace, got {type(trace).__name__}; write captured.trace")
        if models not in ("recorded", "live"):
            raise ConfigError(f"models are 'recorded' or 'live', got {models!r}")
        names = [ignore] if isinstance(ignore, str) else ignore
        self.ignore = frozenset(names if isinstance(names, Iterable) else [None])
        if not all(isinstance(name, str) for name in self.ignore):
            raise ConfigError(f"ignore has names of arguments, got {ignore!r:.80}")
        if not isinstance(complete, bool):
            raise ConfigError(f"complete is true or false, got {complete!r:.80}")
        self.trace = trace
        self.models: Models = models
        self.complete = complete
        self.repeats = repeats

    def check(self) -> None:
        """Raise ConfigError for a recording that cannot answer: of other tools, or not whole."""
        for asked in self.trace.tool_calls:
            if asked.status == "answered":
                raise ConfigError(
                    f"{asked.name} was called, but its execution was not recorded, so it would really run; "
                    "observe it with span_type='tool', and record the agent again"
                )
        known: dict[str, list[ObservedFunction]] = {}
        for observed in observed_functions():
            known.setdefault(observed.name, []).append(observed)
        for call in self.open_calls():
            if not call.is_request:
                _check_observed(call, known)
            call.check()

    def begin(self, outer: Answering | None, salt: str = "") -> ReplayedRun:
        """Begin a run, inside a simulation or none."""
        self.check()
        run = ReplayedRun(self, self.open_calls(), outer)
        run.enter()
        return run

    def open_calls(self) -> list[RecordedCall]:
        """The calls that are answered, in their order."""
        calls = recorded_calls(self.trace)
        return calls if self.models == "recorded" else [c for c in calls if c.span.span_type != "llm"]
