"""``--trials``, ``--trials-by``, ``--budget``, ``--fail-fast`` …: how long an evaluation goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from agenttrace.core.protocols import Store
from agenttrace.evaluation.estimate import estimate_of
from agenttrace.evaluation.requirement import Requirement
from agenttrace.evaluation.run import EvaluationOptions
from agenttrace.evaluation.trials import MAX_TRIALS, Trials, TrialsBy, settled_by


@dataclass(frozen=True, slots=True)
class LimitOptions:
    """How often each example is run, and what ends the evaluation before all were run, or has been run."""

    trials: Trials = 1
    max_trials: int = MAX_TRIALS
    budget: str | None = None
    fail_fast: int | None = None
    trials_by: TrialsBy | None = None
    resume: str | None = None

    def options(self, requirements: Sequence[Requirement]) -> EvaluationOptions:
        """The options of `run_evaluation` for this; `requirements` are what trials have to settle."""
        auto = self.trials == "auto"
        return {
            "trials": self.trials,
            "max_trials": self.max_trials,
            "settled": settled_by(requirements, self.max_trials) if auto else None,
            "budget": self.budget,
            "stop_after": self.fail_fast,
            "trials_by": self.trials_by,
            "resume": self.resume,
        }

    def at_most(self, examples: int) -> int:
        """How many results so many examples have at most."""
        return examples * (self.trials if isinstance(self.trials, int) else self.max_trials)

    def say_estimate(self, store: Store | None, project: str, examples: int) -> None:
        """Print what the last run lets expect, where there is a budget."""
        if self.budget is None:
            return
        estimate = estimate_of(store, project=project, name=None, examples=examples)
        click.echo(f"estimate: {estimate or 'none, no such run is stored'}", err=True)


class _TrialsType(click.ParamType[Trials]):
    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Trials:
        if value == "auto":
            return "auto"
        try:
            return click.IntRange(1).convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"got {value!r}, wanted a whole number from 1 on, or auto", param, ctx)


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets them as `limits`."""

    @click.option(
        "--trials",
        default=1,
        show_default=True,
        type=_TrialsType(),
        help="Run each example so often; auto: until its verdict is settled.",
    )
    @click.option(
        "--max-trials",
        default=MAX_TRIALS,
        show_default=True,
        type=click.IntRange(1),
        help="With --trials auto, so often at most.",
    )
    @click.option(
        "--trials-by",
        type=click.Choice(["name", "id"]),
        help="Recorded runs of one name, or one example_id, are trials of one example.",
    )
    @click.option("--budget", metavar="'2 usd'", help="Money, tokens or minutes; what is left is not run.")
    @click.option(
        "--fail-fast",
        metavar="[N]",
        is_flag=False,
        flag_value=1,
        type=click.IntRange(1),
        help="Stop once N examples failed (1 without a number); the rest is not run.",
    )
    @click.option(
        "--resume",
        metavar="RUN",
        help="Go on with a run that was interrupted: last, an id or a name; what has a result is not run.",
    )
    @wraps(command)
    def with_limits(
        *args: Any,
        trials: Trials,
        max_trials: int,
        budget: str | None,
        fail_fast: int | None,
        trials_by: TrialsBy | None,
        resume: str | None,
        **kwargs: Any,
    ) -> Any:
        limits = LimitOptions(trials, max_trials, budget, fail_fast, trials_by, resume)
        return command(*args, limits=limits, **kwargs)

    return with_limits
