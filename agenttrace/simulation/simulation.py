"""`Simulation`: a block of code in which calls of observed functions are answered in their place."""

from __future__ import annotations

import copy
import inspect
import itertools
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import Token
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Protocol, TypeVar

from agenttrace.core.errors import ConfigError, SimulationError, did_you_mean
from agenttrace.core.text import shorten
from agenttrace.core.tool import TOOL
from agenttrace.simulation.callee import Callee
from agenttrace.simulation.performing import perform
from agenttrace.stubs.parse import Others, Plan, parse_plan
from agenttrace.stubs.stub import Decide, Reply, Stub
from agenttrace.stubs.tool import STATE
from agenttrace.tracing.context import Answering, ModelAnswers, answering
from agenttrace.tracing.decorator import enabled_by_environment
from agenttrace.tracing.observed_function import ObservedFunction
from agenttrace.tracing.stand_in import observed_functions, put_in
from agenttrace.tracing.threads import follow_threads


class SimulatedCall(NamedTuple):
    """A call that was answered in the place of its tool: by what, such as ``return``, ``case 2``."""

    name: str
    arguments: Mapping[str, Any]
    answer: str


class OpenRun(Answering, Protocol):
    """What answers calls in one run: of a simulation, or of a recording."""

    outer: Answering | None

    def trouble(self) -> SimulationError | None:
        """What went wrong so far with the simulation itself, though the agent may have gone on."""
        ...

    def unfinished(self) -> SimulationError | None:
        """What is wrong now that the run has ended; None where nothing is."""
        ...


R = TypeVar("R", bound=OpenRun, covariant=True)


class Answers(Protocol[R]):
    """What an evaluation takes as `simulate`: it answers each run of the agent anew."""

    def check(self) -> None:
        """Raise ConfigError for what can be known to be wrong before the agent runs."""
        ...

    def begin(self, outer: Answering | None, salt: str = "") -> R:
        """Begin a run inside another simulation, or none; another salt gives other chances."""
        ...


class Block(Answers[R]):
    """The ``with`` block of what answers calls. One object is open once at a time."""

    _open: tuple[R, Token[Answering | None]] | None = None

    def __enter__(self) -> R:
        if self._open is not None:
            raise ConfigError("this simulation is open already; make another")
        run = self.begin(answering.get())
        self._open = run, answering.set(run)
        return run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._open is not None
        (run, token), self._open = self._open, None
        try:
            answering.reset(token)
        except ValueError:  # left in another context, such as that of a fixture's end
            if answering.get() is run:
                answering.set(run.outer)
        trouble = run.trouble()
        if error is None:
            trouble = trouble or run.unfinished()
            if trouble is not None:
                raise trouble
        elif trouble is not None and error is not trouble and not isinstance(error, GeneratorExit):
            error.add_note(f"in the simulation: {trouble}")


def enter_process(run: Answering) -> None:
    """Have a run's calls reach it: from every observed function, and from threads that it starts."""
    follow_threads(calls=False)
    put_in(run)


class SimulatedRun:
    """One run of a simulation: what was answered so far (`calls`), and the `state` that functions share."""

    def __init__(self, plan: Plan, salt: str, outer: Answering | None) -> None:
        self.calls: list[SimulatedCall] = []
        self.state: dict[str, Any] = _copied(plan.state)
        self.outer = outer
        self._plan = plan
        self._decides: dict[str, Decide] = {
            name: stub.begin(f"{name}{salt}") for name, stub in plan.stubs.items()
        }
        self._callees: dict[int, Callee] = {}
        self._lock = threading.RLock()
        self._trouble: list[SimulationError] = []

    def answer(
        self, observed: ObservedFunction, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What a call gives; see `Answering`."""
        __tracebackhide__ = True
        outside = self.outer

        def real() -> Any:
            if outside is None:
                return function(*args, **kwargs)
            return outside.answer(observed, function, args, kwargs)

        decide = self._decides.get(observed.name)
        if decide is None:
            if self._plan.others == "real" or observed.span_type != TOOL:
                return real()
            decide = _not_named
        callee = self._callee(observed)
        return perform(callee.style_now, partial(self._choose, decide, callee, args, kwargs), real)

    def models(self) -> ModelAnswers | None:
        """Those of the outer simulation: this one answers functions."""
        return None if self.outer is None else self.outer.models()

    def trouble(self) -> SimulationError | None:
        """The first call that had no answer."""
        return self._trouble[0] if self._trouble else None

    def unfinished(self) -> SimulationError | None:
        """Nothing: an agent need not call what is simulated."""
        return None

    def _callee(self, observed: ObservedFunction) -> Callee:
        known = self._callees.get(id(observed))
        if known is None or known.observed is not observed:
            known = self._callees[id(observed)] = Callee.of(observed)
        return known

    def _choose(
        self, decide: Decide, callee: Callee, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Reply:
        arguments, name = callee.arguments(args, kwargs), callee.observed.name
        with self._lock:
            reply = decide(arguments)
            self.calls.append(SimulatedCall(name, arguments, reply.note))
        try:
            if name in self._plan.later and name in self._plan.stubs:
                self._plan.stubs[name].check(callee.tool)  # it may not have been there before the agent ran
            if reply.kind == "function":
                bound = self._bound(reply.value, callee, arguments)
                return reply._replace(value=partial(self._called, bound, callee, arguments))
            if reply.kind == "value":  # of one of several functions of a name
                callee.tool.check_value(reply.value)
        except ConfigError as error:
            reply = Reply("nothing", str(error), reply.note)
        if reply.kind != "nothing":
            return reply
        return Reply("error", self._unanswered(name, arguments, reply.value), reply.note)

    def _unanswered(self, name: str, arguments: Mapping[str, Any], why: str) -> SimulationError:
        shown = ", ".join(f"{key}={shorten(repr(value), 60)}" for key, value in arguments.items())
        trouble = SimulationError(f"{name}({shown}) is not answered: {why}")
        self._trouble.append(trouble)
        return trouble

    def _called(self, bound: Callable[[], Any], callee: Callee, arguments: Mapping[str, Any]) -> Any:
        """What a function of the user's answers, where it can be what the tool gives."""
        value = bound()
        if callee.tool.is_async and inspect.isawaitable(value):
            return self._awaited(value, callee, arguments)
        return self._possible(value, callee, arguments)

    async def _awaited(self, value: Awaitable[Any], callee: Callee, arguments: Mapping[str, Any]) -> Any:
        return self._possible(await value, callee, arguments)

    def _possible(self, value: Any, callee: Callee, arguments: Mapping[str, Any]) -> Any:
        try:
            callee.tool.check_value(value)
        except ConfigError as error:
            raise self._unanswered(callee.observed.name, arguments, str(error)) from None
        return value

    def _bound(
        self, function: Callable[..., Any], callee: Callee, arguments: Mapping[str, Any]
    ) -> Callable[[], Any]:
        callee.tool.check_function(function)
        values = arguments if STATE in arguments else {**arguments, STATE: self.state}
        try:
            parameters = inspect.signature(function).parameters.values()
        except (ValueError, TypeError):
            return partial(function, **arguments)
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            named = {parameter.name for parameter in parameters}
            return partial(function, **{k: v for k, v in values.items() if k in arguments or k in named})
        return partial(function, **{p.name: values[p.name] for p in parameters if p.name in values})


def _not_named(_: Mapping[str, Any]) -> Reply:
    return Reply("nothing", "the simulation does not name it, and others are an error", "not named")


def _copied(state: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return copy.deepcopy(dict(state))
    except Exception as error:  # choke-point: whatever the values' own code raises
        raise ConfigError(
            f"the state of a simulation is copied for each run, which failed: {error}"
        ) from error


class Simulation(Block[SimulatedRun]):
    """Answers calls of observed functions in their place, inside a ``with`` block; see `Tracer.simulate`.

    It may be entered several times, one after another; each time begins anew, with chances of its own.
    """

    def __init__(
        self,
        tools: Mapping[str, Any],
        *,
        state: Mapping[str, Any] | None = None,
        others: Others | None = None,
        later: Iterable[str] = (),
    ) -> None:
        names = [later] if isinstance(later, str) else later
        options = {"$state": state, "$others": others, "$later": None if names == () else names}
        extra = {word: value for word, value in options.items() if value is not None}
        self.plan = parse_plan({**tools, **extra} if isinstance(tools, Mapping) else tools)
        self._runs = itertools.count()

    def check(self) -> None:
        """Raise ConfigError for a tool that there is not, or that cannot be answered so."""
        callees: dict[str, list[Callee]] = {}
        for observed in observed_functions():
            if observed.name in self.plan.stubs:
                callees.setdefault(observed.name, []).append(Callee.of(observed))
        for name, stub in self.plan.stubs.items():
            if name in callees:
                _check_one(stub, callees[name])
            elif name not in self.plan.later or not enabled_by_environment():
                raise ConfigError(_unknown(name))
        if self.plan.others == "error" and not enabled_by_environment():
            raise ConfigError(
                "AGENTTRACE_ENABLED switches recording off, so other tools would really run, not be an error"
            )

    def begin(self, outer: Answering | None, salt: str = "") -> SimulatedRun:
        """Begin a run, inside another simulation or none; without a salt each run has its number."""
        self.check()
        run = SimulatedRun(self.plan, salt or f" {next(self._runs)}", outer)
        enter_process(run)
        return run


def _check_one(stub: Stub, callees: list[Callee]) -> None:
    """Raise ConfigError where a stub can answer none of the functions of one name."""
    errors = []
    for callee in callees:
        try:
            stub.check(callee.tool)
        except ConfigError as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def _unknown(name: str) -> str:
    if not enabled_by_environment():
        return (
            f"{name!r} cannot be simulated: AGENTTRACE_ENABLED switches recording off, so functions "
            "were left untouched"
        )
    known = dict.fromkeys(observed.name for observed in observed_functions())
    text = f"there is no observed function {name!r} to simulate{did_you_mean(name, known)}"
    return f"{text}; one that is observed only while the agent runs is named in later=[{name!r}]"
