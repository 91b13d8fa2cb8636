"""Online evaluation: fire and forget, bounded, honest."""

import asyncio
import inspect
import logging
import os
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import CancelledError

import pytest

from agenttrace import (
    AnswerRelevancyScorer,
    ConfigError,
    Example,
    FakeChatModel,
    Score,
    ScorerError,
    ToolOrderScorer,
    Tracer,
    gt,
)
from agenttrace.core.trace import Trace
from agenttrace.online.alerts import log_alert, webhook
from agenttrace.online.evaluator import OnlineEvaluator
from agenttrace.online.handle import EvaluationHandle
from agenttrace.online.request import _started, at_work, make_request, owner_text
from agenttrace.online.results import Results
from agenttrace.online.worker import SPAN_SECONDS, OnlineWorker
from agenttrace.scorers import ContainsScorer, ExactMatchScorer, LoopScorer, ToolPermissionScorer
from agenttrace.scoring.isolation import Isolation
from agenttrace.store import MemoryStore, SQLiteStore


class Length:
    """Scores the output's length; stands for any deterministic scorer."""

    name = "Length"
    threshold = 0.5

    def score(self, example, trace):
        value = min(len(example.actual_output or "") / 10, 1.0)
        return Score.of(
            self.name,
            value,
            self.threshold,
            details={"calls": [c.name for c in trace.tool_calls] if trace else []},
        )


class Broken(Length):
    name = "Broken"

    async def score(self, example, trace):
        raise RuntimeError("the judge is down")


class Blocked(Length):
    """Waits until it is let go."""

    name = "Blocked"

    def __init__(self):
        self.gate = threading.Event()

    def score(self, example, trace):
        self.gate.wait(60)
        return super().score(example, trace)


class Slow(Length):
    name = "Slow"

    async def score(self, example, trace):
        await asyncio.sleep(30)


@pytest.fixture
def tracer():
    tracer = Tracer("online", store=MemoryStore())
    yield tracer
    tracer.shutdown()


def eventually(holds, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


def adds_up(counts):
    ends = ("pending", "scored", "errored", "dropped", "sampled_out", "cancelled")
    return counts["asked"] == sum(counts[name] for name in ends)


def test_what_was_cancelled_while_all_places_were_taken_is_done_by_no_later_process(tmp_path):
    go, asked = threading.Event(), []

    class Waits:
        name, threshold = "Waits", 0.5

        def score(self, example, trace):
            asked.append(example.actual_output)
            go.wait(60)
            return Score.of(self.name, 1.0, self.threshold)

    def ends(condition):
        end = time.monotonic() + 60
        while not condition() and time.monotonic() < end:
            time.sleep(0.01)
        return condition()

    path = tmp_path / "traces.db"
    tracer = Tracer("p", store=path, drain_seconds=0.0)
    places = tracer._begin_online().concurrency
    for number in range(places):
        tracer.async_evaluate([Waits()], actual_output=f"busy {number}")
    assert ends(lambda: len(asked) == places)
    handle = tracer.async_evaluate([Waits()], actual_output="not wanted")
    assert handle.cancel()
    assert ends(lambda: tracer.stats()["evaluations"]["cancelled"] == 1)
    tracer.shutdown()
    go.set()
    later = Tracer("p", store=path)
    assert len(later.resume_evaluations([Waits()])) == places
    assert later.wait_for_evaluations(60)
    assert "not wanted" not in asked
    later.shutdown()


def test_what_was_cancelled_before_a_shutdown_is_counted_as_that_and_not_kept():
    store = MemoryStore()
    evaluator = OnlineEvaluator(store, "p", flush_spans=lambda timeout: None)
    evaluator._starting.acquire()  # no worker ever starts
    evaluator.submit(request := make_request([Length()], {}))
    assert request.handle.cancel()
    evaluator.close(0.0)
    assert (evaluator.stats()["cancelled"], evaluator.stats()["pending"]) == (1, 0)
    assert store.pending_evaluations("p") == []


def test_one_that_was_closed_stays_so_in_a_forked_child():
    evaluator = OnlineEvaluator(MemoryStore(), "p", flush_spans=lambda timeout: None)
    evaluator.close(1.0)
    evaluator.after_fork()
    handle = evaluator.ask([ContainsScorer("a")], {"actual_output": "a"})
    assert (handle.state, evaluator.open) == ("dropped", False)


@pytest.mark.parametrize("field", ["evidence", "options", "example", "details"])
def test_a_score_with_a_field_of_a_wrong_kind_is_errored_and_costs_no_other_its_own(tracer, field):
    class Odd:
        name, threshold = "Odd", 0.5

        def score(self, example, trace=None):
            return Score(name="Odd", value=1.0, threshold=0.5, outcome="passed", **{field: ["a", "b"]})

    (odd,) = tracer.async_evaluate([Odd()], actual_output="b").result(20)
    (other,) = tracer.async_evaluate([ContainsScorer("five")], actual_output="five").result(20)
    assert (odd.outcome, other.outcome) == ("errored", "passed")
    assert f"whose {field} is" in odd.reason


def test_what_breaks_on_the_way_to_the_alerts_costs_no_other_evaluation_its_score(tracer, monkeypatch):
    def breaks(*_):
        raise ValueError("cannot be shown")

    monkeypatch.setattr(Results, "_low_scores", breaks)
    for _ in range(5):
        (score,) = tracer.async_evaluate([ContainsScorer("five")], actual_output="five").result(20)
        assert score.passed
    assert tracer.stats()["evaluations"]["failed_calls"] == 5


def test_counts_that_are_read_while_an_evaluation_moves_add_up_all_the_same():
    """The worker counts one that it takes before it is gone from the inbox, so that none is missed."""

    class Moving(deque):
        seen = 0

        def __len__(self):
            self.seen += 1
            return super().__len__() + (self.seen < 3)

    evaluator = OnlineEvaluator(MemoryStore(), "p", flush_spans=lambda timeout: None)
    evaluator.inbox = Moving()
    assert adds_up(evaluator.stats())
    evaluator.close()


def test_counts_that_never_add_up_are_told_all_the_same():
    evaluator = OnlineEvaluator(MemoryStore(), "p", flush_spans=lambda timeout: None)
    evaluator.counts.asked.add()
    assert evaluator.stats()["asked"] == 1
    evaluator.close()


def test_the_counts_are_there_before_the_first_evaluation_and_have_the_same_names_after_it(tracer):
    before = tracer.stats()["evaluations"]
    assert before["asked"] == 0
    assert adds_up(before)
    tracer.async_evaluate([Length()], actual_output="a reply")
    assert tracer.wait_for_evaluations(60)
    after = tracer.stats()["evaluations"]
    assert list(before) == list(after)
    assert (after["asked"], after["scored"]) == (1, 1)


def test_the_score_lands_on_the_span_that_asked(tracer):
    span_ids = {}

    @tracer.observe
    def agent(question):
        span_ids["span"] = tracer.current_span().span_id
        tracer.async_evaluate([Length()], example=Example(input=question, actual_output="0123456789"))
        return "done"

    agent("hello")
    assert tracer.wait_for_evaluations(60)
    tracer.flush()
    trace = tracer.store.traces()[0]
    [(span_id, score)] = tracer.store.scores(trace.trace_id)
    assert span_id == span_ids["span"]
    assert score.value == 1.0


def test_scorers_see_the_calls_below_the_span_that_asked_and_only_those(tracer):
    @tracer.observe(span_type="tool")
    def search(query):
        return query

    @tracer.observe
    def step():
        handle = tracer.async_evaluate([Length()], actual_output="x")
        search("inside, after it was asked for")
        return handle

    @tracer.observe
    def agent():
        search("before")
        return step()

    [score] = agent().result(60)
    assert score.details["calls"] == ["search"]


def test_a_tool_order_is_judged_in_production_as_in_a_test(tracer):
    @tracer.observe(span_type="tool")
    def lookup(order):
        return order

    @tracer.observe
    def agent(order):
        lookup(order)
        return tracer.async_evaluate(
            [ToolOrderScorer()], expected_tools=[{"tool_name": "lookup", "parameters": {"order": 7}}]
        )

    [right], [wrong] = agent(7).result(60), agent(8).result(60)
    assert (right.value, wrong.value) == (1.0, 0.0)


def test_what_is_given_is_copied_at_the_call(tracer):
    documents = ["one"]

    class Reads(Length):
        def score(self, example, trace):
            return Score.of("Reads", 1.0, 0.5, details={"documents": example.retrieval_context})

    handle = tracer.async_evaluate([Reads()], retrieval_context=documents)
    documents.append("added later")
    [score] = handle.result(60)
    assert score.details["documents"] == ["one"]


def test_what_is_expected_is_copied_too_its_matchers_are_not(tracer):
    expected = {"order": [gt(6), {"paid": True}], "parts": ([1],)}
    actual = {"order": [7, {"paid": True}], "parts": ([1],)}
    with tracer.span("x"):  # what is asked of a span waits for its end
        handle = tracer.async_evaluate([ExactMatchScorer()], expected_output=expected, actual_output=actual)
        expected["order"].append("added later")
        expected["order"][1]["paid"] = False
        expected["parts"][0].clear()
    [score] = handle.result(60)
    assert score.value == 1.0, score.reason


def test_what_is_expected_may_hold_itself(tracer):
    expected = [1]
    expected += [expected, expected]
    handle = tracer.async_evaluate([Length()], expected_output=expected, actual_output="0123456789")
    assert handle.result(60)


def test_a_broken_scorer_is_errored_and_spoils_no_other(tracer):
    good, bad = tracer.async_evaluate([Length(), Broken()], actual_output="0123456789").result(60)
    assert good.outcome == "passed"
    assert bad.outcome == "errored"
    assert bad.value is None
    assert "the judge is down" in bad.error


def test_a_scorer_that_does_not_return_is_errored_at_its_deadline(tracer):
    [score] = tracer.async_evaluate([Slow()], timeout=0.2).result(60)
    assert score.outcome == "errored"
    assert "0.2 s" in score.reason


def test_a_handle_can_be_awaited(tracer):
    async def main():
        return await tracer.async_evaluate([Length()], actual_output="0123456789")

    [score] = asyncio.run(main())
    assert score.passed


def test_result_gives_up_waiting_in_time_while_the_evaluation_goes_on(tracer):
    scorer = Blocked()
    handle = tracer.async_evaluate([scorer])
    with pytest.raises(TimeoutError, match="goes on"):
        handle.result(0.1)
    scorer.gate.set()
    assert handle.result(60)


def test_a_waiting_evaluation_can_be_cancelled(tracer):
    gates = [Blocked() for _ in range(20)]
    handles = [tracer.async_evaluate([gate]) for gate in gates]
    last = handles[-1]
    assert last.cancel()
    with pytest.raises(CancelledError):
        last.result(60)
    for gate in gates:
        gate.gate.set()
    assert tracer.wait_for_evaluations(60)
    assert not handles[0].cancel()
    counts = tracer.stats()["evaluations"]
    assert counts["cancelled"] == 1
    assert adds_up(counts)


def test_what_was_cancelled_in_time_is_never_evaluated():
    flush_began, go = threading.Event(), threading.Event()
    ran = []

    class Runs(Length):
        def score(self, example, trace):
            ran.append(example)
            return super().score(example, trace)

    def slow_flush(timeout):
        flush_began.set()
        go.wait(60)

    evaluator = OnlineEvaluator(MemoryStore(), "p", flush_spans=slow_flush)
    evaluator.submit(first := make_request([Length()], {}, trace_key=1))
    assert flush_began.wait(60)
    assert not first.handle.cancel()  # it has begun: its spans are being stored
    evaluator.submit(second := make_request([Runs()], {}, trace_key=1))
    assert second.handle.cancel()
    assert not second.handle.cancel()
    go.set()
    assert evaluator.wait(60)
    assert (first.handle.state, second.handle.state, ran) == ("scored", "cancelled", [])
    assert adds_up(evaluator.stats())
    evaluator.close()


def test_an_outcome_is_kept_once():
    handle = EvaluationHandle()
    woken = []
    handle._listen(lambda: woken.append(handle.state))
    assert handle.give_up("left", [Length()], "shut down")
    assert not handle.finish("scored", ())
    assert (woken, handle.state, handle.result(0)[0].reason) == (["left"], "left", "shut down")


def test_a_cancelled_evaluation_does_not_stay_in_the_store(tracer):
    gate = Blocked()
    handles = [tracer.async_evaluate([gate]) for _ in range(20)]
    assert eventually(lambda: len(tracer.store.pending_evaluations("online")) == 20)
    assert handles[-1].cancel()
    gate.gate.set()
    assert tracer.wait_for_evaluations(60)
    assert eventually(lambda: tracer.store.pending_evaluations("online") == [])


def test_slow_callbacks_and_alerts_hold_up_no_evaluation(tracer):
    gate = threading.Event()
    for _ in range(6):
        tracer.async_evaluate([Length()], actual_output="0", on_result=lambda scores: gate.wait(60))
        tracer.async_evaluate([Length()], actual_output="0", alerts=[lambda low: gate.wait(60)])
    [score] = tracer.async_evaluate([Length()], actual_output="0123456789").result(60)
    assert score.passed
    gate.set()
    assert tracer.wait_for_evaluations(60)
    assert tracer.stats()["evaluations"]["failed_calls"] == 0


def test_a_bad_neighbour_costs_no_other_its_score_or_its_place_in_the_store(caplog):
    class Picky(MemoryStore):
        def write(self, batch):
            if any(score.name == "Bad" for _, _, score in batch.scores):
                raise ValueError("bad score")
            super().write(batch)

        def save_pending_evaluations(self, project, requests):
            if any(request["example"]["input"] == "refused" for request in requests):
                raise ValueError("bad request")
            super().save_pending_evaluations(project, requests)

    class Bad(Length):
        name = "Bad"

    tracer = Tracer("picky", store=Picky())
    gate = Blocked()
    with tracer.span("root"):
        handles = [tracer.async_evaluate([gate], input=f"good {number}") for number in range(20)]
        tracer.async_evaluate([Bad()], input="refused")
        tracer.async_evaluate([Bad()], retrieval_context=12345)
    assert eventually(lambda: len(tracer.store.pending_evaluations("picky")) == 20)
    gate.gate.set()
    assert tracer.wait_for_evaluations(60)
    assert all(handle.state == "scored" for handle in handles)
    assert len(tracer.store.scores(tracer.store.traces()[0].trace_id)) == 20
    assert tracer.stats()["evaluations"]["unstored"] == 2
    tracer.shutdown()


def test_nobody_waits_for_an_evaluation_that_a_shutdown_has_left():
    tracer = Tracer("left", store=MemoryStore(), drain_seconds=0.0)
    gate = Blocked()
    handles = [tracer.async_evaluate([gate]) for _ in range(20)]
    assert eventually(lambda: handles[0].state == "running")
    tracer.shutdown()
    assert {handle.state for handle in handles} == {"left"}
    [score] = handles[0].result()
    assert "pending in the store" in score.reason
    assert len(tracer.store.pending_evaluations("left")) == 20
    assert tracer.wait_for_evaluations() is False
    late = tracer.async_evaluate([Length()])
    assert (late.state, "shut down" in late.result()[0].reason) == ("dropped", True)
    assert adds_up(tracer.stats()["evaluations"])
    gate.gate.set()


def test_the_next_worker_takes_over_what_a_dead_one_held(tracer, monkeypatch, caplog):
    work, deaths = OnlineWorker._take_due, []

    def dies(self):
        if self._waiting and not deaths:
            deaths.append(1)
            raise RuntimeError("the worker dies")
        return work(self)

    monkeypatch.setattr(OnlineWorker, "_take_due", dies)
    handles = [tracer.async_evaluate([Length()]) for _ in range(4)]
    assert [handle.result(60)[0].outcome for handle in handles] == ["failed"] * 4
    assert tracer.wait_for_evaluations(60)
    assert deaths
    assert adds_up(tracer.stats()["evaluations"])


def test_a_worker_that_cannot_live_drops_what_waits_and_says_why(tracer, monkeypatch, caplog):
    def dies(self):
        raise RuntimeError("no memory")

    monkeypatch.setattr("agenttrace.process.threads.PAUSES", (0.0,))
    monkeypatch.setattr(OnlineWorker, "_take_due", dies)
    handle = tracer.async_evaluate([Length()])
    assert "no memory" in handle.result(60)[0].reason
    assert tracer.wait_for_evaluations(60)
    assert adds_up(tracer.stats()["evaluations"])


def test_no_new_thread_for_a_callback_is_a_failed_call(tracer, monkeypatch, caplog):
    tracer.async_evaluate([Length()]).result(60)

    def called(scores):
        raise AssertionError

    run = Isolation._on_thread

    def refuses(self, call):
        if call.function is called:
            raise RuntimeError("can't start new thread")
        return (yield from run(self, call))

    monkeypatch.setattr(Isolation, "_on_thread", refuses)
    handles = [tracer.async_evaluate([Length()], on_result=called) for _ in range(4)]
    assert tracer.wait_for_evaluations(60)
    assert {handle.state for handle in handles} == {"scored"}
    assert tracer.stats()["evaluations"]["failed_calls"] == 4


class WithoutText(Exception):
    """Its text cannot be had."""

    def __str__(self):
        raise ValueError("no text")


def test_a_store_whose_error_has_no_text_costs_no_score():
    store = MemoryStore()

    def refuses(rows):
        raise WithoutText

    store.write_scores = refuses
    tracer = Tracer("no text", store=store)
    with tracer.span("call"):
        handle = tracer.async_evaluate([Length()])
    assert handle.result(60)[0].outcome == "failed"
    assert tracer.wait_for_evaluations(60)
    tracer.shutdown()


def test_a_scorer_whose_error_has_no_text_is_errored_by_its_type(tracer):
    class Wordless(Length):
        def score(self, example, trace):
            raise WithoutText

    [score] = tracer.async_evaluate([Wordless()]).result(60)
    assert score.outcome == "errored"
    assert "WithoutText" in score.reason


def test_nobody_waits_for_a_worker_that_died_of_an_error_without_text(tracer, monkeypatch):
    def dies(self):
        raise WithoutText

    monkeypatch.setattr("agenttrace.process.threads.PAUSES", (0.0,))
    monkeypatch.setattr(OnlineWorker, "_take_due", dies)
    assert "WithoutText" in tracer.async_evaluate([Length()]).result(60)[0].reason


def test_a_log_handler_that_raises_leaves_the_worker_alone(tracer, monkeypatch):
    class Raising(logging.Handler):
        def emit(self, record):
            raise OSError("disk full")

    def fails(scores):
        raise KeyError("callback")

    def dies(self):
        raise KeyError("worker")

    handler = Raising()
    logging.getLogger("agenttrace").addHandler(handler)
    try:
        for _ in range(4):
            tracer.async_evaluate([Length()], on_result=fails)
        assert tracer.wait_for_evaluations(60)
        assert tracer.stats()["evaluations"]["failed_calls"] == 4
        monkeypatch.setattr("agenttrace.process.threads.PAUSES", (0.0,))
        monkeypatch.setattr(OnlineWorker, "_take_due", dies)
        assert "worker" in tracer.async_evaluate([Length()]).result(60)[0].reason
    finally:
        logging.getLogger("agenttrace").removeHandler(handler)


def test_what_finds_no_room_is_dropped_counted_and_says_so():
    store = MemoryStore()
    evaluator = OnlineEvaluator(store, "p", flush_spans=lambda timeout: None, limit=3, concurrency=1)
    scorer = Blocked()
    handles = [evaluator.ask([scorer], {}, None) for _ in range(20)]
    dropped_handles = [handle for handle in handles if handle.state == "dropped"]
    assert len(dropped_handles) >= 15
    [score] = dropped_handles[0].result(0)
    assert score.outcome == "errored"
    assert "full" in score.reason
    scorer.gate.set()
    assert evaluator.wait(60)
    counts = evaluator.stats()
    assert counts["dropped"] == len(dropped_handles)
    assert adds_up(counts)
    evaluator.close()


def test_a_rate_of_nothing_evaluates_nothing(tracer):
    handle = tracer.async_evaluate([Length()], sample_rate=0.0)
    assert handle.state == "sampled_out"
    assert handle.result(0) == ()
    assert adds_up(tracer.stats()["evaluations"])


def test_every_call_of_an_observed_function_can_be_evaluated(tracer):
    examples = []

    class Sees(Length):
        def score(self, example, trace):
            examples.append((example.input, example.actual_output))
            return super().score(example, trace)

    @tracer.observe(scorers=[Sees()])
    def answer(question, tone="dry"):
        return "0123456789"

    @tracer.observe(scorers=[Sees()])
    def fails():
        raise ValueError

    answer("why?")
    with pytest.raises(ValueError):
        fails()
    tracer.flush()
    assert tracer.wait_for_evaluations(60)
    assert examples == [({"question": "why?", "tone": "dry"}, "0123456789")]
    tracer.flush()
    assert [s.value for _, s in tracer.store.scores(tracer.store.traces(name="answer")[0].trace_id)] == [1.0]


def test_a_result_callback_gets_the_scores_and_may_break(tracer):
    results = []

    def breaks(scores):
        raise RuntimeError

    tracer.async_evaluate([Length()], actual_output="0123456789", on_result=results.append)
    tracer.async_evaluate([Length()], actual_output="0123456789", on_result=breaks)
    assert tracer.wait_for_evaluations(60)
    assert results[0][0].value == 1.0
    assert tracer.stats()["evaluations"]["failed_calls"] == 1


def test_a_low_score_raises_the_alerts(tracer, caplog):
    low_scores = []
    with caplog.at_level(logging.WARNING, logger="agenttrace.alerts"):
        tracer.async_evaluate([Length()], actual_output="0", alerts=[low_scores.append, log_alert])
        tracer.async_evaluate([Length()], actual_output="0123456789", alerts=[low_scores.append, log_alert])
        assert tracer.wait_for_evaluations(60)
    [low] = low_scores
    assert low.score.value == 0.1
    assert low.to_dict()["project"] == "online"
    assert "Length scored 0.1" in caplog.text


def test_an_alert_can_be_posted_to_an_address(tracer, loopback):
    tracer.async_evaluate([Length()], actual_output="0", alerts=[webhook(loopback.url)])
    assert tracer.wait_for_evaluations(60)
    assert loopback.received[0]["score"]["name"] == "Length"


def test_a_webhook_that_is_no_address_is_an_error_at_once():
    with pytest.raises(ConfigError, match="http"):
        webhook("ftp://example.com")


def test_who_waits_inside_the_span_that_is_judged_gets_what_there_is_of_it(tracer):
    @tracer.observe(span_type="tool")
    def lookup():
        return 7

    @tracer.observe
    def plain():
        lookup()
        return tracer.async_evaluate([ToolOrderScorer()], expected_tools=["lookup"]).result(60)

    @tracer.observe
    async def awaiting():
        lookup()
        return await asyncio.wait_for(tracer.async_evaluate([Length()], actual_output="12345"), 60.0)

    began = time.monotonic()
    [score] = plain()
    assert (score.value, score.outcome) == (1.0, "passed")
    assert [one.outcome for one in asyncio.run(awaiting())] == ["passed"]
    assert time.monotonic() - began < SPAN_SECONDS, "they waited for the end of the call that they are in"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"scorers": []}, "no scorers"),
        ({"scorers": Length}, "a list"),
        ({"scorers": [Length]}, "call it"),
        ({"scorers": ["Faithfulness"]}, "not a scorer"),
        ({"scorers": [Length()], "sample_rate": 2}, "0 to 1"),
        ({"scorers": [Length()], "example": Example(input="a"), "input": "b"}, "got both"),
        ({"scorers": [Length()], "example": Example(input="a"), "expected_tools": ["b"]}, "expected_tools"),
        (
            {"scorers": [Length()], "example": Example(), "additional_metadata": {"a": 1}},
            "additional_metadata",
        ),
        ({"scorers": [Length()], "example": Length()}, "got Length"),
        ({"scorers": [Length()], "span_id": "0123456789abcdef"}, "none runs"),
        ({"scorers": [Length()], "example": {"input": "a"}}, r"Example\(\*\*fields\)"),
        ({"scorers": [Length()], "timeout": -1}, "seconds above 0"),
        ({"scorers": [Length()], "on_result": 3}, "a function"),
        ({"scorers": [Length()], "alerts": "https://example.com"}, "list of functions"),
        ({"scorers": [Length()], "alerts": [7]}, "list of functions"),
    ],
)
def test_wrong_use_is_an_error_at_the_call(tracer, wrong, message):
    with pytest.raises((ConfigError, ScorerError), match=message):
        tracer.async_evaluate(**wrong)


@pytest.mark.parametrize("misspelt", ["modle", "actual_ouput"])
def test_a_misspelt_parameter_is_pythons_own_error_at_the_call(tracer, misspelt):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{misspelt}'"):
        tracer.async_evaluate([Length()], Example(), **{misspelt: "a"})


def test_every_parameter_has_a_name_that_an_editor_can_complete():
    """The fields of an example under their own names, then how it is judged; nothing behind `**`."""
    taken = inspect.signature(Tracer.async_evaluate).parameters
    own = {"name", "example_id", "created_at", "skip", "xfail", "quarantine", "tags", "scorers"}
    own |= {"expected_state", "turns", "simulate"}  # of an agent that is run
    fields = [field for field in Example.model_fields if field not in own]
    rules = ["model", "sample_rate", "span_id", "timeout", "on_result", "alerts"]
    assert list(taken) == ["self", "scorers", "example", *fields, *rules]
    assert all(taken[name].kind is inspect.Parameter.KEYWORD_ONLY for name in [*fields, *rules])


def test_what_is_none_counts_as_not_given(tracer):
    rules = ["model", "sample_rate", "span_id", "timeout", "on_result", "alerts"]
    example = Example(actual_output="12345")
    handle = tracer.async_evaluate([Length()], example, actual_output=None, **dict.fromkeys(rules))
    assert handle.result(60)[0].passed


def test_the_calls_alerts_are_told_besides_the_tracers_own():
    told = []
    tracer = Tracer("p", store=MemoryStore(), alerts=[lambda low: told.append("tracer")])
    try:
        tracer.async_evaluate([Length()], actual_output="", alerts=(lambda low: told.append("call"),))
        assert tracer.wait_for_evaluations(60)
    finally:
        tracer.shutdown()
    assert sorted(told) == ["call", "tracer"]


@pytest.mark.parametrize(
    ("attribute", "wrong"), [("name", ""), ("name", None), ("threshold", float("nan")), ("threshold", "high")]
)
def test_a_second_scorer_of_a_good_kind_is_checked_too(tracer, attribute, wrong):
    tracer.async_evaluate([Length()])
    bad = Length()
    setattr(bad, attribute, wrong)
    with pytest.raises(ScorerError, match=attribute):
        tracer.async_evaluate([bad])


def test_a_misspelt_model_of_a_second_judge_is_an_error_at_the_call(tracer):
    from agenttrace.judges import AnswerRelevancyScorer, FakeChatModel

    tracer.async_evaluate([AnswerRelevancyScorer(model=FakeChatModel({}))], input="a", actual_output="b")
    with pytest.raises(ConfigError, match="opnai"):
        tracer.async_evaluate([AnswerRelevancyScorer(model="opnai/gpt-4.1")], input="a", actual_output="b")
    with pytest.raises(ConfigError):
        tracer.async_evaluate([AnswerRelevancyScorer()], input="a", actual_output="b", model=object())


def test_a_misspelt_model_is_an_error_at_the_call(tracer, monkeypatch):
    from agenttrace.judges import AnswerRelevancyScorer

    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigError, match="opnai"):
        tracer.async_evaluate([AnswerRelevancyScorer()], input="a", actual_output="b", model="opnai/gpt-4.1")


def test_a_judge_without_a_model_is_an_error_at_the_call(tracer, monkeypatch):
    from agenttrace.judges import FaithfulnessScorer

    monkeypatch.delenv("AGENTTRACE_JUDGE_MODEL", raising=False)
    with pytest.raises(ConfigError, match="no model"):
        tracer.async_evaluate([FaithfulnessScorer()], actual_output="b", retrieval_context=["c"])


@pytest.mark.parametrize(
    ("attribute", "wrong"), [("name", ""), ("name", None), ("threshold", float("nan")), ("threshold", "high")]
)
def test_a_scorer_that_was_good_and_is_changed_is_checked_again(tracer, attribute, wrong):
    changing = Length()
    tracer.async_evaluate([changing])
    setattr(changing, attribute, wrong)
    with pytest.raises(ScorerError, match=attribute):
        tracer.async_evaluate([changing])


def test_a_scorer_whose_state_cannot_be_compared_is_asked_all_the_same(tracer):
    class Sulks:
        def __eq__(self, other):
            raise RuntimeError("not comparable")

        __hash__ = None

    keeping = Length()
    for _ in range(3):
        keeping.state = Sulks()  # as one that caches an array
        assert tracer.async_evaluate([keeping], actual_output="12345").result(60)[0].passed


def test_a_handle_that_is_kept_holds_no_call_once_it_is_done(tracer):
    with tracer.span("answer"):
        handle = tracer.async_evaluate([Length()], actual_output="12345")
        assert handle.record is not None
    handle.result(60)
    assert handle.record is None


def test_a_rate_may_be_any_kind_of_number(tracer):
    class Half(float):
        """As numpy's floats are."""

    assert tracer.async_evaluate([Length()], actual_output="a", sample_rate=Half(1.0)).result(60)


def test_a_judge_that_was_good_and_gets_a_wrong_model_is_checked_again(tracer):
    judge = AnswerRelevancyScorer(model=FakeChatModel(["{}"]))
    tracer.async_evaluate([judge], input="a", actual_output="b")
    judge.model = "no-such-provider/model"
    with pytest.raises(ConfigError):
        tracer.async_evaluate([judge], input="a", actual_output="b")


@pytest.mark.parametrize("options", [{"alerts": "https://example.com"}, {"drain_seconds": "2"}])
def test_a_tracer_refuses_options_that_cannot_work(options):
    with pytest.raises(ConfigError):
        Tracer("p", store=MemoryStore(), **options)


def test_the_front_doors_observe_takes_scorers_too():
    """In a process of its own: the default tracer is the first that a process makes."""
    code = """
import os
os.environ["AGENTTRACE_STORE"] = "memory"
import agenttrace

class Sees:
    name, threshold = "Sees", 0.5
    def score(self, example, trace):
        print(example.actual_output, flush=True)
        return agenttrace.Score.of(self.name, 1.0, self.threshold)

@agenttrace.observe(scorers=[Sees()])
def answer():
    return "yes"

answer()
tracer = agenttrace.default_tracer()
tracer.flush()
assert tracer.wait_for_evaluations(60)
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stdout) == (0, "yes\n"), process.stderr


def test_asking_loads_nothing_heavy():
    code = (
        "import sys, agenttrace.online.evaluator\n"
        "print(sorted({'asyncio', 'pydantic', 'httpx', 'rich', 'jinja2'} & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert process.stdout.strip() == "[]"


def test_a_later_process_finishes_what_was_left(tracer):
    first = OnlineEvaluator(tracer.store, "online", flush_spans=lambda timeout: None, concurrency=1)
    blocked = Blocked()
    blocked.name = "Length"
    first.ask([blocked], {"actual_output": "0123456789"}, None)
    first.ask([blocked], {"actual_output": "01234"}, None)
    assert eventually(lambda: len(tracer.store.pending_evaluations("online")) == 2)
    first.close(0.0)
    assert tracer.resume_evaluations([Broken()]) == []
    handles = tracer.resume_evaluations([Length()])
    assert sorted(handle.result(60)[0].value for handle in handles) == [0.5, 1.0]
    assert tracer.store.pending_evaluations("online") == []
    blocked.gate.set()


@pytest.mark.parametrize("place", ["memory", "file"])
def test_what_is_resumed_is_judged_by_the_matchers_of_then_and_told_to_the_alerts(tmp_path, place):
    from agenttrace import ExactMatchScorer, approx, gt

    store = MemoryStore() if place == "memory" else SQLiteStore(tmp_path / "traces.db")
    gate = Blocked()
    gate.name = "Exact Match"
    first = Tracer("matchers", store=store, drain_seconds=0.0)
    for expected in (approx(5.0), {"n": gt(1), "$ref": "literal"}, lambda value: True):
        first.async_evaluate([gate], expected_output=expected, actual_output=5.0)
    assert eventually(lambda: len(store.pending_evaluations("matchers")) == 3)
    low = []
    later = Tracer("matchers", store=store, alerts=[low.append])
    assert later.resume_evaluations([ExactMatchScorer()]) == []  # the first is at work on them
    first.shutdown()
    fits, differs, unfinishable = [h.result(60)[0] for h in later.resume_evaluations([ExactMatchScorer()])]
    assert (fits.outcome, differs.outcome, unfinishable.outcome) == ("passed", "failed", "errored")
    assert "cannot be finished" in unfinishable.reason
    assert later.wait_for_evaluations(60)
    assert [alert.score.name for alert in low] == ["Exact Match"]
    assert store.pending_evaluations("matchers") == []
    gate.gate.set()
    later.shutdown()


def test_a_process_that_has_ended_is_at_work_on_nothing():
    code = "from agenttrace.online.request import owner_text; print(owner_text('n'))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    ended_owner, mine = process.stdout.strip(), owner_text("n")
    assert not at_work({"owner": ended_owner, "owned_at": time.time()}, set())
    assert at_work({"owner": mine}, {mine})
    assert not at_work({"owner": mine}, set())
    assert not at_work({"owner": None}, set())
    assert at_work({"owner": "elsewhere|1|2|n", "owned_at": time.time()}, set())
    assert not at_work({"owner": "elsewhere|1|2|n", "owned_at": time.time() - 3600}, set())
    living = owner_text("n").split("|")
    living[1:3] = str(os.getppid()), _started(os.getppid())
    assert at_work({"owner": "|".join(living)}, set())


def test_a_shutdown_shares_one_deadline(monkeypatch):
    tracer = Tracer("deadline", store=MemoryStore(), drain_seconds=30.0)
    gate = Blocked()
    tracer.async_evaluate([gate])
    seconds = []
    close = OnlineEvaluator.close

    def closes(self, timeout=None, **options):
        seconds.append(timeout + options["stop_seconds"])
        return close(self, timeout, **options)

    monkeypatch.setattr(OnlineEvaluator, "close", closes)
    tracer.shutdown(timeout=0.2)
    gate.gate.set()
    assert seconds[0] <= 0.2


def test_a_disabled_tracer_evaluates_nothing():
    tracer = Tracer("off", store=MemoryStore(), enabled=False)
    assert tracer.async_evaluate([Length()]).state == "sampled_out"


def test_a_request_keeps_expectations_as_they_were_written():
    from agenttrace import re_

    expected = [{"tool_name": "search", "parameters": {"q": re_("a")}}]
    assert make_request([Length()], {"expected_tools": expected}).example().expected_tools == expected


def test_secrets_reach_neither_the_pending_evaluations_nor_the_stored_reasons(tracer):
    class Quotes(Blocked):
        name = "Quotes"

        def score(self, example, trace):
            self.gate.wait(60)
            return Score.of(self.name, 0.0, 0.5, reason=f"it said {example.actual_output}")

    secret = "sk-" + "a1B2" * 8
    scorer = Quotes()
    with tracer.span("answer"):
        tracer.async_evaluate([scorer], input={"api_key": "hunter2"}, actual_output=f"use {secret}")
    assert eventually(lambda: tracer.store.pending_evaluations("online"))
    [pending] = tracer.store.pending_evaluations("online")
    assert secret not in str(pending)
    assert "hunter2" not in str(pending)
    scorer.gate.set()
    assert tracer.wait_for_evaluations(60)
    tracer.flush()
    [(_, score)] = tracer.store.scores(tracer.store.traces()[0].trace_id)
    assert secret not in str(score)
    assert "it said" in score.reason


@pytest.mark.parametrize("why", ["sampled out", "after the call", "outside any call", "dropped"])
def test_where_no_trace_was_stored_nothing_says_what_was_called(why):
    """Neither "called nothing, as expected" nor "did not call what it should": both would be guesses."""
    tracer = Tracer("unknown", store="memory", sample_rate=0.0 if why == "sampled out" else 1.0)
    scorers = [ToolOrderScorer(), ToolPermissionScorer(deny="delete_*"), LoopScorer(), Length()]
    handles = []

    def ask():
        handles.append(
            tracer.async_evaluate(scorers, actual_output="0123456789", expected_tools=["delete_account"])
        )

    @tracer.observe(span_type="tool")
    def delete_account():
        pass

    @tracer.observe
    def agent():
        delete_account()
        if why in ("sampled out", "dropped"):
            ask()

    if why == "dropped":
        tracer.store.trace = lambda trace_id: Trace([])
    if why != "outside any call":
        agent()
    if why in ("after the call", "outside any call"):
        ask()
    order, permission, loop, length = handles[0].result(60)
    assert [order.outcome, permission.outcome, loop.outcome] == ["errored"] * 3
    assert "nothing says what was called" in order.reason
    assert length.passed
    tracer.shutdown()


def test_calls_that_the_example_brings_stand_for_a_trace_that_is_not_there():
    tracer = Tracer("unknown", store="memory")
    [score] = tracer.async_evaluate(
        [ToolOrderScorer()], actual_output="x", expected_tools=["a"], tools_called=["a"]
    ).result(60)
    assert score.passed
    tracer.shutdown()
