"""`WorkerPool`: an executor whose calls run in other processes, as an evaluation uses it."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any

from agenttrace.core.digests import secret_key
from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.evaluation.agent_run import CaptureScope, Run, Target, reading_no_states
from agenttrace.evaluation.worker_run import (
    Answer,
    Request,
    Unpicklable,
    packed,
    process_identity,
    run_request,
)
from agenttrace.process.threads import DaemonExecutor
from agenttrace.scoring.apply import last_line
from agenttrace.scoring.isolation import Interrupted, Steps, Wait
from agenttrace.tracing.capture import Capture

FIRST_ANSWER = 60.0
"""Seconds that an executor may take to answer at all: processes are started, or workers found."""

GRACE = 30.0
"""Seconds beyond the timeout in which a pool must answer something: the workers themselves keep the time."""


class PoolLost(Exception):
    """The executor takes no more runs; the text says why."""


class WorkerPool:
    """Runs the agent in the worker processes of an executor. Any number of threads may carry its steps."""

    def __init__(self, executor: Any, function: bytes) -> None:
        self._executor = executor
        self._function = function
        self._open: set[Future[Any]] = set()
        self._last_answer = time.monotonic()

    def run(
        self, target: Target, example: Example, capture: CaptureScope, timeout: float | None, advice: str = ""
    ) -> Steps[Run]:
        """The steps that run the agent in a worker process, as `run_example` does in this one.

        What is recorded there becomes the trace of a capture that is open here meanwhile.

        Raises:
            PoolLost: the executor takes no run.
        """
        misfit = target.misfit(example)
        if misfit is not None:
            return Run(example, None, why_not_comparable=misfit)
        with reading_no_states(capture()) as captured:
            if not isinstance(captured, Capture):
                raise ConfigError("an executor of other processes needs the capture of a Tracer")
            if captured.states is not None:
                captured.states.give_up(_STATE_ELSEWHERE)
            part = captured.part_elsewhere()
            asked = Request(self._function, example.input, part, timeout, advice, secret_key())
            try:
                request = packed(asked, _SENT)
            except Unpicklable as problem:
                return Run(example, None, why_not_comparable=str(problem))
            answer = yield from self._answer(request, target.name, timeout)
            if answer.recorded is not None:
                captured.take(answer.recorded)
        if answer.interrupted:
            raise Interrupted
        trace = captured.trace
        if answer.why_not_comparable is not None:
            return Run(example, trace or None, why_not_comparable=answer.why_not_comparable)
        called = [call.name for call in trace.tool_calls] if trace.spans else None
        fields: dict[str, Any] = {"tools_called": called}
        if answer.failure is None:
            fields["actual_output"] = answer.output
        ran, secrets = example.changed(**fields), captured.secrets
        return Run(ran, trace, failure=answer.failure, duration=answer.duration, secrets=secrets)

    def _answer(self, request: bytes, name: str, timeout: float | None) -> Steps[Answer]:
        try:
            future = _submitted(self._executor, run_request, request)
        except BaseException as refusal:  # choke-point: of an executor of the user's, such as a broken one
            raise PoolLost(f"the executor takes no more runs: {last_line(refusal)}") from None
        self._open.add(future)
        try:
            began = time.monotonic()
            patience = None if timeout is None else timeout + GRACE
            while not (yield Wait(future, patience)):
                if patience and time.monotonic() - max(began, self._last_answer) >= patience:
                    future.cancel()
                    late = f"{name} did not return within its timeout of {timeout:g} s"
                    return Answer(failure=f"{late}, and nothing came from the executor's workers since")
        finally:
            self._open.discard(future)
        self._last_answer = time.monotonic()
        return _answer_of(future, name)

    def close(self) -> None:
        """Cancel what has not begun."""
        for future in list(self._open):
            future.cancel()


_STATE_ELSEWHERE = "the agent ran in another process; say tracer.state inside the agent, and it is read there"
_SENT = "the input, or the redact function of the tracer,"


def _answer_of(future: Future[Any], name: str) -> Answer:
    try:
        answer: Answer = pickle.loads(future.result())  # noqa: S301 - a worker of the user's own made it
    except CancelledError:
        return Answer(why_not_comparable=f"the executor cancelled the run of {name}")
    except KeyboardInterrupt:
        return Answer(interrupted=True)
    except BaseException as error:  # choke-point: whatever the executor says of a worker that died
        died = "as when the worker process that ran it dies, or with some executors any other one"
        text = f"the executor gave no result of {name}, {died}: {last_line(error)}"
        return Answer(why_not_comparable=text)
    return answer


def pool_of(executor: Any, function: Callable[..., Any] | None) -> WorkerPool | None:
    """The executor as a pool of other processes; None where its calls run on threads of this one.

    It is tried with a call, which takes as long as a first worker takes to start.

    Raises:
        ConfigError: it takes no calls, gives no answer, or a function cannot be sent to its workers.
    """
    if executor is None or isinstance(executor, DaemonExecutor):
        return None
    if not isinstance(executor, Executor) and not callable(getattr(executor, "submit", None)):
        raise ConfigError(
            f"executor is an Executor, got {type(executor).__name__}; give a ThreadPoolExecutor, a "
            "ProcessPoolExecutor, client.get_executor() of Dask, or leave it out"
        )
    if isinstance(executor, ThreadPoolExecutor) and type(executor).__name__ != "InterpreterPoolExecutor":
        _tried(executor, _nothing)
        return None
    if _result(_tried(executor, process_identity)) == process_identity() and _is_of_threads(executor):
        return None
    if function is None:
        return WorkerPool(executor, b"")
    in_script = getattr(function, "__module__", None) == "__main__"
    by_value = in_script and type(executor).__name__ != "ProcessPoolExecutor"  # which brings the script along
    text = packed(function, "the function", by_value=by_value)
    _result(_tried(executor, process_identity, text))
    return WorkerPool(executor, text)


def _is_of_threads(executor: Any) -> bool:
    """Whether a call may have what cannot be pickled, so that it runs as on any thread here."""
    lock = threading.Lock()
    try:
        return bool(_submitted(executor, lambda: lock is not None).result(FIRST_ANSWER))
    except Exception:  # choke-point: an executor of the user's
        return False


def _submitted(executor: Any, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """Submit a call; a future of another kind becomes one of `concurrent.futures`."""
    future = executor.submit(function, *arguments)
    if isinstance(future, Future):
        return future
    if not callable(getattr(future, "add_done_callback", None)) or not callable(
        getattr(future, "result", None)
    ):
        raise ConfigError(
            f"{type(executor).__name__}.submit returns {type(future).__name__}, which is no future of "
            "concurrent.futures; give an Executor, such as client.get_executor() of Dask"
        )
    ours: Future[Any] = Future()
    future.add_done_callback(lambda done: _pass_on(done, ours))
    return ours


def _pass_on(done: Any, ours: Future[Any]) -> None:
    if not ours.set_running_or_notify_cancel():
        return
    try:
        ours.set_result(done.result())
    except BaseException as error:  # choke-point: of the future's own kind
        ours.set_exception(error)


def _tried(executor: Any, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    try:
        return _submitted(executor, function, *arguments)
    except RuntimeError as error:
        raise ConfigError(f"the executor takes no calls: {error}; give one that is not shut down") from error


def _result(future: Future[Any]) -> Any:
    try:
        return future.result(FIRST_ANSWER)
    except ConfigError:
        raise
    except (TimeoutError, FutureTimeout):
        future.cancel()
        raise ConfigError(
            f"the executor gave no answer within {FIRST_ANSWER:g} s; has it any workers that are not busy?"
        ) from None
    except Exception as error:  # choke-point: of an executor of the user's
        raise ConfigError(
            f"the executor could not run a call: {last_line(error)}. Its workers need agenttrace; a script "
            "that starts processes needs `if __name__ == '__main__':` round what it does"
        ) from error


def _nothing() -> None:
    """Do nothing: the call that an executor of threads is tried with."""
