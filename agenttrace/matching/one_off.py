"""The alignment of a run that is as expected but for one call, found without a search.

After the longest common start, one call is another one, is missing, or came in addition; all that follow are
as expected. Then no other alignment is as good, whatever the weights: with as many calls as places, any other
leaves a place without a call and has no more that agree fully; with one more or one less, the start leaves no
other way to pair all that can be paired.
"""

from __future__ import annotations

from collections.abc import Sequence

from agenttrace.expectations.plans import Group, Place
from agenttrace.matching.agreement import CallAgreement


def pairs_but_one(
    plan: Group, start: int, call_agreement: CallAgreement
) -> list[tuple[int, int, float]] | None:
    """Place, position and agreement of the pairs after the common start; None where more is amiss.

    The place and the call that part it from what was expected are paired where the call's name, agent and
    turn fit, however little else agrees.
    """
    parts, calls = plan.parts, call_agreement.calls
    more = len(calls) - len(parts)
    if not -1 <= more <= 1 or not _is_sequence(parts, start) or call_agreement.failed:
        return None
    after = start + (more <= 0)  # the place from which all is as expected
    for place in range(len(parts) - 1, after - 1, -1):
        expected = parts[place].options[0]  # type: ignore[union-attr]  # a sequence is of places
        at = place + more
        if call_agreement.name(expected) != calls[at].name or not call_agreement.agrees(expected, at):
            return None
    pairs: list[tuple[int, int, float]] = []
    if more == 0:
        differing = parts[start].options[0]  # type: ignore[union-attr]
        if start not in call_agreement.candidates(differing):
            return None  # another pairing may use an earlier call
        pairs.append((start, start, call_agreement.agreement(differing, start)))
    return pairs + [(place, place + more, 1.0) for place in range(after, len(parts))]


def _is_sequence(parts: Sequence[object], start: int) -> bool:
    """Whether each part from `start` on is a required place for one call."""
    return all(
        isinstance(part, Place) and part.role == "required" and len(part.options) == 1
        for part in parts[start:]
    )
