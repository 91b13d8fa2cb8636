"""Recording less never turns a pass into a fail or a fail into a pass: a verdict stays, or is errored.

10,000 generated pairs (2,000 in a quick run) of an expectation and a run, each run recorded twice by tracers:
whole, and with small limits, redacted, or with values of a type that is not opened. Then also from the store.
"""

import os
import random
from itertools import count

import pytest

from agenttrace import (
    ANY,
    Example,
    Limits,
    Tracer,
    approx,
    call,
    expect,
    gt,
    has,
    length,
    many,
    not_,
    one_of,
    par,
    re_,
    ref,
    type_,
)
from agenttrace.core.limits import CAPTURED
from agenttrace.core.marks import cause_within
from agenttrace.core.text import shorten
from agenttrace.scorers import (
    ExactMatchScorer,
    LoopScorer,
    ToolCallOrderScorer,
    ToolCallOutputScorer,
    ToolOrderScorer,
    TrajectoryScorer,
)

PAIRS = 10_000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 2_000
SMALL = Limits(value=300, span=900, items=8, depth=2, bytes=16)


class Thing:
    """An object that recording does not open; told from others by identity alone."""

    def __init__(self, value):
        self.value = value


TEXTS = ["a", "needle", "x" * 299, "x" * 320, "x" * 320 + "needle", "x" * 319 + "y", "y" * 700]
VALUES = [
    1, 2, 2**60, 1.5, True, None, *TEXTS, b"ab", b"z" * 40, b"z" * 39 + b"!",
    [1, 2, 3], [1, 2, 4], [*range(20)], [*range(19), -1], {"k": 1}, {f"k{n}": n for n in range(12)},
    [[["deep"]]], [[["other"]]], {"a": {"b": {"c": 1}}}, {*range(20)}, ["x" * 320, "needle"],
]  # fmt: skip


def expected_of(chance, value):
    other = chance.choice(VALUES)
    return chance.choice(
        [
            value, value, value, other, ANY, not_(value), not_(other), one_of(value, other), has("needle"),
            has(2), has(19), length(320), length(20), length(40), type_(str), type_(list), type_(dict),
            re_("needle"), re_("^x"), not_(re_("needle")), not_(has(19)), gt(1), approx(1.5),
            lambda got: got == value, ref("t.output"), ref("t.arguments.x"), ref("u.output[3]"),
        ]
    )  # fmt: skip


def scorer_of(chance, calls, outputs):
    return chance.choice(
        [
            lambda: ToolOrderScorer(),
            lambda: TrajectoryScorer(expected=expect(calls), threshold=chance.choice((0.3, 0.5, 1.0))),
            lambda: TrajectoryScorer(expected=expect(calls), metric="f1", threshold=0.6),
            lambda: TrajectoryScorer(expected=expect(calls, mode="any_order"), metric="holds"),
            lambda: TrajectoryScorer(expected=expect(calls, mode="contains", no_repeats=True)),
            lambda: TrajectoryScorer(
                expected=expect(calls, at_most={"u": 3}, no_repeats=True, before=[("t", "u")])
            ),
            lambda: LoopScorer(),
            lambda: ToolCallOrderScorer(["t", "u"]),
            lambda: ToolCallOutputScorer(
                [{"name": name, "output": 1 if out is ANY else out} for name, out in outputs]
            ),
            lambda: ExactMatchScorer(),
        ]
    )()


def recorded(tracer, steps):
    @tracer.observe(span_type="tool")
    def t(x, token="t-0"):
        return x

    @tracer.observe(span_type="tool")
    def u(x, token="t-0"):
        return x

    with tracer.capture() as captured, tracer.span("root") as root:
        for name, value, token in steps:
            {"t": t, "u": u}[name](value, token)
        root.output = steps[-1][1] or "nothing"
    return captured.trace


@pytest.fixture(scope="module")
def tracers(tmp_path_factory):
    path = tmp_path_factory.mktemp("less")
    whole = Tracer("whole", store=path / "whole.db", capture_limits=CAPTURED)
    whole._pipeline.redaction._secret_names["token"] = False  # nothing is secret in the run to compare with
    small = Tracer("small", store=path / "small.db", capture_limits=SMALL)
    named = Tracer("named", store=path / "named.db", redact=["x"])
    yield whole, small, named
    for tracer in (whole, small, named):
        tracer.shutdown()


@pytest.mark.hypothesis  # so that `make properties` runs all of them
def test_no_verdict_turns_into_the_opposite_one(tracers):
    chance, numbers = random.Random(17), count()
    outcomes = {"same": 0, "errored": 0}
    whole, small, named = tracers
    partly = []
    for _ in range(PAIRS):
        names = [chance.choice("tu") for _ in range(chance.randrange(1, 4))]
        steps = [(name, chance.choice(VALUES), chance.choice(("t-0", "t-1", "t-2"))) for name in names]
        calls = [
            call(name, x=expected_of(chance, value), match="listed")
            if chance.random() < 0.5
            else call(name, x=expected_of(chance, value), token=chance.choice((token, "t-1", ANY)))
            for name, value, token in steps
        ]
        if chance.random() < 0.3:
            calls = [par(*calls)] if len(calls) > 1 else [many(calls[0])]
        scorer = scorer_of(chance, calls, [(name, expected_of(chance, value)) for name, value, _ in steps])
        example = Example(
            expected_tools=calls,
            expected_output=chance.choice((steps[-1][1] or 1, chance.choice(VALUES) or 1)),
        )
        how = chance.randrange(3)
        verdict = scorer.score(example, recorded(whole, steps)).outcome
        if how == 2:
            steps = [(name, Thing(value) if chance.random() < 0.5 else value, t) for name, value, t in steps]
        trace = recorded((small, named, small)[how], steps)
        less = scorer.score(example, trace).outcome
        number = next(numbers)
        told = (number, shorten(repr((steps, calls, vars(scorer), verdict, less)), 4_000))
        assert less in (verdict, "errored"), told
        outcomes["same" if less == verdict else "errored"] += 1
        if number % 20 == 0 and cause_within([[s.input, s.output] for s in trace.spans]):
            partly.append((scorer, example, trace, (small, named, small)[how], verdict))
    assert outcomes["same"] > PAIRS / 2, outcomes
    assert outcomes["errored"] > PAIRS / 50, outcomes
    for scorer, example, trace, tracer, verdict in partly:
        tracer.flush()
        from_store = scorer.score(example, tracer.store.trace(trace.trace_id)).outcome
        assert from_store in (verdict, "errored")
    assert len(partly) > PAIRS / 200
