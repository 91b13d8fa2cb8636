"""The results of one example together: its trials, with one outcome and one line that says what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from agenttrace.core.aggregates import trials_by_example
from agenttrace.core.report import EvaluationReport, ResultOutcome, ScoringResult
from agenttrace.reports.first_line import label, why
from agenttrace.reports.terminal import detail_lines
from agenttrace.reports.text import Line, plain
from agenttrace.reports.trials import flip_line, share_of_trials, worst_outcome


@dataclass(frozen=True, slots=True)
class ExampleResults:
    """The trials of one example. `label` is its name or number, and no two examples have the same."""

    label: str
    results: tuple[ScoringResult, ...]

    @property
    def outcome(self) -> ResultOutcome:
        """The worst of its trials: failed, errored, not run, passed."""
        return worst_outcome(self.results)

    @property
    def not_passed(self) -> tuple[ScoringResult, ...]:
        """The trials that did not pass, those first that have the example's own outcome."""
        rest = [result for result in self.results if not result.success]
        return tuple(sorted(rest, key=lambda result: result.outcome != self.outcome))

    @property
    def why(self) -> str:
        """Why the example did not pass, on one line; of several trials also how many did."""
        first = next(iter(self.not_passed), None)
        reason = "" if first is None else why(first) or ("not run" if self.outcome == "not_run" else "")
        if len(self.results) == 1:
            return reason
        return "; ".join(filter(None, (share_of_trials(self.results), reason)))

    def detail_lines(self) -> Iterator[Line]:
        """What is wrong in full; of several trials, those that say the same once, under their numbers."""
        trials: dict[str, list[ScoringResult]] = {}
        for result in self.not_passed:
            trials.setdefault(plain(detail_lines(result)), []).append(result)
        for alike in trials.values():
            if len(self.results) > 1:
                numbers = ", ".join(str(result.trial) for result in alike)
                word = "trials" if len(alike) > 1 else "trial"
                yield Line(f"{word} {numbers} of {alike[0].trials}: {alike[0].outcome.replace('_', ' ')}")
            yield from detail_lines(alike[0])
        yield from flip_line(self.results)


def by_example(report: EvaluationReport) -> list[ExampleResults]:
    """The results of a report, the trials of each example together, in the order of the examples."""
    groups = trials_by_example(report.results)
    names = Counter(label(results[0]) for results in groups)
    used: Counter[str] = Counter()
    examples = []
    for results in groups:
        name = label(results[0])
        used[name] += 1
        unique = f"{name} ({used[name]})" if names[name] > 1 else name
        examples.append(ExampleResults(unique, tuple(results)))
    return examples
