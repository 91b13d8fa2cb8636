"""Rules, as a file has them: which traces are evaluated, by which scorers, when and how many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, field_validator

from agenttrace.core.digests import digest_of
from agenttrace.core.errors import AgentTraceError, DatasetError, QueryError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import json_text, jsonable
from agenttrace.core.protocols import Scorer
from agenttrace.core.query import Query
from agenttrace.core.query_parsing import parse
from agenttrace.core.text import short_repr
from agenttrace.datasets.document import SCHEMA_KEY, Document, Place
from agenttrace.evaluation.run import check_needs
from agenttrace.scoring.checks import checked_scorers
from agenttrace.scoring.score_options import options_of, version_of
from agenttrace.scoring.written_scorers import scorer_of
from agenttrace.tasks.metric_entries import Strict
from agenttrace.tasks.task_file import ScorerEntry, at, first_error, read_document, scorer_as_mapping
from agenttrace.tasks.task_scorers import PROMPTS
from agenttrace.tasks.templated_scorer import named
from agenttrace.templates.template import is_template

REST = 30.0
"""Seconds without a new span after which a trace whose root has ended is evaluated."""
REST_WITHOUT_ROOT = 600.0
"""The same for a trace whose root has not come."""
TIMEOUT = 120.0
"""Seconds that a scorer has."""

EVERYTHING = Query()
_SHARES = 1 << 56


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


class RuleEntry(Strict):
    """A rule: traces that match are evaluated by its scorers once they have come to rest."""

    name: str = Field(min_length=1, description="What the rule is called; scores say it.")
    project: Annotated[list[str], BeforeValidator(_as_list)] = Field(
        default_factory=lambda: ["*"], description="Projects, or globs of their names; all by default."
    )
    where: str = Field(default="", description="A query, such as name:checkout tag:beta -status:error.")
    scorers: list[Annotated[ScorerEntry, BeforeValidator(scorer_as_mapping)]]
    sample: float = Field(default=1.0, description="The share of traces, 0 to 1, chosen by their ids.")
    model: str | None = Field(default=None, min_length=1, description="The model that judges ask.")
    rest: float = Field(default=REST, description="Seconds without a new span after which it is time.")
    rest_without_root: float = Field(
        default=REST_WITHOUT_ROOT, description="The same where the root has not come."
    )
    timeout: float = Field(default=TIMEOUT, description="Seconds for each scorer.")

    @field_validator("where")
    @classmethod
    def _readable(cls, text: str) -> str:
        try:
            parse(text)
        except QueryError as error:
            raise ValueError(str(error)) from None
        return text

    @field_validator("scorers")
    @classmethod
    def _some(cls, entries: list[ScorerEntry]) -> list[ScorerEntry]:
        if not entries:
            raise ValueError("a rule needs scorers")
        return entries

    @field_validator("sample")
    @classmethod
    def _share(cls, share: float) -> float:
        if not 0 <= share <= 1:
            raise ValueError(f"got {share}, wanted a share from 0 to 1")
        return share

    @field_validator("rest", "rest_without_root", "timeout")
    @classmethod
    def _seconds(cls, seconds: float) -> float:
        if not 0 <= seconds <= 86_400:
            raise ValueError(f"got {seconds}, wanted seconds, from 0 to a day")
        return seconds


class RulesFile(Strict):
    """Rules for the traces that a service receives."""

    observe: list[RuleEntry] = Field(description="The rules.")


@dataclass(frozen=True, slots=True)
class Rule:
    """Which traces are evaluated, and how; times are in seconds, `projects` are globs.

    `digest` is equal for rules that give the same scores to the same traces.
    """

    name: str
    scorers: tuple[Scorer, ...]
    projects: tuple[str, ...] = ("*",)
    where: Query = EVERYTHING
    sample: float = 1.0
    rest: float = REST
    rest_without_root: float = REST_WITHOUT_ROOT
    timeout: float = TIMEOUT

    def asks_for(self, project: str, trace_id: str) -> bool:
        """Whether a trace is among those that the rule looks at: by its project, and by its id in the sample.

        The same trace is in or out in every process; one that is in a sample is in every larger one, too.
        """
        if not any(fnmatchcase(project, glob) for glob in self.projects):
            return False
        return self.sample >= 1 or int(trace_id[-14:], 16) < self.sample * _SHARES

    @property
    def digest(self) -> str:
        """32 hex digits."""
        scorers = [
            (scorer.name, type(scorer).__qualname__, scorer.threshold, options_of(scorer), version_of(scorer))
            for scorer in self.scorers
        ]
        return digest_of(json_text(jsonable([scorers, str(self.where)])))


def read_rules(path: str | Path, *, model: str | None = None) -> list[Rule]:
    """The rules of a YAML or JSON file; `model` is what judges ask where a rule names none.

    Raises:
        DatasetError: it cannot be read, has an unknown key or scorer, or a value of the wrong type, two rules
            of one name, a scorer that needs what no stored trace has; it names path, line and field.
    """
    document = read_document(Path(path))
    data = document.data
    if not isinstance(data, Mapping):
        got = "nothing" if data is None else short_repr(data)
        raise document.error(f"got {got}, wanted a mapping with the key observe: a list of rules")
    try:
        file = RulesFile.model_validate({key: value for key, value in data.items() if key != SCHEMA_KEY})
    except ValidationError as error:
        raise first_error(error, document, RuleEntry if "observe" in data else RulesFile) from None
    rules: list[Rule] = []
    for index, entry in enumerate(file.observe):
        place: Place = ("observe", index)
        if any(entry.name == rule.name for rule in rules):
            raise at(document, place, f"two rules are called {entry.name!r}")
        scorers = _scorers(entry, document, place, entry.model or model)
        where = parse(entry.where)
        waits = (entry.rest, entry.rest_without_root, entry.timeout)
        rules.append(Rule(entry.name, scorers, tuple(entry.project), where, entry.sample, *waits))
    if not rules:
        raise at(document, ("observe",), "there are no rules")
    return rules


def _scorers(entry: RuleEntry, document: Document, place: Place, model: str | None) -> tuple[Scorer, ...]:
    scorers = [_scorer(one, document, (*place, "scorers", index)) for index, one in enumerate(entry.scorers)]
    try:
        return usable_scorers(scorers, model)
    except AgentTraceError as error:
        raise at(document, (*place, "scorers"), error) from None


def _scorer(entry: ScorerEntry, document: Document, place: Place) -> Scorer:
    for name, value in entry.options.items():
        if name not in PROMPTS and is_template(json_text(jsonable(value))):
            raise at(document, (*place, name), "a rule has no samples, so this option takes no template")
    try:
        scorer = scorer_of(entry.type, entry.options, document.path.parent)
        return named(scorer, entry.display_name, informs=entry.purpose == "qa")
    except DatasetError:
        raise
    except (AgentTraceError, TypeError, ValueError) as error:
        raise at(document, place, error) from None


def usable_scorers(scorers: Sequence[Scorer], model: str | None = None) -> tuple[Scorer, ...]:
    """The scorers, judges with their model, if stored traces have what they need.

    Raises:
        ConfigError: a judge has no model that can be reached.
        ScorerError, ExpectationError: one is no scorer, or needs an expectation, which no stored trace has.
    """
    checked = checked_scorers(scorers, model)
    check_needs([Example(input={}, actual_output="", tools_called=[])], lambda _: checked)
    return checked
