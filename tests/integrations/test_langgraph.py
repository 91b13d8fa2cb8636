"""Runs of the real langgraph, with a scripted chat model, as spans."""

import asyncio
import gc
import operator
from typing import Annotated, TypedDict

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationFailed
from agenttrace.evaluation import assert_test, run_evaluation
from agenttrace.expectations import expect
from agenttrace.scorers import ToolOrderScorer
from agenttrace.tracer import Tracer

pytest.importorskip("langgraph")

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import ToolException, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, interrupt

from agenttrace.integrations.langgraph import AgentTraceCallbackHandler


@tool
def get_attractions(destination: str) -> str:
    """Get attractions for a destination"""
    return f"the sights of {destination}"


@tool
def get_weather(destination: str, start_date: str, end_date: str) -> str:
    """Get weather forecast for a destination"""
    return f"sun in {destination}"


def asks_for(name, call_id="c", **arguments):
    return {"name": name, "args": arguments, "id": call_id, "type": "tool_call"}


def says(text="", *calls, **about):
    return AIMessage(text, tool_calls=list(calls), **about)


def agent_of(*script, tools=(get_attractions, get_weather)):
    """A graph of a scripted model and its tools, as the documentation of langgraph builds it."""
    model = GenericFakeChatModel(messages=iter(script))
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(list(tools)))
    graph.add_edge(START, "model")

    def route(state):
        return "tools" if state["messages"][-1].tool_calls else END

    graph.add_conditional_edges("model", route, ["tools", END])
    graph.add_edge("tools", "model")
    return graph.compile()


class Steps(TypedDict):
    done: Annotated[list, operator.add]


def line(*steps, **options):
    """A graph of nodes one after the other; each a function, or (function, options of the node)."""
    graph, last = StateGraph(Steps), START
    for step in steps:
        function, more = step if isinstance(step, tuple) else (step, {})
        graph.add_node(function.__name__, function, **more)
        graph.add_edge(last, function.__name__)
        last = function.__name__
    return graph.compile(**options)


@pytest.fixture
def handler(tracer):
    handler = AgentTraceCallbackHandler(tracer)
    yield handler
    gc.collect()
    assert len(handler._runs) == 0, "runs that never ended"
    assert handler.recording_errors == 0


def config(handler, **more):
    return {"callbacks": [handler], **more}


def shape(trace):
    """The tree of a trace as names, indented."""
    return [f"{'  ' * depth}{span.span_type} {span.name}" for depth, span in trace.walk()]


PARIS = {"destination": "Paris"}
DAYS = {**PARIS, "start_date": "2025-06-01", "end_date": "2025-06-02"}
PROMPT = "What's the attraction and weather in Paris for early June 2025 (1st - 2nd)?"
EXPECTED = [
    {"tool_name": "get_attractions", "parameters": PARIS},
    {"tool_name": "get_weather", "parameters": DAYS},
]


class Agent:
    """The agent of the seed's tool order page, as a graph; `days` is what its model asks the weather for."""

    def __init__(self, handler, days=DAYS):
        self.handler, self.days = handler, days

    def run_agent(self, prompt):
        graph = agent_of(
            says("", asks_for("get_attractions", **PARIS)),
            says("", asks_for("get_weather", **self.days)),
            says("Go in June."),
        )
        answer = graph.invoke({"messages": [HumanMessage(prompt)]}, config=config(self.handler))
        return answer["messages"][-1].content


def test_the_tool_order_page_works_with_the_handler_in_the_tracers_place(handler):
    example = Example(input={"prompt": PROMPT}, expected_tools=EXPECTED)
    report = assert_test(
        examples=[example],
        scorers=[ToolOrderScorer(exact_match=True)],
        function=Agent(handler).run_agent,
        tracer=handler,
    )
    (result,) = report
    assert result.success
    wrong = Agent(handler, {**DAYS, "end_date": "2025-06-30"})
    with pytest.raises(EvaluationFailed, match="2025-06-30"):
        assert_test(
            examples=[example],
            scorers=[ToolOrderScorer(exact_match=True)],
            function=wrong.run_agent,
            tracer=handler,
        )


def test_examples_that_run_at_once_are_kept_apart(handler):
    examples = [Example(input={"prompt": f"{n}"}, expected_tools=EXPECTED) for n in range(6)]
    report = run_evaluation(
        examples,
        [ToolOrderScorer(exact_match=True)],
        function=Agent(handler).run_agent,
        tracer=handler,
        concurrency=3,
    )
    assert all(result.success for result in report)


def test_a_graph_its_nodes_models_and_tools_are_a_tree(handler):
    answer = says(
        "",
        asks_for("get_weather", **DAYS),
        usage_metadata={
            "input_tokens": 1000,
            "output_tokens": 10,
            "total_tokens": 1010,
            "input_token_details": {"cache_read": 400},
        },
        response_metadata={"model_name": "gpt-4o-2024-08-06", "finish_reason": "tool_calls"},
    )
    graph = agent_of(answer, says("done"))
    with handler.capture() as captured:
        graph.invoke({"messages": [HumanMessage("hi")]}, config(handler, configurable={"thread_id": "t-7"}))
    trace = captured.trace
    assert shape(trace) == [
        "agent LangGraph",
        "  node model",
        "    llm GenericFakeChatModel",
        "    chain route",
        "  node tools",
        "    tool get_weather",
        "  node model",
        "    llm GenericFakeChatModel",
        "    chain route",
    ]
    llm = next(span for span in trace.spans if span.span_type == "llm")
    assert llm.input["messages"] == [{"role": "user", "content": "hi"}]
    assert llm.output == {
        "text": "",
        "tool_calls": [{"id": "c", "name": "get_weather", "arguments": DAYS}],
        "finish_reason": "tool_calls",
    }
    assert llm.usage["cost"] == pytest.approx((600 * 2.5 + 400 * 1.25 + 10 * 10) / 1e6)
    assert llm.attributes["gen_ai.response.model"] == "gpt-4o-2024-08-06"
    (call,) = trace.tool_calls
    assert (call.name, call.arguments, call.output) == ("get_weather", DAYS, "sun in Paris")
    assert (trace.session_id, call.agent) == ("t-7", "LangGraph")


def test_the_tools_that_a_model_is_bound_to_are_known_to_guards(handler):
    model = GenericFakeChatModel(messages=iter([says("", asks_for("get_weather", **DAYS))]))
    bound = model.bind(tools=[convert_to_openai_tool(one) for one in (get_attractions, get_weather)])
    with handler.capture() as captured:
        answer = bound.invoke("hi", config(handler))
        get_weather.invoke(answer.tool_calls[0]["args"], config(handler))
    scorer = ToolOrderScorer()
    guarded = Example(expected_tools=expect(["get_weather"], never=["get_atractions", "get_attractions"]))
    score = scorer.score(guarded, captured.trace)
    assert (score.outcome, score.details["vacuous"]) == ("passed", ["never get_atractions"])


def test_repeated_and_parallel_calls_of_a_tool_are_all_there(handler):
    calls = [asks_for("get_attractions", f"c{n}", destination=city) for n, city in enumerate("ABAB")]
    with handler.capture() as captured:
        agent_of(says("", *calls), says("done")).invoke({"messages": []}, config(handler))
    assert sorted(call.arguments["destination"] for call in captured.trace.tool_calls) == list("AABB")


def test_a_tool_that_is_decorated_as_well_is_one_call(handler, tracer):
    @tool
    @tracer.observe(span_type="tool")
    def find(city: str, days: int = 3) -> dict:
        """Find"""
        if city == "Atlantis":
            raise ValueError("no such city")
        return {"city": city}

    calls = [asks_for("find", "c1", city="Paris"), asks_for("find", "c2", city="Oslo", days="4")]
    with handler.capture() as captured:
        agent_of(says("", *calls), says("done"), tools=[find]).invoke({"messages": []}, config(handler))
    assert sum(span.span_type == "tool" for span in captured.trace.spans) == 4
    assert [(call.arguments, call.output) for call in captured.trace.tool_calls] == [
        ({"city": "Paris", "days": 3}, {"city": "Paris"}),
        ({"city": "Oslo", "days": 4}, {"city": "Oslo"}),
    ]
    broken = agent_of(says("", asks_for("find", city="Atlantis")), tools=[find])
    with handler.capture() as captured, pytest.raises(ValueError, match="no such city"):
        broken.invoke({"messages": []}, config(handler))
    (call,) = captured.trace.tool_calls
    assert (call.failed, call.error.type) == (True, "ValueError")


def test_a_decorated_tool_that_calls_itself_is_two_calls(handler, tracer):
    @tracer.observe(span_type="tool")
    def count_down(n: int) -> int:
        return n and count_down(n - 1)

    graph_tool = tool(description="Count")(count_down)
    with handler.capture() as captured:
        agent_of(says("", asks_for("count_down", n=1)), says("done"), tools=[graph_tool]).invoke(
            {"messages": []}, config(handler)
        )
    assert [call.arguments for call in captured.trace.tool_calls] == [{"n": 1}, {"n": 0}]


def test_an_asynchronous_run_is_recorded_alike(handler):
    script = [says("", asks_for("get_attractions", **PARIS)), says("done")]
    shapes = []
    with handler.capture() as captured:
        agent_of(*script).invoke({"messages": []}, config(handler))
    shapes.append(shape(captured.trace))
    with handler.capture() as captured:
        asyncio.run(agent_of(*script).ainvoke({"messages": []}, config(handler)))
    shapes.append(shape(captured.trace))
    assert shapes[0] == shapes[1]
    assert captured.trace.tool_calls[0].arguments == PARIS


def test_parallel_branches_and_sub_graphs_stand_where_they_belong(handler):
    inner = line(lambda_named("deep"))
    graph = StateGraph(Steps)
    graph.add_node("left", lambda state: {"done": ["left"]})
    graph.add_node("right", inner)
    graph.add_node("last", lambda state: {"done": ["last"]})
    for side in ("left", "right"):
        graph.add_edge(START, side)
        graph.add_edge(side, "last")
    with handler.capture() as captured:
        graph.compile().invoke({"done": []}, config(handler))
    lines = shape(captured.trace)
    assert lines[0] == "agent LangGraph"
    assert sorted(lines[1:-1]) == sorted(
        ["  node left", "  node right", "    agent LangGraph", "      node deep"]
    )
    assert lines[-1] == "  node last"
    inside = [span.name for depth, span in captured.trace.walk() if depth == 1]
    assert sorted(inside) == ["last", "left", "right"]


def lambda_named(name):
    def step(state):
        return {"done": [name]}

    step.__name__ = name
    return step


def test_an_error_is_on_the_spans_that_it_left_and_reaches_the_user(handler):
    error = ValueError("no such city")

    def broken(state):
        raise error

    with handler.capture() as captured, pytest.raises(ValueError, match="no such city") as caught:
        line(broken).invoke({"done": []}, config(handler))
    assert caught.value is error
    assert [(s.name, s.error.type, s.error.message) for s in captured.trace.spans] == [
        ("LangGraph", "ValueError", "no such city"),
        ("broken", "ValueError", "no such city"),
    ]


def test_a_tools_failure_is_an_error_on_its_span_whatever_becomes_of_it(handler):
    @tool
    def fragile(kind: str) -> str:
        """Fail."""
        if kind == "told":
            raise ToolException("told to the model")
        raise RuntimeError("raised")

    fragile.handle_tool_error = True
    calls = [asks_for("fragile", "c1", kind="told"), asks_for("fragile", "c2", kind="raised")]
    nodes = ToolNode([fragile], handle_tool_errors=True)
    graph = StateGraph(MessagesState)
    graph.add_node("tools", nodes)
    graph.add_edge(START, "tools")
    with handler.capture() as captured:
        graph.compile().invoke({"messages": [says("", *calls)]}, config(handler))
    errors = {call.arguments["kind"]: call.error for call in captured.trace.tool_calls}
    assert errors["told"].message == "told to the model"
    assert (errors["raised"].type, errors["raised"].message) == ("RuntimeError", "raised")
    assert all(call.failed for call in captured.trace.tool_calls)


def test_every_attempt_of_a_retried_node_is_a_span(handler):
    attempts = []

    def flaky(state):
        attempts.append(1)
        if len(attempts) < 3:
            raise ConnectionError("again")
        return {"done": ["yes"]}

    policy = RetryPolicy(max_attempts=3, initial_interval=0.001, jitter=False)
    with handler.capture() as captured:
        line((flaky, {"retry_policy": policy})).invoke({"done": []}, config(handler))
    tried = [span.error and span.error.type for span in captured.trace.spans if span.name == "flaky"]
    assert tried == ["ConnectionError", "ConnectionError", None]


def test_attempts_of_a_retried_runnable_are_numbered(handler):
    attempts = []

    def flaky(value):
        attempts.append(1)
        if len(attempts) < 2:
            raise ConnectionError("again")
        return value

    retried = RunnableLambda(flaky).with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
    with handler.capture() as captured:
        retried.invoke("x", config(handler))
    assert [span.attributes.get("agenttrace.attempt") for span in captured.trace.spans][-1] == 2


def test_what_is_observed_inside_a_node_stands_under_it(handler, tracer):
    @tracer.observe(span_type="tool")
    def look_up(key):
        return key * 2

    def plan(state):
        return {"done": [look_up("k")]}

    @tracer.observe(span_type="agent")
    def outer():
        return line(plan).invoke({"done": []}, config(handler))

    with handler.capture() as captured:
        outer()
        look_up("after")
    assert shape(captured.trace) == [
        "agent outer",
        "  agent LangGraph",
        "    node plan",
        "      tool look_up",
        "tool look_up",
    ]


def test_what_is_observed_after_an_awaited_tool_does_not_stand_under_it(handler, tracer):
    @tracer.observe
    def inside_the_tool():
        return "x"

    @tracer.observe
    def after_the_tool():
        return "y"

    @tool
    async def fetch(url: str) -> str:
        """Fetch."""
        return inside_the_tool()

    async def plan(state):
        first = await fetch.ainvoke({"url": "a"})
        second = after_the_tool()
        return {"done": [first, second, await fetch.ainvoke({"url": "b"})]}

    async def main():
        await line(plan).ainvoke({"done": []}, config(handler))
        after_the_tool()

    with handler.capture() as captured:
        asyncio.run(main())
    assert shape(captured.trace) == [
        "agent LangGraph",
        "  node plan",
        "    tool fetch",
        "      function inside_the_tool",
        "    function after_the_tool",
        "    tool fetch",
        "      function inside_the_tool",
        "function after_the_tool",
    ]


def test_runs_one_after_the_other_in_one_task_are_traces_of_their_own(handler, tracer):
    @tracer.observe
    def between():
        return "x"

    async def plan(state):
        return {"done": [between()]}

    async def main():
        for _ in range(3):
            await line(plan, lambda_named("last")).ainvoke({"done": []}, config(handler))
            between()

    asyncio.run(main())
    assert tracer.flush()
    shapes = sorted(shape(tracer.store.trace(row.trace_id)) for row in tracer.store.traces())
    graph = ["agent LangGraph", "  node plan", "    function between", "  node last"]
    assert shapes == [graph] * 3 + [["function between"]] * 3


def test_a_call_between_a_node_and_its_tool_keeps_its_place(handler, tracer):
    @tracer.observe
    def between():
        return get_attractions.invoke(PARIS)

    def plan(state):
        return {"done": [between()]}

    with handler.capture() as captured:
        line(plan).invoke({"done": []}, config(handler))
    assert shape(captured.trace)[1:] == [
        "  node plan",
        "    function between",
        "      tool get_attractions",
    ]


def test_a_cancelled_run_leaves_nothing_open(handler):
    reached = None

    @tool
    async def hang(seconds: int) -> str:
        """Hang."""
        reached.set()
        await asyncio.sleep(seconds)

    graph = agent_of(says("", asks_for("hang", seconds=30)), tools=[hang])

    async def main():
        nonlocal reached
        reached = asyncio.Event()
        task = asyncio.create_task(graph.ainvoke({"messages": []}, config(handler)))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with handler.capture() as captured:
        asyncio.run(main())
    assert len(handler._runs) == 0
    ended = {span.name: span.status for span in captured.trace.spans}
    assert ended["hang"] == "cancelled"
    assert ended["LangGraph"] == "cancelled"


def test_a_stream_that_is_dropped_leaves_nothing_open(handler):
    with handler.capture() as captured:
        stream = line(lambda_named("one"), lambda_named("two")).stream({"done": []}, config(handler))
        next(stream)
        stream.close()
        assert len(handler._runs) == 0
    assert captured.trace.spans[0].status == "cancelled"


def test_code_between_the_items_of_a_stream_is_not_recorded_inside_the_graph(handler, tracer):
    @tracer.observe
    def mine():
        return 1

    with handler.capture() as captured:
        for _update in line(lambda_named("one"), lambda_named("two")).stream({"done": []}, config(handler)):
            mine()
    assert [span.parent_id for span in captured.trace.spans if span.name == "mine"] == [None, None]


def test_an_interrupt_is_no_error(handler):
    def ask(state):
        return {"done": [interrupt("may I?")]}

    graph = line(ask, checkpointer=InMemorySaver())
    place = {"configurable": {"thread_id": "1"}}
    with handler.capture() as captured:
        graph.invoke({"done": []}, config(handler, **place))
        assert graph.invoke(Command(resume="yes"), config(handler, **place))["done"] == ["yes"]
    assert {span.status for span in captured.trace.spans} == {"ok"}
    asked = next(span for span in captured.trace.spans if span.name == "ask")
    assert asked.attributes["langgraph.left_by"] == "GraphInterrupt"


def test_a_streaming_model_tells_its_time_to_the_first_part(handler):
    model = GenericFakeChatModel(messages=iter([says("one two three")]))
    with handler.capture() as captured:
        text = "".join(chunk.content for chunk in model.stream("go", config(handler)))
    (span,) = captured.trace.spans
    assert span.output["text"] == text == "one two three"
    assert span.attributes["gen_ai.response.time_to_first_chunk"] >= 0


def test_a_run_outside_a_capture_is_a_trace_in_the_store(handler, tracer):
    agent_of(says("done")).invoke({"messages": []}, config(handler))
    assert tracer.flush()
    (stored,) = tracer.store.traces()
    assert stored.name == "LangGraph"


def test_a_run_that_is_sampled_out_records_nothing_below_it():
    none = Tracer("none", store="memory", sample_rate=0)
    handler = AgentTraceCallbackHandler(none)

    @none.observe
    def inner():
        return "x"

    def plan(state):
        return {"done": [inner()]}

    line(plan).invoke({"done": []}, config(handler))
    assert none.flush()
    assert not none.store.traces()
    assert none.stats()["sampled_out"] == 1
    none.shutdown()


def test_a_tracer_that_is_none_is_an_error():
    with pytest.raises(ConfigError, match="tracer is a Tracer"):
        AgentTraceCallbackHandler("my_project")


def test_an_event_that_cannot_be_read_is_counted_and_the_run_goes_on(tracer):
    handler = AgentTraceCallbackHandler(tracer)
    handler.on_chain_start(None, {}, run_id=object(), tags=5)
    assert handler.recording_errors == 1
