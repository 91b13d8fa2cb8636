"""Which tests a marked function becomes: its examples, their names as ids, what is skipped, in quarantine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agenttrace.core.errors import AgentTraceError, ConfigError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.numbers import is_whole
from agenttrace.core.quarantine import Quarantine
from agenttrace.evaluation.assertion import checked_requirements, examples_in
from agenttrace.evaluation.run import checked_examples
from agenttrace.evaluation.trials import MAX_TRIALS
from agenttrace.pytest_plugin import EXAMPLE, MARKER
from agenttrace.scoring.example_scorers import suite_scorers

OPTIONS = ("examples", "scorers", "tracer", "model", "trials", "max_trials", "require")


def options_of(item: pytest.Item | pytest.Function) -> dict[str, Any]:
    """What the marker of a test says, with the command line's options in place of it.

    Raises:
        ConfigError: an option that the marker does not have.
    """
    marker = item.get_closest_marker(MARKER)
    assert marker is not None
    options = dict(marker.kwargs)
    for name, value in zip(("examples", "scorers"), marker.args, strict=False):
        options.setdefault(name, value)
    if isinstance(options.get("scorers"), Iterator):
        raise ConfigError("scorers is a list: each test reads it anew, and an iterator is read once")
    for name in options:
        if name not in OPTIONS:
            raise ConfigError(f"the marker agenttrace has no option {name!r}{did_you_mean(name, OPTIONS)}")
    for name in ("trials", "max_trials", "model"):
        chosen = item.config.getoption(f"agenttrace_{name}")
        if chosen is not None:
            options[name] = int(chosen) if name != "model" and chosen.isdecimal() else chosen
    auto = ("auto",) if isinstance(options.get("trials"), str) else ()
    for name in ("trials", "max_trials"):
        value = options.get(name, 1)
        if value not in auto and not is_whole(value, 1):
            raise ConfigError(
                f"{name} is a whole number from 1{', or auto' * (name == 'trials')}, got {value!r}"
            )
    return options


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make one test of each example. What is wrong is an error of the collection, with its place."""
    definition = metafunc.definition
    where = f"{definition.path.name}::{definition.name}"
    on_class = metafunc.cls is not None and any(
        marker.name == MARKER for marker in getattr(metafunc.cls, "pytestmark", ())
    )
    of_function = sum(marker.name == MARKER for marker in definition.own_markers)
    if on_class or not of_function:
        raise pytest.Collector.CollectError(
            f"{where}: @pytest.mark.agenttrace marks a function, to make tests of it, no class or module"
        )
    if of_function > 1:
        raise pytest.Collector.CollectError(
            f"{where}: @pytest.mark.agenttrace stands twice; give it all examples"
        )
    try:
        options = options_of(definition)
        examples = _examples(options, definition.path.parent)
        scorers, model = options.get("scorers") or (), options.get("model")
        suite_scorers(examples, scorers, model)
        trials = options.get("trials", 1)
        trials = options.get("max_trials", MAX_TRIALS) if trials == "auto" else trials
        checked_requirements(examples, scorers, options.get("require"), model=model, trials=trials)
        ids = _ids(examples)
        names, rows = _arguments(metafunc, examples)
    except AgentTraceError as error:
        raise pytest.Collector.CollectError(f"{where}: {error}") from None
    metafunc.fixturenames.append(EXAMPLE)
    metafunc.parametrize(
        (EXAMPLE, *names),
        [(example, *row) for example, row in zip(examples, rows, strict=True)],
        ids=ids,
        indirect=[EXAMPLE],
    )


def _examples(options: Mapping[str, Any], directory: Path) -> tuple[Example, ...]:
    examples = options.get("examples")
    if isinstance(examples, str | Path):
        path = Path(examples)
        path = path if path.is_absolute() else directory / path
        if not path.is_file():
            raise ConfigError(f"there is no file {path}; a path is relative to the test's own directory")
        return tuple(examples_in(path))
    return checked_examples(() if examples is None else examples)


def _ids(examples: tuple[Example, ...]) -> list[str]:
    ids = [example.name or f"example {position}" for position, example in enumerate(examples, 1)]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise ConfigError(
            f"{ids.count(twice[0])} examples are called {twice[0]!r}: each test needs its own name"
        )
    return ids


def _arguments(metafunc: pytest.Metafunc, examples: tuple[Example, ...]) -> tuple[list[str], list[list[Any]]]:
    """The parameters that examples fill in: `example`, those named in its input, or the one for a text."""
    parameters = metafunc.definition._fixtureinfo.argnames
    fixtures = metafunc.definition._fixtureinfo.name2fixturedefs
    if "example" in parameters:
        return ["example"], [[example] for example in examples]
    others = {
        name for marker in metafunc.definition.iter_markers("parametrize") for name in _parametrized(marker)
    }
    names = [name for name in parameters if name not in fixtures and name not in others]
    rows = []
    for position, example in enumerate(examples, 1):
        fields = example.input
        if isinstance(fields, str) and len(names) == 1:
            fields = {names[0]: fields}
        if fields is None:
            fields = {}
        if not isinstance(fields, Mapping) or set(fields) != set(names):
            got = sorted(fields) if isinstance(fields, Mapping) else "a text"
            raise ConfigError(
                f"the function takes {names or 'nothing'} beside its fixtures, and the input of example "
                f"{position} ({example.name!r}) is {got}; or take `example`"
            )
        rows.append([fields[name] for name in names])
    return names, rows


def _parametrized(marker: pytest.Mark) -> list[str]:
    """The names that a `parametrize` beside the marker fills in."""
    names = marker.args[0] if marker.args else marker.kwargs.get("argnames", ())
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def mark_as_the_example_says(item: pytest.Item, example: Example) -> None:
    """Add the markers for `skip`, `xfail` and `quarantine` of an example."""
    for word, marker in (("skip", pytest.mark.skip), ("xfail", pytest.mark.xfail)):
        value = getattr(example, word)
        if value:
            item.add_marker(marker(reason=value if isinstance(value, str) else ""))
    if example.quarantine is not None:
        try:
            Quarantine.parse(example.quarantine)
        except ConfigError as error:
            raise pytest.UsageError(f"{example.source or item.nodeid}: {error}") from None
