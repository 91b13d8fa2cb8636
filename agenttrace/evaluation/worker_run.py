"""One run of the agent in a worker process: what is sent there, what is done there, what comes back."""

from __future__ import annotations

import importlib
import io
import os
import pickle
from collections.abc import Generator
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import uuid4

from agenttrace.core.digests import secret_key, share_secret_key
from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.marks import Redacted
from agenttrace.evaluation.agent_run import Run, Target, run_example
from agenttrace.evaluation.runners import Runners
from agenttrace.process.loop_thread import loop_keeper
from agenttrace.scoring.apply import last_line
from agenttrace.scoring.isolation import Interrupted, Isolation, Steps
from agenttrace.tracing.capture import Capture, PartElsewhere, RecordedElsewhere

_PROCESS = uuid4().hex
"""What a process is known by. A forked child has its parent's, and a number of its own."""


class Request(NamedTuple):
    """One run that is asked for: the function, pickled; the input; the trace that it is a part of.

    `secret_key` is that of the process that asks: what it expects of a secret can be told there.
    """

    function: bytes
    input: Any
    part: PartElsewhere
    timeout: float | None
    advice: str
    secret_key: bytes


class Answer(NamedTuple):
    """How the run ended; see `Run`. `interrupted`: the agent raised KeyboardInterrupt, or Control-C came."""

    recorded: RecordedElsewhere | None = None
    output: Any = None
    failure: str | None = None
    why_not_comparable: str | None = None
    duration: float = 0.0
    interrupted: bool = False


class Unpicklable(ConfigError):
    """Something cannot be sent to another process."""


def packed(value: Any, what: str, *, by_value: bool = False) -> bytes:
    """A value pickled; by cloudpickle, where that is installed, if pickle cannot.

    `by_value`: cloudpickle first, which does not rely on this process's main module being there, too.

    Raises:
        Unpicklable: neither can.
    """
    cloudpickle = _cloudpickle()
    dumps = [pickle.dumps] if cloudpickle is None else [pickle.dumps, cloudpickle.dumps]
    problem = ""
    for dump in reversed(dumps) if by_value else dumps:
        try:
            text: bytes = dump(value)
        except Exception as error:  # choke-point: the values' own code runs here
            problem = last_line(error)
        else:
            return text
    hint = "; pip install cloudpickle, which can take more than pickle" if cloudpickle is None else ""
    raise Unpicklable(
        f"{what} cannot be pickled, which an executor of other processes needs: {problem}{hint}"
    )


def _cloudpickle() -> Any:
    try:
        return importlib.import_module("cloudpickle")
    except ImportError:
        return None


def process_identity(function: bytes = b"") -> str:
    """What the process is known by in which this runs; it is tried whether the function can be had there.

    Raises:
        ConfigError: it cannot.
    """
    if function:
        _target_of(function)
    return f"{_PROCESS}-{os.getpid()}"


@lru_cache(maxsize=2)
def _target_of(function: bytes) -> Target:
    """The function of a request; kept, so that what it has learned in one run it has in the next."""
    try:
        return Target.of(pickle.loads(function))  # noqa: S301 - the process that asks made it
    except Exception as error:  # choke-point: modules of the user's are imported here
        hint = (
            "the modules that it needs must be there, too; functions of a script or a notebook come through "
        )
        raise ConfigError(
            f"the function cannot be had in the worker process: {last_line(error)}; {hint}cloudpickle"
        ) from None


def run_request(request: bytes) -> bytes:
    """Run the agent as asked; returns a pickled `Answer`. Never raises what the agent raises."""
    try:
        return _asked(pickle.loads(request))  # noqa: S301 - the process that asks made it
    except (KeyboardInterrupt, Interrupted):
        return pickle.dumps(Answer(interrupted=True))
    except ConfigError as error:
        return pickle.dumps(Answer(why_not_comparable=str(error)))
    except BaseException as error:  # choke-point: the caller could perhaps not unpickle it
        text = f"the run in the worker process broke: {last_line(error)}"
        return pickle.dumps(Answer(why_not_comparable=text))


def _asked(request: Request) -> bytes:
    share_secret_key(request.secret_key)
    answer = _answer(request)
    if secret_key() != request.secret_key:  # another process asked meanwhile: its digests mean nothing here
        return pickle.dumps(answer)
    text = io.BytesIO()
    _WithDigests(text, pickle.HIGHEST_PROTOCOL).dump(answer)
    return text.getvalue()


class _WithDigests(pickle.Pickler):
    """Keeps the digests of secrets, which any other pickle leaves behind."""

    def reducer_override(self, value: Any) -> Any:
        return (Redacted, (str.__str__(value), value.digest)) if type(value) is Redacted else NotImplemented


def _answer(request: Request) -> Answer:
    target = _target_of(request.function)
    captures: list[Capture] = []
    runs: list[Run] = []

    def capture() -> Capture:
        captures.append(request.part.capture())
        return captures[-1]

    def steps(isolation: Isolation) -> Generator[Any, Any, None]:
        example = Example(input=request.input)
        runs.append(
            (yield from run_example(target, example, capture, isolation, request.timeout, request.advice))
        )

    _carry(steps, request.timeout)
    run = runs[0]
    recorded = captures[0].recorded() if captures else None
    return Answer(recorded, run.example.actual_output, run.failure, run.why_not_comparable, run.duration)


def _carry(steps: Any, timeout: float | None) -> None:
    """Carry these steps on a runner thread, as the engine does where the agents run in its own process."""
    isolation = Isolation(None, loop_keeper().loop)
    waiting: list[Steps[None]] = [steps(isolation)]
    try:
        Runners(lambda: waiting.pop() if waiting else None, 1, timeout).run()
    finally:
        isolation.close()
