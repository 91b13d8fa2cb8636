"""`await run_evaluation_async(…)` and `await assert_test_async(…)`: evaluations on the caller's own loop."""

import asyncio
import threading

import pytest

from agenttrace import (
    ConfigError,
    EvaluationFailed,
    Example,
    Tracer,
    assert_test,
    assert_test_async,
    run_evaluation,
    run_evaluation_async,
)
from agenttrace.core.score import Score
from agenttrace.core.text import error_line
from agenttrace.scorers import ExactMatchScorer, ToolOrderScorer

EXAMPLES = [Example(input=str(n), expected_output=str(n), expected_tools=["find"]) for n in range(3)]


class Bound:
    """A resource that belongs to the loop in which it was made, as a client's connections do."""

    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.answers = asyncio.Queue()
        self.task = self.loop.create_task(self._serve())

    async def _serve(self):
        while True:
            future, value = await self.answers.get()
            future.set_result(value)

    async def ask(self, value):
        if asyncio.get_running_loop() is not self.loop:
            answer = asyncio.run_coroutine_threadsafe(self.ask(value), self.loop)
            return await asyncio.wrap_future(answer)
        future = self.loop.create_future()
        await self.answers.put((future, value))
        return await future


@pytest.fixture
def agent_of():
    tracer = Tracer("door", store="memory")

    @tracer.observe(span_type="tool")
    async def find(resource, text):
        return await resource.ask(text)

    return tracer, lambda resource: lambda text: find(resource, text)


class TestOnTheCallersLoop:
    def test_agents_and_scorers_use_what_is_bound_to_it(self, agent_of):
        tracer, agent = agent_of
        seen = []

        class Async:
            name, threshold = "Async", 0.5

            async def score(self, example, trace=None):
                seen.append(asyncio.get_running_loop())
                return Score.of(self.name, 1.0, self.threshold)

        async def main():
            resource = Bound()

            async def run(text):
                return await agent(resource)(text)

            report = await assert_test_async(
                EXAMPLES,
                [ToolOrderScorer(), ExactMatchScorer(), Async()],
                function=run,
                tracer=tracer,
                concurrency=2,
            )
            resource.task.cancel()
            return report, resource.loop

        report, loop = asyncio.run(main())
        assert report.counts["passed"] == 3
        assert seen == [loop] * 3
        assert len(tracer.store.runs()) == 1

    def test_a_late_agent_fails_and_says_where_it_stood(self):
        tracer = Tracer("late", store="memory")

        @tracer.observe(span_type="tool")
        async def slow_tool():
            await asyncio.Event().wait()

        @tracer.observe
        async def agent(text):
            await slow_tool()

        async def main():
            return await run_evaluation_async(
                EXAMPLES[:1], [ToolOrderScorer()], function=agent, tracer=tracer, timeout=2
            )

        (result,) = asyncio.run(main())
        assert result.outcome == "failed"
        assert "did not return within its timeout of 2 s" in result.error
        assert "open spans: agent > slow_tool" in result.error or "open spans: slow_tool" in result.error
        assert "await asyncio.Event().wait()" in result.error
        assert "agenttrace/" not in result.error

    def test_wrong_use_and_failures_raise_as_without_it(self):
        async def main():
            with pytest.raises(ConfigError, match="there are no examples"):
                await run_evaluation_async([], [ExactMatchScorer()])
            with pytest.raises(ConfigError, match="neither given"):
                await assert_test_async(scorers=[ExactMatchScorer()])
            with pytest.raises(EvaluationFailed, match="Test 1: FAILED"):
                await assert_test_async(
                    [Example(actual_output="a", expected_output="b")], [ExactMatchScorer()]
                )
            return await assert_test_async(
                [Example(actual_output="a", expected_output="b")],
                [ExactMatchScorer()],
                require="pass_rate >= 0",
            )

        assert (
            asyncio.run(main()).metadata["requirement"]
            == "pass_rate >= 0, got 0 (0 of 1; 95 % interval 0.00 to 0.79)"
        )

    def test_a_cancelled_one_stores_what_it_has(self):
        tracer = Tracer("cancelled", store="memory")
        began = threading.Event()

        async def agent(text):
            if text == "1":
                began.set()
                await asyncio.Event().wait()
            return text

        async def main():
            task = asyncio.create_task(
                run_evaluation_async(EXAMPLES, [ExactMatchScorer()], function=agent, tracer=tracer)
            )
            while not began.is_set():
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        (run,) = tracer.store.runs()
        assert tracer.store.run(run.run_id)["metadata"]["interrupted"] is True
        assert len(tracer.store.run(run.run_id)["results"]) == 1

    def test_plain_agents_do_not_hold_up_the_loop(self):
        async def main():
            ticked = asyncio.Event()
            loop = asyncio.get_running_loop()

            def agent(text):
                asyncio.run_coroutine_threadsafe(_set(ticked), loop).result(60)
                return text

            return await run_evaluation_async(plain, [ExactMatchScorer()], function=agent)

        plain = [Example(input=str(n), expected_output=str(n)) for n in range(3)]

        async def _set(event):
            event.set()

        assert asyncio.run(main()).counts["passed"] == 3


class TestFromPlainCode:
    def test_one_loop_serves_all_evaluations_of_a_thread(self):
        loops = []

        async def agent(text):
            loops.append(asyncio.get_running_loop())
            return text

        for _ in range(3):
            run_evaluation(EXAMPLES[:1], [ExactMatchScorer()], function=agent)
        in_a_thread = threading.Thread(
            target=lambda: run_evaluation(EXAMPLES[:1], [ExactMatchScorer()], function=agent)
        )
        in_a_thread.start()
        in_a_thread.join()
        assert loops[0] is loops[1] is loops[2] is not loops[3]
        assert not loops[0].is_closed()

    def test_what_an_evaluation_leaves_running_on_it_is_cancelled(self):
        tasks = []

        async def agent(text):
            tasks.append(asyncio.current_task())
            await asyncio.Event().wait()

        (result,) = run_evaluation(EXAMPLES[:1], [ExactMatchScorer()], function=agent, timeout=2)
        assert "did not return" in result.error
        run_evaluation(EXAMPLES[:1], [ExactMatchScorer()], function=_echo)
        assert tasks[0].done()

    def test_a_deadlock_with_the_callers_loop_is_named(self):
        async def main():
            resource = Bound()

            async def agent(text):
                return await resource.ask(text)

            with pytest.raises(EvaluationFailed) as failed:
                assert_test(EXAMPLES[:1], [ExactMatchScorer()], function=agent, timeout=2)
            resource.task.cancel()
            return str(failed.value)

        text = asyncio.run(main())
        assert "started inside a running event loop, which waits for it" in text
        assert "await assert_test_async" in text

    def test_a_hanging_thread_is_shown_with_its_lines(self):
        tracer = Tracer("hang", store="memory")
        release = threading.Event()

        @tracer.observe(span_type="tool")
        def slow_tool():
            release.wait(60)

        @tracer.observe
        def agent(text):
            slow_tool()

        (result,) = run_evaluation(
            EXAMPLES[:1], [ToolOrderScorer()], function=agent, tracer=tracer, timeout=2
        )
        release.set()
        assert "open spans: agent > slow_tool" in result.error
        assert "release.wait(60)" in result.error
        first = result.error.splitlines()[0]
        assert first.startswith(
            "agent did not return within its timeout of 2 s; in slow_tool; test_async_door.py:"
        )
        assert first.endswith(" in slow_tool")

    def test_says_what_to_do_about_a_client_of_a_closed_loop(self):
        def agent(text):
            try:
                raise RuntimeError("Event loop is closed")
            except RuntimeError as error:
                raise ConnectionError("Connection error.") from error

        (result,) = run_evaluation(EXAMPLES[:1], [ExactMatchScorer()], function=agent)
        assert result.error.startswith("A client or a connection is bound to the event loop")
        assert 'loop_scope="session"' in result.error.splitlines()[0]
        assert error_line(result.error) == "ConnectionError: Connection error."
        (result,) = run_evaluation(EXAMPLES[:1], [ExactMatchScorer()], function=lambda text: 1 / 0)
        assert result.error.startswith("Traceback")

    def test_shows_the_users_lines_and_the_innermost_of_libraries_and_the_open_request(self, tmp_path):
        library = tmp_path / "site-packages" / "client.py"
        library.parent.mkdir()
        library.write_text(
            "def request(wait, depth=20):\n    return wait() if not depth else request(wait, depth - 1)\n"
        )
        names: dict = {}
        exec(compile(library.read_text(), str(library), "exec"), names)
        release, tracer = threading.Event(), Tracer("t", store="memory")

        @tracer.observe
        def agent(text):
            chat = tracer.span("chat gpt", span_type="llm").open()
            tracer.span("done", span_type="llm").open().end()
            names["request"](lambda: release.wait(60))
            chat.end()

        (result,) = run_evaluation(
            EXAMPLES[:1], [ToolOrderScorer()], function=agent, tracer=tracer, timeout=2
        )
        release.set()
        assert "open spans: agent > chat gpt\n" in result.error
        first, *_ = result.error.splitlines()
        assert "timeout of 2 s; in chat gpt; test_async_door.py:" in first
        assert 'names["request"](lambda: release.wait(60))' in result.error
        assert "  … 21 lines of libraries\n" in result.error


async def _echo(text):
    return text
