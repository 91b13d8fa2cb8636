"""Checks of an evaluation's arguments before any agent is run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import Executor
from typing import Any

from agenttrace.core.errors import ConfigError, ExpectationError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_number, is_whole
from agenttrace.core.protocols import ChecksExamples, Scorer, optional

_CAUSES = (ConfigError, ExpectationError)
"""The errors of a scorer's check that keep their type; any other becomes a ScorerError."""


def checked_examples(examples: Any) -> tuple[Example, ...]:
    """Return the examples of a list or a dataset.

    Raises:
        ConfigError: there are none, it is a single example, or it holds something that is not an example.
    """
    if isinstance(examples, Example):
        raise ConfigError("examples is a list, got one Example; write examples=[example]")
    if isinstance(examples, str) or not isinstance(examples, Iterable):
        raise ConfigError(
            f"examples is a list of Example, got {type(examples).__name__}; a file goes in test_file="
        )
    items = tuple(examples)
    for position, example in enumerate(items, 1):
        if not isinstance(example, Example):
            hint = "; write Example(**fields)" if isinstance(example, dict) else ""
            raise ConfigError(
                f"examples holds Example values, got {type(example).__name__} at {position}{hint}"
            )
    if not items:
        raise ConfigError("there are no examples: an evaluation of nothing can neither pass nor fail")
    return items


def check_needs(scorers: Iterable[Scorer], examples: Iterable[Example]) -> None:
    """Ask each scorer that can tell (see `ChecksExamples`) whether the example states what it needs.

    Raises:
        ConfigError: a scorer has no model to ask, or one that cannot be reached as configured.
        ExpectationError: what an example expects cannot be understood.
        ScorerError: an example lacks a field, or any other error of `check`. Every text names the example.
    """
    checking = [
        (scorer, hook) for scorer in scorers if (hook := optional(scorer, ChecksExamples)) is not None
    ]
    for position, example in enumerate(examples, 1):
        for scorer, hook in checking:
            try:
                hook.check(example)
            except Exception as error:  # choke-point: every error gets the example's number and place
                text = str(error).removeprefix(f"{example.source}: ")
                who = "" if text.startswith(scorer.name) else f"the scorer {scorer.name!r}: "
                kind = next((cause for cause in _CAUSES if isinstance(error, cause)), ScorerError)
                raise kind(f"{label(position, example)}: {who}{text}") from error


def label(position: int, example: Example) -> str:
    """Return the text that stands for an example in messages: number from 1, ``file:line``, name."""
    place = f"{example.source}: " if example.source else ""
    return f"{place}example {position}" + (f" ({example.name!r})" if example.name else "")


def check_limits(concurrency: int, timeout: float | None, trials: int) -> None:
    """Raise ConfigError for a limit that cannot work."""
    for word, value in (("concurrency", concurrency), ("trials", trials)):
        if not is_whole(value, 1):
            raise ConfigError(f"{word} is a whole number from 1, got {value!r}")
    if timeout is not None and not (is_number(timeout) and timeout > 0):
        raise ConfigError(f"timeout is a number of seconds above 0, or None for no limit; got {timeout!r}")


def check_executor(executor: Any) -> None:
    """Raise ConfigError for an executor that cannot run an agent here, such as one of processes."""
    if executor is None:
        return
    if not isinstance(executor, Executor):
        raise ConfigError(
            f"executor is an Executor, got {type(executor).__name__}; give a ThreadPoolExecutor, "
            "or leave it out"
        )
    processes = sys.modules.get("concurrent.futures.process")  # not imported: then it is none of those
    if processes is not None and isinstance(executor, processes.ProcessPoolExecutor):
        raise ConfigError(
            "executor is a ProcessPoolExecutor, but agents run in this process, where they are recorded; "
            "give a ThreadPoolExecutor, or leave it out"
        )
    try:
        executor.submit(_nothing)
    except RuntimeError as error:
        raise ConfigError(f"the executor takes no calls: {error}; give one that is not shut down") from error


def _nothing() -> None:
    """Do nothing: the call that an executor is tried with."""
