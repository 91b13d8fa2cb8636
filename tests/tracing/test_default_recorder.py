"""The recorder of calls that were decorated without a tracer."""

from agenttrace.tracer import Tracer
from agenttrace.tracing import default_recorder as recorders
from agenttrace.tracing.default_recorder import default_recorder, offer_recorder


def test_is_that_of_the_first_tracer():
    """Scenario 40: a second tracer changes nothing for what was decorated without one."""
    first, second = Tracer("first", store="memory"), Tracer("second", store="memory")
    assert default_recorder() is first._recorder
    offer_recorder(second._recorder)
    assert default_recorder() is first._recorder
    first.shutdown()
    second.shutdown()


def test_is_not_that_of_a_tracer_that_is_switched_off():
    Tracer("off", store="memory", enabled=False)
    assert recorders._default == []


def test_is_made_when_it_is_needed_first(monkeypatch):
    """Scenario 40: a decorator without any tracer works."""
    from agenttrace import observe

    tracers = []

    def make():
        tracers.append(Tracer("made late", store="memory"))
        return tracers[-1]._recorder

    monkeypatch.setattr(recorders, "_factory", [make])
    observed = observe(lambda n: n, name="late")
    tracers_before_the_call = list(tracers)
    assert (observed(1), observed(2)) == (1, 2)
    assert tracers_before_the_call == []
    (tracer,) = tracers
    assert tracer.flush().stored == 2
    tracer.shutdown()
