"""Runner threads: as many as asked for, watched, replaced where a call is overdue."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from agenttrace import Client, Example, Score, run_evaluation, run_evaluation_async
from agenttrace.evaluation import runners
from agenttrace.scorers import ExactMatchScorer
from agenttrace.store import MemoryStore
from tests.evaluation.evaluation_fakes import Answer, Does, scored

GUARD = 60.0


def doubles(count):
    return [Example(input={"x": n}, expected_output=2 * n, name=f"n{n}") for n in range(count)]


class Meeting:
    """Agents that come and go; how many are there at once."""

    def __init__(self, size):
        self.size = size
        self.now = self.most = 0
        self.full = threading.Event()

    def enter(self):
        self.now += 1
        self.most = max(self.most, self.now)
        if self.now == self.size:
            self.full.set()

    def leave(self):
        self.now -= 1


@pytest.mark.parametrize("door", ["sync", "async"])
def test_a_thousand_async_agents_that_wait_run_as_many_at_a_time_as_asked(door):
    meeting = Meeting(50)

    async def agent(x):
        meeting.enter()
        while not meeting.full.is_set():
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.001)
        meeting.leave()
        return 2 * x

    options = {"function": agent, "concurrency": 50, "store": MemoryStore(), "timeout": GUARD}
    if door == "sync":
        report = run_evaluation(doubles(1_000), [Answer()], **options)
    else:
        report = asyncio.run(run_evaluation_async(doubles(1_000), [Answer()], **options))
    assert report.passed
    assert meeting.most == 50


def test_plain_agents_and_scorers_of_one_place_run_on_one_thread():
    threads = set()

    def agent(x):
        threads.add(threading.get_ident())
        return 2 * x

    def score(example, trace):
        threads.add(threading.get_ident())
        return scored(1.0)

    assert run_evaluation(doubles(50), [Does(score)], function=agent, store=MemoryStore()).passed
    assert len(threads) == 1
    assert threads != {threading.get_ident()}


def test_a_runner_whose_call_is_overdue_is_replaced_and_the_example_goes_on_elsewhere(monkeypatch):
    monkeypatch.setattr(runners, "NOTICE", GUARD)  # no place is given away before the call is overdue
    release, seen = threading.Event(), []

    def agent(x):
        seen.append(threading.get_ident())
        return 2 * x

    def hangs(example, trace):
        if example.input["x"] == 1:
            release.wait(GUARD)
        return scored(1.0, "Hangs")

    def score(example, trace):
        seen.append(threading.get_ident())
        return scored(1.0)

    report = run_evaluation(
        doubles(4),
        [Does(hangs, "Hangs"), Does(score)],
        function=agent,
        store=MemoryStore(),
        timeout=2,  # for the others, on a busy machine
    )
    release.set()
    assert [[score.outcome for score in result.scores] for result in report] == [
        ["passed", "passed"],
        ["errored", "passed"],
        ["passed", "passed"],
        ["passed", "passed"],
    ]
    first, second = seen[0], seen[-1]
    assert seen == [first] * 3 + [second] * 5
    assert first != second


def test_slow_scoring_gives_its_place_to_the_next_agent_and_agents_still_run_one_at_a_time(monkeypatch):
    monkeypatch.setattr(runners, "NOTICE", 0.01)
    together, agents = threading.Barrier(4), Meeting(2)

    def agent(x):
        agents.enter()
        agents.leave()
        return 2 * x

    def score(example, trace):
        together.wait(GUARD)  # passes only where four are scored at a time
        return scored(1.0)

    report = run_evaluation(doubles(8), [Does(score)], function=agent, store=MemoryStore())
    assert report.passed
    assert agents.most == 1


def test_where_no_further_thread_can_be_started_those_that_there_are_do_the_work(monkeypatch):
    start, started = runners.start_thread, []

    def refuses(run, name):
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(name)
        return start(run, name)

    monkeypatch.setattr(runners, "start_thread", refuses)
    report = run_evaluation(
        doubles(20), [Answer()], function=lambda x: 2 * x, store=MemoryStore(), concurrency=5
    )
    assert report.passed
    assert len(started) == 2


def test_where_no_thread_at_all_can_be_started_that_is_raised(monkeypatch):
    def refuses(run, name):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(runners, "start_thread", refuses)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        run_evaluation(doubles(2), [Answer()], function=lambda x: 2 * x, store=MemoryStore())


def test_an_overdue_call_on_the_users_executor_leaves_its_thread_and_the_others_go_on():
    release = threading.Event()

    def agent(x):
        if x == 0:
            release.wait(GUARD)
        return 2 * x

    with ThreadPoolExecutor(3) as pool:
        report = run_evaluation(
            doubles(3), [Answer()], function=agent, store=MemoryStore(), timeout=2, executor=pool
        )
        release.set()
    assert [result.outcome for result in report] == ["failed", "passed", "passed"]


def test_the_doors_of_a_client_can_be_awaited():
    async def agent(x):
        return 2 * x

    class OnTheLoop:
        name, threshold = "On The Loop", 0.5

        async def score(self, example, trace=None):
            asyncio.get_running_loop()
            return Score.of(self.name, 1.0, self.threshold)

    async def main():
        client = Client("doors", store=MemoryStore())
        await client.run_evaluation_async(doubles(2), [Answer()], function=agent)
        report = await client.assert_test_async(doubles(2), [OnTheLoop()], function=agent)
        return client, report

    client, report = asyncio.run(main())
    assert report.project == "doors"
    assert [run.passed for run in client.store.runs(project="doors")] == [2, 2]


def test_an_agent_that_is_late_because_another_blocks_their_loop_says_so():
    begun, go_on = asyncio.Event(), threading.Event()

    async def agent(text):
        if text == "blocks":
            begun.set()
            go_on.wait(60)
        await begun.wait()
        return text

    def tell(done, total, result):
        if done == 2:
            go_on.set()

    examples = [Example(input=text, expected_output=text) for text in ("blocks", "waits")]
    report = run_evaluation(
        examples, [ExactMatchScorer()], function=agent, concurrency=2, timeout=0.2, progress=tell
    )
    blocks, waits = (str(result.error) for result in report)
    assert "other async code blocked its event loop" in waits
    assert "other async code" not in blocks
