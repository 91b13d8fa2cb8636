"""An evaluation report as Markdown, for a pull request's comment and the step summary of a CI.

What was recorded comes from models, users and the web: it stands in code only, fenced or inline, so that no
mention, link, image or HTML in it has an effect.
"""

from __future__ import annotations

import html
import os
import re
from collections import Counter
from collections.abc import Sequence

from agenttrace.core.report import EvaluationReport
from agenttrace.reports.by_example import ExampleResults, by_example
from agenttrace.reports.first_line import not_passed
from agenttrace.reports.metrics import metric_rows
from agenttrace.reports.requirements import expectation_lines, is_accepted, requirement_lines
from agenttrace.reports.terminal import interruption_line
from agenttrace.reports.text import plain, safe, safe_line

LIMIT = 60_000
"""Characters of a report: GitHub refuses a comment of more than 65,536."""

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable with which GitHub names the file of a step's summary."""

_DETAILS = 8_000
_ROWS = 50
_PLAIN = re.compile(r"(?:[^\W\d_](?:[^\W_]|[ ,%()+-])*)?")
"""Words that begin with a letter: no list, rule, emphasis, link or mention can be made of them."""

_MARKS = {"failed": "❌", "errored": "⚠️", "not_run": "⏭️"}
_FOR_THE_REST = 200

ScorerRow = tuple[str, str, str]
"""A scorer's name, its mean over how many of how many, how many passed, failed, errored, were skipped;
and whether it only informs."""


def markdown_report(report: EvaluationReport, comparison: Sequence[str] = (), *, limit: int = LIMIT) -> str:
    """The report: headline, a table of scorers, each example that did not pass as a block to unfold.

    `comparison` are lines about this run and a baseline. What does not fit into `limit` characters is left
    out, which the last line says. Redact the report first, as the store does: it holds what was recorded.
    """
    parts = [_head(report), scorer_table(scorer_rows(report)), _metric_table(report)]
    parts = [part for part in parts if part]
    if comparison:
        parts.append("**Compared with the baseline**\n\n" + fenced("\n".join(comparison), limit // 4) + "\n")
    bad = [example for example in by_example(report) if example.outcome != "passed"]
    length = sum(len(part) + 1 for part in parts)
    for position, example in enumerate(bad):
        block = _example(example)
        if length + len(block) + 1 + _FOR_THE_REST > limit:
            count = len(bad) - position
            parts.append(
                f"… {count} more examples did not pass; they are left out of {limit:,} characters.\n"
            )
            break
        parts.append(block)
        length += len(block) + 1
    return "\n".join(parts)


def scorer_rows(report: EvaluationReport) -> list[ScorerRow]:
    """A row for each scorer of the report; `EvaluationReport.means` says what a mean is over."""
    means = report.means
    outcomes: dict[str, Counter[str]] = {}
    gating: set[str] = set()
    for result in report.results:
        for score in result.scores:
            outcomes.setdefault(score.name, Counter())[score.outcome] += 1
            gating.update([score.name] if score.gate else ())
    rows = []
    for name, counts in outcomes.items():
        mean = means.get(name)
        text = "no value" if mean is None else f"{float(mean):.2f} over {mean.count} of {mean.total}"
        words = [word for word in ("passed", "failed", "errored", "skipped") if counts[word]]
        informs = () if name in gating else ("informs",)
        rows.append((name, text, ", ".join([*(f"{counts[word]} {word}" for word in words), *informs])))
    return rows


def scorer_table(rows: Sequence[ScorerRow]) -> str:
    """The rows as a table, nothing where there are none."""
    if not rows:
        return ""
    lines = ["| scorer | mean | results |", "|---|---|---|"]
    lines += [f"| {in_cell(name)} | {mean} | {counts} |" for name, mean, counts in rows[:_ROWS]]
    more = f"\n… {len(rows) - _ROWS} more scorers\n" if len(rows) > _ROWS else ""
    return "\n".join(lines) + "\n" + more


def _metric_table(report: EvaluationReport) -> str:
    """The metrics of a task as a table, nothing where there are none."""
    rows = metric_rows(report)
    if not rows:
        return ""
    lines = ["| metric | of | value | samples |", "|---|---|---|---|"]
    for row in rows[:_ROWS]:
        values = in_cell(row.values, 500) if row.error is None else f"⚠️ errored: {in_cell(row.error, 500)}"
        informs = " (qa)" if row.informs else ""
        lines.append(
            f"| {in_cell(row.name)} | {in_cell(row.scorer)}{informs} | {values} | {in_cell(row.samples)} |"
        )
    more = f"\n… {len(rows) - _ROWS} more metrics\n" if len(rows) > _ROWS else ""
    return "\n".join(lines) + "\n" + more


def append_step_summary(text: str) -> None:
    """Append Markdown to the step summary where the CI names a file for it; elsewhere do nothing.

    Raises:
        OSError: the file cannot be written.
    """
    path = os.environ.get(STEP_SUMMARY)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text.rstrip("\n") + "\n\n")


def in_line(text: str, limit: int = 200) -> str:
    """Recorded text within a line: as it is where it is words, else as code."""
    line = safe_line(text, limit).strip()
    if _PLAIN.fullmatch(line):
        return line
    ticks = "`" * (1 + _longest_run(line))
    blank = " " if "`" in line else ""
    return f"{ticks}{blank}{line}{blank}{ticks}"


def in_cell(text: str, limit: int = 120) -> str:
    """Recorded text in a cell of a table, where a bar must not end the cell."""
    return re.sub(r"(\\*)\|", lambda match: f"{match[1]}{match[1] and chr(92)}\\|", in_line(text, limit))


def fenced(text: str, limit: int = _DETAILS) -> str:
    """Recorded text as a block of code, in a fence that is longer than any within. Changes are coloured."""
    shown = safe(text, limit)
    fence = "`" * max(3, 1 + _longest_run(shown))
    return f"{fence}diff\n{shown}\n{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _head(report: EvaluationReport) -> str:
    mark = "✅" if is_accepted(report) else "❌"
    counts = f"{report.counts['passed']} of {len(report)} passed"
    rest = ", ".join(not_passed(report))
    name = in_line(report.name or "agenttrace", 100)
    lines = [f"### {mark} {name}: {counts}{f' ({rest})' if rest else ''}", ""]
    about = [in_line(report.project), "" if report.model is None else in_line(report.model)]
    about += [f"{report.duration:.1f} s", f"run {in_line(report.run_id[:8])}"]
    lines.append(" · ".join(filter(None, about)))
    if len(report) > 1:
        lines += ["", " · ".join(in_line(f"{name} {rate}") for name, rate in _rates(report))]
    for line in requirement_lines(report):
        mark, _, text = line.text.partition("required: ")
        lines += ["", f"{mark}Required: {in_line(text, 500)}"]
    for line in expectation_lines(report):
        lines += ["", in_line(line.text, 500)]
    if report.metadata.get("interrupted"):
        lines += ["", f"**{interruption_line(report)}**"]
    return "\n".join(lines) + "\n"


def _rates(report: EvaluationReport) -> list[tuple[str, str]]:
    return list(report.summary().rates.items())[:_ROWS]


def _example(example: ExampleResults) -> str:
    """A block to unfold. A diff's marks stand at the beginning of the line, where they are coloured."""
    lines = plain(example.detail_lines()).split("\n")
    body = fenced("\n".join(line.removeprefix("  ").removeprefix("  ") for line in lines))
    title = f"{_MARKS[example.outcome]} {_html(example.label)}: {_html(example.why, 300)}"
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>\n"


def _html(text: str, limit: int = 200) -> str:
    return f"<code>{html.escape(safe_line(text, limit))}</code>"
