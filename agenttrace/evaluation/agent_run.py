"""Run the agent on one example, and record its output and its trace."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Set
from contextlib import AbstractContextManager
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.state import only_states
from agenttrace.core.trace import Trace
from agenttrace.evaluation.simulated import SimulatedRuns, SimulatedRunsOf
from agenttrace.scoring.apply import users_traceback
from agenttrace.scoring.closed_loop import advice_for
from agenttrace.scoring.copies import copied_input
from agenttrace.scoring.isolation import Call, Isolation, Outcome, Refused, Steps
from agenttrace.tracing.capture import Capture
from agenttrace.tracing.context import open_calls_in
from agenttrace.tracing.state import States, unrecorded_context

if TYPE_CHECKING:
    from agenttrace.remote_agents import OTLPEndpoint, RemoteRun


OTLP = "otlp"
"""The parameter in which a function gets the `RemoteRun` of its run."""


class Captured(Protocol):
    """The recording of a capture scope; complete when its block has ended."""

    @property
    def trace(self) -> Trace:
        """The trace."""
        ...


CaptureScope = Callable[[], AbstractContextManager[Captured]]


class Run(NamedTuple):
    """The result of one run of the agent.

    In `example`, the actual output and the names of the called tools are filled in. `failure` says why the
    agent failed (it raised, or did not return in time), `why_not_comparable` why its run cannot be compared
    (it could not be called). `duration` is in seconds. `ran` says that it was recorded just now, outside
    of the engine. `secrets` were taken out of the trace: the rest may repeat them.
    """

    example: Example
    trace: Trace | None
    failure: str | None = None
    why_not_comparable: str | None = None
    duration: float = 0.0
    ran: bool = False
    secrets: Set[str] = frozenset()


def run_example(
    target: Target,
    example: Example,
    capture: CaptureScope,
    isolation: Isolation,
    timeout: float | None,
    advice: str = "",
    simulate: SimulatedRunsOf | None = None,
    endpoint: OTLPEndpoint | None = None,
) -> Steps[Run]:
    """The steps that run the agent on a copy of the input; they never raise what the agent raises.

    On a timeout the trace holds the spans that had ended by then; the failure says which were open, where the
    agent stood, and `advice`. SystemExit fails the example;
    KeyboardInterrupt stops the whole evaluation. With an `endpoint`, what the agent records elsewhere is
    waited for, within the timeout; where nothing comes, its run cannot be compared.
    """
    misfit = target.misfit(example)
    if misfit is not None:
        return Run(example, None, why_not_comparable=misfit)
    args, kwargs = arguments(copied_input(example.input))
    simulated = SimulatedRuns(()) if simulate is None else simulate(example)
    with reading_no_states(capture()) as captured:
        states = captured.states if isinstance(captured, Capture) else None
        remote = None if endpoint is None else endpoint.run_in(captured)
        yield from _read(states, isolation, timeout)
        call = Call(target.function, args, target.with_otlp(kwargs, remote), copy_context(), timeout)
        simulated.hold_in(call.context)
        outcome = yield from isolation.run(call)
        open_calls = open_calls_in(call.context) if outcome.timed_out else []
        if states is not None and outcome.timed_out:
            states.give_up("the agent was still running")
        if remote is not None:
            left = None if timeout is None else max(timeout - outcome.duration, 0.0)
            yield from remote.rest(left, failed=outcome.timed_out or outcome.error is not None)
        yield from _read(states, isolation, timeout)
    if isinstance(outcome.error, Refused):
        return Run(example, None, why_not_comparable=str(outcome.error))
    trace = captured.trace
    if outcome.timed_out and not open_calls:  # its task was cancelled, and what was open with it
        open_calls = [span.name for span in trace.spans if span.status == "cancelled"]
    failure = _failure(target, outcome, timeout, open_calls, advice)
    fields: dict[str, Any] = {
        "tools_called": [call.name for call in trace.tool_calls] if not only_states(trace.spans) else None
    }
    if failure is None:
        fields["actual_output"] = _recorded(outcome.value)
    trouble = simulated.trouble(ended=failure is None)
    if trouble is not None:  # whatever the agent made of it, this was no run of its own
        failure = None
    if remote is not None and failure is None:
        trouble = trouble or remote.trouble
    secrets = captured.secrets if isinstance(captured, Capture) else frozenset[str]()
    ran = example.changed(**fields)
    return Run(ran, trace, failure, trouble, duration=outcome.duration, secrets=secrets)


def reading_no_states(scope: AbstractContextManager[Captured]) -> AbstractContextManager[Captured]:
    """The scope, which leaves its states to us: each read gets its time and no more."""
    if isinstance(scope, Capture):
        scope.reads_states = False
    return scope


def _read(states: States | None, isolation: Isolation, timeout: float | None) -> Steps[None]:
    """Read the states of a capture, at its start or at its end; what goes wrong is noted there."""
    for function, ended in () if states is None else states.calls():
        outcome = yield from isolation.run(Call(function, (), {}, unrecorded_context(), timeout))
        ended(outcome.value, outcome.error, outcome.timed_out)


def _failure(
    target: Target, outcome: Outcome, timeout: float | None, open_calls: list[str], advice: str
) -> str | None:
    if outcome.timed_out:
        where = [f"in {open_calls[-1]}"] if len(open_calls) > 1 else []
        where += [outcome.place.innermost] if outcome.place.innermost else []
        late = f"{target.name} did not return within its timeout of {timeout:g} s"
        lines = ["; ".join([late, *where])]
        lines += ["other async code blocked its event loop"] if outcome.blocked_by_other else []
        lines += [f"open spans: {' > '.join(open_calls)}"] if open_calls else []
        lines += [f"it stood here:\n{outcome.place.lines}"] if outcome.place.lines else []
        return "\n".join([*lines, advice] if advice else lines)
    if outcome.error is None:
        return None
    return described_failure(outcome.error)


def described_failure(error: BaseException) -> str:
    """The traceback of what an agent raised; before it what to do, where that is known."""
    advice = advice_for(error)
    return f"{advice}\n{users_traceback(error)}" if advice else users_traceback(error)


def _recorded(output: Any) -> Any:
    """Return the output as the store holds it, so that a later score from the store is the same.

    A list keeps all its items, however many; lists inside it are bounded like every snapshot.
    """
    if output is None or type(output) in (str, bool, int, float):
        return output
    if type(output) in (list, tuple):
        return [jsonable(item) for item in output]
    return jsonable(output)


@dataclass(frozen=True, slots=True)
class Target:
    """The function under test, with its signature where Python knows it."""

    function: Callable[..., Any]
    name: str
    signature: inspect.Signature | None
    required: frozenset[str] | None = None
    accepted: frozenset[str] = frozenset()
    """The parameters, where all of them can be named; `required` is None where one cannot."""
    takes_otlp: bool = False
    """Whether its argument `otlp` is given by the evaluation; the signature has none then."""

    @classmethod
    def of(cls, function: Any, *, otlp: bool = False) -> Target:
        """Check that a function can be called, once, before anything runs; with `otlp`, that is given to it.

        Raises:
            ConfigError: it is a class, or not callable.
        """
        if inspect.isclass(function):
            raise ConfigError(
                f"function is the class {function.__name__}; pass what runs the agent, such as the method "
                f"of an instance: function={function.__name__}().run"
            )
        if not callable(function):
            raise ConfigError(
                f"function must be callable, got {type(function).__name__}; pass the function itself, "
                "without calling it: function=agent.run"
            )
        name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # some builtins have none
            signature = None
        takes_otlp = otlp and signature is not None and OTLP in signature.parameters
        if takes_otlp and signature is not None:
            signature = signature.replace(
                parameters=[one for one in signature.parameters.values() if one.name != OTLP]
            )
        label = str(name or type(function).__name__).rpartition("<locals>.")[2]
        parameters = [] if signature is None else list(signature.parameters.values())
        named = all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters)
        required = frozenset(p.name for p in parameters if p.default is p.empty)
        accepted = frozenset(p.name for p in parameters)
        return cls(function, label, signature, required if named else None, accepted, takes_otlp)

    def with_otlp(self, kwargs: dict[str, Any], remote: RemoteRun | None) -> dict[str, Any]:
        """The keyword arguments of a run, with `otlp` where the function takes it."""
        return {**kwargs, OTLP: remote} if self.takes_otlp else kwargs

    def misfit(self, example: Example) -> str | None:
        """Return why the example's input does not fit the signature, or None if it does."""
        value = example.input
        if self.signature is None or (type(value) is dict and self._takes(value.keys())):
            return None
        args, kwargs = arguments(example.input)
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return f"the input does not fit {self.name}{_bare(self.signature)}: {error}{self._hint(example)}"
        return None

    def _takes(self, names: Set[str]) -> bool:
        """Whether these keyword arguments fit for sure: binding them takes ten times as long."""
        return self.required is not None and self.required <= names <= self.accepted

    def _hint(self, example: Example) -> str:
        assert self.signature is not None
        if example.input is None:
            return "; this example has no input"
        if OTLP in self.signature.parameters and OTLP not in example.input:
            return "; otlp=True of the evaluation gives it otlp"
        if isinstance(example.input, str):
            return "; a text input is passed as the one argument, a mapping as keyword arguments"
        unknown = [key for key in example.input if key not in self.signature.parameters]
        if not unknown:
            return ""
        return (
            f"; the input has {str(unknown[0])!r}{did_you_mean(str(unknown[0]), self.signature.parameters)}"
        )


def _bare(signature: inspect.Signature) -> inspect.Signature:
    """Return the signature without its annotations."""
    return signature.replace(
        parameters=[p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()],
        return_annotation=inspect.Signature.empty,
    )


def arguments(value: str | Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return an input as arguments: a mapping by keyword, a text as the only one, None as none."""
    if isinstance(value, Mapping):
        return (), dict(value)
    return ((), {}) if value is None else ((value,), {})
