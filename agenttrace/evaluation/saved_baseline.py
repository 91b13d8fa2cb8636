"""Save a run as the baseline; a run of a part of the suite replaces that part alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.run_comparison import ExampleRecord, RunRecord
from agenttrace.evaluation.baseline import read_baseline, write_baseline
from agenttrace.evaluation.compare_runs import compare_runs
from agenttrace.evaluation.fingerprints import dataset_fingerprint, fingerprint_of
from agenttrace.evaluation.run_record import shown_name
from agenttrace.reports.run_comparison import regression_line

LeftOut = Callable[[ExampleRecord], bool]
"""Whether an example of an earlier run was not to be run this time, so that it is not gone."""


def left_out(examples: Iterable[Example], chosen: Iterable[Example]) -> LeftOut:
    """Tell the examples of a suite that were not chosen for a run: by id, by name, else by fingerprint."""
    ran = set().union(*map(_keys, chosen))
    others = set().union(*map(_keys, examples)) - ran

    def is_left_out(record: ExampleRecord) -> bool:
        by_name = {("id", record.example_id), ("name", record.name)} & (ran | others)
        keys = by_name or {("fingerprint", record.fingerprint)}
        return not keys & ran and bool(keys & others)

    return is_left_out


def _keys(example: Example) -> set[tuple[str, str | None]]:
    keys: set[tuple[str, str | None]] = {("fingerprint", fingerprint_of(example))}
    if example.name is not None:
        keys.add(("name", shown_name(example.name)))
    if "example_id" in example.model_fields_set:
        keys.add(("id", example.example_id))
    return keys


def narrowed(before: RunRecord, is_left_out: LeftOut) -> RunRecord:
    """The earlier run without the examples that are not to be run this time: none of them is gone."""
    return replace(before, examples=tuple(one for one in before.examples if not is_left_out(one)))


def save_baseline(record: RunRecord, path: str | Path, is_left_out: LeftOut | None = None) -> list[str]:
    """Write a run to a baseline file; returns lines to print: where it is, what is still of an earlier run,
    whether the baseline gets worse by it.

    Examples of the file that stood outside of this run, or were not run before it ended, stay as they are.
    `is_left_out` is None where the whole suite was to be run: then others are gone from it.

    Raises:
        ConfigError: the file cannot be written; or the run is of a part of the suite, or was interrupted, and
            the file there cannot be read.
    """
    ran = [example for example in record.examples if "not_run" not in example.outcomes]
    is_whole = is_left_out is None and len(ran) == len(record.examples)
    earlier = _earlier(path, is_whole=is_whole)
    lines = []
    examples = list(ran)
    if earlier is not None:
        pairs = compare_runs(earlier, record).changes
        stay = [
            pair.before
            for pair in pairs
            if pair.before is not None
            and ("not_run" in pair.after.outcomes if pair.after else is_left_out and is_left_out(pair.before))
        ]
        staying = set(map(id, stay))
        rest = narrowed(earlier, lambda one: id(one) in staying)
        difference = compare_runs(rest, replace(record, examples=tuple(ran)))
        if difference.regressions:
            lines.append(f"warning: the baseline gets worse: {regression_line(difference)}")
        examples += stay
    write_baseline(_of(record, examples, earlier), path)
    said = f"the baseline is in {path}"
    if len(examples) > len(ran):
        said += f"; {len(ran)} of its {len(examples)} examples are of this run, the others as they were"
    elif len(ran) < len(record.examples):
        said += f"; {len(record.examples) - len(ran)} examples that were not run are not in it"
    elif not is_whole:
        said += f"; it has the {len(ran)} that were run and no other example"
    return [said, *lines]


def _earlier(path: str | Path, *, is_whole: bool) -> RunRecord | None:
    if not Path(path).is_file():
        return None
    try:
        return read_baseline(path)
    except ConfigError as error:
        if is_whole:
            return None
        raise ConfigError(
            f"not all examples were run, and what the file has of the others cannot stay: {error}"
        ) from None


def _of(record: RunRecord, examples: list[ExampleRecord], earlier: RunRecord | None) -> RunRecord:
    """The run with these examples, some of which may be of an earlier one."""
    if len(examples) == len(record.examples) or earlier is None:
        return replace(record, examples=tuple(examples))
    return replace(
        record,
        examples=tuple(examples),
        scorers=tuple(dict.fromkeys((*record.scorers, *earlier.scorers))),
        lower_is_better=record.lower_is_better | earlier.lower_is_better,
        dataset=dataset_fingerprint(example.fingerprint for example in examples),
    )
