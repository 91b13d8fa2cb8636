"""Classes, exceptions and mappings of the user's that misbehave while a call is recorded."""

import gc
import sys
import types
import weakref
from collections.abc import Mapping
from typing import ClassVar
from unittest.mock import AsyncMock, MagicMock, Mock, create_autospec

import pytest

from agenttrace import propagate


class Evil:
    """While it is armed, to show it leaves the program."""

    armed: type[BaseException] | None = None
    shown: ClassVar[list[str]] = []

    def __repr__(self):
        if Evil.armed is not None:
            Evil.shown.append(type(self).__name__)
            raise Evil.armed("out of a repr")
        return "evil"

    __str__ = __repr__


class EvilText(Evil, str):
    """A text of the user's."""


def only_span(tracer):
    tracer.flush()
    (summary,) = tracer.store.traces()
    (span,) = tracer.store.trace(summary.trace_id).spans
    return span


@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: [value], lambda value: {"a": value}])
def test_a_class_that_was_recorded_is_not_kept_alive(tracer, wrap):
    """Models made for each request, classes in functions: a service would keep them all."""

    @tracer.observe
    def tool(value):
        return wrap(value)

    kept = []
    for number in range(50):
        kind = type(f"Dynamic{number}", (), {"blob": bytearray(100)})
        kept.append(weakref.ref(kind))
        tool(kind())
        tool(wrap(kind()))
    del kind
    tracer.flush()
    gc.collect()
    assert sum(one() is not None for one in kept) == 0


def test_a_handler_for_a_class_goes_with_the_class(tracer):
    from agenttrace import register_snapshot

    def kind_with_handler():
        kind = type("Handled", (), {})
        register_snapshot(kind, lambda value: "seen")
        tracer.observe(lambda value: None)(kind())
        return weakref.ref(kind)

    kept = kind_with_handler()
    tracer.flush()
    gc.collect()
    assert kept() is None


def os_error(name):
    def make(evil):
        error = OSError(2, "no such file", "orders.csv")
        setattr(error, name, evil)
        return error

    return make


def unicode_error(evil):
    error = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    error.reason = EvilText("why")
    return error


def syntax_error(name):
    def make(evil):
        error = SyntaxError("bad", ("file.py", 1, 2, "text"))
        setattr(error, name, evil)
        return error

    return make


def import_error(evil):
    error = ImportError("no module")
    error.msg = evil
    return error


def stop_iteration(evil):
    return RuntimeError(EvilText("text"), evil)


EXCEPTIONS = {
    "OSError.filename": os_error("filename"),
    "OSError.filename2": os_error("filename2"),
    "OSError.strerror": os_error("strerror"),
    "OSError.errno": os_error("errno"),
    "UnicodeDecodeError.reason": unicode_error,
    "SyntaxError.msg": syntax_error("msg"),
    "SyntaxError.filename": syntax_error("filename"),
    "SyntaxError.lineno": syntax_error("lineno"),
    "ImportError.msg": import_error,
    "RuntimeError.args": stop_iteration,
    "ExceptionGroup.message": lambda evil: ExceptionGroup(EvilText("several"), [ValueError(evil)]),
    "KeyError.args": lambda evil: KeyError(evil),
}


@pytest.mark.parametrize("leaves_by", [KeyboardInterrupt, SystemExit, RuntimeError])
@pytest.mark.parametrize("name", EXCEPTIONS)
def test_the_error_that_the_caller_sees_is_the_one_that_was_raised(tracer, name, leaves_by):
    """The interpreter's own code writes these texts from attributes, which may be anything."""
    error = EXCEPTIONS[name](Evil())
    Evil.shown.clear()

    @tracer.observe
    def tool():
        raise error

    caught = None
    Evil.armed = leaves_by
    try:
        tool()
    except BaseException as left:
        caught = left
    finally:
        tracer.flush()
        Evil.armed = None
    assert caught is error
    assert Evil.shown == []
    span = only_span(tracer)
    assert span.status == "error"
    assert span.error.type == type(error).__name__


def test_what_an_error_says_is_kept_where_its_attributes_are_plain(tracer):
    @tracer.observe
    def tool():
        raise FileNotFoundError(2, "No such file or directory", "orders.csv")

    with pytest.raises(FileNotFoundError):
        tool()
    assert only_span(tracer).error.message == "[Errno 2] No such file or directory: 'orders.csv'"


def test_a_metaclass_is_not_asked_for_the_text_of_an_exception(tracer):
    asked = []

    class Meta(type):
        def __getattribute__(cls, name):
            asked.append(name)
            return super().__getattribute__(name)

    class Refused(Exception, metaclass=Meta):
        pass

    error = Refused("no")
    asked.clear()

    @tracer.observe
    def tool():
        raise error

    with pytest.raises(Exception) as caught:
        tool()
    seen = list(asked)
    assert caught.value is error
    assert [name for name in seen if name != "__instancecheck__" and name != "__mro__"] == []
    assert only_span(tracer).error.message == "no"


class OpenHanded:
    """It has every attribute that it is asked for."""

    def __getattr__(self, name):
        return OpenHanded()

    def __call__(self, value):
        return value


def spec(value):
    return value


@pytest.mark.parametrize(
    "make",
    [
        Mock,
        MagicMock,
        lambda: create_autospec(spec, return_value=1),
        OpenHanded,
        lambda: Mock(side_effect=[1, 2]),
    ],
)
@pytest.mark.parametrize("span_type", ["tool", "function"])
def test_a_mock_and_whatever_has_every_attribute_can_be_observed(tracer, make, span_type):
    observed = tracer.observe(make(), span_type=span_type)
    observed("a")
    assert only_span(tracer).status == "ok"


def test_an_asynchronous_mock_can_be_observed(tracer):
    import asyncio

    observed = tracer.observe(AsyncMock(return_value=3))
    assert asyncio.run(observed(1)) == 3
    assert only_span(tracer).output == 3


def test_the_name_of_a_partial_is_that_of_the_function_inside(tracer):
    from functools import partial

    tracer.observe(partial(partial(spec), 1))()
    assert only_span(tracer).name == "spec"


class Leaving(Mapping):
    """A mapping that leaves the program when it is read."""

    def __init__(self, error):
        self.error = error

    def __getitem__(self, key):
        raise self.error

    def __iter__(self):
        raise self.error

    def __len__(self):
        return 1


class LeavingTags:
    def __init__(self, error):
        self.error = error

    def __iter__(self):
        raise self.error


ADDS = {
    "usage": lambda tracer, error: tracer.current_span().set_usage(Leaving(error)),
    "metadata": lambda tracer, error: tracer.update_metadata(Leaving(error)),
    "tags": lambda tracer, error: tracer.set_tags(LeavingTags(error)),
    "attribute": lambda tracer, error: tracer.current_span().set_attribute("a", Leaving(error)),
    "update": lambda tracer, error: tracer.update_current_span(usage=Leaving(error)),
}


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), ValueError("no")], ids=repr)
@pytest.mark.parametrize("name", ADDS)
def test_a_mapping_that_leaves_the_program_does_not_reach_the_agent(tracer, name, error):
    @tracer.observe
    def tool():
        ADDS[name](tracer, error)
        return 1

    assert tool() == 1
    assert only_span(tracer).output == 1


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), ValueError("no")], ids=repr)
def test_a_handler_of_a_type_that_leaves_the_program_does_not_reach_the_agent(tracer, error):
    from agenttrace import register_snapshot

    class Kind:
        pass

    def leave(value):
        raise error

    register_snapshot(Kind, leave)

    @tracer.observe
    def tool(value):
        return [value]

    for value in (Kind(), [Kind()], {"a": {"b": Kind()}}):
        tool(value)
    tracer.flush()
    assert len(tracer.store.traces()) == 3


@pytest.mark.parametrize("error", [SystemExit(3), KeyError("x"), GeneratorExit()], ids=repr)
@pytest.mark.parametrize(
    "name", ["pydantic.main", "decimal", "dateutil.tz.tz", "pytz", "numpy", "pandas", "pytz.tzinfo", "enum"]
)
def test_a_stand_in_for_a_module_that_refuses_attributes_does_not_break_a_call(
    tracer, monkeypatch, name, error
):
    import datetime

    class Stub(types.ModuleType):
        def __getattr__(self, attribute):
            if attribute.startswith("__"):
                raise AttributeError(attribute)
            raise error

    class Value:
        pass

    class Zone(datetime.tzinfo):
        def utcoffset(self, when):
            return datetime.timedelta(0)

    @tracer.observe
    def tool(value):
        return {"value": [value]}

    monkeypatch.setitem(sys.modules, name, Stub(name))
    noon = datetime.datetime(2025, 6, 1, 12, tzinfo=Zone())
    for value in (Value(), type("Other", (), {})(), noon):
        tool(value)
    monkeypatch.undo()
    tracer.flush()
    assert len(tracer.store.traces()) == 3
    assert tracer.stats()["recording_errors"] == 0


class Big:
    """Something whose end is noticed."""


def test_a_generator_lets_go_of_what_was_sent_to_it_while_it_runs_on(tracer):
    alive = []

    @tracer.observe
    def generator():
        while True:
            item = yield 1
            kept = weakref.ref(item)
            del item
            alive.append(kept)

    def plain():
        while True:
            item = yield 1
            kept = weakref.ref(item)
            del item
            alive.append(kept)

    for make in (plain, generator):
        alive.clear()
        steps = make()
        next(steps)
        steps.send(Big())
        gc.collect()
        assert alive[0]() is None, make
        steps.close()


def test_a_generator_lets_go_of_what_was_thrown_into_it(tracer):
    class Thrown(Exception):
        pass

    @tracer.observe
    def generator():
        while True:
            try:
                yield 1
            except Thrown:
                pass

    steps = generator()
    next(steps)
    error = Thrown()
    kept = weakref.ref(error)
    steps.throw(error)
    del error
    gc.collect()
    assert kept() is None
    steps.close()


def test_a_generator_lets_go_of_what_it_has_yielded(tracer):
    @tracer.observe(capture_output=False)
    def generator():
        yield Big()
        yield 2

    steps = generator()
    kept = weakref.ref(next(steps))
    gc.collect()
    assert kept() is None
    steps.close()


@pytest.mark.parametrize("error", [SystemExit("no"), RuntimeError("no"), GeneratorExit()])
def test_a_signature_that_raises_keeps_nothing_from_being_decorated(tracer, store, error):
    class Tool:
        @property
        def __signature__(self):
            raise error

        def __call__(self, n):
            return n + 1

    assert tracer.observe(Tool(), name="work")(1) == 2
    assert tracer.flush(60)
    assert len(store.traces()) == 1


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_a_lazy_proxy_outside_of_its_context_is_decorated_like_any_callable(tracer, error):
    class Lazy:
        def __call__(self, value):
            return value

        def __getattr__(self, name):
            raise error(name)

    with tracer.capture() as captured:
        assert tracer.observe(span_type="tool", name="lazy")(Lazy())(1) == 1
        assert tracer.observe(Lazy())(2) == 2
        assert propagate(Lazy())(3) == 3
    assert [span.name for span in captured.trace.spans] == ["lazy", "Lazy"]


def test_a_default_of_a_class_without_a_hash_is_no_obstacle(tracer):
    class Unequal(type):
        def __eq__(cls, other):
            return NotImplemented

    class Raising(type):
        def __hash__(cls):
            raise RuntimeError("no hash")

    unit, scale = Unequal("Unit", (), {})(), Raising("Scale", (), {})()

    @tracer.observe(span_type="tool")
    def convert(value, unit=unit, *, scale=scale):
        return value

    with tracer.capture() as captured:
        assert convert(1) == 1
    assert captured.trace.spans[0].output == 1
