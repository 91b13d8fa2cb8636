"""A comparison of two runs as printed text: the headline in words, the scorers, the worst examples first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from textwrap import dedent

from agenttrace.core.run_comparison import (
    LEAST_CHANGES,
    PASS_RATE,
    SIGNIFICANT,
    ChangeKind,
    ExampleChange,
    ExampleRecord,
    RunComparison,
    RunRecord,
    ScorerChange,
)
from agenttrace.core.text import shorten
from agenttrace.reports.terminal import number
from agenttrace.reports.text import Line, plain, safe, safe_line, table_lines
from agenttrace.reports.tree import count_text
from agenttrace.statistics.rates import fisher_exact

WIDTH = 100
SHOWN = 50
DIFF_LINES = 40
_NAMED = 5
_HEAD = ("SCORER", "BEFORE", "AFTER", "CHANGE", "WORSE", "BETTER", "CHANCE")
_MARKS: dict[ChangeKind, tuple[str, str]] = {
    "worse": ("✗", "red"),
    "errored": ("!", "yellow"),
    "not_run": ("?", "yellow"),
    "less_stable": ("~", "yellow"),
    "lower_rate": ("~", "yellow"),
    "gone": ("-", ""),
    "new": ("+", ""),
    "better": ("✓", "green"),
    "steadier": ("✓", "green"),
    "higher_rate": ("✓", "green"),
}
_DIFF_STYLES = {"✓": "green", "~": "yellow", "-": "red", "+": "cyan", "!": "red"}
_WORDS: dict[ChangeKind, str] = {
    "worse": "got worse",
    "lower_rate": "with a lower rate",
    "better": "got better",
    "higher_rate": "with a higher rate",
    "same": "the same",
}


def comparison_text(comparison: RunComparison, *, width: int = WIDTH) -> str:
    """The whole comparison as plain text."""
    return plain(comparison_lines(comparison, width=width))


def regression_line(comparison: RunComparison) -> str:
    """What got worse on one line, for lists of failed tests.

    First what fell over all examples; then how many examples got worse, the worst one, its scorer. Where the
    runs have no example in common, that, and what each has.
    """
    label = comparison.before.label
    if not comparison.shares_examples:
        before, after = (_examples(run) for run in (comparison.before, comparison.after))
        return (
            f"no example is also in the baseline {label}, so that nothing says whether any got worse: "
            f"it has {before}; this run has {after}"
        )
    losses = ", ".join(_loss(loss) for loss in comparison.losses[:2])
    losses = f"{losses}, compared with {label}" if losses else ""
    examples = _regressed(comparison) if comparison.regressions else ""
    return safe_line("; ".join(filter(None, (losses, examples))) or f"nothing got worse than {label}", 300)


def _examples(run: RunRecord) -> str:
    """The labels of the first examples of a run."""
    labels = [repr(safe_line(record.label, 40)) for record in run.examples]
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return f"{', '.join(labels[:_NAMED]) or 'none'}{more}"


def _regressed(comparison: RunComparison) -> str:
    first, label = comparison.regressions[0], comparison.before.label
    counts = _counts(comparison, ("worse", "errored", "not_run"))
    than = counts.replace("got worse", f"got worse than {label}")
    than = than if first.kind == "worse" else f"{counts} (compared with {label})"
    return f"{than}: {first.label}: {_what(first, comparison)}"


def _loss(loss: ScorerChange) -> str:
    """``the pass rate fell from 0.42 to 0.24 over 50 examples (36 worse, 0 better, p < 0.001)``."""
    name = f"the mean of {loss.name}" if loss.name != PASS_RATE else f"the {PASS_RATE}"
    verb = "rose" if loss.lower_is_better else "fell"
    values = f"from {number(loss.before or 0.0)} to {number(loss.after or 0.0)}"
    counts = f"{loss.worse} worse, {loss.better} better, {_p(loss.p_value or 0.0)}"
    return f"{name} {verb} {values} over {loss.pairs} examples ({counts})"


def comparison_lines(comparison: RunComparison, *, width: int = WIDTH) -> Iterator[Line]:
    """The whole comparison, line by line, none longer than `width`."""
    for line in _lines(comparison):
        yield Line(shorten(line.text, width), line.style) if len(line.text) > width else line


def _lines(comparison: RunComparison) -> Iterator[Line]:
    style = "bold red" if comparison.is_worse else "bold green"
    for loss in comparison.losses:
        yield Line(safe_line(_loss(loss)), style)
    yield Line(headline_text(comparison), style)
    yield Line(f"before: {_run(comparison.before)}", "dim")
    yield Line(f"after:  {_run(comparison.after)}", "dim")
    yield from _matching(comparison)
    yield Line("")
    yield from table_lines(
        _HEAD, [_scorer(each) for each in (comparison.pass_rate, *comparison.scorers)], limit=32
    )
    yield Line(f"verdicts: {verdicts_text(comparison)}")
    yield from _power(comparison)
    changes = [change for change in comparison.changes if change.kind != "same"]
    for change in changes[:SHOWN]:
        yield Line("")
        yield from _change(change, comparison)
    if len(changes) > SHOWN:
        yield Line(f"… {len(changes) - SHOWN} more changed", "dim")


def headline_text(comparison: RunComparison) -> str:
    """What became of the examples, in words."""
    return _counts(comparison, tuple(comparison.counts)) if comparison.changes else "neither run has examples"


def _counts(comparison: RunComparison, kinds: Sequence[ChangeKind]) -> str:
    """How many examples there are of some kinds, in words: ``2 of 40 examples got worse, 1 errored``."""
    total = sum(change.after is not None for change in comparison.changes)
    parts: list[str] = []
    for kind in kinds:
        count = comparison.counts.get(kind, 0)
        if count:
            of = "" if parts else f" of {count_text(total, 'example')}"
            parts.append(f"{count}{of} {_WORDS.get(kind, _word(kind))}")
    return ", ".join(parts)


def _run(run: RunRecord) -> str:
    moment = datetime.fromtimestamp(run.started_ns / 1e9, tz=UTC).astimezone()
    parts = [run.label, run.name, f"{moment:%Y-%m-%d %H:%M}" if run.started_ns else ""]
    commit, branch = run.git.get("commit"), run.git.get("branch")
    parts.append(f"{branch or 'commit'} {str(commit)[:8]}" if commit else "")
    parts.append(run.model or "")
    return safe_line(" · ".join(part for part in parts if part))


def _matching(comparison: RunComparison) -> Iterator[Line]:
    by = ", ".join(f"{count} by {word}" for word, count in comparison.matched_by.items())
    yield Line(f"examples matched: {by or 'none'}", "dim")
    for duplicate in comparison.duplicates:
        yield Line(f"? {safe_line(duplicate)}", "yellow")


def _scorer(scorer: ScorerChange) -> tuple[str, ...]:
    values = ["–" if value is None else number(value) for value in (scorer.before, scorer.after)]
    if scorer.difference is None:
        return (scorer.name, *values, "", "", "", "not in both runs")
    change = f"{scorer.difference:+.4f}".rstrip("0").rstrip(".") if scorer.difference else "0"
    lower = " (lower is better)" if scorer.lower_is_better else ""
    informs = "" if scorer.gate else " (informs)"
    return (
        scorer.name + lower + informs,
        *values,
        change,
        str(scorer.worse),
        str(scorer.better),
        chance_text(scorer),
    )


def chance_text(scorer: ScorerChange) -> str:
    """Whether a scorer's change may be chance, in words."""
    if not scorer.worse + scorer.better:
        return "no difference"
    if scorer.p_value is None:
        return f"too few differ to tell ({scorer.worse + scorer.better} of {LEAST_CHANGES})"
    return _p_text(scorer.p_value)


def _p_text(p_value: float) -> str:
    return f"{'hardly chance' if p_value < SIGNIFICANT else 'may be chance'}, {_p(p_value)}"


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def _power(comparison: RunComparison) -> Iterator[Line]:
    """What the trials of a single example can tell, where some of them fell by less."""
    fell = comparison.of_kind("less_stable", "lower_rate")
    trials = max((min(c.before.judged, c.after.judged) for c in fell if c.before and c.after), default=0)
    if trials < 2:
        return
    most = next((k for k in reversed(range(trials)) if _is_told(trials, k)), None)
    some = f"one example must fall from {trials} passes to {most}"
    none = "no fall of one example can be known from chance"
    rest = "smaller falls count over all examples"
    yield Line(f"of {trials} trials, {none if most is None else some}; {rest}", "dim")


def _is_told(trials: int, passes: int) -> bool:
    return fisher_exact(trials, 0, passes, trials - passes) < SIGNIFICANT


def verdicts_text(comparison: RunComparison) -> str:
    """How many verdicts changed, and whether that may be chance, in words."""
    verdicts = [_verdict(c.before) + _verdict(c.after) for c in comparison.changes if c.before and c.after]
    lost, won = verdicts.count("+-"), verdicts.count("-+")
    text = f"{lost} passed before and no longer, {won} only now"
    if not lost + won:
        return "none changed"
    if comparison.p_value is None:
        return f"{text}: too few to tell ({LEAST_CHANGES} must change)"
    return f"{text}: {_p_text(comparison.p_value)}"


def _verdict(record: ExampleRecord) -> str:
    return "" if not record.judged else "+" if record.passes == record.judged else "-"


def _change(change: ExampleChange, comparison: RunComparison) -> Iterator[Line]:
    mark, style = _MARKS.get(change.kind, ("·", ""))
    edited = " (its input or expectation was edited)" if change.is_changed else ""
    word, what = _word(change.kind), _what(change, comparison)
    if what.startswith(word) or what.endswith(f"→ {word}"):  # the outcome itself: once is enough
        word, what = what, ""
    text = f"{mark} {safe_line(change.label, 60)}: {word}{edited}; {what}"
    yield Line(text.rstrip("; "), style)
    record = change.after
    if record is None or change.kind in ("better", "steadier", "higher_rate"):
        return
    if record.why:
        yield Line(f"    {safe_line(record.why)}")
    for diff in list(record.diffs.values())[:1]:
        lines = dedent(safe(diff, 32_000)).strip("\n").split("\n")
        for line in lines[:DIFF_LINES]:
            yield Line(f"    {line}", _DIFF_STYLES.get(line.lstrip()[:1], ""))
        if len(lines) > DIFF_LINES:
            yield Line(f"    … {len(lines) - DIFF_LINES} more lines", "dim")


def _what(change: ExampleChange, comparison: RunComparison) -> str:
    """What changed: the scorers with their values before and after, the worst first; else the outcomes."""
    values = change.value_changes(comparison.after.lower_is_better)
    parts = [f"{value.name} {number(value.before)} → {number(value.after)}" for value in values[:3]]
    before, after = change.before, change.after
    if before is not None and after is not None and max(len(before.outcomes), len(after.outcomes)) > 1:
        parts.insert(0, f"passed {_share(before)} → {_share(after)}")
    if not parts and after is not None and before is not None:
        was, now = _outcomes(before), _outcomes(after)
        parts.append(f"{was} → {now}" if was != now else f"{now}, as before")
    if not parts and after is not None:
        parts.append(_outcomes(after))
    return ", ".join(parts)


def _share(record: ExampleRecord) -> str:
    return f"{record.passes} of {len(record.outcomes)}"


def _outcomes(record: ExampleRecord) -> str:
    return ", ".join(dict.fromkeys(map(_word, record.outcomes))) or "not run"


def _word(name: str) -> str:
    """A kind of change, or an outcome, as it is printed."""
    return name.replace("_", " ")
