"""`Weights`: which pairing of places with calls outweighs which.

Maximised are, in this order: the calls that must be paired, where there are such; the total agreement over
required places (or, with credit *full*, first the number of places that agree fully), optional places that
fit, pairs whose names alone agree, calls that did not fail, and last the earliest calls (the least sum of
positions). All of this is one integer for each pair, its weight, so ties are exact and the order in which an
unordered group is listed changes nothing. Agreement is rounded to 1/720720. In mode *only* no call is
required: optional places count as much as the others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Literal

from agenttrace.expectations.pattern import Call
from agenttrace.expectations.plans import Place
from agenttrace.matching.agreement import CallAgreement

Credit = Literal["partial", "full"]
"""Whether what counts is agreement, or the number of calls that agree fully."""

_UNIT = 720_720  # divisible by 1 to 16, so that such shares of agreement add up exactly
_SUCCESS = 1 << 36
_NAME = 1 << 56
OPTIONAL = 1 << 76
_AGREED = 1 << 97
_FULL = 1 << 137
_MUST = 1 << 157
GROUP = 1 << 187
"""More than all the rest: what a way that has an optional group counts too much for each of its calls."""


class Weights:
    """The weight of each pair of a place with a call from the position `start` on; `only`: in that mode."""

    def __init__(self, call_agreement: CallAgreement, start: int, credit: Credit, *, only: bool) -> None:
        self._call_agreement = call_agreement
        self._start = start
        self._credit = credit
        self.only = only
        count = len(call_agreement.calls)
        self._of_call = [
            count - at + (0 if call.failed else _SUCCESS) for at, call in enumerate(call_agreement.calls)
        ]
        for at in call_agreement.pairing.paired if call_agreement.pairing is not None else ():
            self._of_call[at] += _MUST
        self._agreements: dict[Place, Mapping[int, float]] = {}
        self._weights: dict[Place, Mapping[int, int]] = {}
        self._calls: dict[Place, Sequence[int]] = {}

    def of(self, place: Place) -> Mapping[int, int]:
        """The weight of each call that fits a place, by position."""
        weights = self._weights.get(place)
        if weights is None:
            agreements = self._agreements_of(place)
            values = {agreement: self._value(agreement, place) for agreement in set(agreements.values())}
            of_call = self._of_call
            weights = self._weights[place] = {
                at: value + of_call[at]
                for at, agreement in agreements.items()
                if (value := values[agreement]) and at >= self._start
            }
        return weights

    def calls(self, place: Place) -> Sequence[int]:
        """The positions of the calls that fit a place, ascending."""
        calls = self._calls.get(place)
        if calls is None:
            calls = self._calls[place] = sorted(self.of(place))
        return calls

    def full(self, place: Place) -> set[int]:
        """The positions of the calls that agree fully with a place."""
        agreements = self._agreements_of(place)
        return {at for at in self.of(place) if agreements[at] == 1.0}

    def pair(self, place: Place, position: int) -> tuple[Call, float]:
        """The option that agrees best with the call at a position, the first among equals, and how far."""
        agreement = self._agreements_of(place)[position]
        for option in place.options:
            if self._call_agreement.agreements(option).get(position) == agreement:
                return option, agreement
        raise AssertionError("a pair agrees with one of its place's options")

    def _agreements_of(self, place: Place) -> Mapping[int, float]:
        """The agreement of the best option with each call that fits, by position."""
        if len(place.options) == 1:
            return self._call_agreement.agreements(place.options[0])
        agreements = self._agreements.get(place)
        if agreements is None:
            best: dict[int, float] = {}
            for option in place.options:
                for at, agreement in self._call_agreement.agreements(option).items():
                    if agreement > best.get(at, -1.0):
                        best[at] = agreement
            agreements = self._agreements[place] = best
        return agreements

    def _value(self, agreement: float, place: Place) -> int:
        if agreement < 1.0:
            if place.role != "required":
                return 0
            return min(int(agreement * _UNIT + 1e-6), _UNIT - 1) * _AGREED + _NAME
        if place.role != "required":
            return (_UNIT * _AGREED if self.only else OPTIONAL) + _NAME
        first = _FULL if self._credit == "full" else OPTIONAL if self.only else 0
        return _UNIT * _AGREED + _NAME + first


def without_position(weight: int) -> int:
    """A weight without the least part of it, which prefers earlier calls."""
    return weight // _SUCCESS


def after(calls: Sequence[int], position: int) -> Sequence[int]:
    """Those of some ascending positions that lie after one."""
    return calls[bisect_left(calls, position + 1) :]
