"""`run_evaluation`: run and score many examples, store the results; also on the caller's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import Any, Unpack

from agenttrace.core.example import Example
from agenttrace.core.protocols import ChatModel, Scorer, Store
from agenttrace.core.report import EvaluationReport
from agenttrace.evaluation.engine import Progress
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
    store: Store | None = None,
    metadata: Mapping[str, Any] | None = None,
    trials_by: TrialsBy | None = None,
    max_trials: int = MAX_TRIALS,
    settled: Settled | None = None,
    budget: str | None = None,
    stop_after: int | None = None,
    simulate: Simulate | None = None,
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

    Plain functions run on threads of ours, or on those of `executor`, which is no process pool; coroutines
    on one event loop of ours, so that they can share an async client. Each run gets a copy of the input.
    `concurrency` agents run at a time: 1 by default, because nobody but you can know whether your agent
    keeps state. `trials` repeats each example. With `trials_by` several examples are trials of one: those of
    the same name (``"name"``), or for which a function gives the same. `model` goes to the scorers that take
    one. The results are stored in `store`, or the tracer's store, without secrets, as spans are; the
    returned report is not redacted. Can be called anywhere, also inside a running event loop (which waits).

    With ``trials="auto"`` the trials of an example follow one after the other, and end as soon as `settled`
    says that its results settle its verdict, by default at the first that is no pass, or after `max_trials`.
    `budget` is money, tokens or time, such as ``"2 usd"``, ``"50000 tokens"``, ``"2 usd, 10 minutes"``, for
    the agent (the usage of its spans) and the judges together: when it is spent, nothing more begins.
    Neither does it when `stop_after` examples have a result that failed or errored. What begins no more has
    the outcome *not_run*, which is no pass. The report's metadata say what was `spent`, the `estimate`
    before it from the last such run, and whether answers are *unpriced*: a model of unknown price costs
    money that no budget of money can see.

    `simulate` answers calls of tools in their place: a mapping of tools to answers (see `Tracer.simulate`), a
    `Simulation`, or a `Recording`. Each run begins anew. An example's own `simulate` answers before it. A run
    in which a call had no answer is *errored*.

    `progress` is called with each result. One that raises, SystemExit too, is logged and not called again: a
    broken display must not lose results. To end the run from there raise KeyboardInterrupt.

    `require` and `baseline` are options of `assert_test`, and an error here.

    Raises:
        ConfigError, ExpectationError, ScorerError: wrong use, before any agent is run.
        EvaluationInterrupted: Control-C, or an agent, a scorer or `progress` raised KeyboardInterrupt, of
            which it is one; its `report` has the results so far. Whatever ends a run early, they are
            stored, marked as interrupted.
    """
    _refuse_gates(require=require, baseline=baseline)
    evaluation = Evaluation.of(
        examples,
        scorers,
        model=model,
        project_name=project_name,
        eval_run_name=eval_run_name,
        function=function,
        tracer=tracer,
        concurrency=concurrency,
        timeout=timeout,
        trials=trials,
        executor=executor,
        progress=progress,
        store=store,
        metadata=metadata,
        trials_by=trials_by,
        max_trials=max_trials,
        settled=settled,
        budget=budget,
        stop_after=stop_after,
        simulate=simulate,
    )
    evaluation.engine.advice = _LOOP_WAITS if _in_a_loop() else ""
    return evaluation.run()


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


def _refuse_gates(**gates: None) -> None:
    """Raise ConfigError for an option of `assert_test` that has a value."""
    check_option_names("run_evaluation", [name for name, value in gates.items() if value is not None])


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
