"""`updated`: the expectations of a file as they would be if what ran were right, as a diff and to write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agenttrace.core.errors import AgentTraceError, DatasetError
from agenttrace.core.example import Example
from agenttrace.core.file_form import strict, to_file_form
from agenttrace.core.protocols import Scorer
from agenttrace.core.report import ScoringResult
from agenttrace.core.trace import Trace
from agenttrace.datasets.examples_text import ExamplesText
from agenttrace.datasets.text_edits import same
from agenttrace.scorers.comparing_scorer import ComparingScorer
from agenttrace.scorers.tool_call_args import ToolCallArgsScorer
from agenttrace.scoring.example_scorers import scorers_of_example
from agenttrace.updates.rewritten_call import CannotRewrite
from agenttrace.updates.rewritten_path import rewritten


@dataclass(frozen=True, slots=True)
class ExampleChange:
    """The expectation of one example before and after, as files have it: data that processes can exchange.

    `source` is the example's ``path:line``. `why_not` says why it is not changed though it failed, `notes`
    what of it was left as it is, or is expected to be anything.
    """

    source: str
    name: str | None
    before: Any
    after: Any
    notes: tuple[str, ...] = ()
    why_not: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExampleChange:
        """Read what `to_dict` wrote."""
        return cls(**{**data, "notes": tuple(data["notes"])})


@dataclass(frozen=True, slots=True)
class UpdatedExample:
    """One example of an update: its `diff` (empty where nothing changes), and what is to be said of it."""

    line: int
    name: str | None
    diff: str
    notes: tuple[str, ...]
    why_not: str | None

    @property
    def title(self) -> str:
        """``line 12 (refund seven)``."""
        return f"line {self.line}" + (f" ({self.name})" if self.name else "")


@dataclass(frozen=True, slots=True)
class Update:
    """What would change in a file: the new `text`, and each example that failed by its expected calls."""

    file: ExamplesText
    text: str
    examples: tuple[UpdatedExample, ...]

    @property
    def path(self) -> Path:
        """The file."""
        return self.file.path

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return self.text != self.file.text

    @property
    def diff(self) -> str:
        """The whole change as one unified diff."""
        return self.file.diff(self.text)

    def write(self) -> None:
        """Write the file in one step: a reader sees the old content or the new, also after a crash.

        Raises:
            DatasetError: the file is read-only, cannot be written, or changed since it was read. It is as it
                was then.
        """
        if self.changed:
            self.file.write(self.text)


def updated(
    path: str | Path,
    results: Iterable[ScoringResult] | Iterable[ExampleChange],
    scorers: Sequence[Scorer] = (),
) -> Update:
    """Change the expectations of the examples that failed by their expected calls to what they did.

    `results` are those of a report, or what `change_of` made of them elsewhere. `scorers` are those of the
    suite: their mode and the way they compare arguments say what differs at all.

    Raises:
        DatasetError: the file cannot be read, is no YAML, JSON or JSON Lines, or changed since the examples
            were read from it.
    """
    items = list(results)
    changes = [item for item in items if isinstance(item, ExampleChange)]
    of_one: dict[str, list[ScoringResult]] = {}
    for item in items:
        if isinstance(item, ScoringResult) and _is_of(item.source, path):
            of_one.setdefault(str(item.source), []).append(item)
    for trials in of_one.values():
        change = change_of(trials, scorers)
        if change is not None:
            changes.append(change)
    return _applied(ExamplesText.read(Path(path)), changes)


def change_of(results: Sequence[ScoringResult], scorers: Sequence[Scorer] = ()) -> ExampleChange | None:
    """The change of one example by its trials' results; None where it did not fail by its expected calls.

    Runs that raised, or whose scores broke, are never taken for right. Where trials disagree about what ran,
    or some pass, nothing is changed, and the change says why.
    """
    failed = [result for result in results if result.outcome == "failed"]
    if not failed:
        return None
    example = results[0].example
    if example.expected_tools is None:
        return None
    before = _file_form(example.expected_tools)
    source = results[0].source or ""

    def unchanged(why: str | None, notes: tuple[str, ...] = ()) -> ExampleChange:
        return ExampleChange(source, example.name, before, before, notes, why)

    usable = [result for result in failed if result.error is None and result.trace is not None]
    if len(usable) < len(failed):
        return unchanged("its run did not end as it should; only what ran to its end is taken for right")
    hows = [_hows(result, scorers) for result in usable]
    if not any(hows):
        return None
    if len(usable) < len(results):
        others = ", ".join(sorted({result.outcome for result in results} - {"failed"}))
        return unchanged(f"its trials disagree: {len(failed)} of {len(results)} failed, others {others}")
    try:
        found_by_trial = [_rewritten(result, how) for result, how in zip(usable, hows, strict=True)]
    except CannotRewrite as error:
        return unchanged(str(error))
    after, notes = found_by_trial[0]
    if not all(same(after, other) for other, _ in found_by_trial[1:]):
        return unchanged(f"its trials disagree: {len(usable)} runs made different calls")
    if same(before, after):
        return unchanged("only its guards do not hold", notes) if notes else None
    return ExampleChange(source, example.name, before, after, notes)


def _hows(result: ScoringResult, suite: Sequence[Scorer]) -> list[dict[str, Any]]:
    """How each scorer that failed compares with the example's expected calls, as options of `compare`."""
    failed = [score for score in result.scores if score.outcome == "failed"]
    if not suite and not result.example.scorers:
        return [
            {"mode": score.details["mode"]} for score in failed if {"mode", "pairs"} <= score.details.keys()
        ]
    scorers = {scorer.name: scorer for scorer in scorers_of_example(result.example, suite)}
    hows = [_how(scorers.get(score.name)) for score in failed]
    return [how for how in hows if how is not None]


def _how(scorer: Scorer | None) -> dict[str, Any] | None:
    """The options of `compare` by which a scorer reads expected calls; None where it has others, or none."""
    if isinstance(scorer, ComparingScorer) and scorer.expected is None:
        return {
            "mode": scorer.mode,
            "match": scorer.parameters,
            "selection": scorer.selection,
            "comparators": scorer.comparators,
        }
    if isinstance(scorer, ToolCallArgsScorer) and scorer.tool_calls is None:
        return {
            "mode": "contains",
            "match": scorer.mode,
            "selection": scorer.selection,
            "comparators": scorer.comparators,
        }
    return None


def _rewritten(result: ScoringResult, hows: Sequence[Mapping[str, Any]]) -> tuple[Any, tuple[str, ...]]:
    """The new expectation, for each of the ways in which it was compared."""
    expected, notes = result.example.expected_tools, dict[str, None]()
    run = result.trace
    assert isinstance(run, Trace)
    for how in hows:
        try:
            new = rewritten(expected, run, **how)
        except AgentTraceError as error:
            raise CannotRewrite(str(error)) from error
        expected = new.data
        notes.update(dict.fromkeys(new.notes))
    return _file_form(expected), tuple(notes)


def _file_form(expected: Any) -> Any:
    return to_file_form(expected, strict, "expected_tools")


def _applied(file: ExamplesText, changes: Sequence[ExampleChange]) -> Update:
    """Apply changes to a file's text, each where its example is."""
    accepted: dict[int, Any] = {}
    examples: list[UpdatedExample] = []
    for change in sorted(changes, key=_line):
        line, why_not, diff = _line(change), change.why_not, ""
        if why_not is None:
            _check_unchanged(file, change, line)
            try:
                diff = file.diff(file.with_expected_tools({line: change.after}), line)
                accepted[line] = change.after
            except DatasetError as error:
                why_not = str(error)
        examples.append(UpdatedExample(line, change.name, diff, change.notes, why_not))
    return Update(file, file.with_expected_tools(accepted), tuple(examples))


def _is_of(source: str | None, path: str | Path) -> bool:
    """Whether an example was read from a file."""
    return source is not None and Path(source.rpartition(":")[0]).resolve() == Path(path).resolve()


def _line(change: ExampleChange) -> int:
    line = change.source.rpartition(":")[2]
    return int(line) if line.isdigit() else 0


def _check_unchanged(file: ExamplesText, change: ExampleChange, line: int) -> None:
    node = file.expected_tools_at(line)
    expected = None
    if node is not None:
        expected = _file_form(Example.from_dict({"expected_tools": node.value}).expected_tools)
    if not same(expected, change.before):
        raise DatasetError(
            f"the file changed since its examples were read: {change.name or 'the example'} is not there as "
            "it was; run it again",
            path=file.path,
            line=line or None,
        )
