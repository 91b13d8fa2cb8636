"""The examples of a task: those of its file, of a dataset, of recorded traces, or of both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from agenttrace.core.errors import AgentTraceError, DatasetError
from agenttrace.core.example import Example
from agenttrace.core.jsonable import jsonable
from agenttrace.core.protocols import Store
from agenttrace.core.trace import Trace
from agenttrace.core.value_key import value_key
from agenttrace.datasets.dataset import EvalDataset
from agenttrace.datasets.document import OWN_COLUMNS, Document, load_examples
from agenttrace.datasets.from_traces import example_from_trace, told_apart
from agenttrace.datasets.selection import check_names, selected
from agenttrace.otlp_in.arrival import TelemetryError
from agenttrace.otlp_in.traces import traces_from_otlp
from agenttrace.store import open_store
from agenttrace.store.trace_stream import iter_traces
from agenttrace.tasks.task_file import DatasetEntry, TaskFile, TracesEntry, at
from agenttrace.transcripts.reading import format_of, traces_from_transcript

MOST_TRACES = 100_000
"""Traces of a store that a task reads without a limit of its own."""


def examples_of(task: TaskFile, document: Document, store: str | Store | None) -> list[Example]:
    """The examples of a task, each with its recorded run where the task has traces.

    Raises:
        DatasetError: they cannot be read, there are none, two have one name, or one finds no trace.
    """
    examples: list[Example] | None = None
    if task.dataset is not None:
        examples = _of_dataset(task.dataset, document)
    elif task.examples is not None:
        part = Document(document.path, {"examples": task.examples}, document.lines)
        examples = load_examples(part).examples
    if task.traces is not None:
        traces = _traces(task.traces, document, store)
        examples = (
            _of_traces(traces, document)
            if examples is None
            else _paired(examples, traces, task.traces, document)
        )
    assert examples is not None  # `read_task_file` saw to it
    check_names(examples)
    return examples


def _of_dataset(entry: DatasetEntry, document: Document) -> list[Example]:
    path = beside(document, entry.path)
    try:
        dataset = EvalDataset.from_file(path, columns=entry.columns)
        examples = selected(dataset, only=entry.only, tags=entry.tags, limit=entry.limit)
    except DatasetError as error:
        if "unknown column" in str(error) or "has no field" in str(error):
            text = str(error).replace(OWN_COLUMNS, "")
            raise DatasetError(f"{text}; a column of your own is named in the columns of dataset") from None
        if error.path == str(path) and error.line is not None:
            raise
        raise at(document, ("dataset",), error) from None
    except AgentTraceError as error:
        raise at(document, ("dataset",), error) from None
    if not examples:
        raise at(document, ("dataset",), f"there are no examples in {entry.path}")
    return examples


def beside(document: Document, path: str) -> Path:
    """A path that a task file names, from the folder of the task file."""
    return document.path.parent / Path(path).expanduser()


def _traces(entry: TracesEntry, document: Document, store: str | Store | None) -> list[Trace]:
    try:
        traces = (
            _traces_in_file(beside(document, entry.path))
            if entry.path
            else _traces_in_store(entry, document, store)
        )
    except TelemetryError as error:
        how = "agenttrace traces export --to otlp writes files that can be read"
        raise at(document, ("traces",), f"{error}; {how}") from None
    except AgentTraceError as error:
        raise at(document, ("traces",), error) from None
    except OSError as error:
        is_absent = isinstance(error, FileNotFoundError)
        why = "there is no such file" if is_absent else f"cannot be read: {error.strerror or error}"
        raise at(document, ("traces",), f"{entry.path or entry.store}: {why}") from None
    traces = traces[: entry.limit]
    if not traces:
        raise at(document, ("traces",), "there are no such traces")
    return traces


def _traces_in_file(path: Path) -> list[Trace]:
    try:
        traces = traces_from_otlp(path)
    except TelemetryError:
        if format_of(path) is None:
            raise
        return traces_from_transcript(path)
    return traces or (traces_from_transcript(path) if format_of(path) is not None else [])


def _traces_in_store(entry: TracesEntry, document: Document, store: str | Store | None) -> list[Trace]:
    name = str(beside(document, entry.store)) if entry.store else store
    if name is not None and not isinstance(name, str):
        return _matching(entry, name)
    if name is not None and not name.startswith("sqlite:") and not Path(name).exists():
        raise DatasetError(f"there is no store at {name}")
    source = open_store(name)
    try:
        return _matching(entry, source)
    finally:
        source.close()


def _matching(entry: TracesEntry, store: Store) -> list[Trace]:
    """The traces, without those that an evaluation of recorded runs stored: they are copies of runs.

    Else each evaluation of a store's traces would give the next one as many more.
    """
    traces = iter_traces(store, entry.where or "", project=entry.project)
    runs = (one for one in traces if not (one.is_recorded_run and store.scores(one.trace_id)))
    return list(islice(runs, entry.limit or MOST_TRACES))


def _of_traces(traces: Sequence[Trace], document: Document) -> list[Example]:
    examples = list(told_apart(example_from_trace(trace, "nothing", outputs=True) for trace in traces))
    line = document.line(("traces",))
    for example in examples:
        example._source = str(document.path) if line is None else f"{document.path}:{line}"
    return examples


def _paired(
    examples: Sequence[Example], traces: Sequence[Trace], entry: TracesEntry, document: Document
) -> list[Example]:
    """The examples, each with the calls and the output of its trace."""
    has_ids = all(_trace_id(example) is not None for example in examples)
    by = entry.by or ("trace_id" if has_ids else "input")
    runs: dict[Any, list[Example]] = {}
    for trace in traces:
        run = example_from_trace(trace, "nothing", outputs=True)
        runs.setdefault(trace.trace_id if by == "trace_id" else value_key(jsonable(run.input)), []).append(
            run
        )
    paired = []
    for example in examples:
        key = _trace_id(example) if by == "trace_id" else value_key(jsonable(example.input))
        mine = runs.get(key, [])
        if len(mine) != 1:
            what = f"the trace {key}" if by == "trace_id" else f"a run of the input {example.input!r:.80}"
            count = (
                f"there are {len(mine)} runs of this input; narrow traces, or give each example its trace_id"
            )
            text = f"no trace for this example: {what} is not among {len(traces)}" if not mine else count
            raise DatasetError(f"{example.source or document.path}: {text}")
        run = mine[0]
        metadata = {**(run.additional_metadata or {}), **(example.additional_metadata or {})}
        paired.append(
            example.changed(
                actual_output=run.actual_output, tools_called=run.tools_called, additional_metadata=metadata
            )
        )
    return paired


def _trace_id(example: Example) -> str | None:
    trace_id = (example.additional_metadata or {}).get("trace_id")
    return trace_id if isinstance(trace_id, str) else None


def check_source_of_calls(examples: Sequence[Example], document: Document) -> None:
    """Raise DatasetError for the first example that nothing is recorded of, where nothing runs it."""
    for number, example in enumerate(examples, 1):
        if example.tools_called is None and example.actual_output is None:
            raise DatasetError(
                f"{example.source or document.path}: example {number} has no recorded run (tools_called or "
                "actual_output), and the task has no source of calls: add function: pkg.mod:name, or traces:"
            )
