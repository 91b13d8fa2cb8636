"""Generated nested patterns hold, and score, just as a recogniser by derivatives says."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import settings

from agenttrace.core.errors import ExpectationError
from agenttrace.core.trace import Trace
from agenttrace.expectations.expectation import Mode
from agenttrace.expectations.pattern import Pattern
from agenttrace.matching import chain, compare, interleave
from tests.matching.recogniser import Run, accepts, best_coverage, drawn_pattern, drawn_run

MODES: tuple[Mode, ...] = ("exact", "in_order", "any_order", "contains", "only")  # lcs holds as in_order does
PARTS = 20
THOROUGH = settings.default is not None and settings.default.max_examples >= 300
PATTERNS = 100_000 if THOROUGH else 1_000
"""All of them with `make properties`."""


def drawn(part: int, count: int, calls: int) -> Iterator[tuple[Pattern, Run]]:
    """Patterns of at most so many calls, each with a run."""
    for number in range(count // PARTS):
        random = Random(f"{part}/{number}")
        while True:
            pattern = drawn_pattern(random, random.choice([1, 2, 3, 3]), arguments=random.random() < 0.3)
            if len(list(pattern.calls())) <= calls:
                break
        yield pattern, drawn_run(random, pattern, calls)


@pytest.mark.hypothesis
@pytest.mark.parametrize("part", range(PARTS))
def test_a_run_holds_in_each_mode_exactly_where_the_recogniser_accepts_it(part: int) -> None:
    for pattern, run in drawn(part, PATTERNS, 8):
        trace = Trace.from_calls(list(run))
        for mode in MODES:
            assert compare(pattern, trace, mode=mode).holds == accepts(pattern, run, mode), (
                pattern,
                run,
                mode,
            )


@pytest.mark.hypothesis
@pytest.mark.parametrize("part", range(PARTS))
def test_coverage_is_the_greatest_over_every_way_to_align_a_run(part: int) -> None:
    for pattern, run in drawn(part, PATTERNS // 20, 5):
        trace = Trace.from_calls(list(run))
        for mode in ("in_order", "any_order"):
            comparison = compare(pattern, trace, mode=mode)  # type: ignore[arg-type]
            best = best_coverage(pattern, run, mode)  # type: ignore[arg-type]
            assert comparison.coverage == pytest.approx(float(best)), (pattern, run, mode)


def answer_of(pattern: Pattern, run: Run, mode: Mode) -> bool | None:
    """Whether the run holds; None where there are too many ways."""
    try:
        return compare(pattern, Trace.from_calls(list(run)), mode=mode).holds
    except ExpectationError as error:
        if "in too many ways" not in str(error):
            raise
        return None


@pytest.mark.parametrize(
    ("limits", "answered"),
    [
        ({"_FEW_WAYS": 0, "MAX_WAYS": 0}, 1.0),  # what remains is searched, and nothing written out
        ({"_FEW_WAYS": 256, "MAX_STATES": 0}, 0.6),  # all is written out
        ({"_FEW_REMAINDERS": 0}, 1.0),  # rounds one after the other
        ({"_FEW_WAYS": 0, "MAX_STATES": 0}, 0.6),  # written out once the search has failed
    ],
)
def test_every_way_to_align_gives_the_same_answer_or_none(
    limits: dict[str, int], answered: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in limits.items():
        for module in (chain, interleave):
            monkeypatch.setattr(module, name, value, raising=False)
    answers = 0
    comparisons = [
        (pattern, run, mode)
        for part in range(PARTS)
        for pattern, run in drawn(part, 200, 7)
        for mode in MODES
    ]
    for pattern, run, mode in comparisons:
        try:
            holds = compare(pattern, Trace.from_calls(list(run)), mode=mode).holds
        except ExpectationError:
            continue
        assert holds == accepts(pattern, run, mode), (pattern, run, mode)
        answers += 1
    assert answers >= answered * len(comparisons)
