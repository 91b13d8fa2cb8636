"""``--coverage``, ``--mutation``: whether a suite is any good, printed after its report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from agenttrace.core.report import EvaluationReport
from agenttrace.reports.text import Line, safe_line, show

LINE_LENGTH = 400


@dataclass(frozen=True, slots=True)
class SuiteOptions:
    """What is to be said of a suite: its coverage, which may be too low, and its mutation score."""

    coverage: bool = False
    mutation: bool = False
    fail_under: float | None = None

    def show(self, report: EvaluationReport) -> bool:
        """Print what was asked for; returns False where the coverage is too low."""
        texts: list[str] = []
        shortfall = None
        if self.coverage or self.fail_under is not None:
            coverage = report.coverage()
            texts += ["", *coverage.lines]
            shortfall = None if self.fail_under is None else coverage.shortfall(self.fail_under)
        if self.mutation:
            texts += ["", *report.mutation_score().lines]
        show(Line(safe_line(text, LINE_LENGTH)) for text in texts)
        if shortfall is not None:
            show([Line(safe_line(shortfall, LINE_LENGTH), "red")])
        return shortfall is None


def suite_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which gets them as `suite`."""

    @click.option("--coverage", is_flag=True, help="Print which tools the expectations name.")
    @click.option("--mutation", is_flag=True, help="Print how much damage to passing runs is noticed.")
    @click.option(
        "--coverage-fail-under",
        metavar="PERCENT",
        type=click.FloatRange(0, 100),
        help="Exit with 1 where expectations name fewer of the tools.",
    )
    @wraps(command)
    def with_suite(
        *args: Any, coverage: bool, mutation: bool, coverage_fail_under: float | None, **kwargs: Any
    ) -> Any:
        return command(*args, suite=SuiteOptions(coverage, mutation, coverage_fail_under), **kwargs)

    return with_suite
