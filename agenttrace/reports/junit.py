"""An evaluation report as JUnit XML, which CI servers read.

One testcase for each example, its trials and scores as properties. The failure's message is the line that
says what is wrong, its text the scores with their diffs. A failure that was expected (xfail, a quarantine) is
skipped, as in pytest's file. An interrupted run has one testcase more, an error: what was not run must not
look as if all was well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.reports.by_example import ExampleResults, by_example
from agenttrace.reports.metrics import metric_rows
from agenttrace.reports.requirements import why_expected
from agenttrace.reports.terminal import interruption_line
from agenttrace.reports.text import plain, safe, safe_line

MESSAGE = 300
"""Characters of a failure's message."""

BODY = 64_000
"""Characters of a failure's text."""

_TAGS = {"failed": "failure", "errored": "error", "not_run": "skipped"}
_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")


def junit_report(report: EvaluationReport) -> str:
    """The report as the text of a JUnit file. Redact it first, as the store does."""
    suite = Element("testsuite", name=_line(report.name or "agenttrace"))
    _add_properties(suite, _about_the_run(report))
    for example in by_example(report):
        _add_testcase(suite, report, example)
    if report.metadata.get("interrupted"):
        case = SubElement(suite, "testcase", classname=_classname(report), name="(interrupted)", time="0")
        SubElement(case, "error", message=interruption_line(report), type="interrupted")
    cases = suite.findall("testcase")
    counts = {"tests": str(len(cases))}
    for tag, word in _COUNTED.items():
        counts[word] = str(sum(case.find(tag) is not None for case in cases))
    suite.attrib |= {**counts, "time": f"{report.duration:.3f}", "timestamp": _timestamp(report)}
    root = Element("testsuites", {"name": suite.attrib["name"], "time": suite.attrib["time"], **counts})
    root.append(suite)
    indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(root, encoding="unicode")}\n'


def _add_testcase(suite: Element, report: EvaluationReport, example: ExampleResults) -> None:
    seconds = sum(result.run_duration or 0 for result in example.results)
    name = _line(example.label)
    case = SubElement(suite, "testcase", classname=_classname(report), name=name, time=f"{seconds:.3f}")
    _add_properties(case, _about_the_example(example))
    tag = _TAGS.get(example.outcome)
    if tag is None:
        return
    why, kind = example.why, _kind(example.not_passed[0])
    expected = why_expected(report, example.results[0].position)
    if expected is not None:  # as pytest writes it
        tag, why, kind = "skipped", f"{expected}: {why}", "pytest.xfail"
    about = SubElement(case, tag, message=_line(why, MESSAGE), type=kind)
    about.text = _text(plain(example.detail_lines()))


def _kind(result: ScoringResult) -> str:
    """What failed: the first scorer that decides, or the agent."""
    if result.outcome == "not_run":
        return "not run"
    names = (score.name for score in result.scores if score.gate and not score.passed)
    return _line(next(names, "")) or "agent"


def _about_the_run(report: EvaluationReport) -> Iterator[tuple[str, str]]:
    yield "agenttrace:run", report.run_id
    yield "agenttrace:project", report.project
    if report.model is not None:
        yield "agenttrace:model", report.model
    for name in ("requirement", "interrupted"):
        if name in report.metadata:
            yield f"agenttrace:{name}", str(report.metadata[name])
    if len(report) > 1:
        for name, rate in report.summary().rates.items():
            yield f"agenttrace:{name}", rate
    for name, mean in report.means.items():
        yield f"agenttrace:mean:{name}", str(mean)
    for row in metric_rows(report):
        text = f"{row.values} over {row.samples}" if row.error is None else f"errored: {row.error}"
        yield f"agenttrace:metric:{row.scorer}:{row.name}", text


def _about_the_example(example: ExampleResults) -> Iterator[tuple[str, str]]:
    several = len(example.results) > 1
    if several:
        passes = sum(result.success for result in example.results)
        yield "agenttrace:trials", f"{passes} of {len(example.results)} passed"
    if example.results[0].source is not None:
        yield "agenttrace:source", example.results[0].source
    for result in example.results:
        which = f":trial {result.trial}" if several else ""
        yield f"agenttrace:result{which}", result.outcome
        if result.trace_id is not None:
            yield f"agenttrace:trace{which}", result.trace_id
        for score in result.scores:
            value = "" if score.value is None else f"{score.value:g} "
            yield f"agenttrace:score:{score.name}{which}", f"{value}{score.outcome}"


def _add_properties(parent: Element, pairs: Iterator[tuple[str, str]]) -> None:
    properties = SubElement(parent, "properties")
    for name, value in pairs:
        SubElement(properties, "property", name=_line(name), value=_line(value))


def _classname(report: EvaluationReport) -> str:
    return _line(report.project or "agenttrace")


def _timestamp(report: EvaluationReport) -> str:
    return f"{datetime.fromtimestamp(report.started_ns / 1e9, tz=UTC):%Y-%m-%dT%H:%M:%S}"


def _text(text: str) -> str:
    """The text with every character escaped that XML cannot hold."""
    return _NO_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", safe(text, BODY))


def _line(text: str, limit: int = 200) -> str:
    return _text(safe_line(text, limit))
