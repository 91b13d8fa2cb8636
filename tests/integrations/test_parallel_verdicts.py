"""Two hundred runs of agents whose tools run at once: an unchanged answer of the model flips no verdict."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from typing import Any

import pytest

from agenttrace.core.example import Example
from agenttrace.core.trace import Trace
from agenttrace.expectations import call, expect
from agenttrace.scorers import (
    ExecutionOrderScorer,
    FunctionCallCoverageScorer,
    ToolCallOrderScorer,
    ToolDependencyScorer,
    ToolOrderScorer,
    TrajectoryScorer,
)
from agenttrace.tracer import Tracer

RUNS = 200
ORDER = ["get_attractions", "get_weather", "book_hotel"]
AT_ONCE = [("get_attractions", "c1"), ("get_weather", "c2"), ("book_hotel", "c3")]


def verdicts(trace: Trace) -> dict[str, Any]:
    """What every scorer that looks at the order says, of the right order and of wrong ones."""
    wrong = ["book_hotel", "get_weather", "get_attractions"]
    depends = [{"tool_name": "book_hotel", "action_dependencies": ["get_weather"]}]
    values: dict[str, Any] = {}
    for name, expected in (("right", ORDER), ("wrong", wrong)):
        example = Example(expected_tools=expected, expected_output=expected)
        for scorer in (
            ToolOrderScorer(),
            ToolOrderScorer(exact_match=True),
            ToolCallOrderScorer(),
            ToolCallOrderScorer(strict=True),
            TrajectoryScorer(),
            ExecutionOrderScorer(should_exact_match=True),
            ExecutionOrderScorer(should_consider_ordering=True),
            FunctionCallCoverageScorer(mode="in_order"),
        ):
            score = scorer.score(example, trace)
            values[f"{name} {scorer.name} {scorer.strict}"] = score.value, score.outcome, score.reason
    guard = Example(expected_tools=expect(before=[("get_weather", "book_hotel")]))
    values["guard"] = ToolOrderScorer().score(guard, trace).value
    values["depends"] = ToolDependencyScorer().score(Example(expected_tools=depends), trace).value
    return values


class Choreography:
    """Lets calls begin and end in an order of its own, whatever the threads do.

    A schedule says of each call when it begins and when it ends. `overlap`: all begin before any ends; else
    each ends before the next begins.
    """

    def __init__(self, names: Sequence[str], seed: int, *, overlap: bool) -> None:
        chance = random.Random(seed)
        begins, ends = chance.sample(names, len(names)), chance.sample(names, len(names))
        if overlap:
            self._steps = [*(("begin", name) for name in begins), *(("end", name) for name in ends)]
        else:
            self._steps = [(what, name) for name in begins for what in ("begin", "end")]
        self._next = 0
        self._changed = threading.Condition()

    def reach(self, what: str, name: str) -> None:
        """Wait until it is this step's turn."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._steps[self._next] == (what, name), timeout=30)

    def done(self) -> None:
        """Let the next step begin."""
        with self._changed:
            self._next += 1
            self._changed.notify_all()


@pytest.fixture
def tracer() -> Iterator[Tracer]:
    tracer = Tracer("parallel", store="memory")
    yield tracer
    tracer.shutdown()


class TestAThreadedAgent:
    """Decorated tools on a thread pool; no model is recorded."""

    @pytest.fixture
    def run(self, tracer: Tracer) -> Callable[[Choreography], Trace]:
        running: list[Choreography] = []

        def tool_named(name: str) -> Callable[[], str]:
            def tool() -> str:
                running[-1].done()
                running[-1].reach("end", name)
                return name

            return tracer.observe(tool, name=name, span_type="tool")

        tools = {name: tool_named(name) for name in ORDER}

        def on_a_thread(name: str) -> str:
            running[-1].reach("begin", name)
            result = tools[name]()
            running[-1].done()
            return result

        @tracer.observe(span_type="agent")
        def agent() -> list[str]:
            with ThreadPoolExecutor(len(ORDER)) as pool:
                return list(pool.map(on_a_thread, ORDER))

        def run(choreography: Choreography) -> Trace:
            running.append(choreography)
            with tracer.capture() as captured:
                assert agent() == ORDER
            return captured.trace

        return run

    def test_gives_one_verdict_in_every_run(self, run: Callable[[Choreography], Trace]) -> None:
        starts, seen = set(), []
        for seed in range(RUNS):
            trace = run(Choreography(ORDER, seed, overlap=True))
            starts.add(tuple(span.name for span in trace.spans if span.span_type == "tool"))
            seen.append(verdicts(trace))
        assert starts == set(permutations(ORDER))
        assert all(values == seen[0] for values in seen)
        assert {value[1] for key, value in seen[0].items() if key.startswith("right")} == {"passed"}
        assert (seen[0]["guard"], seen[0]["depends"]) == (1.0, 1.0)

    def test_says_that_the_calls_count_as_unordered(self, run: Callable[[Choreography], Trace]) -> None:
        trace = run(Choreography(ORDER, 3, overlap=True))
        score = ToolOrderScorer().score(Example(expected_tools=ORDER), trace)
        assert score.details["parallel"] == [{"calls": [0, 1, 2], "order": "unordered"}]

    def test_keeps_the_order_of_calls_that_follow_each_other(self, tracer: Tracer) -> None:
        tools = [tracer.observe(lambda: None, name=name, span_type="tool") for name in ORDER]
        with tracer.capture() as captured, tracer.span("agent", span_type="agent"):
            for tool in reversed(tools):
                tool()
        assert ToolOrderScorer().score(Example(expected_tools=ORDER), captured.trace).value == 0.0


class TestAThreadedAgentWithAModel:
    """The same, and what the model asked for is recorded: without ids on the tools' spans."""

    def test_gives_one_verdict_in_every_run(self, tracer: Tracer) -> None:
        running: list[Choreography] = []

        def look_up(city: str, nights: int = 1) -> str:
            running[-1].done()
            running[-1].reach("end", city)
            return city

        tool = tracer.observe(look_up, span_type="tool")
        cities = ["Paris", "Oslo", "Rome"]

        def on_a_thread(city: str) -> str:
            running[-1].reach("begin", city)
            result = tool(city)
            running[-1].done()
            return result

        @tracer.observe(span_type="agent")
        def agent() -> None:
            with tracer.span("chat", span_type="llm") as span:
                asked = [{"id": c, "name": "look_up", "arguments": {"city": c}} for c in cities]
                span.output = {"tool_calls": asked}
            with ThreadPoolExecutor(3) as pool:
                list(pool.map(on_a_thread, cities))

        right = Example(expected_tools=[call("look_up", city=city) for city in cities])
        wrong = Example(expected_tools=[call("look_up", city=city) for city in reversed(cities)])
        scorer = ToolOrderScorer(exact_match=True)
        for seed in range(RUNS):
            running.append(Choreography(cities, seed, overlap=seed % 2 == 0))
            with tracer.capture() as captured:
                agent()
            assert scorer.score(right, captured.trace).value == 1.0
            assert scorer.score(wrong, captured.trace).value == 0.0


class TestALangGraphAgent:
    @pytest.fixture
    def run(self, tracer: Tracer) -> Callable[[Choreography | None], Trace]:
        pytest.importorskip("langgraph")
        from langchain_core.callbacks import BaseCallbackHandler
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage
        from langchain_core.tools import StructuredTool
        from langgraph.graph import END, START, MessagesState, StateGraph
        from langgraph.prebuilt import ToolNode

        from agenttrace.integrations.langgraph import AgentTraceCallbackHandler

        running: list[Choreography | None] = []

        class Gate(BaseCallbackHandler):
            """Holds a tool's events back: the handler behind it sees them in the order that is wanted."""

            run_inline = True
            raise_error = True

            def __init__(self, what: str) -> None:
                self.what = what
                self.names: dict[Any, str] = {}

            def on_tool_start(self, serialized: Any, input_str: str, *, run_id: Any, **kwargs: Any) -> None:
                self.names[run_id] = serialized["name"]
                if running[-1] is not None and self.what == "before":
                    running[-1].reach("begin", serialized["name"])
                elif running[-1] is not None:
                    running[-1].done()

            def on_tool_end(self, output: Any, *, run_id: Any, **kwargs: Any) -> None:
                if running[-1] is not None and self.what == "before":
                    running[-1].reach("end", self.names[run_id])
                elif running[-1] is not None:
                    running[-1].done()

        def tool_named(name: str) -> Any:
            return StructuredTool.from_function(lambda city: f"{name} {city}", name=name, description=name)

        handler = AgentTraceCallbackHandler(tracer)
        callbacks = [Gate("before"), handler, Gate("after")]
        tools = [tool_named(name) for name in ORDER]
        asked = [{"name": name, "args": {"city": "Paris"}, "id": call_id} for name, call_id in AT_ONCE]

        def run(choreography: Choreography | None) -> Trace:
            running.append(choreography)
            model = GenericFakeChatModel(messages=iter([AIMessage("", tool_calls=asked), AIMessage("done")]))
            graph = StateGraph(MessagesState)
            graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
            graph.add_node("tools", ToolNode(tools))
            graph.add_edge(START, "model")
            graph.add_conditional_edges(
                "model", lambda state: "tools" if state["messages"][-1].tool_calls else END, ["tools", END]
            )
            graph.add_edge("tools", "model")
            with tracer.capture() as captured:
                graph.compile().invoke({"messages": [("user", "go")]}, config={"callbacks": callbacks})
            assert handler.recording_errors == 0
            return captured.trace

        return run

    @pytest.mark.parametrize("overlap", [True, False], ids=["at once", "one after the other"])
    def test_gives_one_verdict_in_every_run(
        self, run: Callable[[Choreography | None], Trace], overlap: bool
    ) -> None:
        starts, seen = set(), []
        for seed in range(RUNS):
            trace = run(Choreography(ORDER, seed, overlap=overlap))
            starts.add(tuple(span.name for span in trace.spans if span.span_type == "tool"))
            assert [call.name for call in trace.tool_calls] == ORDER
            seen.append(verdicts(trace))
        assert starts == set(permutations(ORDER))
        assert all(values == seen[0] for values in seen)
        assert {value[1] for key, value in seen[0].items() if key.startswith("right")} == {"passed"}
        assert {value[1] for key, value in seen[0].items() if key.startswith("wrong")} == {"failed"}

    def test_gives_one_verdict_where_nothing_holds_the_threads_back(
        self, run: Callable[[Choreography | None], Trace]
    ) -> None:
        for _ in range(RUNS):
            assert [call.name for call in run(None).tool_calls] == ORDER

    def test_says_that_the_request_ordered_the_calls(
        self, run: Callable[[Choreography | None], Trace]
    ) -> None:
        trace = run(Choreography(ORDER, 3, overlap=True))
        score = ToolOrderScorer().score(Example(expected_tools=ORDER), trace)
        assert score.details["parallel"] == [{"calls": [0, 1, 2], "order": "requested"}]
