"""`compare_runs`: which examples two runs share, what became of each, whether it may be chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from agenttrace.core.run_comparison import (
    CHANGE_KINDS,
    DIGITS,
    LEAST_CHANGES,
    PASS_RATE,
    SIGNIFICANT,
    ChangeKind,
    ExampleChange,
    ExampleRecord,
    MatchedBy,
    RunComparison,
    RunRecord,
    ScorerChange,
)
from agenttrace.statistics.paired import bootstrap_interval, mcnemar_exact, wilcoxon_signed_rank
from agenttrace.statistics.rates import fisher_exact

Pair = tuple[ExampleRecord | None, ExampleRecord | None, MatchedBy | None]


def compare_runs(before: RunRecord, after: RunRecord) -> RunComparison:
    """Compare two runs, example by example.

    Examples are matched by the id that the user gave, else by a name that is unique in both runs, else by
    the fingerprint of input and expectation (of several equal ones, in their order). What became of one, by
    its trials that could be judged:

    - *worse*: all trials passed, and none does; or the rate fell with p < 0.05 (Fisher's exact test)
    - *less_stable*: all trials passed, and only some do
    - *lower_rate*: some trials passed, and fewer do, which may be chance
    - *better*, *steadier*, *higher_rate*: the mirror of these three
    - *errored*: a trial could not be judged; *not_run*: none was run, because the run ended before
    - *new*: not in the run before, or not judged there; *gone*: not in the run after
    - *same*: the same share of trials passes

    Over all examples of both runs, the verdicts are compared with McNemar's exact test, the pass rates and
    each scorer's means with Wilcoxon's signed rank test (where all differences have one size, McNemar's). A
    test that cannot reach p < 0.05, because fewer than six examples differ, is not made.

    The run after is worse than the one before (`RunComparison.is_worse`) where an example is worse, errored
    or not run, or where over all examples the pass rate, or the mean of a scorer that is not ``gate=False``,
    fell with p < 0.05.
    """
    pairs = list(_pairs(before.examples, after.examples))
    changes = [_change(*pair, after.is_complete) for pair in pairs]
    order = {kind: place for place, kind in enumerate(CHANGE_KINDS)}

    def badness(change: ExampleChange) -> tuple[int, float]:
        values = change.value_changes(after.lower_is_better)
        return order[change.kind], min((value.gain for value in values), default=0.0)

    both = [(b, a) for b, a, _ in pairs if b is not None and a is not None]
    return RunComparison(
        before=before,
        after=after,
        changes=tuple(sorted(changes, key=badness)),
        scorers=tuple(
            _scorer(name, before, after, both) for name in dict.fromkeys((*after.scorers, *before.scorers))
        ),
        pass_rate=_means(PASS_RATE, [(b.rate, a.rate) for b, a in both]),
        p_value=_verdicts(both),
        duplicates=(*_duplicates(before), *_duplicates(after)),
    )


def _pairs(before: Sequence[ExampleRecord], after: Sequence[ExampleRecord]) -> Iterator[Pair]:
    """The examples of the run after, each with its own of the run before; then those that are gone."""
    left = dict(enumerate(before))
    partner: dict[int, tuple[ExampleRecord, MatchedBy]] = {}
    keys: tuple[tuple[MatchedBy, Callable[[ExampleRecord], str | None], bool], ...] = (
        ("id", lambda record: record.example_id, True),
        ("name", lambda record: record.name, True),
        ("fingerprint", lambda record: record.fingerprint, False),
    )
    for by, key_of, unique in keys:
        counts = [Counter(key_of(record) for record in run) for run in (before, after)]
        places: dict[str, list[int]] = {}
        for index, record in left.items():
            if (key := key_of(record)) is not None:
                places.setdefault(key, []).append(index)
        for index, record in enumerate(after):
            key = key_of(record)
            if index in partner or key is None or not places.get(key):
                continue
            if unique and any(count[key] > 1 for count in counts):
                continue
            partner[index] = (left.pop(places[key].pop(0)), by)
    for index, record in enumerate(after):
        earlier, matched_by = partner.get(index, (None, None))
        yield earlier, record, matched_by
    for record in left.values():
        yield record, None, None


def _duplicates(run: RunRecord) -> Iterator[str]:
    for word, values in (
        ("id", [record.example_id for record in run.examples]),
        ("name", [record.name for record in run.examples]),
    ):
        shared = {v: n for v, n in Counter(values).items() if v is not None and n > 1}
        if not shared:
            continue
        value, count = next(iter(shared.items()))
        text = f"{count} examples of {run.label} have the {word} {value!r}"
        more = f", {len(shared) - 1} more {word}s are shared, too" if len(shared) > 1 else ""
        remedy = " (trials of one example? evaluate them with trials_by='name')" if word == "name" else ""
        yield f"{text}{more}: not matched by it{remedy}"


def _change(
    before: ExampleRecord | None,
    after: ExampleRecord | None,
    matched_by: MatchedBy | None,
    is_complete: bool,
) -> ExampleChange:
    p_value = None
    if before is not None and after is not None and max(before.judged, after.judged) > 1:
        fails = before.judged - before.passes, after.judged - after.passes
        p_value = fisher_exact(before.passes, fails[0], after.passes, fails[1])
    return ExampleChange(
        kind=_kind(before, after, p_value) if after is not None else ("gone" if is_complete else "not_run"),
        before=before,
        after=after,
        matched_by=matched_by,
        p_value=p_value,
        is_changed=before is not None and after is not None and before.fingerprint != after.fingerprint,
    )


def _kind(before: ExampleRecord | None, after: ExampleRecord, p_value: float | None) -> ChangeKind:
    if "errored" in after.outcomes:
        return "errored"
    if not after.judged:
        return "not_run"
    if before is None or not before.judged:
        return "new"
    was, now = before.passes / before.judged, after.passes / after.judged
    is_clear = abs(now - was) == 1 or (p_value is not None and p_value < SIGNIFICANT)
    if now < was:
        return "worse" if is_clear else "less_stable" if was == 1 else "lower_rate"
    if now > was:
        return "better" if is_clear else "steadier" if now == 1 else "higher_rate"
    return "same"


def _verdicts(both: Sequence[tuple[ExampleRecord, ExampleRecord]]) -> float | None:
    verdicts = [(b.passes == b.judged, a.passes == a.judged) for b, a in both if b.judged and a.judged]
    lost, won = verdicts.count((True, False)), verdicts.count((False, True))
    return mcnemar_exact(lost, won) if lost + won >= LEAST_CHANGES else None


def _scorer(
    name: str, before: RunRecord, after: RunRecord, both: Sequence[tuple[ExampleRecord, ExampleRecord]]
) -> ScorerChange:
    gate = name not in after.informing
    if name not in before.scorers or name not in after.scorers:
        return ScorerChange(name=name, before=_mean(before, name), after=_mean(after, name), gate=gate)
    means = [(b.mean(name), a.mean(name)) for b, a in both]
    return _means(name, means, lower_is_better=name in after.lower_is_better, gate=gate)


def _means(
    name: str,
    means: Sequence[tuple[float | None, float | None]],
    *,
    lower_is_better: bool = False,
    gate: bool = True,
) -> ScorerChange:
    """Compare the means of each example before and after; those that have none in one run are left out."""
    pairs = [(was, now) for was, now in means if was is not None and now is not None]
    gains = [round(was - now if lower_is_better else now - was, DIGITS) for was, now in pairs]
    worse, better = sum(gain < 0 for gain in gains), sum(gain > 0 for gain in gains)
    enough = worse + better >= LEAST_CHANGES
    p_value, side = _paired_test(gains) if enough else (None, 0)
    return ScorerChange(
        name=name,
        before=math.fsum(was for was, _ in pairs) / len(pairs) if pairs else None,
        after=math.fsum(now for _, now in pairs) / len(pairs) if pairs else None,
        pairs=len(pairs),
        worse=worse,
        better=better,
        lower_is_better=lower_is_better,
        p_value=p_value,
        side=side,
        interval=bootstrap_interval([now - was for was, now in pairs], seed=0) if enough else None,
        gate=gate,
    )


def _paired_test(gains: Sequence[float]) -> tuple[float, int]:
    """The p-value of paired gains, and on which side of 0 they weigh more."""
    ranks = wilcoxon_signed_rank(gains)
    if len({abs(gain) for gain in gains if gain}) == 1:
        # Ranks of one size are signs, which have an exact test for any number of pairs.
        worse, better = sum(gain < 0 for gain in gains), sum(gain > 0 for gain in gains)
        return mcnemar_exact(worse, better), ranks.side
    return ranks.p_value, ranks.side


def _mean(run: RunRecord, name: str) -> float | None:
    means = [mean for record in run.examples if (mean := record.mean(name)) is not None]
    return math.fsum(means) / len(means) if means else None
