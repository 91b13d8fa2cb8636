"""Wrong uses that can be told before any agent is run."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from concurrent.futures import Executor
from typing import Any

from agenttrace.core.errors import ConfigError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.protocols import ChecksExamples, Scorer, optional


def checked_examples(examples: Any) -> tuple[Example, ...]:
    """The examples of a list or a dataset.

    Raises:
        ConfigError: none at all, a single example instead of a list, or something that is not an example.
    """
    if isinstance(examples, Example):
        raise ConfigError("examples is a list, got one Example; write examples=[example]")
    if isinstance(examples, str) or not isinstance(examples, Iterable):
        raise ConfigError(
            f"examples is a list of Example, got {type(examples).__name__}; a file goes in test_file="
        )
    found = tuple(examples)
    for position, example in enumerate(found, 1):
        if not isinstance(example, Example):
            hint = "; write Example(**fields)" if isinstance(example, dict) else ""
            raise ConfigError(
                f"examples holds Example values, got {type(example).__name__} at {position}{hint}"
            )
    if not found:
        raise ConfigError("there are no examples: an evaluation of nothing can neither pass nor fail")
    return found


def check_needs(scorers: Iterable[Scorer], examples: Iterable[Example]) -> None:
    """Ask each scorer that can tell (see `ChecksExamples`) whether the example states what it needs.

    Raises:
        ScorerError: an example lacks a field; the text names both.
    """
    checking = [
        (scorer, hook) for scorer in scorers if (hook := optional(scorer, ChecksExamples)) is not None
    ]
    for position, example in enumerate(examples, 1):
        for scorer, hook in checking:
            try:
                hook.check(example)
            except Exception as error:  # choke-point: said with the example's place, whatever it was
                text = str(error).removeprefix(f"{example.source}: ")
                who = "" if text.startswith(scorer.name) else f"the scorer {scorer.name!r}: "
                raise ScorerError(f"{label(position, example)}: {who}{text}") from error


def label(position: int, example: Example) -> str:
    """What messages call an example: its number from 1, its ``file:line`` and its name where it has them."""
    place = f"{example.source}: " if example.source else ""
    return f"{place}example {position}" + (f" ({example.name!r})" if example.name else "")


def check_limits(concurrency: int, timeout: float | None, trials: int) -> None:
    """Raise ConfigError for a limit that cannot work."""
    for word, value in (("concurrency", concurrency), ("trials", trials)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ConfigError(f"{word} is a whole number from 1, got {value!r}")
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0
    ):
        raise ConfigError(f"timeout is a number of seconds above 0, or None for no limit; got {timeout!r}")


def check_executor(executor: Any) -> None:
    """Raise ConfigError for an executor that cannot run an agent here: no executor, processes, shut down."""
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
    """What an executor is tried with."""
