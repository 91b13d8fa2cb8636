"""`run_evaluation`: run and score many examples, store the results; also on the caller's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from agenttrace.core.example import Example
from agenttrace.core.protocols import ChatModel, Scorer, Store
from agenttrace.core.report import EvaluationReport
from agenttrace.evaluation.engine import Measure, Progress
from agenttrace.evaluation.run import (
    TIMEOUT,
    Evaluation,
    EvaluationOptions,
    Recording,
    check_option_names,
)
from agenttrace.evaluation.schedule import Settled
from agenttrace.evaluation.simulated import Simulate
from agenttrace.evaluation.trials import MAX_TRIALS, Trials, TrialsBy

if TYPE_CHECKING:
    from agenttrace.remote_agents import OTLPEndpoint


def run_evaluation(
    examples: Iterable[Example],
    scorers: Iterable[Scorer] = (),
    *,
    model: str | ChatModel | None = None,
    project_name: str | None = None,
    eval_run_name: str | None = None,
    function: Callable[..., Any] | None = None,
    tracer: Recording | None = None,
    concurrency: int = 1,
    timeout: float | None = TIMEOUT,
    trials: Trials = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    store: str | Path | Store | None = None,
    metadata: Mapping[str, Any] | None = None,
    trials_by: TrialsBy | None = None,
    max_trials: int = MAX_TRIALS,
    settled: Settled | None = None,
    budget: str | None = None,
    stop_after: int | None = None,
    measure: Measure | None = None,
    resume: str | None = None,
    simulate: Simulate | None = None,
    otlp: bool | OTLPEndpoint | None = None,
    require: None = None,
    baseline: None = None,
) -> EvaluationReport:
    """Compare examples with runs of the agent, or with the recorded runs that they hold.

    `scorers` compare every example; without any, those that the examples, or their file, name themselves do.

    With `function`, each example's input is passed to it (a mapping as keyword arguments, a text as the one
    argument, None as none), everything recorded meanwhile is the example's trace, and its return value the
    `actual_output`. `function` may be plain, async, a generator (its output is the list of what it yields).
    An agent that raises, or is not back within `timeout` seconds, fails its example; the rest go on.
    Without `function`, `actual_output` and `tools_called` are compared as they are.

    Plain functions run on threads of ours, or on those of `executor`; coroutines on one event loop of ours,
    so that they can share an async client. Where `executor` runs its calls in other processes
    (`ProcessPoolExecutor`, Dask's ``client.get_executor()``), the agents run there, and what they record
    comes back: docs/scaling.md. Each run gets a copy of the input.
    `concurrency` agents run at a time: 1 by default, because nobody but you can know whether your agent
    keeps state. `trials` repeats each example. With `trials_by` several examples are trials of one: those of
    the same name (``"name"``), or for which a function gives the same. `model` goes to the scorers that take
    one. The results are stored in `store` (a path names one), or the tracer's store, without secrets, as
    spans are; the returned report is not redacted. Can be called anywhere, also inside a running event loop
    (which waits).

    With ``trials="auto"`` the trials of an example follow one after the other, and end as soon as `settled`
    says that its results settle its verdict, by default at the first that is no pass, or after `max_trials`.
    `budget` is money, tokens or time, such as ``"2 usd"``, ``"50000 tokens"``, ``"2 usd, 10 minutes"``, for
    the agent (the usage of its spans) and the judges together: when it is spent, nothing more begins.
    Neither does it when `stop_after` examples have a result that failed or errored. What begins no more has
    the outcome *not_run*, which is no pass. The report's metadata say what was `spent`, the `estimate`
    before it from the last such run, and whether answers are *unpriced*: a model of unknown price costs
    money that no budget of money can see.

    Results go to the store while the run lasts. `resume` (``last``, an id, a name) goes on with a stored run
    of this project that was interrupted: examples that have a result there are not run again. What fails
    there does not count for `stop_after`, nor what was spent for `budget`.
    `simulate` answers calls of tools in their place: a mapping of tools to answers (see `Tracer.simulate`), a
    `Simulation`, or a `Recording`. Each run begins anew. An example's own `simulate` answers before it. A run
    in which a call had no answer is *errored*.

    With ``otlp=True`` the agent may record elsewhere: in a child process, a server, another language. A
    parameter `otlp` of `function` gets a `RemoteRun`, with the variables for a child process and the headers
    for a request. What arrives by OpenTelemetry joins the calls recorded here; it is waited for, within
    `timeout`. A run of which no span arrives is *errored*. Agents that are servers already send to an
    `OTLPEndpoint`, which is given in place of True.

    `progress` is called with each result. One that raises, SystemExit too, is logged and not called again: a
    broken display must not lose results. To end the run from there raise KeyboardInterrupt.

    `measure` is a function of the report that returns more metadata for it, such as metrics over all results;
    they are stored with it. What it raises is raised, after the results are stored.

    `require` and `baseline` are options of `assert_test`, and an error here.

    Raises:
        ConfigError, ExpectationError, ScorerError: wrong use, before any agent is run.
        EvaluationInterrupted: Control-C, or an agent, a scorer or `progress` raised KeyboardInterrupt, of
            which it is one; its `report` has the results so far. Whatever ends a run early, they are
            stored, marked as interrupted.
    """
    options = {name: value for name, value in locals().items() if name not in _OF_ASSERT_TEST}
    check_option_names("run_evaluation", _stated(require=require, baseline=baseline))
    evaluation = Evaluation.of(**options)
    evaluation.engine.advice = _LOOP_WAITS if _in_a_loop() else ""
    return evaluation.run()


_OF_ASSERT_TEST = frozenset({"require", "baseline"})
"""Options that `run_evaluation` names only to say where they belong."""


def _stated(**options: Any) -> list[str]:
    """The names of the options that have a value."""
    return [name for name, value in options.items() if value is not None]


async def run_evaluation_async(
    examples: Iterable[Example], scorers: Iterable[Scorer] = (), **options: Unpack[EvaluationOptions]
) -> EvaluationReport:
    """Do as `run_evaluation` does, on the caller's event loop: ``await run_evaluation_async(…)``.

    Coroutines of the agent and of the scorers run as tasks of that loop, with its clients, locks and
    fixtures; plain functions on threads. Nothing can be done about a coroutine that blocks the loop: its
    timeout holds only while it awaits.

    Raises:
        ConfigError, ExpectationError, ScorerError: wrong use, before any agent is run.
        CancelledError: the task was cancelled. Whatever ends a run early, the results so far are stored,
            marked as interrupted.
    """
    check_option_names("run_evaluation_async", options, "examples", "scorers")
    return await Evaluation.of(examples, scorers, **options).run_async()


_LOOP_WAITS = (
    "The evaluation was started inside a running event loop, which waits for it: what is bound to that loop "
    "(a client, a lock, a fixture) does not answer meanwhile. In async code: await run_evaluation_async(…) "
    "or await assert_test_async(…)"
)


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
