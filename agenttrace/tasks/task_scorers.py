"""Make the scorers of a task: templates are read, options checked, each under a name of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agenttrace.core.errors import AgentTraceError, DatasetError, ScorerError, did_you_mean
from agenttrace.core.example import Example
from agenttrace.core.protocols import Scorer, TakesModel, optional
from agenttrace.datasets.document import Document, Place
from agenttrace.datasets.files import read_text
from agenttrace.scorers.registry import option_names
from agenttrace.scoring.written_scorers import scorer_maker, scorer_of
from agenttrace.tasks.task_file import ScorerEntry, at
from agenttrace.tasks.templated_scorer import TemplatedJudge, TemplatedScorer, has_template, named
from agenttrace.templates.template import MAX_SOURCE, Template, TemplateTrouble, is_template

PROMPTS = frozenset({"prompt", "conversation"})
"""Options of judges with placeholders of their own, ``{{actual_output}}``: what they put in is fenced."""

FILE_KEY = "$file"
"""``{$file: required.j2}`` in place of a template: the text of a file beside the task."""


def scorers_of(
    entries: Sequence[ScorerEntry], document: Document, examples: Sequence[Example]
) -> list[Scorer]:
    """The scorers of a task, their templates rendered for these examples.

    Raises:
        DatasetError: no such scorer, option or module, a template that cannot be read or rendered, two
            scorers of one name; with file and line.
    """
    scorers: list[Scorer] = []
    for index, entry in enumerate(entries):
        place: Place = ("scorers", index)
        scorer = _scorer(entry, document, place, examples)
        if any(scorer.name == other.name for other in scorers):
            raise at(document, place, f"two scorers are called {scorer.name!r}; give one a display_name")
        scorers.append(scorer)
    return scorers


def _scorer(entry: ScorerEntry, document: Document, place: Place, examples: Sequence[Example]) -> Scorer:
    directory = document.path.parent
    try:
        maker = scorer_maker(entry.type, directory)
        _check_options(entry, maker)
    except AgentTraceError as error:
        raise at(document, place, error) from None
    asks_model = optional(maker, TakesModel) is not None
    options = {
        name: value if asks_model and name in PROMPTS else _read(value, document, (*place, name))
        for name, value in entry.options.items()
    }
    informs = entry.purpose == "qa"
    if informs and options.get("gate") is True:
        raise at(document, (*place, "gate"), "purpose: qa informs, gate: true decides; keep one")

    def make(rendered: Mapping[str, Any]) -> Scorer:
        if entry.display_name and option_names(maker).get("name") and "name" not in rendered:
            rendered = {**rendered, "name": entry.display_name}  # some need one
        scorer = scorer_of(entry.type, rendered, directory)
        return named(scorer, entry.display_name, informs=informs)

    def error_at(option: str, error: Exception, example: Example | None) -> Exception:
        where: Place = (*place, option) if option else place
        about = f" (for {_example_label(example)})" if example is not None else ""
        return _template_error(document, where, error, about)

    try:
        if not has_template(options):
            return make(options)
    except (AgentTraceError, TypeError, ValueError) as error:
        raise at(document, place, error) from None
    kind = TemplatedJudge if asks_model else TemplatedScorer
    scorer = kind(make, options, error_at)
    scorer.prepare(examples)
    return scorer


def _check_options(entry: ScorerEntry, maker: Callable[..., Any]) -> None:
    """Raise ScorerError for an option that the scorer has not: before any template is rendered."""
    names = option_names(maker)
    for option in entry.options:
        if option not in names:
            known = {*names, *ScorerEntry.model_fields} - {"name"}
            raise ScorerError(f"{entry.type} has no option {option!r}{did_you_mean(option, known)}")


def _example_label(example: Example) -> str:
    return (
        " ".join(part for part in (example.source, example.name and repr(example.name)) if part)
        or "an example"
    )


def _template_error(document: Document, place: Place, error: Exception, about: str = "") -> DatasetError:
    if not isinstance(error, TemplateTrouble):
        return at(document, place, ScorerError(f"{error}{about}"))
    line = f", line {error.line} of it" if error.line is not None and error.line > 1 else ""
    return at(document, place, ScorerError(f"the template{line}: {error}{about}"))


def _read(value: Any, document: Document, place: Place) -> Any:
    """A value of an option with its templates read; those of files, too."""
    if isinstance(value, Mapping):
        if FILE_KEY in value:
            return _parsed(_file_text(value, document, place), document, place)
        return {key: _read(item, document, (*place, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_read(item, document, (*place, index)) for index, item in enumerate(value)]
    return _parsed(value, document, place) if isinstance(value, str) else value


def _parsed(text: str, document: Document, place: Place) -> Any:
    if not is_template(text):
        return text
    try:
        return Template.parse(text)
    except TemplateTrouble as trouble:
        raise _template_error(document, place, trouble) from None


def _file_text(value: Mapping[str, Any], document: Document, place: Place) -> str:
    """The text of a template's file, which lies in the task's folder, also when every link is followed."""
    name = value[FILE_KEY]
    if len(value) > 1 or not isinstance(name, str) or not name:
        raise at(document, place, f"{FILE_KEY} stands alone, with the name of a file beside the task")
    folder = document.path.parent.resolve()
    path = (folder / name).resolve()
    if not path.is_relative_to(folder):
        raise at(
            document, place, f"{name!r} is not in the task's folder: a template's file lies beside its task"
        )
    try:
        return read_text(path, MAX_SOURCE)
    except DatasetError as error:
        raise at(document, place, error) from None
