"""An evaluation report as CSV: a row for each score, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from agenttrace.core.aggregates import tags_of
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.reports.text import safe

COLUMNS = (
    *("run_id", "run", "project", "position", "example", "trial", "trials", "outcome", "error"),
    *("scorer", "score", "threshold", "score_outcome", "reason", "model", "cost"),
    *("seconds", "trace_id", "source", "tags", "gate"),
)

_CELL = 8_000
_BEGINS_A_FORMULA = tuple("=+-@＝＋－＠")  # with the wide ones, which some spreadsheets take, too


def csv_report(report: EvaluationReport) -> str:
    """The report as CSV text: the head, then a row for each score, or one for a result without any.

    A text that a spreadsheet would run as a formula begins with an apostrophe. Positions and trials count
    from 1, `seconds` is how long the agent ran. Redact the report first, as the store does.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in report.results:
        for score in result.scores or (None,):
            writer.writerow([_cell(value) for value in _row(report, result, score)])
    return file.getvalue()


def _row(report: EvaluationReport, result: ScoringResult, score: Score | None) -> Iterator[object]:
    yield from (report.run_id, report.name, report.project, result.position + 1, result.name)
    yield from (
        result.trial,
        result.trials,
        result.outcome,
        (result.error or "").rstrip().rpartition("\n")[2],
    )
    if score is None:
        yield from [None] * 7
    else:
        yield from (score.name, score.value, score.threshold, score.outcome, score.reason)
        yield from (score.model, score.cost)
    yield from (result.run_duration, result.trace_id, result.source)
    yield from (", ".join(tags_of(result.example)), None if score is None else score.gate)


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = safe(value, _CELL)
    return f"'{text}" if text.lstrip().startswith(_BEGINS_A_FORMULA) else text
