"""How far a scorer agrees with people, as data and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agenttrace.core.annotation import Annotation
from agenttrace.core.people import StoredScore, pairs_of
from agenttrace.core.protocols import KeepsWatch
from agenttrace.reports.text import Line, safe_line
from agenttrace.reports.tree import count_text
from agenttrace.statistics.agreement import cohens_kappa, kappa_interval, observed_agreement

FEW = 20
"""Cases below which the text says that they are few."""


MOST = 100_000
"""Scores, and words, that are read: the newest."""


def agreement_of(watch: KeepsWatch, name: str, project: str | None = None) -> dict[str, Any]:
    """How far a scorer agrees with people, as `agreement_data` has it, from what a store holds.

    Raises:
        StoreError: the store cannot be read.
    """
    scores = watch.stored_scores(name=name, project=project, annotated=True, limit=MOST)
    return agreement_data(name, scores, watch.annotations(project=project, limit=MOST))


def agreement_data(
    name: str, scores: Iterable[StoredScore], annotations: Iterable[Annotation]
) -> dict[str, Any]:
    """The confusion table of a scorer and people, their agreement, Cohen's kappa with its 95 % interval.

    `kappa` and `agreement` are None where they cannot be told. `disagreements` are the cases.
    """
    pairs = pairs_of(scores, annotations)
    table = [
        [sum((pair.scorer, pair.people) == (scorer, people) for pair in pairs) for people in (True, False)]
        for scorer in (True, False)
    ]
    interval = kappa_interval(table)
    return {
        "scorer": name,
        "cases": len(pairs),
        "agreement": observed_agreement(table),
        "kappa": cohens_kappa(table),
        "kappa_low": interval.low,
        "kappa_high": interval.high,
        "table": {
            "both_pass": table[0][0],
            "only_scorer_passes": table[0][1],
            "only_people_pass": table[1][0],
            "both_fail": table[1][1],
        },
        "disagreements": [
            {
                "trace_id": pair.case[0],
                "run_id": pair.case[1],
                "result": pair.case[2],
                "scorer_passes": pair.scorer,
            }
            for pair in pairs
            if pair.scorer != pair.people
        ],
    }


def agreement_lines(data: Mapping[str, Any]) -> Iterator[Line]:
    """The same as text."""
    name, cases, table = safe_line(data["scorer"]), data["cases"], data["table"]
    if not cases:
        yield Line(f"nobody has judged what {name} scored; agenttrace review says where to begin")
        return
    yield Line(f"{name} and people, on {count_text(cases, 'case')}", "bold")
    yield Line("")
    yield Line(f"{'':16}{'people pass':>13}{'people fail':>13}")
    yield Line(f"{'scorer passes':16}{table['both_pass']:>13}{table['only_scorer_passes']:>13}")
    yield Line(f"{'scorer fails':16}{table['only_people_pass']:>13}{table['both_fail']:>13}")
    yield Line("")
    yield Line(f"they agree on {data['agreement']:.0%}")
    spread = f"95 % interval {data['kappa_low']:.2f} to {data['kappa_high']:.2f}"
    if data["kappa"] is None:
        yield Line(f"Cohen's kappa cannot be told: all verdicts are the same ({spread})")
    else:
        yield Line(
            f"Cohen's kappa {data['kappa']:.2f} ({spread}); 0 is what chance gives, 1 is full agreement"
        )
    if cases < FEW:
        yield Line(
            f"{cases} case{' says' if cases == 1 else 's say'} little: {FEW} and more narrow the interval"
        )
