"""A worker that one example starts serves the others: its calls are in the first one's trace."""

import asyncio
import queue
import threading

import pytest

from agenttrace import Example, Tracer, expect, propagate, run_evaluation, run_evaluation_async
from agenttrace.scorers import ToolOrderScorer, ToolPermissionScorer

NEVER = [Example(input={"number": number}, expected_tools=expect(never="delete")) for number in range(3)]


class Served:
    """An agent whose tool is called by a thread that the first example starts."""

    def __init__(self, *, carried=False):
        self.tracer = Tracer("late", store="memory")
        self.jobs = queue.Queue()
        self.thread = None
        self.carried = carried
        self.delete = self.tracer.observe(lambda number: number, name="delete", span_type="tool")
        self.agent = self.tracer.observe(self.answer, name="agent", span_type="agent")

    def work(self):
        while (job := self.jobs.get()) is not None:
            function, done = job
            function()
            done.set()

    def answer(self, number):
        if self.thread is None:
            self.thread = threading.Thread(target=self.work, daemon=True)
            self.thread.start()
        if number:
            done = threading.Event()
            call = lambda: self.delete(number)  # noqa: E731
            self.jobs.put((propagate(call) if self.carried else call, done))
            assert done.wait(10)
        return "ok"

    def outcomes(self, examples, *scorers, **options):
        options = {"function": self.agent, "tracer": self.tracer, "concurrency": 1, **options}
        report = run_evaluation(examples, scorers or [ToolOrderScorer()], **options)
        self.jobs.put(None)
        self.thread.join(10)
        return [result.outcome for result in report.results], report


def test_what_it_may_have_called_makes_the_others_errored_not_passed(caplog):
    outcomes, report = Served().outcomes(NEVER)
    assert outcomes == ["passed", "errored", "errored"]
    assert "delete: called while this example ran" in report.results[1].error
    assert "propagate" in report.results[1].error
    assert "2 calls of tools were recorded in the traces of examples that had ended" in caplog.text


def test_however_many_came_before():
    served = Served()
    delete, save = served.delete, served.tracer.observe(lambda: None, name="save", span_type="tool")

    def many(number):
        for _ in range(1_200 if number == 1 else 0):
            save()
        return delete(number)

    served.delete = many
    assert served.outcomes(NEVER)[0] == ["passed", "errored", "errored"]


def test_nor_are_they_failed_for_calls_that_are_missing():
    wanted = [Example(input={"number": number}, expected_tools=["delete"]) for number in range(3)]
    assert Served().outcomes(wanted)[0] == ["failed", "errored", "errored"]


def test_what_only_a_scorer_forbids_counts_too():
    examples = [Example(input={"number": number}) for number in range(2)]
    assert Served().outcomes(examples, ToolPermissionScorer(deny=["del*"]))[0] == ["passed", "errored"]


def test_calls_that_are_carried_along_are_the_own_ones(caplog):
    assert Served(carried=True).outcomes(NEVER)[0] == ["passed", "failed", "failed"]
    assert caplog.text == ""


def test_a_tool_that_nothing_is_stated_of_is_only_told(caplog):
    others = [Example(input={"number": number}, expected_tools=expect(never="pay")) for number in range(3)]
    assert Served().outcomes(others)[0] == ["passed"] * 3
    assert "delete (2)" in caplog.text


def test_an_agent_that_did_not_return_in_time_and_goes_on_leaves_the_others_alone(caplog):
    tracer, goes_on, went_on = Tracer("late", store="memory"), threading.Event(), threading.Event()
    tool = tracer.observe(lambda: None, name="delete", span_type="tool")

    @tracer.observe(span_type="agent")
    def agent(number):
        if number == 0:
            goes_on.wait(10)
            tool()
            went_on.set()
        else:
            goes_on.set()
            went_on.wait(10)
        return "ok"

    report = run_evaluation(
        NEVER[:2], [ToolOrderScorer()], function=agent, tracer=tracer, concurrency=1, timeout=0.5
    )
    assert [result.outcome for result in report.results] == ["failed", "passed"]
    assert "recorded in the trace" not in caplog.text


def test_tasks_of_one_loop_are_told_apart_in_the_same_way():
    tracer, jobs, tasks = Tracer("late", store="memory"), [], []

    @tracer.observe(span_type="tool")
    def delete(number):
        return number

    async def consume():
        while True:
            number, done = await jobs[0].get()
            delete(number)
            done.set_result(None)

    @tracer.observe(span_type="agent")
    async def agent(number):
        if not tasks:
            jobs.append(asyncio.Queue())
            tasks.append(asyncio.create_task(consume()))
        if number:
            done = asyncio.get_running_loop().create_future()
            jobs[0].put_nowait((number, done))
            await done
        return "ok"

    async def evaluated():
        report = await run_evaluation_async(
            NEVER, [ToolOrderScorer()], function=agent, tracer=tracer, concurrency=1
        )
        tasks[0].cancel()
        return [result.outcome for result in report.results]

    assert asyncio.run(evaluated()) == ["passed", "errored", "errored"]


@pytest.mark.parametrize("late", [0, 3])
def test_a_capture_knows_the_tools_that_began_after_it(late):
    tracer, go = Tracer("late", store="memory"), threading.Event()
    tool = tracer.observe(lambda: None, name="save", span_type="tool")

    def work():
        go.wait(10)
        for _ in range(late):
            tool()

    with tracer.capture() as captured:
        tool()
        thread = threading.Thread(target=work)
        thread.start()
    go.set()
    thread.join(10)
    assert [call.name for call in captured.late_calls] == ["save"] * late
    assert [call.name for call in captured.trace.tool_calls] == ["save"]
    tracer.flush()
    assert len(tracer.store.trace(captured.trace.trace_id).spans) == 1 + late
