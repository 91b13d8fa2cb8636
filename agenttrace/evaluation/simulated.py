"""What answers the agent's tools in an evaluation: for all examples, and for each one its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context
from typing import Any, NamedTuple

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example, label_of
from agenttrace.simulation.simulation import Answers, OpenRun, Simulation
from agenttrace.tracing.context import Answering, answering
from agenttrace.tracing.live import running_trace

REPLAY = "replay"
"""The tag of traces that a replay made, with faults or without."""

Simulate = Mapping[str, Any] | Answers[OpenRun]
"""A mapping of tools to answers, a `Simulation`, or a recording."""


class SimulatedRuns(NamedTuple):
    """What answers in one run of the agent, the outermost first."""

    runs: tuple[OpenRun, ...]

    def hold_in(self, context: Context) -> None:
        """Have them answer the calls that are made in a context."""
        if self.runs:
            context.run(answering.set, self.runs[-1])

    def trouble(self, *, ended: bool) -> str | None:
        """What is wrong with the simulation; None where nothing is. A run that has `ended` is complete."""
        for run in self.runs:
            error = run.trouble() or (run.unfinished() if ended else None)
            if error is not None:
                return f"the simulation: {error}"
        return None


SimulatedRunsOf = Callable[[Example], SimulatedRuns]


def simulated_runs(
    simulate: Simulate | None, examples: Sequence[Example], function: Callable[..., Any] | None
) -> SimulatedRunsOf | None:
    """Return what begins the simulations of a run, once for each; None where nothing is simulated.

    Raises:
        ConfigError: an answer that cannot be understood, a tool that there is not, no function.
    """
    if function is None:
        if simulate is not None:
            raise ConfigError("simulate answers the tools of a function; pass it too: function=agent.run")
        return None
    suite = None if simulate is None else _answers(simulate)
    if suite is not None:
        suite.check()
    own: dict[int, Simulation] = {}
    for position, example in enumerate(examples, 1):
        if example.simulate is None:
            continue
        try:
            own[id(example)] = Simulation(example.simulate)
            own[id(example)].check()
        except ConfigError as error:
            raise ConfigError(f"{label_of(position, example)}: {error}") from None

    positions = {id(example): position for position, example in enumerate(examples)}
    counts = {position: itertools.count() for position in positions.values()}

    def begin(example: Example) -> SimulatedRuns:
        position = positions[id(example)]
        salt = f" {position}, {next(counts[position])}"  # whichever of several examples begins first
        runs: list[OpenRun] = []
        outer: Answering | None = answering.get()
        for answers in (suite, own.get(id(example))):
            if answers is not None:
                outer = answers.begin(outer, salt)
                runs.append(outer)
        return SimulatedRuns(tuple(runs))

    return None if suite is None and not own else begin


def _answers(simulate: Any) -> Answers[OpenRun]:
    if isinstance(simulate, Mapping):
        return Simulation(simulate)
    if not callable(getattr(simulate, "begin", None)):
        raise ConfigError(
            f"simulate is a mapping of tools to answers, a Simulation or a Recording, got {simulate!r:.80}"
        )
    answers: Answers[OpenRun] = simulate
    return answers


def refuse_elsewhere(simulate: SimulatedRunsOf | None) -> None:
    """Refuse to simulate where the agents run in other processes, whose tools are the real ones.

    Raises:
        ConfigError: something is simulated.
    """
    if simulate is not None or answering.get() is not None:
        raise ConfigError(
            "tools are simulated in this process, and the executor runs the agents in others, where the real "
            "tools would be called; leave executor out, or give a ThreadPoolExecutor"
        )


Capture = Callable[[], AbstractContextManager[Any]]


def tagged(capture: Capture) -> Capture:
    """A capture whose traces bear the tag of a replay, so that they are not taken for new recordings."""

    @contextmanager
    def tagged_capture() -> Iterator[Any]:
        with capture() as captured:
            trace = running_trace()
            if trace is not None:
                trace.set_tags([REPLAY])
            yield captured

    return tagged_capture
