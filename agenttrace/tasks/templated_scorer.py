"""`TemplatedScorer`: a scorer whose options are templates over the sample: one scorer for each example."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from agenttrace.core.errors import AgentTraceError, ScorerError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable, to_json
from agenttrace.core.protocols import (
    ChatModel,
    ChecksExamples,
    ChecksModel,
    Gates,
    Scorer,
    TakesModel,
    optional,
)
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.tasks.observation import sample_of
from agenttrace.templates.template import Template, TemplateTrouble

OptionError = Callable[[str, Exception, Example | None], Exception]
"""Makes the error of an option, which says where it stands."""


class TemplatedScorer:
    """Asks for each example the scorer that its options, rendered over the example's sample, make.

    Samples are rendered when the task is loaded (`prepare`), so they are those of the dataset, without what a
    run fills in, and trouble shows before any agent runs. Examples with the same options share a scorer.
    """

    def __init__(
        self,
        make: Callable[[Mapping[str, Any]], Scorer],
        options: Mapping[str, Any],
        error: OptionError,
    ) -> None:
        self._make = make
        self._options = options
        self._error = error
        self._scorers: dict[str, Scorer] = {}
        self._keys: dict[tuple[Any, ...], str] = {}
        self.name = ""
        self.threshold = 0.0
        self.gate = True

    def prepare(self, examples: Iterable[Example]) -> None:
        """Render the options for these examples; name, threshold and gate are those of the first's scorer.

        Raises:
            DatasetError: a template cannot be rendered, or the scorer refuses an option; with file and line.
        """
        for example in examples:
            scorer = self.scorer_for(example)
            if not self.name:
                self.name, self.threshold = scorer.name, scorer.threshold
                gates = optional(scorer, Gates)
                self.gate = gates is None or gates.gate is not False

    def scorer_for(self, example: Example) -> Scorer:
        """The scorer of an example. Raises as `prepare`."""
        identity = (example.example_id, example.source, example.name)
        key = self._keys.get(identity)
        if key is None:
            options = self._rendered(example)
            key = to_json(jsonable(options))
            if key not in self._scorers:
                self._scorers[key] = self._made(options, example)
            self._keys[identity] = key
        return self._scorers[key]

    def _rendered(self, example: Example) -> dict[str, Any]:
        sample = jsonable(sample_of(example))
        rendered: dict[str, Any] = {}
        for option, value in self._options.items():
            try:
                rendered[option] = rendered_value(value, sample)
            except TemplateTrouble as trouble:
                raise self._error(option, trouble, example) from None
        return rendered

    def _made(self, options: Mapping[str, Any], example: Example) -> Scorer:
        try:
            return self._make(options)
        except AgentTraceError as error:
            raise self._error("", error, example) from None

    def check(self, example: Example) -> None:
        """Do as the example's scorer does, which may state what it needs."""
        checking = optional(self.scorer_for(example), ChecksExamples)
        if checking is not None:
            checking.check(example)

    def score(self, example: Example, trace: Trace) -> Score | Awaitable[Score]:
        """The score of the example's scorer."""
        return self.scorer_for(example).score(example, trace)


class TemplatedJudge(TemplatedScorer):
    """One whose scorers ask a model."""

    def check_model(self) -> None:
        """Do as the scorers do that ask a model."""
        for scorer in self._scorers.values():
            checking = optional(scorer, ChecksModel)
            if checking is not None:
                checking.check_model()

    def with_model(self, model: str | ChatModel) -> TemplatedJudge:
        """The same scorer, asking this model where its scorers take one."""
        twin = copy.copy(self)
        twin._scorers = {key: _with_model(scorer, model) for key, scorer in self._scorers.items()}
        twin._make = lambda options: _with_model(self._make(options), model)
        return twin


def _with_model(scorer: Scorer, model: str | ChatModel) -> Scorer:
    taking = optional(scorer, TakesModel)
    return scorer if taking is None else taking.with_model(model)


def rendered_value(value: Any, sample: Mapping[str, Any]) -> Any:
    """A value of an option with the templates in it rendered. Raises TemplateTrouble."""
    if isinstance(value, Template):
        return value.render(sample=sample)
    if isinstance(value, Mapping):
        return {key: rendered_value(item, sample) for key, item in value.items()}
    if isinstance(value, list):
        return [rendered_value(item, sample) for item in value]
    return value


def has_template(value: Any) -> bool:
    """Whether there is a template in a value of an option."""
    if isinstance(value, Mapping):
        return any(map(has_template, value.values()))
    return any(map(has_template, value)) if isinstance(value, list) else isinstance(value, Template)


def named(scorer: Scorer, name: str | None, *, informs: bool) -> Scorer:
    """The scorer under another name, or one that only informs, as a copy.

    Raises:
        ScorerError: it takes no other name.
    """
    if name is None and not informs:
        return scorer
    twin: Any = copy.copy(scorer)
    try:
        if name is not None:
            object.__setattr__(twin, "name", name)
        if informs:
            object.__setattr__(twin, "gate", False)
    except AttributeError as error:
        raise ScorerError(f"{scorer.name!r} cannot be given another name or purpose: {error}") from error
    renamed: Scorer = twin
    return renamed
