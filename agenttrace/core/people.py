"""People's word beside scores: on which cases a scorer and people agree, and what people should look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from agenttrace.core.annotation import HUMAN, Annotation
from agenttrace.core.failure import Failure

NEAR = 0.1
"""How far from its threshold a value may be for a second look."""

RARE = 3
"""Cases up to which a failure is new to people."""

Why = Literal[
    "disagreement", "people disagree", "trials differ", "votes differ", "new failure", "near the threshold"
]
REASONS: tuple[Why, ...] = (
    "disagreement",
    "people disagree",
    "trials differ",
    "votes differ",
    "new failure",
    "near the threshold",
)
"""Why a case is picked, the most telling reason first."""


class StoredScore(NamedTuple):
    """A stored score without its texts: what it is about, its verdict, the values of a judge's votes.

    `position` is that of the example in the run, whose trials are results of their own.
    """

    trace_id: str | None
    span_id: str | None
    run_id: str | None
    result: int | None
    position: int | None
    name: str
    value: float | None
    threshold: float
    outcome: str
    created_ns: int
    votes: tuple[float, ...] = ()


Case = tuple[str | None, str | None, int | None]
"""A trace, or a result of a run."""


class Pair(NamedTuple):
    """A case with the verdicts of a scorer and of people on it."""

    case: Case
    scorer: bool
    people: bool


@dataclass(frozen=True, slots=True)
class ToReview:
    """A case that people should look at, with the reasons, the most telling one first."""

    trace_id: str | None
    run_id: str | None
    result: int | None
    reasons: tuple[Why, ...]
    scorer: str
    value: float | None
    threshold: float | None
    created_ns: int

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name, as JSON data."""
        return asdict(self)


def pairs_of(scores: Iterable[StoredScore], annotations: Iterable[Annotation]) -> list[Pair]:
    """The cases on which both a scorer and people gave a verdict; `scores` are those of one scorer.

    Of a scorer's several scores on a case the newest counts. People's verdict on a case is that of most of
    them, of each the newest; a tie is none. Annotations labelled with the scorer's name go before others,
    those with another label do not count. A word on a span counts for that span's scores.
    """
    annotations = list(annotations)
    newest: dict[tuple[Case, str | None], StoredScore] = {}
    for score in sorted(scores, key=lambda score: score.created_ns):
        if score.outcome in ("passed", "failed"):
            newest[_case_of(score), score.span_id] = score
    pairs = []
    for (case, span_id), score in newest.items():
        people = _verdict(score.name, [one for one in annotations if _is_about(one, case, span_id)])
        if people is not None:
            pairs.append(Pair(case, score.outcome == "passed", people))
    return pairs


def _case_of(score: StoredScore) -> Case:
    return (score.trace_id, None, None) if score.trace_id else (None, score.run_id, score.result)


def _is_about(annotation: Annotation, case: Case, span_id: str | None) -> bool:
    trace_id, run_id, result = case
    if trace_id is None:
        return (annotation.run_id, annotation.result) == (run_id, result)
    return annotation.trace_id == trace_id and annotation.span_id in (None, span_id)


def _verdict(scorer: str, annotations: Sequence[Annotation]) -> bool | None:
    """What most people say, each by the newest word; None where nobody says, or as many say the opposite."""
    labelled = [one for one in annotations if one.label == scorer and one.passes is not None]
    general = [one for one in annotations if one.label is None and one.passes is not None]
    by_person: dict[str | None, bool] = {}
    for one in sorted(labelled or general, key=lambda one: one.created_ns):
        by_person[one.by] = bool(one.passes)
    passes = sum(by_person.values())
    return None if 2 * passes == len(by_person) else 2 * passes > len(by_person)


def replaced(annotations: Iterable[Annotation]) -> set[str]:
    """The ids of the verdicts that the same person gave anew: on the same thing, with the same label."""
    older: set[str] = set()
    newest: set[tuple[Case, str | None, str | None, str | None]] = set()
    for one in sorted(annotations, key=lambda one: -one.created_ns):
        about = (_case_of_annotation(one), one.span_id, one.label, one.by)
        if one.passes is not None and about in newest:
            older.add(one.annotation_id)
        elif one.passes is not None:
            newest.add(about)
    return older


def _contested(annotations: Sequence[Annotation]) -> Iterator[tuple[Case, str | None]]:
    """The cases, and the labels, of which as many people say good as say bad."""
    older = replaced(annotations)
    verdicts: dict[tuple[Case, str | None, str | None], list[bool]] = defaultdict(list)
    for one in annotations:
        if one.passes is not None and one.annotation_id not in older:
            verdicts[_case_of_annotation(one), one.span_id, one.label].append(one.passes)
    for (case, _, label), passes in verdicts.items():
        if 2 * sum(passes) == len(passes):
            yield case, label


def review_queue(
    scores: Sequence[StoredScore],
    annotations: Sequence[Annotation],
    failures: Sequence[Failure],
    *,
    limit: int = 50,
) -> list[ToReview]:
    """The cases that people should look at: the most telling first, then those with most reasons, the newest.

    *disagreement*: a scorer says otherwise than people; *people disagree*: as many say good as say bad of the
    same thing; *trials differ*: other trials of the example ended
    otherwise; *votes differ*: a judge's own votes lie on both sides of the threshold; *new failure*: of a
    kind that was seen in few cases; *near the threshold*. What somebody has judged is asked for again only
    where a scorer or people disagree.
    """
    scores = [score for score in scores if not score.name.startswith(HUMAN)]
    reasons: dict[Case, dict[Why, StoredScore | None]] = defaultdict(dict)
    by_name: dict[str, list[StoredScore]] = defaultdict(list)
    for score in scores:
        by_name[score.name].append(score)
    newest = {(_case_of(score), score.name): score for score in sorted(scores, key=lambda s: s.created_ns)}
    for name, named in by_name.items():
        for case, of_scorer, of_people in pairs_of(named, annotations):
            if of_scorer != of_people:
                reasons[case].setdefault("disagreement", newest[case, name])
    for case, label in _contested(annotations):
        reasons[case].setdefault("people disagree", newest.get((case, label or "")))
    judged = {_case_of_annotation(one) for one in annotations if one.passes is not None}
    for case, why, picked in _picked(scores, newest, failures):
        if case not in judged:
            reasons[case].setdefault(why, picked)
    queue = [_to_review(case, by_reason) for case, by_reason in reasons.items()]
    queue.sort(key=_order)
    return queue[: max(limit, 0)]


def _order(one: ToReview) -> tuple[int, int, int, str]:
    return REASONS.index(one.reasons[0]), -len(one.reasons), -one.created_ns, str(one.trace_id)


def _case_of_annotation(annotation: Annotation) -> Case:
    if annotation.trace_id:
        return (annotation.trace_id, None, None)
    return (None, annotation.run_id, annotation.result)


def _picked(
    scores: Sequence[StoredScore],
    newest: Mapping[tuple[Case, str], StoredScore],
    failures: Sequence[Failure],
) -> Iterable[tuple[Case, Why, StoredScore | None]]:
    outcomes: dict[tuple[str | None, int | None, str], set[str]] = defaultdict(set)
    for score in scores:
        if score.run_id is not None:
            outcomes[score.run_id, score.position, score.name].add(score.outcome)
    for (case, _), score in newest.items():
        if score.run_id and {"passed", "failed"} <= outcomes[score.run_id, score.position, score.name]:
            yield case, "trials differ", score
        if score.votes and min(score.votes) < score.threshold <= max(score.votes):
            yield case, "votes differ", score
        if score.value is not None and 0 < abs(score.value - score.threshold) <= NEAR:
            yield case, "near the threshold", score
    for failure in failures:
        if failure.count <= RARE and failure.state != "fixed":
            for trace_id in failure.traces:
                case = (trace_id, None, None)
                yield case, "new failure", newest.get((case, failure.scorer))


def _to_review(case: Case, by_reason: Mapping[Why, StoredScore | None]) -> ToReview:
    why = tuple(sorted(by_reason, key=REASONS.index))
    score = next((by_reason[one] for one in why if by_reason[one] is not None), None)
    return ToReview(
        *case,
        reasons=why,
        scorer="" if score is None else score.name,
        value=None if score is None else score.value,
        threshold=None if score is None else score.threshold,
        created_ns=0 if score is None else score.created_ns,
    )
