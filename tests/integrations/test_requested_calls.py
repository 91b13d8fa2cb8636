"""What a model asked for and nobody recorded: with wrapped clients and with LangGraph, as from messages."""

import json

import pytest

from agenttrace import Example, Trace, assert_test, expect, run_evaluation
from agenttrace.cli.main import cli
from agenttrace.core.report import EvaluationFailed
from agenttrace.integrations.wrap import wrap
from agenttrace.judges.evidence import trajectory
from agenttrace.reports.tree import trace_lines
from agenttrace.scorers import ToolCallOutputScorer, ToolOrderScorer, ToolPermissionScorer, TrajectoryScorer
from agenttrace.tracer import Tracer

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")


def asks(name, arguments, key="c1"):
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def completion(*calls, text=None):
    message = {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}
    reason = "tool_calls" if calls else "stop"
    choices = [{"index": 0, "message": message, "finish_reason": reason}]
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": choices}


OFFERED = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("find_customer", "refund")
]


class Desk:
    """An agent of two tools that asks a wrapped client until the model has no more calls."""

    def __init__(self, client, tracer, *, decorated=True, steps=9):
        self.client = client
        self.steps = steps
        self.messages = []
        observe = tracer.observe(span_type="tool") if decorated else lambda function: function

        @observe
        def find_customer(name, limit=3):
            return {"id": 7}

        @observe
        def refund(id, amount):  # noqa: A002 - what the model calls it
            if amount > 100:
                raise ValueError("too much")
            return {"refunded": amount}

        self.tools = {"find_customer": find_customer, "refund": refund}

    def __call__(self, question):
        self.messages = [{"role": "user", "content": question}]
        for step in range(self.steps):
            reply = self.client.chat.completions.create(
                model="gpt-4o", messages=self.messages, tools=OFFERED, extra_headers={"x-reply": str(step)}
            )
            message = reply.choices[0].message
            self.messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            if step + 1 < self.steps:
                for call in message.tool_calls:
                    self.messages.append(
                        {"role": "tool", "tool_call_id": call.id, "content": self.run(call.function)}
                    )
        return message.content

    def run(self, function):
        try:
            return json.dumps(self.tools[function.name](**json.loads(function.arguments)))
        except Exception as error:
            return f"error: {error!r}"


@pytest.fixture
def desk(model, tracer):
    """Makes agents, and closes their clients."""
    with openai.OpenAI(api_key="none", base_url=model.url + "/v1", max_retries=0) as client:
        yield lambda own=tracer, **options: Desk(wrap(client, tracer=own), own, **options)


def told(calls):
    return [(call.name, call.status, call.failed) for call in calls]


def outcomes(scorer, example, *traces):
    return [scorer.score(example, trace).outcome for trace in traces]


def captured_run(agent, tracer):
    with tracer.capture() as captured:
        agent("refund ann")
    assert tracer.flush()
    return captured.trace, tracer.store.trace(captured.trace.trace_id), Trace.from_messages(agent.messages)


def test_a_hallucinated_tool_is_in_the_trace_and_refused_everywhere(model, tracer, desk):
    model.answers(completion(asks("find_custmer", '{"name": "ann"}')))
    model.answers(completion(asks("find_customer", '{"name": "ann"}', "c2")))
    model.answers(completion(text="done"))
    live, stored, chat = captured_run(desk(), tracer)
    assert (
        told(live.tool_calls)
        == told(stored.tool_calls)
        == [
            ("find_custmer", "attempted", True),
            ("find_customer", "ok", False),
        ]
    )
    assert [call.name for call in chat.tool_calls] == ["find_custmer", "find_customer"]
    permitted = ToolPermissionScorer(allow=["find_customer", "refund"])
    assert [permitted.score(Example(), trace).value for trace in (live, stored, chat)] == [0.5, 0.5, 0.5]
    exact = ToolOrderScorer(exact_match=True)
    assert outcomes(exact, Example(expected_tools=["find_customer"]), live, stored, chat) == ["failed"] * 3
    executed = ToolPermissionScorer(deny="find_custmer", attempts="successes")
    assert outcomes(executed, Example(), live, stored, chat) == ["passed", "passed", "errored"]


def test_unreadable_arguments_are_in_the_trace_with_their_text(model, tracer, desk):
    model.answers(completion(asks("refund", '{"id": 7, "amount": ')))
    model.answers(completion(text="sorry"))
    live, stored, chat = captured_run(desk(), tracer)
    for trace in (live, stored, chat):
        (call,) = trace.tool_calls
        assert (call.name, call.status, call.arguments) == ("refund", "attempted", {})
        assert '{"id": 7, "amount": ' in call.arguments_error
    guard = TrajectoryScorer(expected=expect(tool_errors=0))
    assert outcomes(guard, Example(), live, stored, chat) == ["failed"] * 3


def test_without_decorated_tools_the_run_is_what_its_messages_say(model, tracer, desk):
    model.answers(completion(asks("find_customer", '{"name": "ann"}')))
    model.answers(
        completion(
            asks("refund", '{"id": 7, "amount": 12.5}', "c2"), asks("refund", '{"id": 8, "amount": 1}', "c3")
        )
    )
    model.answers(completion(text="done"))
    live, stored, chat = captured_run(desk(decorated=False), tracer)
    facts = [
        [(call.name, call.arguments, call.status, call.failed, call.output) for call in trace.tool_calls]
        for trace in (live, stored, chat)
    ]
    assert facts[0] == facts[1] == facts[2]
    assert facts[0] == [
        ("find_customer", {"name": "ann"}, "answered", None, '{"id": 7}'),
        ("refund", {"id": 7, "amount": 12.5}, "answered", None, '{"refunded": 12.5}'),
        ("refund", {"id": 8, "amount": 1}, "answered", None, '{"refunded": 1}'),
    ]
    for output, outcome in (('{"id": 7}', "passed"), ({"id": 7}, "errored"), ({"id": 8}, "failed")):
        scorer = ToolCallOutputScorer([{"name": "find_customer", "output": output}])
        assert outcomes(scorer, Example(), live, stored, chat) == [outcome] * 3


def test_a_tool_that_failed_and_was_told_so_is_never_a_success(model, tracer, desk):
    model.answers(completion(asks("refund", '{"id": 7, "amount": 900}')))
    model.answers(completion(text="sorry"))
    live, stored, chat = captured_run(desk(), tracer)
    assert told(live.tool_calls) == [("refund", "error", True)]
    guard = TrajectoryScorer(expected=expect(tool_errors=0))
    assert outcomes(guard, Example(), live, stored, chat) == ["failed", "failed", "errored"]
    assert "the outcome of refund (call 1) was not recorded" in guard.score(Example(), chat).reason


def test_a_run_that_stops_before_the_tool_has_requested_it(model, tracer, desk):
    model.answers(completion(asks("refund", '{"id": 7, "amount": 1}')))
    live, stored, chat = captured_run(desk(steps=1), tracer)
    for trace in (live, stored, chat):
        assert told(trace.tool_calls) == [("refund", "requested", None)]
        for scorer, outcome in (
            (ToolOrderScorer(), "passed"),
            (ToolOrderScorer(attempts="successes"), "errored"),
            (ToolPermissionScorer(deny="refund"), "failed"),
            (ToolCallOutputScorer([{"name": "refund", "output": 1}]), "errored"),
            (TrajectoryScorer(expected=expect(tool_errors=0)), "errored"),
        ):
            assert scorer.score(Example(expected_tools=["refund"]), trace).outcome == outcome


def test_it_is_shown_as_what_it_is(model, tracer, desk):
    model.answers(completion(asks("find_custmer", '{"name": "ann"}')))
    model.answers(completion(asks("refund", '{"id": 7, "amount": 1}', "c2")))
    live, stored, chat = captured_run(desk(steps=2), tracer)
    for trace in (live, stored):
        lines = [line.text.strip() for line in trace_lines(trace)]
        assert any(line.endswith("2 tool calls (1 attempted, 1 requested)") for line in lines)
        assert '⇢ find_custmer(name="ann")  attempted, not executed (no such tool)' in lines
        assert "⇢ refund(id=7, amount=1)  requested, execution not recorded" in lines
        seen = trajectory(trace)
        assert 'tool find_custmer(name="ann") was attempted, not executed (no such tool)' in seen
        assert "tool refund(id=7, amount=1) was requested, execution not recorded" in seen
    lines = [line.text.strip() for line in trace_lines(chat)]
    assert "requested, execution not recorded" in lines
    assert "was answered with" in trajectory(chat)


def test_a_failing_test_shows_it_in_its_diff(model, tracer, desk):
    model.answers(completion(asks("find_custmer", '{"name": "ann"}')))
    model.answers(completion(asks("refund", '{"id": 7, "amount": 1}', "c2")))
    example = Example(input="refund ann", expected_tools=["find_customer", "refund"])
    with pytest.raises(EvaluationFailed) as caught:
        assert_test([example], [ToolOrderScorer()], function=desk(steps=2), tracer=tracer)
    text = str(caught.value)
    assert "attempted, not executed (no such tool)" in text
    assert "requested, execution not recorded" in text


def test_an_agent_that_breaks_off_shows_it_among_its_calls(model, tracer, desk):
    model.answers(completion(asks("find_custmer", '{"name": "ann"}')))

    def agent(question):
        desk(steps=1)(question)
        raise RuntimeError("no such tool")

    report = run_evaluation(
        [Example(input="x", expected_tools=["find_customer"])],
        [ToolOrderScorer()],
        function=agent,
        tracer=tracer,
    )
    from agenttrace.reports import report_text

    assert 'find_custmer(name="ann")  attempted, not executed (no such tool)' in report_text(report)


def test_streams_and_responses_and_claude_are_read_alike(model, tracer):
    def choice(delta, finish=None):
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}

    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"id"'}}
    rest = {"index": 0, "function": {"arguments": ": 7}"}}
    streamed = model.streams(
        [choice({"tool_calls": [call]}), choice({"tool_calls": [rest]}), choice({}, "tool_calls")]
    )
    item = {"type": "function_call", "id": "f", "call_id": "c1", "name": "refund", "arguments": '{"id": 7}'}
    response = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [item],
        "status": "completed",
    }
    responded = model.answers({**response, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []})
    block = {"type": "tool_use", "id": "c1", "name": "refund", "input": {"id": 7}}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [block]}
    told_by_claude = model.answers(
        {**message, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}
    )
    with (
        openai.OpenAI(api_key="none", base_url=model.url + "/v1") as plain,
        anthropic.Anthropic(api_key="none", base_url=model.url) as claude,
    ):
        client, claude = wrap(plain, tracer=tracer), wrap(claude, tracer=tracer)
        user = [{"role": "user", "content": "x"}]
        with tracer.capture() as captured:
            for _ in client.chat.completions.create(
                model="m", messages=user, stream=True, extra_headers={"x-reply": str(streamed)}
            ):
                pass
            client.responses.create(model="m", input="x", extra_headers={"x-reply": str(responded)})
            claude.messages.create(
                model="m", max_tokens=9, messages=user, extra_headers={"x-reply": str(told_by_claude)}
            )
            again = [*user, {"role": "assistant", "content": [block]}]
            again.append(
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]}
            )
            claude.messages.create(
                model="m", max_tokens=9, messages=again, extra_headers={"x-reply": str(told_by_claude)}
            )
    assert [(call.arguments, call.status, call.output) for call in captured.trace.tool_calls] == [
        ({"id": 7}, "requested", None),
        ({"id": 7}, "requested", None),
        ({"id": 7}, "ok", "ok"),
        ({"id": 7}, "requested", None),
    ]


class TestLangGraph:
    @pytest.fixture
    def handler(self, tracer):
        pytest.importorskip("langgraph")
        from agenttrace.integrations.langgraph import AgentTraceCallbackHandler

        return AgentTraceCallbackHandler(tracer)

    def agent(self, *script, **options):
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.tools import tool
        from langgraph.graph import END, START, MessagesState, StateGraph
        from langgraph.prebuilt import ToolNode

        @tool
        def refund(id: int) -> str:  # noqa: A002 - what the model calls it
            """Refund an order."""
            return f"refunded {id}"

        offered = [{"type": "function", "function": {"name": "refund", "parameters": {}}}]
        model = GenericFakeChatModel(messages=iter(script)).bind(tools=offered)
        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
        graph.add_node("tools", ToolNode([refund]))
        graph.add_edge(START, "model")
        graph.add_conditional_edges(
            "model", lambda state: "tools" if state["messages"][-1].tool_calls else END, ["tools", END]
        )
        graph.add_edge("tools", "model")
        return graph.compile(**options)

    def says(self, text="", *calls):
        from langchain_core.messages import AIMessage

        return AIMessage(
            text, tool_calls=[{"name": n, "args": a, "id": k, "type": "tool_call"} for n, a, k in calls]
        )

    def run(self, handler, graph, **config):
        with handler.capture() as captured:
            final = graph.invoke({"messages": [("user", "refund 7")]}, {"callbacks": [handler], **config})
        return captured.trace, Trace.from_messages(final["messages"])

    def test_a_tool_that_the_graph_does_not_have_was_attempted(self, handler):
        graph = self.agent(
            self.says("", ("refnd", {"id": 7}, "a"), ("refund", {"id": 7}, "b")), self.says("done")
        )
        live, chat = self.run(handler, graph)
        assert told(live.tool_calls) == [("refnd", "attempted", True), ("refund", "ok", False)]
        assert told(chat.tool_calls) == [("refnd", "error", True), ("refund", "ok", False)]
        for attempts in ("count", "collapse", "successes"):
            for expected in (["refund"], ["refund", "refund"], []):
                scorer = ToolOrderScorer(exact_match=True, attempts=attempts)
                assert len(set(outcomes(scorer, Example(expected_tools=expected), live, chat))) == 1

    def test_a_graph_that_waits_for_a_human_has_requested_the_tool(self, handler):
        from langgraph.checkpoint.memory import InMemorySaver

        graph = self.agent(
            self.says("", ("refund", {"id": 7}, "a")),
            checkpointer=InMemorySaver(),
            interrupt_before=["tools"],
        )
        live, chat = self.run(handler, graph, configurable={"thread_id": "t"})
        assert told(live.tool_calls) == told(chat.tool_calls) == [("refund", "requested", None)]


def test_the_command_line_shows_it(model, desk, tmp_path, capsys):
    store = tmp_path / "traces.db"
    tracer = Tracer(project_name="desk", store=store)
    model.answers(completion(asks("find_custmer", '{"name": "ann"}')))
    with tracer.capture() as captured:
        desk(tracer, steps=1)("refund ann")
    tracer.shutdown()
    with pytest.raises(SystemExit):
        cli(["traces", "show", captured.trace.trace_id, "--store", str(store)])
    assert 'find_custmer(name="ann")  attempted, not executed (no such tool)' in capsys.readouterr().out
