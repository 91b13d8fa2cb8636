# ruff: noqa: PT012, SIM117 - it is the end of a replay's block that raises
"""Recorded traces that answer agents: tools by name and arguments, and what cannot be replayed."""

import asyncio
import math
import threading
from decimal import Decimal

import pytest

from agenttrace import Example, ToolOrderScorer, Trace, Tracer, run_evaluation
from agenttrace.core.errors import ConfigError, SimulationError
from agenttrace.core.limits import RECORDED
from agenttrace.simulation import Recording
from agenttrace.store import open_store


class World:
    """Tools that note what is really run, and an agent."""

    def __init__(self, tracer):
        self.ran = []

        @tracer.observe(span_type="tool")
        def search(city, nights=1):
            self.ran.append("search")
            if city == "Atlantis":
                raise LookupError(f"no {city}")
            return {"hotels": [f"{city} Inn"]}

        @tracer.observe(span_type="tool")
        async def book(hotel):
            self.ran.append("book")
            return lookup(hotel)

        @tracer.observe(span_type="tool")
        def lookup(hotel):
            self.ran.append("lookup")
            return f"booked {hotel}"

        @tracer.observe(span_type="tool")
        def pages(n):
            self.ran.append("pages")
            yield from range(n)

        self.search, self.book, self.pages = search, book, pages

        @tracer.observe(span_type="agent")
        def agent(city):
            (hotel,) = self.search(city)["hotels"]
            return [asyncio.run(self.book(hotel)), list(self.pages(3))]

        self.agent = agent


@pytest.fixture
def world(tracer):
    return World(tracer)


@pytest.fixture
def recorded(tracer, world):
    with tracer.capture() as captured:
        world.agent("Paris")
    world.ran.clear()
    return captured.trace


def test_the_same_agent_gets_what_was_recorded_and_nothing_runs(tracer, world, recorded):
    with tracer.capture() as captured, tracer.replay(recorded):
        assert world.agent("Paris") == ["booked Paris Inn", [0, 1, 2]]
    assert world.ran == []
    calls = [(call.name, call.arguments, call.output) for call in captured.trace.tool_calls]
    assert calls == [
        (call.name, call.arguments, call.output) for call in recorded.tool_calls if call.name != "lookup"
    ]
    assert captured.trace.spans[1].attributes["agenttrace.simulated"] == "recording, call 1"


def test_a_trace_from_the_store_is_a_recording(tmp_path):
    tracer = Tracer("stored", store=str(tmp_path / "traces.db"))
    world = World(tracer)
    world.agent("Paris")
    tracer.flush()
    store = open_store(tmp_path / "traces.db")
    trace = store.trace(store.traces(limit=1)[0].trace_id)
    store.close()
    world.ran.clear()
    with tracer.replay(trace):
        assert world.agent("Paris") == ["booked Paris Inn", [0, 1, 2]]
    tracer.shutdown()
    assert world.ran == []


def test_other_arguments_leave_the_recording_and_the_first_difference_is_named(tracer, world, recorded):
    with pytest.raises(
        SimulationError, match=r"left the recording at call 1: search\(city='Rome', nights=1\)"
    ) as caught:
        with tracer.replay(recorded):
            try:
                world.search("Rome")
            except SimulationError:
                pass
            with pytest.raises(SimulationError, match="the recording was left at call 1"):
                world.search("Paris")
    assert "city: recorded 'Paris', got 'Rome'" in str(caught.value)
    assert world.ran == []


def test_a_call_too_many_and_a_call_too_few_are_errors(tracer, world, recorded):
    with pytest.raises(SimulationError, match=r"left the recording at call 2.* next was book"):
        with tracer.replay(recorded):
            world.search("Paris")
            world.search("Paris")
    with pytest.raises(SimulationError, match="2 recorded calls were not made; the first is call 2: book"):
        with tracer.replay(recorded):
            world.search("Paris")
    with tracer.replay(recorded, complete=False):
        world.search("Paris")


def test_recorded_errors_are_raised_again(tracer, world):
    def agent():
        try:
            return world.search("Atlantis")
        except LookupError as error:
            return str(error)

    with tracer.capture() as captured:
        assert agent() == "no Atlantis"
    world.ran.clear()
    with tracer.replay(captured.trace):
        assert agent() == "no Atlantis"
    assert world.ran == []


def test_calls_at_the_same_time_are_told_by_their_arguments(tracer, world):
    def agent(cities):
        threads = [threading.Thread(target=world.search, args=(city,)) for city in cities]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    with tracer.capture() as captured:
        agent(["Paris", "Rome", "Oslo"])
    world.ran.clear()
    with tracer.replay(captured.trace) as run:
        agent(["Oslo", "Paris", "Rome"])
    assert (len(run.calls), world.ran) == (3, [])


def test_what_was_not_recorded_whole_is_said_before_the_block(tracer):
    @tracer.observe(span_type="tool")
    def read(path, password="x"):
        return "x" * 2_000_000

    small = Tracer("small", store="memory", capture_limits=RECORDED)
    with small.capture() as captured:
        read("a")
    with pytest.raises(
        ConfigError, match=r"call 1 of the recording, read\(.*\), cannot be replayed: its output was cut"
    ):
        with tracer.replay(captured.trace):
            raise AssertionError("the block ran")
    small.shutdown()


def test_a_redacted_argument_is_told_by_its_digest_or_ignored(tracer, world):
    @tracer.observe(span_type="tool")
    def login(user, password):
        return "in"

    with tracer.capture() as captured:
        login("ann", "correct horse")
    trace = captured.trace
    with tracer.replay(trace, ignore="password"):
        assert login("ann", "whatever") == "in"
    with pytest.raises(SimulationError, match=r"left the recording|cannot be told"):
        with tracer.replay(trace):
            login("ann", "whatever")


def test_an_argument_that_there_was_not_is_told_as_nothing(tracer):
    def lookup(**criteria):
        return 1

    lookup = tracer.observe(span_type="tool")(lookup)
    with tracer.capture() as captured:
        lookup(city="Paris")
    with pytest.raises(SimulationError, match=r"criteria\.nights: recorded nothing, got 2"):
        with tracer.replay(captured.trace):
            lookup(city="Paris", nights=2)


def test_a_recording_of_another_agent_is_refused(tracer, world):
    trace = Trace.from_calls([{"name": "serach", "arguments": {"city": "Paris"}, "output": 1}])
    with pytest.raises(
        ConfigError, match=r"serach\(city='Paris'\), is of no function .* did you mean 'search'"
    ):
        with tracer.replay(trace):
            raise AssertionError("the block ran")
    with pytest.raises(ConfigError, match="a recording is a Trace, got list"):
        tracer.replay([])


def test_a_call_without_a_recorded_execution_is_refused(tracer, world):
    messages = [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "search", "arguments": '{"city": "Paris"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "found"},
    ]
    with pytest.raises(ConfigError, match="search was called, but its execution was not recorded"):
        with tracer.replay(Trace.from_messages(messages)):
            raise AssertionError("the block ran")


def test_a_simulation_inside_a_replay_answers_first(tracer, world, recorded):
    with tracer.replay(recorded, complete=False), tracer.simulate({"search": {"hotels": ["Paris Inn"]}}):
        assert world.agent("Paris")[0] == "booked Paris Inn"
    assert world.ran == []


def test_an_evaluation_takes_a_recording(tracer, world, recorded):
    examples = [
        Example(input={"city": city}, expected_tools=["search", "book", "pages"])
        for city in ("Paris", "Rome")
    ]
    report = run_evaluation(
        examples, [ToolOrderScorer()], function=world.agent, tracer=tracer, simulate=Recording(recorded)
    )
    assert [result.outcome for result in report] == ["passed", "errored"]
    assert "left the recording at call 1" in report[1].error
    assert world.ran == []


@pytest.fixture
def letters(tracer):
    @tracer.observe(span_type="tool")
    def letters(text):
        for letter in text:
            if letter == "!":
                raise LookupError("no letter")
            yield letter

    return letters


def test_a_generator_gives_its_recorded_items_and_then_its_error(tracer, letters):
    def agent():
        got = []
        try:
            for letter in letters("ab!"):
                got += [letter]
        except LookupError as error:
            got.append(str(error))
        return got

    with tracer.capture() as captured:
        assert agent() == ["a", "b", "no letter"]
    with tracer.replay(captured.trace):
        assert agent() == ["a", "b", "no letter"]


def test_nothing_is_known_beyond_the_items_that_were_taken(tracer, letters):
    def agent(count):
        stream = letters("abc")
        got = [next(stream) for _ in range(count)]
        stream.close()
        return got

    with tracer.capture() as captured:
        agent(2)
    with tracer.replay(captured.trace):
        assert agent(2) == ["a", "b"]
    with pytest.raises(SimulationError, match="was not read to its end when it was recorded"):
        with tracer.replay(captured.trace):
            agent(3)


def test_outputs_that_were_not_recorded_cannot_be_replayed(tracer):
    @tracer.observe(span_type="tool", capture_output=False)
    def secret(name):
        return "s"

    @tracer.observe(span_type="tool")
    def returning(name):
        yield 1
        return 2

    for call, text in (
        (lambda: secret("x"), "secret is observed with capture_output=False"),
        (lambda: list(returning("x")), "a generator that returned a value beside its items"),
    ):
        with tracer.capture() as captured:
            call()
        with pytest.raises(ConfigError, match=text):
            with tracer.replay(captured.trace):
                raise AssertionError("the block ran")


LOOK_ALIKES = [
    {"$float": "NaN"},
    {"$$float": "NaN"},
    {"$decimal": "1.10"},
    {"$bytes": "YWJj", "size": 3},
    {"$type": "shop.Cart"},
    {"$truncated": "depth"},
    [{"a": 1, "$truncated": 3}, {"b": [{"$int": "0x1f"}]}],
    math.nan,
    Decimal("1.10"),
    b"abc",
    10**700,
    {2, 1},
    {1: "a", "1": "b"},
]


@pytest.mark.parametrize("value", LOOK_ALIKES, ids=repr)
def test_an_argument_that_looks_like_a_written_form_is_what_was_recorded(tmp_path, value):
    tracer = Tracer("forms", store=str(tmp_path / "traces.db"))
    tool = tracer.observe(span_type="tool", name="tool")(lambda v: "done")
    with tracer.capture() as captured:
        tool(value)
    assert tracer.flush()
    for recording in (captured.trace, tracer.store.trace(captured.trace.trace_id)):
        with tracer.replay(recording):
            assert tool(value) == "done"
        with pytest.raises(SimulationError, match=r"v\S*: recorded"):
            with tracer.replay(recording):
                tool({"$float": "Infinity"})
    tracer.shutdown()


def test_a_value_is_not_the_mapping_that_spells_it(tracer):
    tool = tracer.observe(span_type="tool", name="tool")(lambda v: "done")
    with tracer.capture() as captured:
        tool({"$float": "NaN"})
    with pytest.raises(SimulationError, match=r"v\S*: recorded"):
        with tracer.replay(captured.trace):
            tool(math.nan)
