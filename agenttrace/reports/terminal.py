"""An evaluation report as printed text, also the message of a failed assertion.

The layout is judgeval's (``TEST RESULTS``, ``Scorer:``, ``Score:``, ``Reason:``), with thresholds at the ends
of lines and the scorer's aligned diff below. Failures are shown in full up to a limit, passes in one line
each up to a limit, and beyond that as a count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent

from agenttrace.core.deep_link import See
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score, mean_values
from agenttrace.core.text import error_line
from agenttrace.reports.diff_width import fitted_diff
from agenttrace.reports.first_line import FAILURE_WIDTH, label, not_passed, why
from agenttrace.reports.metrics import metric_lines
from agenttrace.reports.requirements import (
    expectation_lines,
    is_accepted,
    requirement_lines,
    requirements_verdict,
)
from agenttrace.reports.text import Line, broken_line, plain, safe, safe_line, see_line, value_text
from agenttrace.reports.trials import (
    says_why,
    share_of_trials,
    trials_block,
    trials_together,
    worst_outcome,
)

WIDTH = 80
SHORT_RULE = "  " + "-" * 40
SHOWN_PASSES = 20
SHOWN_FAILURES = 50
ERROR_LINES = 16
DIFF_LINES = 120
FULL_LINES = 400
"""Lines after which a failure has only one that says why."""
INFORMS = " (informs)"
_SHOWN_VALUES = 8

_WORDS = {
    "passed": ("✓", "PASSED", "green"),
    "failed": ("✗", "FAILED", "red"),
    "errored": ("!", "ERRORED", "yellow"),
    "not_run": ("·", "NOT RUN", "dim"),
}
_DIFF_STYLES = {"✓": "green", "~": "yellow", "-": "red", "+": "cyan", "!": "red"}


def report_text(report: EvaluationReport, see: See | None = None, width: int | None = None) -> str:
    """The whole block as plain text, see `report_lines`; `see` gives the links to traces."""
    return plain(report_lines(report, width, see=see))


def report_lines(
    report: EvaluationReport, width: int | None = None, *, see: See | None = None
) -> Iterator[Line]:
    """The whole block, line by line; in `width` columns of a terminal.

    Without `width`, for a pipe or a file, rules and diffs are 80 wide and texts stand on one line each. With
    `see`, each failure ends with the link to its trace.
    """
    for line in _block(report, width, see):
        if width is None:
            yield line
            continue
        hang = len(line.text) - len(line.text.lstrip()) + 2
        yield from (Line(part, line.style, line.links) for part in broken_line(line.text, width, hang=hang))


def _block(report: EvaluationReport, width: int | None, see: See | None) -> Iterator[Line]:
    rule = Line("=" * (width or WIDTH))
    yield rule
    yield _headline(report)
    yield rule
    yield Line("")
    yield from _results(report, width, see)
    yield from _summary(report)
    yield rule


def _headline(report: EvaluationReport) -> Line:
    counts = report.counts
    rest = ", ".join(not_passed(report))
    text = f"TEST RESULTS: {counts['passed']}/{len(report)} passed" + (f" ({rest})" if rest else "")
    text += requirements_verdict(report)
    return Line(f"✓ {text}", "bold green") if is_accepted(report) else Line(f"⚠️  {text}", "bold red")


def _results(report: EvaluationReport, width: int | None, see: See | None) -> Iterator[Line]:
    spare = {
        "passed": SHOWN_PASSES if report.counts["passed"] <= SHOWN_PASSES else 0,
        "other": SHOWN_FAILURES,
    }
    last_passed = False
    more = lines = 0
    for trials in trials_together(report.results):
        passed = all(trial.success for trial in trials)
        kind = "passed" if passed else "other"
        if not spare[kind]:
            more += 0 if passed else sum(not trial.success for trial in trials)
            continue
        spare[kind] -= 1
        last_passed = passed
        if not passed and lines > FULL_LINES:
            yield _in_short(trials)
            continue
        for line in _result(trials[0], width, see) if len(trials) == 1 else _trials(trials, width, see):
            lines += 1
            yield line
    if last_passed:
        yield Line("")
    if more > 0:
        yield Line(f"… {more} more did not pass; all of them are in the report's results", "dim")
        yield Line("")
    elif report.counts["passed"] > SHOWN_PASSES:
        yield Line(f"✓ {report.counts['passed']} passed, not listed", "green")
        yield Line("")


def _in_short(trials: Sequence[ScoringResult]) -> Line:
    """The results of an example that did not pass on one line."""
    first = next(trial for trial in trials if not trial.success)
    mark, word, style = _WORDS[first.outcome]
    what = word if len(trials) == 1 else share_of_trials(trials)
    known = first.trace_id if first.trace is None or first.trace.spans else None
    trace = f"trace {known[:8]}" if known else ""
    text = ": ".join(filter(None, (what, label(first), trace, why(first))))
    return Line(f"{mark} Test {first.position + 1}: {safe_line(text, FAILURE_WIDTH)}", style)


def _result(result: ScoringResult, width: int | None, see: See | None) -> Iterator[Line]:
    mark, word, style = _WORDS[result.outcome]
    title = f"{mark} Test {result.position + 1}: {word}"
    yield _title(title, " · ".join(_about(result)), style, width)
    if result.success:
        yield from _values([result])
        return
    yield from detail_lines(result, width)
    yield from _see_lines([result], see)
    yield Line(SHORT_RULE)
    yield Line("")


def _trials(trials: Sequence[ScoringResult], width: int | None, see: See | None) -> Iterator[Line]:
    """The trials of one example as one block; one line and the values where all passed."""
    worst = worst_outcome(trials)
    mark, _, style = _WORDS[worst]
    name = trials[0].name
    title = f"{mark} Test {trials[0].position + 1}: {share_of_trials(trials)}"
    yield _title(title, safe_line(name, 60) if name else "", style, width)
    yield from _values(trials)
    if worst == "passed":
        return
    yield from trials_block(trials, lambda alike: detail_lines(alike[0], width, alike))
    yield from _traces(trials)
    yield from _see_lines(trials, see)
    yield Line(SHORT_RULE)
    yield Line("")


def _see_lines(trials: Sequence[ScoringResult], see: See | None) -> Iterator[Line]:
    """The link to the first trace that did not pass, where there is one to see."""
    for trial in trials if see is not None else ():
        known = trial.trace_id if trial.trace is None or trial.trace.spans else None
        if not trial.success and known is not None and see is not None:
            yield see_line(see(known))
            return


def _traces(trials: Sequence[ScoringResult]) -> Iterator[Line]:
    """The ids of the trials' traces that a store has."""
    ids = [(trial, trial.trace_id) for trial in trials if trial.trace is None or trial.trace.spans]
    shown = [f"{trace_id[:8]} (trial {trial.trial})" for trial, trace_id in ids if trace_id is not None]
    more = f", … {len(shown) - _SHOWN_VALUES} more" if len(shown) > _SHOWN_VALUES else ""
    if shown:
        yield Line(f"  Traces: {', '.join(shown[:_SHOWN_VALUES])}{more}", "dim")


def _title(title: str, about: str, style: str, width: int | None) -> Line:
    room = (width or WIDTH) - len(title) - len(about)
    return Line(f"{title}{' ' * max(room, 3)}{about}" if about else title, style)


def _values(results: Sequence[ScoringResult]) -> Iterator[Line]:
    """The scores in short; of several trials their means, with over how many of how many each is."""
    if len(results) == 1:
        texts = [f"{safe_line(score.name, 80)} {_short(score)}" for score in results[0].scores]
    else:
        means = mean_values(result.scores for result in results)
        texts = [f"{safe_line(name, 80)}: mean {mean}" for name, mean in means.items()]
    if texts:
        yield Line(f"    {' · '.join(texts)}", "dim")


def _short(score: Score, informs: str = INFORMS) -> str:
    value = score.outcome if score.value is None else number(score.value)
    return value if score.gate else f"{value}{informs}"


def detail_lines(
    result: ScoringResult, width: int | None = None, alike: Sequence[ScoringResult] = ()
) -> Iterator[Line]:
    """What is wrong with a result in full: its error and the calls before it, its scores with their diffs.

    Scores that inform say why only where no other does. `alike` are the trials that failed in the same way:
    of the other scores the values of all of them are shown.
    """
    if result.error is not None:
        yield from _error(result.error, "  ")
        yield from _calls(result)
    is_explained = result.error is not None or says_why(
        score for score in result.scores if score.gate and not score.passed
    )
    for score in result.scores:
        is_short = score.outcome in ("passed", "skipped") or not score.gate
        yield from (_informs(score, alike) if is_short else _score(score, width))
        if not is_explained and not score.gate and score.outcome == "failed":
            if score.reason:
                yield from _indented("Reason: ", safe(score.reason))
            yield from _diff(score, width)
    if result.source is not None:
        yield Line(f"  expected at {safe(relative_source(result.source))}", "dim")


def _about(result: ScoringResult) -> Iterator[str]:
    if result.name:
        yield safe_line(result.name, 60)
    if result.trials > 1:
        yield f"trial {result.trial}/{result.trials}"
    if result.trace_id is not None and result.trace is not None and result.trace.spans:
        yield f"trace {result.trace_id[:8]}"


def _score(score: Score, width: int | None) -> Iterator[Line]:
    yield Line(f"  Scorer: {safe_line(score.name, 80)}", "bold")
    value = _no_value(score) if score.value is None else number(score.value)
    yield Line(f"    Score: {value}   (threshold {number(score.threshold)}{_mode(score)})")
    yield from _indented("Reason: ", safe(score.reason or "none given"))
    if score.error is not None and score.error != score.reason:
        yield from _error(score.error, "    ")
    yield from _diff(score, width)


def _informs(score: Score, alike: Sequence[ScoringResult]) -> Iterator[Line]:
    """A score that does not fail the result, on one line; of several trials that differ, their values."""
    name = safe_line(score.name, 80)
    others = [other for one in alike for other in one.scores if other.name == score.name]
    shorts = [_short(other, informs="") for other in others] or [_short(score, informs="")]
    text = shorts[0] if len(set(shorts)) == 1 else ", ".join(shorts)
    if len(set(shorts)) > 1 and len(shorts) > _SHOWN_VALUES:
        values = [other.value for other in others if other.value is not None]
        text = f"{number(min(values))} to {number(max(values))}"
    mark = "✓" if all(other.passed for other in others or [score]) else "·"
    yield Line(f"  {mark} {name}: {text}{'' if score.gate else INFORMS}", "dim")


def _diff(score: Score, width: int | None) -> Iterator[Line]:
    if score.diff:
        lines = dedent(safe(score.diff, 64_000)).strip("\n").split("\n")
        lines = lines if width is None else fitted_diff(lines, width - 4)
        for line in lines[:DIFF_LINES]:
            yield Line(f"    {line}", _DIFF_STYLES.get(line.lstrip()[:1], ""))
        if len(lines) > DIFF_LINES:
            yield Line(f"    … {len(lines) - DIFF_LINES} more lines", "dim")


def _no_value(score: Score) -> str:
    """The text in place of a value: a scorer that broke has a traceback, a deliberate error only a reason."""
    return "none" if score.error == score.reason else "none, the scorer broke"


def _mode(score: Score) -> str:
    mode = score.details.get("mode")
    words = [mode] if isinstance(mode, str) else []
    if score.strict and mode != "exact":
        words.append("strict")
    return "".join(f", {safe_line(word, 40)}" for word in words)


def _indented(head: str, text: str) -> Iterator[Line]:
    first, *rest = text.split("\n")
    yield Line(f"    {head}{first}")
    for line in rest:
        yield Line(f"    {' ' * len(head)}{line}")


def _error(error: str, indent: str) -> Iterator[Line]:
    lines = safe(error, 16_000).strip("\n").split("\n")
    line = error_line("\n".join(lines))
    yield Line(f"{indent}Error: {line}", "red")
    before = lines[1:] if line == lines[0] else lines[:-1]
    if len(before) > ERROR_LINES:
        before = [f"… {len(before) - ERROR_LINES} lines above", *before[-ERROR_LINES:]]
    for line in before:
        yield Line(f"{indent}  {line}", "dim")


def _calls(result: ScoringResult) -> Iterator[Line]:
    """The tool calls before the agent failed."""
    if result.trace is None or not result.trace.tool_calls:
        return
    calls = result.trace.tool_calls
    yield Line("  Called until then:")
    for call in calls[:20]:
        arguments = ", ".join(f"{safe_line(k, 40)}={value_text(v, 60)}" for k, v in call.arguments.items())
        note = call.remark or (safe_line(str(call.error), 120) if call.error is not None else "")
        yield Line(f"    {call.index + 1}  {safe_line(call.name, 80)}({arguments})  {note}".rstrip())
    if len(calls) > 20:
        yield Line(f"    … {len(calls) - 20} more calls", "dim")


def interruption_line(report: EvaluationReport) -> str:
    """Of an interrupted run, how many results there are not: ``interrupted: 280 of 400 were not run``."""
    not_run = report.metadata.get("not_run")
    what = "the examples that are not listed"
    if isinstance(not_run, int):
        ran = len(report) - report.counts.get("not_run", 0)
        what = f"{not_run} of {not_run + ran}"
    return f"interrupted: {what} were not run"


def _summary(report: EvaluationReport) -> Iterator[Line]:
    """Lines about the whole run: means, vacuous guards, the pass rate, a requirement, an interruption."""
    trials = max((result.trials for result in report.results), default=1)
    lines = [safe_line(line) for line in report.mean_lines] if len(report) > 1 else []
    lines += [safe_line(line, 2_000) for line in report.vacuous_lines]
    if trials > 1:
        passed, total = report.counts["passed"], len(report)
        lines.append(
            f"{passed} of {total} runs passed ({trials} trials an example): pass rate {passed / total:.3g}"
        )
    summary = [
        *map(Line, lines),
        *metric_lines(report),
        *requirement_lines(report),
        *expectation_lines(report),
    ]
    if report.metadata.get("interrupted"):
        summary.append(Line(interruption_line(report)))
    yield from summary
    if summary:
        yield Line("")


def number(value: float) -> str:
    """A score as text with one to four decimals."""
    text = f"{value:.4f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def relative_source(source: str) -> str:
    """``file:line``, relative to the working directory where the file is below it."""
    try:
        return str(Path(source).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return source
