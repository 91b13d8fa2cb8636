"""What waits in a store is done by workers: once, in time, and again where something new came."""

import asyncio
import threading
import time

import pytest

from agenttrace import Tracer, scorer
from agenttrace.core.errors import ConfigError, StoreError
from agenttrace.core.pending import WorkCounts, WorkItem
from agenttrace.core.query_parsing import parse
from agenttrace.core.score import Score
from agenttrace.core.span import Span
from agenttrace.store import MemoryStore, SQLiteStore
from agenttrace.work import Observing, Rule, Worker
from agenttrace.work.worker import WorkerCounts

FAR = 3_600.0


@scorer(name="long enough", threshold=0.5)
def long_enough(example, trace):
    return float(len(trace.spans) >= 2)


@pytest.fixture(params=["sqlite", "memory"])
def store(request, tmp_path):
    store = MemoryStore() if request.param == "memory" else SQLiteStore(tmp_path / "traces.db")
    yield store
    store.close()


def a_span(key, trace, *, parent=None, project="shop", name="agent", output="x", end_ns=None):
    end = time.time_ns() if end_ns is None else end_ns
    return Span(
        name=name,
        span_type="agent" if parent is None else "tool",
        trace_key=trace,
        span_key=key,
        parent_key=parent,
        index=key,
        start_ns=end - 1_000,
        end_ns=end,
        input={"q": "?"},
        output=output,
        project=project,
    )


def rule(*scorers, name="quality", rest=0.0, **options):
    return Rule(name, scorers or (long_enough,), rest=rest, **options)


def arrive(store, rules, *spans):
    store.export(spans)
    Observing(store, rules).arrived(spans)


def work(store, rules=(), **options):
    worker = Worker(store, rules, **options)
    asyncio.run(worker.run(once=True))
    return worker.counts


def scores(store, trace):
    return [(score.name, score.value) for _, score in store.scores(f"{trace:032x}")]


def test_a_trace_that_arrived_is_scored_by_its_rule(store):
    arrive(store, [rule()], a_span(1, 7), a_span(2, 7, parent=1))
    assert work(store, [rule()]) == WorkerCounts(done=1)
    ((_, score),) = store.scores(f"{7:032x}")
    assert (score.name, score.value, score.metadata["rule"]) == ("long enough", 1, "quality")
    assert store.work_queue().counts() == {"shop": WorkCounts(done=1)}


def test_each_rule_scores_a_trace_and_only_those_of_its_projects(store):
    rules = [rule(), rule(name="other", projects=("cellar", "sh*")), rule(name="none", projects=("attic",))]
    arrive(store, rules, a_span(1, 7))
    assert work(store, rules).done == 2
    assert sorted(s.metadata["rule"] for _, s in store.scores(f"{7:032x}")) == ["other", "quality"]


def test_a_trace_is_scored_when_it_has_come_to_rest(store):
    resting = [rule(rest=FAR)]
    arrive(store, resting, a_span(1, 7))
    assert work(store, resting) == WorkerCounts()
    assert store.work_queue().counts() == {"shop": WorkCounts(resting=1)}


def test_without_its_root_a_trace_rests_longer(store):
    arrive(store, [rule()], a_span(2, 7, parent=1))
    assert work(store, [rule()]) == WorkerCounts()
    assert store.work_queue().counts() == {"shop": WorkCounts(resting=1)}
    arrive(store, [rule()], a_span(1, 7))
    assert work(store, [rule()]).done == 1


def test_a_root_that_never_comes_is_not_waited_for_for_ever(store):
    rules = [rule(rest_without_root=60.0)]
    arrive(store, rules, a_span(2, 7, parent=1, end_ns=time.time_ns() - 61 * 10**9))
    assert work(store, rules).done == 1


def test_what_comes_later_has_the_trace_scored_anew_in_the_place_of_the_old_score(store):
    arrive(store, [rule()], a_span(1, 7))
    work(store, [rule()])
    assert scores(store, 7) == [("long enough", 0.0)]
    arrive(store, [rule()], a_span(2, 7, parent=1))
    assert work(store, [rule()]) == WorkerCounts(done=1)
    assert scores(store, 7) == [("long enough", 1.0)]


def test_what_is_sent_twice_changes_nothing(store):
    spans = [a_span(1, 7), a_span(2, 7, parent=1)]
    arrive(store, [rule()], *spans)
    work(store, [rule()])
    before = store.scores(f"{7:032x}")
    arrive(store, [rule()], *spans)
    assert work(store, [rule()]) == WorkerCounts(unchanged=1)
    assert store.scores(f"{7:032x}") == before


def test_another_scorer_of_the_rule_has_the_trace_scored_anew(store):
    arrive(store, [rule()], a_span(1, 7))
    work(store, [rule()])
    stricter = rule(scorer(name="other", threshold=1)(lambda example, trace: 1.0))
    arrive(store, [stricter], a_span(1, 7))
    work(store, [stricter])
    assert scores(store, 7) == [("other", 1.0)]


def test_what_does_not_match_the_query_is_done_without_a_score(store):
    rules = [rule(where=parse("name:checkout"))]
    arrive(store, rules, a_span(1, 7), a_span(1, 8, name="checkout"))
    assert work(store, rules) == WorkerCounts(done=2)
    assert (scores(store, 7), scores(store, 8)) == ([], [("long enough", 0.0)])


def test_a_scorer_that_breaks_gives_an_errored_score_and_is_not_tried_again(store):
    @scorer(name="broken")
    def broken(example, trace):
        raise ValueError("no")

    arrive(store, [rule(broken, long_enough)], a_span(1, 7))
    assert work(store, [rule(broken, long_enough)]).done == 1
    assert sorted(s.outcome for _, s in store.scores(f"{7:032x}")) == ["errored", "failed"]
    assert work(store, [rule(broken, long_enough)]) == WorkerCounts()


def test_async_scorers_are_awaited(store):
    @scorer(name="slow")
    async def slow(example, trace):
        await asyncio.sleep(0)
        return 1.0

    arrive(store, [rule(slow)], *(a_span(1, trace) for trace in range(1, 20)))
    assert work(store, [rule(slow)]).done == 19


def test_a_deleted_trace_is_told(store):
    lines = []
    arrive(store, [rule()], a_span(1, 7))
    store.delete_trace(f"{7:032x}")
    assert work(store, [rule()], say=lines.append) == WorkerCounts(failed=1)
    assert "not in the store any more" in lines[0]
    assert store.work_queue().counts() == {"shop": WorkCounts(failed=1)}


def test_what_ends_its_workers_is_given_up_with_an_errored_score(store):
    arrive(store, [rule()], a_span(1, 7))
    for _ in range(5):
        store.work_queue().claim("dies", 1, 0.0)
    assert work(store, [rule()]) == WorkerCounts(failed=1)
    ((_, score),) = store.scores(f"{7:032x}")
    assert score.outcome == "errored"
    assert "5 workers ended" in score.reason
    assert store.work_queue().counts()["shop"].failed == 1


def test_what_workers_died_at_is_tried_alone(store):
    running, most = set(), []

    @scorer(name="counts")
    def counts(example, trace):
        running.add(trace.trace_id)
        most.append(len(running))
        time.sleep(0.01)
        running.discard(trace.trace_id)
        return 1.0

    arrive(store, [rule(counts)], *(a_span(1, trace) for trace in range(1, 6)))
    for _ in range(2):
        store.work_queue().claim("dies", 9, 0.0)
    assert work(store, [rule(counts)]).done == 5
    assert max(most) == 1


def test_of_two_workers_each_does_what_the_other_does_not(tmp_path):
    path = tmp_path / "traces.db"
    store = SQLiteStore(path)
    arrive(store, [rule()], *(a_span(1, trace) for trace in range(1, 41)))
    workers = [Worker(SQLiteStore(path), [rule()], concurrency=4) for _ in range(2)]
    threads = [threading.Thread(target=lambda w=w: asyncio.run(w.run(once=True))) for w in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(worker.counts.done for worker in workers) == 40
    assert all(len(scores(store, trace)) == 1 for trace in range(1, 41))
    store.close()


def test_a_worker_that_is_stopped_gives_back_what_it_holds(store):
    begun, go_on = threading.Event(), threading.Event()

    @scorer(name="waits")
    def waits(example, trace):
        begun.set()
        go_on.wait(60)
        return 1.0

    arrive(store, [rule(waits)], a_span(1, 7))
    worker = Worker(store, [rule(waits)])
    thread = threading.Thread(target=lambda: asyncio.run(worker.run()))
    thread.start()
    assert begun.wait(60)
    worker.stop()
    thread.join(60)
    assert store.work_queue().counts() == {"shop": WorkCounts(due=1)}
    go_on.set()
    assert work(store, [rule()]).done == 1


class Away:
    """A queue whose store is away for a number of calls."""

    def __init__(self, queue, calls):
        self.queue, self.calls = queue, calls

    def __getattr__(self, name):
        def call(*args, **kwargs):
            if self.calls > 0:
                self.calls -= 1
                raise StoreError("the server is away")
            return getattr(self.queue, name)(*args, **kwargs)

        return call


def test_a_worker_outlives_a_store_that_is_away(store):
    arrive(store, [rule()], a_span(1, 7))
    lines = []
    worker = Worker(store, [rule()], say=lines.append)
    worker._queue = Away(worker._queue, 2)
    thread = threading.Thread(target=lambda: asyncio.run(worker.run()))
    thread.start()
    deadline = time.monotonic() + 60
    while not worker.counts.done and time.monotonic() < deadline:
        time.sleep(0.05)
    worker.stop()
    thread.join(60)
    assert (worker.counts.done, worker.counts.away) == (1, 2)
    assert "cannot be used now: the server is away" in lines[0]


def test_a_worker_that_works_once_says_that_the_store_is_away(store):
    worker = Worker(store, [rule()])
    worker._queue = Away(worker._queue, 99)
    with pytest.raises(StoreError, match="away"):
        asyncio.run(worker.run(once=True))


def test_a_late_worker_stores_nothing(store):
    arrive(store, [rule()], a_span(1, 7))

    @scorer(name="overtaken")
    def overtaken(example, trace):
        queue = store.work_queue()
        queue._write(lambda db: db.execute("UPDATE work SET due_ns = 0"))  # ten minutes pass
        assert work(store, [rule()]).done == 1
        return 1.0

    late = Worker(store, [rule(overtaken)], concurrency=1)  # or it might itself take what fell due
    asyncio.run(late.run(once=True))
    assert (late.counts.lost, late.counts.done) == (1, 0)
    assert scores(store, 7) == [("long enough", 0.0)]


def test_two_workers_with_other_scorers_under_one_name_are_told(store):
    lines = []
    arrive(store, [rule()], a_span(1, 7))
    work(store, [rule()], say=lines.append)
    work(store, [rule()], say=lines.append)
    assert lines == []
    other = scorer(name="other")(lambda example, trace: 1.0)
    work(store, [rule(other)], say=lines.append)
    assert "another worker evaluates the rule 'quality' with other scorers" in lines[0]


def test_secrets_in_reasons_are_not_stored(store):
    @scorer(name="leaks")
    def leaks(example, trace):
        return Score.of("leaks", 0.0, 0.5, reason="password=hunter2secret")

    arrive(store, [rule(leaks)], a_span(1, 7))
    work(store, [rule(leaks)])
    ((_, score),) = store.scores(f"{7:032x}")
    assert "hunter2secret" not in score.reason


def test_what_a_process_left_behind_is_resumed_by_a_worker(tmp_path):
    path = tmp_path / "traces.db"
    tracer = Tracer("shop", store=path)

    @scorer(name="polite")
    def polite(example, trace):
        return 1.0 if "please" in example.actual_output else 0.0

    @tracer.observe(span_type="agent")
    def agent(question):
        tracer.async_evaluate([slow], input=question, actual_output="please wait")
        return "please wait"

    hold = threading.Event()

    @scorer(name="polite")
    def slow(example, trace):
        hold.wait(60)
        return 1.0

    agent("when?")
    tracer.flush(60)
    tracer.shutdown(timeout=0.2)
    hold.set()
    store = SQLiteStore(path)
    (line,) = store.traces()
    counts = work(store, scorers=[polite])
    assert counts.resumed == 1
    assert [score.name for _, score in store.scores(line.trace_id)] == ["polite"]
    assert store.pending_evaluations("shop") == []
    store.close()


def test_no_more_is_queued_where_too_much_waits(store):
    observing = Observing(store, [rule()], most_waiting=2)
    observing.arrived([a_span(1, trace) for trace in (1, 2)])
    observing._count_at = 0.0
    observing.arrived([a_span(1, 3)])
    assert observing.dropped == 1
    assert store.work_queue().counts()["shop"].waiting == 2


def test_items_of_rules_that_a_worker_does_not_know_are_left(store):
    store.work_queue().add([WorkItem("shop", f"{7:032x}", "unknown")], 0)
    assert work(store, [rule()]) == WorkerCounts()
    assert store.work_queue().counts() == {"shop": WorkCounts(due=1)}


def test_a_worker_without_anything_to_do_is_wrong_use(store):
    with pytest.raises(ConfigError, match="needs rules or scorers"):
        Worker(store)
    with pytest.raises(ConfigError, match="keeps no work"):
        Worker(object(), [rule()])
    with pytest.raises(ConfigError, match="keeps no work"):
        Observing(object(), [rule()])
