"""Recording a call never raises, whatever is passed, returned or raised."""

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from stored import Sink

from agenttrace.core.jsonable import to_json
from agenttrace.tracer import Tracer

sys.path.insert(0, str(Path(__file__).parents[1] / "core"))
from test_jsonable import Hostile, build, plans

SINK = Sink()
TRACER = Tracer("property", store=SINK)


@TRACER.observe
def echo(value, *rest, **named):
    return value


@TRACER.observe
def items(value):
    yield value


@TRACER.observe
async def awaited(value):
    return value


@TRACER.observe
def raises(value):
    raise LookupError(value)


def result_of(coroutine):
    """Without asyncio, which shows results to people."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value


def troubles():
    stats = TRACER.stats()
    return stats["recording_errors"], stats["dropped"]["unreadable"], stats["dropped"]["rejected"]


@given(plans)
def test_any_value_may_pass_in_and_out(plan):
    """Scenario 24: identity kept, nothing raised, every span strict JSON within the limit."""
    value = build(plan)
    TRACER.flush(60)  # what tests before this one left to be stored
    SINK.spans.clear()
    before = troubles()
    assert echo(value, value, other=value) is value
    assert next(items(value)) is value
    assert result_of(awaited(value)) is value
    with pytest.raises(LookupError) as caught:
        raises(value)
    assert caught.value.args[0] is value
    with TRACER.span("block", input={"value": value}) as span:
        span.output = value
        span.set_attribute("value", value)
        span.log(value)
    assert TRACER.flush(60)
    assert len(SINK.spans) == 5
    for span in SINK.spans:
        text = to_json(span.to_dict())
        json.loads(text)
        assert len(text) < 6 * 4 * 70_000
    assert troubles() == before


def test_nothing_of_a_hostile_value_runs():
    """Scenarios 1 to 4, through every call style."""
    value = Hostile()
    TRACER.flush(60)  # what tests before this one left to be stored
    SINK.spans.clear()
    assert echo(value) is value
    assert next(items(value)) is value
    assert result_of(awaited(value)) is value
    with pytest.raises(LookupError):
        raises(value)
    TRACER.flush()
    kind = {"$type": f"{Hostile.__module__}.Hostile"}
    assert [span.output for span in SINK.spans] == [kind, [kind], kind, None]
    assert [span.input["value"] for span in SINK.spans] == [kind] * 4


def test_a_tracer_that_cannot_be_made_is_said_once(monkeypatch, caplog):
    from agenttrace.process.said_once import SaidOnce
    from agenttrace.tracing import steps

    monkeypatch.setattr(steps, "_warnings", SaidOnce())

    def broken():
        raise OSError("no such place")

    monkeypatch.setattr(TRACER._recorder, "resolve", broken)
    assert [echo(n) for n in range(3)] == [0, 1, 2]
    assert caplog.text.count("no such place") == 1


def test_one_span_holds_a_bounded_amount():
    """Scenario 9: 256 KB a span."""
    TRACER.flush(60)  # what tests before this one left to be stored
    SINK.spans.clear()
    echo("x", *["y" * 60_000 for _ in range(50)], **{str(n): "z" * 60_000 for n in range(50)})
    TRACER.flush()
    assert len(to_json(SINK.spans[0].to_dict())) < 300_000


def test_many_arguments_that_are_each_within_bounds_leave_room_for_one_another():
    """Scenario 9: a span keeps 512 Ki characters of arguments; what comes beyond is marked."""
    TRACER.flush(60)  # what tests before this one left to be stored
    SINK.spans.clear()
    names = [f"text_{number}" for number in range(10)]
    function = eval(f"lambda {', '.join(names)}: None")  # ten parameters, each a value of its own
    TRACER.observe(function)(*["y" * 100_000 for _ in names])
    TRACER.flush()
    kept = SINK.spans[0].input
    assert [kept[name] == "y" * 100_000 for name in names] == [True] * 5 + [False] * 5
    assert kept["text_9"] == {"$truncated": "span"}
