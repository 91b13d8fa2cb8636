"""The alignment of a run that is as expected but for one call, found without a search.

After the longest common start, one call is another one, is missing, or came in addition; all that follow are
as expected. Then no other alignment is as good, whatever the weights: with as many calls as places, any other
leaves a place without a call and has no more that agree fully; with one more or one less, the start leaves no
other way to pair all that can be paired.
"""

from __future__ import annotations

from itertools import repeat

from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Group
from agenttrace.matching.agreement import CallAgreement


def pairs_but_one(
    plan: Group, start: int, call_agreement: CallAgreement
) -> list[tuple[int, Call, int, float]] | None:
    """The pairs after the common start, as the fields of `Pair`; None where more is amiss.

    The place and the call that part it from what was expected are paired where the call's name, agent and
    turn fit, however little else agrees.
    """
    steps, places = plan.steps, len(plan.parts)
    more = len(call_agreement.calls) - places
    if not -1 <= more <= 1 or len(steps) < places or call_agreement.failed:
        return None
    after = start + (more <= 0)  # the place from which all is as expected
    backwards = range(places + more - 1, after + more - 1, -1)
    if call_agreement.agreeing(zip(reversed(steps[after:]), backwards, strict=True)) < places - after:
        return None
    calls = plan.first_calls
    others = zip(range(after, places), calls[after:], range(after + more, places + more), repeat(1.0))
    if more:
        return [*others]
    differing = calls[start]
    if not call_agreement.is_candidate(differing, start):
        return None  # another pairing may use an earlier call
    return [(start, differing, start, call_agreement.agreement(differing, start)), *others]
