"""A decorated function is, to its callers, the function itself."""

import asyncio
import copy
import functools
import gc
import inspect
import io
import linecache
import pdb
import pickle
import sys
import traceback
import types
import typing

import pytest
from stored import stored

from agenttrace.core.errors import ConfigError
from agenttrace.tracing.context import current
from agenttrace.tracing.wrapper import source_of


def documented(city: str, /, days: "int" = 3, *rest: float, unit: str = "C", **options: object) -> str:
    """Says the weather."""
    return city


async def awaited(city: str, days: int = 3) -> str:
    return city


def generated(n: int = 3):
    yield from range(n)


async def async_generated(n: int = 3):
    for i in range(n):
        yield i


def broken(city, days):
    raise ValueError(city)


class TestTransparency:
    @pytest.mark.parametrize("function", [documented, awaited, generated, async_generated])
    def test_what_inspect_says_is_the_same(self, tracer, function):
        """Scenario 35."""
        observed = tracer.observe(function)
        for ask in (
            inspect.iscoroutinefunction,
            inspect.isgeneratorfunction,
            inspect.isasyncgenfunction,
            inspect.isfunction,
            inspect.signature,
            inspect.getfullargspec,
            inspect.getsource,
            inspect.getdoc,
            inspect.getmodule,
            typing.get_type_hints,
        ):
            assert ask(observed) == ask(function), ask
        for name in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__", "__defaults__"):
            assert getattr(observed, name) == getattr(function, name), name
        assert observed.__kwdefaults__ == function.__kwdefaults__
        assert observed.__wrapped__ is function

    def test_signature_is_right_without_following_the_original(self, tracer):
        bare = inspect.signature(tracer.observe(documented), follow_wrapped=False)
        assert [(p.name, p.kind, p.default) for p in bare.parameters.values()] == [
            (p.name, p.kind, p.default) for p in inspect.signature(documented).parameters.values()
        ]

    def test_it_pickles_and_copies_by_name(self, tracer, monkeypatch):
        """Scenario 39."""
        observed = tracer.observe(documented)
        monkeypatch.setattr(sys.modules[__name__], "documented", observed)
        assert pickle.loads(pickle.dumps(observed)) is observed
        assert copy.copy(observed) is observed
        assert copy.deepcopy(observed) is observed

    def test_attributes_of_the_function_are_there(self, tracer):
        def function():
            pass

        function.marked = [1]
        assert tracer.observe(function).marked is function.marked

    def test_results_and_arguments_keep_their_identity(self, tracer):
        given = {"a": [1]}
        identity = tracer.observe(lambda value: value)
        assert identity(given) is given

    def test_a_default_keeps_its_identity(self, tracer):
        default = [1]
        assert tracer.observe(lambda value=default: value)() is default


class TestArguments:
    def of(self, tracer, function, *args, **kwargs):
        with tracer.capture() as captured:
            tracer.observe(function)(*args, **kwargs)
        return captured.trace.spans[0].input

    def test_are_bound_to_names_with_defaults(self, tracer):
        assert self.of(tracer, documented, "Paris") == {
            "city": "Paris",
            "days": 3,
            "rest": [],
            "unit": "C",
            "options": {},
        }
        assert self.of(tracer, documented, "Paris", 1, 2.0, 3.0, unit="F", wind=True) == {
            "city": "Paris",
            "days": 1,
            "rest": [2.0, 3.0],
            "unit": "F",
            "options": {"wind": True},
        }

    def test_may_have_any_name(self, tracer):
        """Scenario 37."""

        def function(self, name, args, kwargs, span_type, func, wrapped, instance, cls, function, observed):
            return None

        names = list(inspect.signature(function).parameters)
        assert self.of(tracer, function, *range(11)) == dict(zip(names, range(11), strict=True))

    @pytest.mark.parametrize("style", ["def", "async def", "gen", "async gen"])
    def test_may_be_named_like_builtins(self, tracer, style):
        """Scenario 37."""
        names = (
            "type len str int bool float BaseException ValueError RecursionError StopIteration GeneratorExit"
        )
        body = "yield 1" if "gen" in style else "return [1]"
        found = {}
        exec(f"{style.replace('gen', 'def')} function({names.replace(' ', ', ')}):\n    {body}", found)
        observed = tracer.observe(found["function"])
        with tracer.capture() as captured:
            made = observed(*["x"] * 11)
            if style == "gen":
                assert list(made) == [1]
            elif style != "def":
                with pytest.raises(StopIteration):
                    (made if style == "async def" else made.__anext__()).send(None)
            if style == "async gen":
                with pytest.raises(StopAsyncIteration):
                    made.__anext__().send(None)
        assert captured.trace.spans[0].input == dict.fromkeys(names.split(), "x")

    def test_named_like_our_own_names_work_too(self, tracer):
        found = {}
        exec("def function(_at_r, _at_function=2):\n    return _at_r", found)
        assert tracer.observe(found["function"])(1) == 1

    def test_are_recorded_as_they_were_at_the_call(self, tracer):
        """Scenario 20."""

        def clears(items, options):
            items.clear()
            options["deep"]["a"].append(2)
            return items

        with tracer.capture() as captured:
            result = tracer.observe(clears)([1, 2], {"deep": {"a": [1]}})
            result.append("later")
        span = captured.trace.spans[0]
        assert span.input == {"items": [1, 2], "options": {"deep": {"a": [1]}}}
        assert span.output == []

    def test_that_do_not_fit_give_pythons_own_error(self, tracer):
        """Scenario 38."""
        with pytest.raises(TypeError) as plain:
            broken("Paris")
        with pytest.raises(TypeError) as observed:
            tracer.observe(broken)("Paris")
        assert str(observed.value) == str(plain.value)

    def test_in_excess_give_pythons_own_error(self, tracer):
        with pytest.raises(TypeError, match=r"takes 2 positional arguments but 3 were given"):
            tracer.observe(broken)(1, 2, 3)

    def test_of_methods_are_recorded_without_the_instance(self, tracer):
        class Agent:
            @tracer.observe
            def run(self, task, *, hard=False):
                return self

            @tracer.observe
            @classmethod
            def above(cls, a):
                return cls

            @classmethod
            @tracer.observe
            def below(cls, a):
                return cls

            @tracer.observe
            @staticmethod
            def static_above(a):
                return a

            @staticmethod
            @tracer.observe
            def static_below(a):
                return a

            @tracer.observe
            @property
            def above_property(self):
                return 1

            @property
            @tracer.observe
            def below_property(self):
                return 2

        agent = Agent()
        with tracer.capture() as captured:
            assert agent.run("t") is agent
            assert Agent.above(1) is Agent.below(1) is agent.above(1) is Agent
            assert Agent.static_above(1) == agent.static_above(1) == Agent.static_below(1) == 1
            assert (agent.above_property, agent.below_property) == (1, 2)
        assert [(span.name, span.input) for span in captured.trace.spans] == [
            ("run", {"task": "t", "hard": False}),
            *[("above", {"a": 1}), ("below", {"a": 1}), ("above", {"a": 1})],
            *[("static_above", {"a": 1})] * 2,
            ("static_below", {"a": 1}),
            ("above_property", {}),
            ("below_property", {}),
        ]

    def test_a_plain_function_may_have_a_parameter_named_self(self, tracer):
        def function(self):
            return None

        assert self.of(tracer, function, 1) == {"self": 1}

    def test_can_be_left_out(self, tracer):
        with tracer.capture() as captured:
            tracer.observe(documented, capture_input=False)("Paris")
            tracer.observe(documented, capture_output=False)("Paris")
        first, second = captured.trace.spans
        assert (first.input, first.output) == (None, "Paris")
        assert (second.input["city"], second.output) == ("Paris", None)


class TestExceptions:
    @pytest.fixture(autouse=True)
    def no_simulation(self):
        """One that another test left to the collector has a frame of its own in every call."""
        gc.collect()

    def test_pass_untouched(self, tracer):
        """Scenario 26."""
        error = ValueError("x")
        error.__cause__ = cause = KeyError("c")

        def fails():
            try:
                raise LookupError("context")
            except LookupError:
                raise error from cause

        with pytest.raises(ValueError, match="x") as caught:
            tracer.observe(fails)()
        assert caught.value is error
        assert error.__cause__ is cause
        assert isinstance(error.__context__, LookupError)

    def test_have_one_more_frame(self, tracer):
        """Scenario 26."""
        observed = tracer.observe(broken)
        with pytest.raises(ValueError) as plain:
            broken(1, 2)
        with pytest.raises(ValueError) as traced:
            observed(1, 2)
        assert len(traceback.extract_tb(traced.tb)) == len(traceback.extract_tb(plain.tb)) + 1

    def test_our_frames_are_hidden_from_pytest(self, tracer):
        with pytest.raises(ValueError) as caught:
            tracer.observe(broken)(1, 2)
        ours = [entry for entry in caught.traceback if str(entry.path).startswith("<agenttrace")]
        assert len(ours) == 1
        assert ours[0].ishidden(caught)

    @pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), StopIteration(1), GeneratorExit()])
    def test_of_every_kind_are_recorded_and_raised_again(self, tracer, error):
        """Scenario 29."""

        def fails():
            raise error

        with tracer.capture() as captured, pytest.raises(type(error)) as caught:
            tracer.observe(fails)()
        assert caught.value is error
        expected = "cancelled" if isinstance(error, GeneratorExit) else "error"
        assert captured.trace.spans[0].status == expected

    def test_that_cannot_be_shown_are_recorded_by_their_type(self, tracer):
        """Scenario 27."""

        class Rude(Exception):
            def __str__(self):
                raise SystemExit

            __repr__ = __str__

        def fails():
            raise Rude(object())

        with tracer.capture() as captured, pytest.raises(Rude):
            tracer.observe(fails)()
        assert captured.trace.spans[0].error.type.endswith("Rude")

    @pytest.mark.parametrize("raised", [SystemExit, GeneratorExit, ValueError])
    def test_whose_text_raises_something_else_pass_untouched(self, tracer, raised):
        """Scenarios 4 and 27: C code writes the text from attributes, which are the user's objects."""

        asked = []

        class Path:
            def __repr__(self):
                asked.append(self)
                raise raised

            __str__ = __repr__

        error = OSError(2, "no such file")
        error.filename = Path()

        def fails():
            raise error

        with tracer.capture() as captured, pytest.raises(OSError) as caught:
            tracer.observe(fails)()
        assert caught.value is error
        assert not asked
        assert captured.trace.spans[0].error.type.endswith("FileNotFoundError")

    def test_through_150_spans_keep_one_traceback(self, tracer):
        """Scenario 28: each span has its own frames, none those of the spans below it."""

        @tracer.observe
        def dive(depth):
            if depth == 0:
                raise ValueError("bottom")
            return dive(depth - 1)

        with tracer.capture() as captured, pytest.raises(ValueError, match="bottom"):
            dive(149)
        spans = captured.trace.spans
        assert len(spans) == 150
        assert {len(span.error.frames) for span in spans} == {1}
        assert {span.error.message for span in spans} == {"bottom"}


@pytest.mark.usefixtures("without_collection")
class TestRecursion:
    def depth(self, function):
        reached = 0

        def count(n):
            nonlocal reached
            reached = max(reached, n)

        with pytest.raises(RecursionError):
            function(count, 1)
        return reached

    def test_budget_is_half_of_the_undecorated_one(self, tracer):
        """Scenario 30: each decorated call costs a frame of ours beside the function's own."""

        def plain(count, n):
            count(n)
            return plain(count, n + 1)

        @tracer.observe(capture_input=False)
        def observed(count, n):
            count(n)
            return observed(count, n + 1)

        assert self.depth(observed) >= 0.45 * self.depth(plain)

    def test_error_leaves_the_context_balanced_and_loses_no_span_that_ran(self, tracer):
        """Scenario 30."""
        started = 0

        @tracer.observe
        def dive(n):
            nonlocal started
            started += 1
            return dive(n + 1)

        with pytest.raises(RecursionError):
            dive(0)
        assert current.get() is None
        spans = stored(tracer)
        assert len(spans) in (started, started + 1), "the last call may have failed before its first line"
        assert {span.status for span in spans} == {"error"}

    def test_at_the_very_limit_a_call_that_succeeds_undecorated_keeps_its_result(self, tracer):
        limit = sys.getrecursionlimit()
        outputs = set()
        observed = tracer.observe(lambda: {"a": [1, 2, {"b": "c" * 300}]})

        def dive(n):
            try:
                outputs.add(str(observed()))
            except RecursionError:
                return
            dive(n + 1)

        try:
            sys.setrecursionlimit(300)
            with tracer.capture():
                dive(0)
        finally:
            sys.setrecursionlimit(limit)
        assert len(outputs) == 1
        assert current.get() is None

    def test_at_the_very_limit_whoever_ran_gets_its_result_out(self, tracer):
        """Scenario 30: what is left of the stack is enough for the call, and not for copying its output."""
        limit = sys.getrecursionlimit()
        ran = returned = 0

        @tracer.observe
        def observed():
            nonlocal ran
            value = {"a": [1, 2, {"b": "c" * 300}]}
            ran += 1
            return value

        def dive():
            nonlocal returned
            try:
                observed()
            except RecursionError:
                return
            returned += 1
            dive()

        try:
            sys.setrecursionlimit(300)
            dive()
        finally:
            sys.setrecursionlimit(limit)
        assert ran == returned > 0


class TestDeferredResults:
    def test_a_plain_function_that_returns_a_coroutine_is_recorded_until_it_is_awaited(self, tracer):
        inner = tracer.observe(awaited)
        outer = tracer.observe(lambda: inner("Paris"), name="outer")
        with tracer.capture() as captured:
            coroutine = outer()
            assert inspect.iscoroutine(coroutine)
            assert captured.trace.spans == ()
            with pytest.raises(StopIteration) as done:
                coroutine.send(None)
        assert done.value.value == "Paris"
        assert [(s.name, s.output) for s in captured.trace.spans] == [
            ("outer", "Paris"),
            ("awaited", "Paris"),
        ]
        assert captured.trace.spans[1].parent_key == captured.trace.spans[0].span_key

    def test_a_plain_function_that_returns_a_generator_is_recorded_until_it_is_exhausted(self, tracer):
        with tracer.capture() as captured:
            items = tracer.observe(lambda: (n for n in range(3)), name="outer")()
            assert inspect.isgenerator(items)
            assert captured.trace.spans == ()
            assert list(items) == [0, 1, 2]
        assert captured.trace.spans[0].output == [0, 1, 2]

    def test_a_plain_function_that_returns_an_async_generator_is_recorded_until_it_is_exhausted(self, tracer):
        async def consume(items):
            return [item async for item in items]

        with tracer.capture() as captured:
            items = tracer.observe(lambda: async_generated(2), name="outer")()
            assert inspect.isasyncgen(items)
            with pytest.raises(StopIteration) as done:
                consume(items).send(None)
        assert done.value.value == [0, 1]
        assert captured.trace.spans[0].output == [0, 1]

    def test_what_is_returned_is_named_as_the_function_made_it(self, tracer):
        coroutine = tracer.observe(lambda: awaited("x"))()
        generator = tracer.observe(lambda: generated(1))()
        stream = tracer.observe(lambda: async_generated(1))()
        assert (coroutine.__name__, coroutine.__qualname__) == ("awaited", "awaited")
        assert (generator.__name__, stream.__name__) == ("generated", "async_generated")
        with pytest.raises(StopIteration):
            coroutine.send(None)

    def test_a_failing_coroutine_that_was_returned_is_recorded_with_its_error(self, tracer):
        async def fails():
            raise ValueError("late")

        with tracer.capture() as captured, pytest.raises(ValueError, match="late"):
            tracer.observe(lambda: fails(), name="outer")().send(None)
        assert captured.trace.spans[0].error.message == "late"


def test_concurrent_roots_are_traces_of_their_own(tracer):
    observed = tracer.observe(documented)
    observed("a")
    observed("b")
    first, second = stored(tracer)
    assert first.trace_key != second.trace_key
    assert first.parent_key is second.parent_key is None
    assert (first.project, first.index, first.status) == ("test", 1, "ok")
    assert first.end_ns >= first.start_ns


class TestGeneratorsThatAreAwaited:
    """What `types.coroutine` marks is a generator that ``await`` takes."""

    def awaited(self, function):
        async def main():
            return await function(2)

        return asyncio.run(main())

    def test_stay_awaitable(self, tracer):
        @tracer.observe
        @types.coroutine
        def step(n):
            yield
            return n + 1

        assert self.awaited(step) == 3
        assert inspect.isawaitable(step(1))
        (span,) = stored(tracer)[:1]
        assert (span.name, span.attributes["agenttrace.returned"]) == ("step", 3)

    def test_stay_awaitable_when_a_plain_function_returns_them(self, tracer):
        @types.coroutine
        def step(n):
            yield
            return n + 1

        assert self.awaited(tracer.observe(lambda n: step(n), name="outer")) == 3
        (span,) = stored(tracer)
        assert span.attributes["agenttrace.returned"] == 3

    def test_are_not_made_of_other_generators(self, tracer):
        assert not inspect.isawaitable(tracer.observe(lambda: (n for n in "ab"))())


class TestClassesWithAMetaclassOfTheUsers:
    """Scenario 3: neither their hash nor their equality is asked for, whatever is passed or returned."""

    @pytest.mark.parametrize("name", ["__eq__", "__hash__", "__getattribute__"])
    @pytest.mark.parametrize("options", [{}, {"capture_output": False}], ids=["output", "no output"])
    @pytest.mark.parametrize("error", [TypeError, SystemExit, KeyboardInterrupt])
    def test_leave_the_call_as_it_was(self, tracer, name, options, error):
        def refuse(*_):
            raise error("code of a metaclass ran")

        value = type("Meta", (type,), {name: refuse})("Made", (), {})()

        @tracer.observe(**options)
        def given_back(item):
            return item

        @tracer.observe(**options)
        async def awaited(item):
            return item

        @tracer.observe(**options)
        def stepped(item):
            yield item

        assert given_back(value) is value
        assert given_back([value])[0] is value
        assert next(stepped(value)) is value
        with pytest.raises(StopIteration) as done:
            awaited(value).send(None)
        assert done.value.value is value
        with tracer.span("block", input={"value": value}) as span:
            span.output = value
            span.set_attribute("value", {"a": [value]})
        assert current.get() is None
        assert tracer.flush(60)
        assert tracer.stats()["recording_errors"] == 0


class TestTheSource:
    """What is generated can be read, and stepped through."""

    def test_of_a_wrapper_can_be_printed(self, tracer):
        source = source_of(tracer.observe(broken))
        assert "def _at_wrapper(city, days):" in source
        assert "_at_o = _at_function(city, days)" in source

    def test_is_that_of_the_lines_that_run(self, tracer):
        observed = tracer.observe(broken)
        with pytest.raises(ValueError) as caught:
            observed("Paris", 3)
        frame = traceback.extract_tb(caught.tb)[1]
        assert frame.filename.startswith("<agenttrace observe ")
        assert frame.line == "_at_o = _at_function(city, days)"
        assert source_of(observed).splitlines()[frame.lineno - 1].strip() == frame.line

    def test_has_one_name_for_one_shape_and_another_for_another(self, tracer):
        def also(city, days):
            return city

        names = [tracer.observe(function).__code__.co_filename for function in (broken, also, awaited)]
        assert names[0] == names[1] != names[2]

    def test_stays_where_debuggers_look_when_files_are_checked_for_changes(self, tracer):
        name = tracer.observe(broken).__code__.co_filename
        linecache.checkcache()
        assert linecache.getline(name, 2).startswith("def _at_make(")

    @pytest.mark.parametrize("style", [documented, awaited, generated, async_generated])
    def test_can_be_printed_of_every_call_style(self, tracer, style):
        assert "_at_function(" in source_of(tracer.observe(style))

    def test_can_be_printed_of_whatever_is_called(self, tracer):
        class Desk:
            @tracer.observe
            def method(self):
                return 1

            @tracer.observe
            @staticmethod
            def static():
                return 2

        things = [
            Desk.method,
            Desk().method,
            Desk.__dict__["static"],
            tracer.observe(functools.partial(int, "7")),
        ]
        assert all("_at_make" in source_of(thing) for thing in things)
        with pytest.raises(ConfigError, match="observed function"):
            source_of(broken)

    def test_is_stepped_through_by_pdb(self, tracer):
        """The debugger shows the line that it stands on, in the wrapper, too."""
        said = io.StringIO()
        debugger = pdb.Pdb(
            stdin=io.StringIO("step\n" * 2 + "continue\n"), stdout=said, nosigint=True, readrc=False
        )
        debugger.use_rawinput = False
        observed = tracer.observe(documented)
        assert debugger.runcall(observed, "Paris") == "Paris"
        assert "_at_b = _at_p = _at_get()" in said.getvalue()

    def test_is_forgotten_beyond_a_bound(self, tracer, monkeypatch):
        from agenttrace.tracing import wrapper

        monkeypatch.setattr(wrapper, "_sources", {})
        monkeypatch.setattr(wrapper, "_MAX_SHAPES", 2)
        for number in range(4):
            wrapper._make_printable(f"<agenttrace test {number}>", "pass\n")
        assert list(wrapper._sources) == ["<agenttrace test 2>", "<agenttrace test 3>"]
        assert "<agenttrace test 0>" not in linecache.cache
        for number in (2, 3):
            del linecache.cache[f"<agenttrace test {number}>"]
