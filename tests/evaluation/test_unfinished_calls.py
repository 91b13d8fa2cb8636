"""Calls of tools that run still when the agent returns: they began, so every scorer sees them."""

import asyncio
import gc
import sys
import threading
import time

import pytest

from agenttrace import Example, Tracer, expect, run_evaluation
from agenttrace.scorers import (
    BudgetScorer,
    LoopScorer,
    ToolCallCountScorer,
    ToolCallOutputScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
)


@pytest.fixture
def release():
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def tracer():
    return Tracer("unfinished", store="memory")


@pytest.fixture
def tools(tracer, release):
    @tracer.observe(span_type="tool")
    def look(number):
        return number

    @tracer.observe(span_type="tool")
    def delete(number):
        release.wait(20)
        return "deleted"

    @tracer.observe
    def clean_up():
        release.wait(20)

    return look, delete, clean_up


@pytest.fixture
def agent(tracer, tools):
    look, delete, clean_up = tools

    @tracer.observe(span_type="agent")
    async def agent(number):
        look(number)
        cleaning = asyncio.create_task(asyncio.to_thread(clean_up))
        try:
            await asyncio.wait_for(asyncio.to_thread(delete, number), 0.05)
        except TimeoutError:
            return "it takes long"
        finally:
            cleaning.cancel()

    return agent


def outcomes(agent, tracer, expected, *scorers):
    example = Example(input={"number": 7}, expected_tools=expected)
    (result,) = run_evaluation([example], [*scorers], function=agent, tracer=tracer)
    return result, [score.outcome for score in result.scores]


def test_a_call_that_runs_still_is_forbidden_as_any_other(agent, tracer):
    result, judged = outcomes(
        agent,
        tracer,
        expect(["look"], never="del*"),
        ToolOrderScorer(),
        ToolPermissionScorer(deny="del*"),
        BudgetScorer(calls=1),
        ToolCallCountScorer({"delete": ("=", 0)}),
    )
    assert judged == ["failed", "failed", "failed", "failed"]
    assert [call.name for call in result.trace.tool_calls] == ["look", "delete"]


def test_a_call_that_runs_still_is_there_where_it_is_expected(agent, tracer):
    _, judged = outcomes(agent, tracer, ["look", "delete"], ToolOrderScorer(), LoopScorer())
    assert judged == ["passed", "passed"]


def test_the_store_says_the_same_when_it_has_ended(agent, tracer, release):
    example_of = expect(["look"], never="del*")
    result, judged = outcomes(agent, tracer, example_of, ToolOrderScorer())
    release.set()
    for _ in range(500):  # until its thread has ended
        tracer.flush()
        stored = tracer.store.trace(result.trace_id)
        if stored is not None and len(stored.tool_calls) == 2:
            break
        time.sleep(0.02)
    assert [call.name for call in stored.tool_calls] == [call.name for call in result.trace.tool_calls]
    later = ToolOrderScorer().score(result.example, stored)
    assert [later.outcome] == judged


def test_nothing_is_said_of_what_it_returns(agent, tracer):
    expected = [{"name": "delete", "output": "deleted"}]
    _, judged = outcomes(agent, tracer, expected, ToolCallOutputScorer())
    assert judged == ["errored"]


def test_a_generator_that_is_half_read_and_held_has_been_called(tracer):
    held = []

    @tracer.observe(span_type="tool")
    def pages():
        yield 1
        yield 2

    @tracer.observe(span_type="agent")
    def agent(number):
        held.append(pages())
        return next(held[-1])

    result, judged = outcomes(agent, tracer, [], ToolOrderScorer(exact_match=True))
    assert judged == ["failed"]
    assert [call.name for call in result.trace.tool_calls] == ["pages"]
    held.clear()


def test_where_all_have_ended_nothing_is_looked_for(tracer, tools, monkeypatch):
    monkeypatch.setattr(gc, "get_referrers", lambda *_: pytest.fail("all calls have ended"))
    with tracer.capture() as captured:
        tools[0](1)
        with tracer.span("step"):
            tools[0](2)
        with pytest.raises(TypeError):
            tools[0](1, 2, 3)
    assert [call.name for call in captured.trace.tool_calls] == ["look", "look"]


def test_while_the_block_is_open_its_trace_has_what_has_ended(tracer, tools, release):
    with tracer.capture() as captured:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        tools[0](1)
        assert [call.name for call in captured.trace.tool_calls] == ["look"]
        thread.join()


def test_a_call_that_ends_as_the_block_does_is_one_call(tracer, tools, release, monkeypatch):
    module = sys.modules["agenttrace.tracing.capture"]  # the package has the function by this name
    with tracer.capture() as captured:
        thread = threading.Thread(target=tools[1], args=(1,))
        thread.start()
        while not captured.scope.next() > 1:
            time.sleep(0.01)
        look = module.unfinished_tools

        def looked_for(*arguments):
            running = look(*arguments)
            release.set()
            thread.join()
            return running

        monkeypatch.setattr(module, "unfinished_tools", looked_for)
    assert [call.name for call in captured.trace.tool_calls] == ["delete"]
    assert captured.trace.tool_calls[0].output == "deleted"
