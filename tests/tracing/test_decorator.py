"""What can be observed, with which options, what is refused where."""

import functools
import gc
import inspect
import weakref

import pytest
from stored import stored

import agenttrace
from agenttrace.core.errors import ConfigError
from agenttrace.core.tool import REQUIRED
from agenttrace.tracer import Tracer
from agenttrace.tracing import observed_function
from agenttrace.tracing.capture import capture
from agenttrace.tracing.decorator import enabled_by_environment
from agenttrace.tracing.observed_function import known_tools


def plain(city, days=3):
    return city


def retrying(function):
    @functools.wraps(function)
    def again(*args, **kwargs):
        return function(*args, **kwargs)

    return again


def injecting(function):
    @functools.wraps(function)
    def with_database(*args, **kwargs):
        return function("db", *args, **kwargs)

    return with_database


def renaming(function):
    @functools.wraps(function)
    def other(town):
        return function(town)

    return other


def recorded(tracer, observed, *args, **kwargs):
    with tracer.capture() as captured:
        observed(*args, **kwargs)
    (span,) = captured.trace.spans
    return span


class TestOptions:
    def test_are_all_on_the_span(self, tracer):
        observed = tracer.observe(span_type="tool", name="weather", metadata={"v": 1}, tags=["read"])(plain)
        span = recorded(tracer, observed, "Paris")
        assert (span.name, span.span_type, span.attributes) == ("weather", "tool", {"v": 1})
        assert span.tool.tags == ("read",)

    def test_of_a_tool_enter_it_in_the_known_tools(self, tracer):
        tracer.observe(plain, span_type="tool", name="entered")
        tool = known_tools()["entered"]
        assert [(p.name, p.default) for p in tool.parameters] == [("city", REQUIRED), ("days", 3)]
        with tracer.capture() as captured:
            pass
        assert "entered" in captured.trace.tools

    def test_bare_and_called_are_the_same(self, tracer):
        bare, called = tracer.observe(plain), tracer.observe()(plain)
        assert recorded(tracer, bare, 1).name == recorded(tracer, called, 1).name == "plain"

    def test_metadata_is_redacted(self, tracer):
        """Scenario 22."""
        span = recorded(tracer, tracer.observe(plain, metadata={"api_key": "k", "note": "sk-" + "a" * 30}), 1)
        assert span.attributes == {"api_key": "[redacted]", "note": "[redacted]"}

    def test_lone_surrogates_in_a_name_spoil_nothing(self, tracer):
        """Scenario 7."""
        assert recorded(tracer, tracer.observe(plain, name="a\ud800b"), 1).name == "a\ufffdb"
        tracer.observe(plain, name="a\ud800b")(1)
        tracer.observe(plain, name="good")(1)
        assert {span.name for span in stored(tracer)} == {"a\ufffdb", "good"}

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"span_type": ""}, "span_type is a non-empty string"),
            ({"span_type": 3}, "span_type is a non-empty string"),
            ({"name": ""}, "name is a non-empty string or None"),
            ({"metadata": ["a"]}, "metadata is a mapping"),
            ({"tags": "write"}, "tags are a list of strings"),
            ({"capture_input": "no"}, "capture_input is True or False"),
        ],
    )
    def test_that_cannot_work_are_refused_where_they_are_written(self, tracer, options, message):
        with pytest.raises(ConfigError, match=message):
            tracer.observe(**options)
        with pytest.raises(ConfigError, match=message):
            Tracer("off", store="memory", enabled=False).observe(**options)

    def test_that_do_not_exist_are_refused_where_they_are_written(self, tracer):
        with pytest.raises(TypeError, match="spantype"):
            tracer.observe(spantype="tool")
        with pytest.raises(TypeError, match="spantype"):
            agenttrace.observe(spantype="tool")

    def test_have_names_that_an_editor_can_complete_at_both_doors(self):
        method, function = (
            inspect.signature(door).parameters for door in (Tracer.observe, agenttrace.observe)
        )
        names = ["span_type", "name", "capture_input", "capture_output", "metadata", "tags"]
        assert list(function) == ["function", *names, "scorers", "sample_rate"]
        assert list(method.values())[1:] == list(function.values())

    def test_may_be_used_for_several_functions(self, tracer):
        """Tags that can be gone through only once are there for each of them."""
        decorate = tracer.observe(span_type="tool", tags=iter(["read"]))
        for function in (plain, renaming(plain)):
            assert recorded(tracer, decorate(function), "Paris").tool.tags == ("read",)

    def test_of_the_front_door_take_a_rate_without_scorers(self, tracer):
        assert agenttrace.observe(plain, sample_rate=0.5)("Paris") == "Paris"
        with pytest.raises(ConfigError, match="0 to 1"):
            agenttrace.observe(plain, sample_rate=2)


class TestWhatIsNotCallable:
    @pytest.mark.parametrize("thing", [3, "tool", None, [plain]])
    def test_is_refused(self, tracer, thing):
        decorate = tracer.observe()
        with pytest.raises(ConfigError, match="observe decorates something that can be called"):
            decorate(thing)

    def test_nor_is_a_class_of_a_builtin(self, tracer):
        with pytest.raises(ConfigError, match="int is built in"):
            tracer.observe(int)


class TestDecoratorsBelow:
    def test_that_pass_everything_on_are_recorded_under_the_real_names(self, tracer):
        span = recorded(tracer, tracer.observe(retrying(plain), span_type="tool"), "Paris")
        assert span.input == {"city": "Paris", "days": 3}
        assert [p.name for p in span.tool.parameters] == ["city", "days"]

    def test_that_add_an_argument_are_called_as_they_are(self, tracer):
        def query(database, text):
            return (database, text)

        span = recorded(tracer, tracer.observe(injecting(query)), "q")
        assert span.input == {"args": ["q"], "kwargs": {}}
        assert span.output == ["db", "q"]

    def test_that_rename_arguments_are_called_as_they_are(self, tracer):
        span = recorded(tracer, tracer.observe(renaming(plain)), town="Paris")
        assert span.input == {"town": "Paris"}

    def test_on_methods_leave_the_instance_out(self, tracer):
        class Agent:
            @tracer.observe
            @retrying
            def run(self, city, *, api_key="k", **rest):
                return city

        span = recorded(tracer, Agent().run, "Paris", hard=True)
        assert span.input == {"city": "Paris", "api_key": "[redacted]", "rest": {"hard": True}}

    def test_with_a_signature_of_their_own_are_called_as_they_are(self, tracer):
        import inspect

        def function(*args, **kwargs):
            return args

        function.__signature__ = inspect.signature(lambda a, b: None)
        assert recorded(tracer, tracer.observe(function), 1, 2).input == {"a": 1, "b": 2}
        assert recorded(tracer, tracer.observe(function), 1).input == {"args": [1], "kwargs": {}}

    def test_given_too_much_are_cut_with_a_mark(self, tracer):
        def many(*numbers, **rest):
            return None

        tracer.observe(retrying(many))(*range(3_000))
        (span,) = stored(tracer)
        assert span.input["numbers"][:3] == [0, 1, 2]
        assert span.input["numbers"][-1] == {"$truncated": 2_000}


class TestDecoratorsAbove:
    def test_see_the_function_itself(self, tracer):
        observed = retrying(tracer.observe(plain))
        assert observed.__name__ == "plain"
        assert recorded(tracer, observed, "Paris").input == {"city": "Paris", "days": 3}

    def test_do_not_hide_a_second_observation(self, tracer):
        with tracer.capture() as captured:
            tracer.observe(retrying(tracer.observe(plain)), name="outer")("Paris")
        assert [span.name for span in captured.trace.spans] == ["outer", "plain"]


class TestTwice:
    def test_records_once_with_the_outer_options(self, tracer):
        """Scenario 40."""
        observed = tracer.observe(tracer.observe(plain, name="inner"), name="outer")
        assert recorded(tracer, observed, 1).name == "outer"

    def test_on_a_bound_method_records_once(self, tracer):
        class Agent:
            @tracer.observe
            def run(self):
                return self

        agent = Agent()
        assert recorded(tracer, tracer.observe(agent.run, name="outer")).name == "outer"
        assert tracer.observe(agent.run)() is agent

    def test_on_a_callable_object_records_once(self, tracer):
        observed = tracer.observe(tracer.observe(functools.partial(plain, 1)), name="outer")
        assert recorded(tracer, observed).name == "outer"

    def test_by_two_tracers_goes_to_the_outer_one(self, tracer):
        """Scenario 40."""
        other = Tracer("other", store="memory")
        other.observe(tracer.observe(plain))(1)
        assert [span.project for span in stored(other)] == ["other"]
        assert stored(tracer) == []
        other.shutdown()


class TestClasses:
    def test_stay_classes_whose_public_methods_are_observed(self, tracer):
        @tracer.observe(span_type="tool")
        class Agent:
            limit = 3

            def search(self, q):
                return self._private(q)

            def _private(self, q):
                return q

            def __len__(self):
                return 1

            @staticmethod
            def fixed(a):
                return a

            @classmethod
            def made(cls):
                return cls()

        assert isinstance(Agent, type)
        with tracer.capture() as captured:
            agent = Agent.made()
            assert (agent.search("x"), agent.fixed(2), len(agent)) == ("x", 2, 1)
        assert [(s.name, s.span_type) for s in captured.trace.spans] == [
            ("made", "tool"),
            ("search", "tool"),
            ("fixed", "tool"),
        ]

    def test_as_tools_may_leave_methods_out_and_take_private_ones_in(self, tracer):
        @tracer.observe_tools(exclude=["run"], include_private=True)
        class Agent:
            def run(self):
                return self._secret()

            def _secret(self):
                return 1

        with tracer.capture() as captured:
            Agent().run()
        assert [(s.name, s.span_type) for s in captured.trace.spans] == [("_secret", "tool")]

    def test_that_lack_an_excluded_method_are_refused(self, tracer):
        with pytest.raises(ConfigError, match="Agent defines no method 'rnu'"):

            @tracer.observe_tools(exclude=["rnu"])
            class Agent:
                def run(self):
                    pass

    def test_are_what_observe_tools_wants(self, tracer):
        with pytest.raises(ConfigError, match="observe_tools decorates a class"):
            tracer.observe_tools(plain)
        with pytest.raises(ConfigError, match="exclude is a list"):
            tracer.observe_tools(exclude="run")(type("Agent", (), {}))


class TestSwitchedOff:
    def test_by_the_environment_the_function_is_untouched(self, monkeypatch):
        monkeypatch.setenv("AGENTTRACE_ENABLED", "0")
        tracer = Tracer("off", store="memory")
        assert tracer.observe(plain) is plain
        assert tracer.observe(span_type="tool")(plain) is plain
        assert not tracer.enabled

    @pytest.mark.parametrize(
        ("value", "on"),
        [("0", False), ("false", False), ("OFF", False), ("no", False), ("1", True), ("", True)],
    )
    def test_by_these_words(self, monkeypatch, value, on):
        monkeypatch.setenv("AGENTTRACE_ENABLED", value)
        assert enabled_by_environment() is on

    def test_by_the_tracer_the_function_is_untouched(self):
        tracer = Tracer("off", store="memory", enabled=False)

        class Agent:
            pass

        assert tracer.observe(plain) is plain
        assert tracer.observe_tools(Agent) is Agent
        with tracer.span("x") as span, tracer.capture() as captured:
            assert not span.recorded
        assert len(captured.trace) == 0

    def test_a_capture_still_works_for_observed_functions_after_shutdown(self, tracer):
        observed = tracer.observe(plain)
        tracer.shutdown()
        with capture() as captured:
            observed("Paris")
        assert [span.name for span in captured.trace.spans] == ["plain"]


def test_spans_share_no_metadata_that_somebody_could_change(tracer):
    metadata = {"k": [1]}
    work = tracer.observe(lambda: 1, name="work", metadata=metadata)
    with tracer.capture() as captured:
        work()
        work()
    first, second = captured.trace.spans
    first.attributes["k"].append(2)
    metadata["k"].append(3)
    assert second.attributes == {"k": [1]}


class TestADefinitionIsMadeWhenItIsAskedFor:
    @pytest.fixture
    def described(self, monkeypatch):
        """How often a definition was made, by name of the tool."""
        made = []
        make = observed_function._definition
        monkeypatch.setattr(observed_function, "_definition", lambda *of: made.append(of[0]) or make(*of))
        return made

    def test_not_by_the_decorator_and_only_once(self, tracer, described):
        @tracer.observe(span_type="tool", name="described_late")
        def search(city, days=3):
            """Search a city."""

        assert described == []
        first = known_tools()["described_late"]
        assert [p.default for p in first.parameters] == [REQUIRED, 3]
        assert first.description == "Search a city."
        assert known_tools()["described_late"] is first
        assert described == ["described_late"]

    def test_a_default_that_may_change_is_recorded_as_it_was_when_decorated(self, tracer):
        def search(cities=[], *, options={}):  # noqa: B006 - it is the point
            cities.append(1)
            options["called"] = True

        observed = tracer.observe(search, span_type="tool", name="with_changing_defaults")
        observed()
        assert [p.default for p in known_tools()["with_changing_defaults"].parameters] == [[], {}]

    def test_defaults_and_docstring_that_are_replaced_later_do_not_count(self, tracer):
        def search(city="Paris", *, days=3):
            """Search a city."""

        tracer.observe(search, span_type="tool", name="replaced_later")
        search.__defaults__, search.__kwdefaults__["days"], search.__doc__ = ("Rome",), 4, "Other."
        tool = known_tools()["replaced_later"]
        assert [p.default for p in tool.parameters] == ["Paris", 3]
        assert tool.description == "Search a city."

    def test_a_function_that_is_gone_is_not_kept_alive_by_its_tool(self, tracer):
        def make():
            def search(city): ...

            return search

        observed = tracer.observe(make(), span_type="tool", name="gone")
        gone = weakref.ref(observed)
        del observed
        gc.collect()
        assert gone() is None
        assert [p.name for p in known_tools()["gone"].parameters] == ["city"]

    def test_of_two_tools_with_one_name_the_last_is_known(self, tracer):
        tracer.observe(lambda first: None, span_type="tool", name="twice")
        tracer.observe(lambda last: None, span_type="tool", name="twice")
        assert [p.name for p in known_tools()["twice"].parameters] == ["last"]
