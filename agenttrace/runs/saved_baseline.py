"""Save a run as the baseline; a run of a part of the suite replaces that part alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.run_comparison import ExampleRecord, RunRecord
from agenttrace.reports.run_comparison import regression_line
from agenttrace.runs.baseline import read_baseline, write_baseline
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.fingerprints import dataset_fingerprint, fingerprint_of
from agenttrace.runs.record import shown_name

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
    missing = len(record.examples) - len(ran)
    earlier = _earlier(path, is_whole=is_left_out is None and not missing)
    judged = replace(record, examples=tuple(ran))
    if earlier is None:
        write_baseline(judged, path)
        return [
            f"the baseline is in {path}{f'; {missing} that were not run are not in it' if missing else ''}"
        ]
    stay = [one for one in earlier.examples if is_left_out is not None and is_left_out(one)]
    stay += [
        change.before
        for change in compare_runs(_without(earlier, stay), record).changes
        if change.before and change.after and "not_run" in change.after.outcomes
    ]
    difference = compare_runs(_without(earlier, stay), judged)
    total = len(ran) + len(stay)
    write_baseline(_mixed(judged, stay, earlier) if stay else judged, path)
    part = f"; {len(ran)} of its {total} examples are of this run, the others as they were" if stay else ""
    worse = f"warning: the baseline gets worse: {regression_line(difference)}"
    return [f"the baseline is in {path}{part}", *([worse] if difference.regressions else [])]


def _without(run: RunRecord, examples: Iterable[ExampleRecord]) -> RunRecord:
    out = set(map(id, examples))
    return narrowed(run, lambda one: id(one) in out)


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


def _mixed(record: RunRecord, stay: list[ExampleRecord], earlier: RunRecord) -> RunRecord:
    """The run with some examples of an earlier one."""
    examples = (*record.examples, *stay)
    return replace(
        record,
        examples=examples,
        scorers=tuple(dict.fromkeys((*record.scorers, *earlier.scorers))),
        lower_is_better=record.lower_is_better | earlier.lower_is_better,
        dataset=dataset_fingerprint(example.fingerprint for example in examples),
    )
