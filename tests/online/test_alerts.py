"""Alerts: of what is new or back again, of errored judges, of rates over a window."""

import logging
import threading
import time

import pytest

from agenttrace import ConfigError, Score, Tracer
from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import StoreError
from agenttrace.core.rates import CostLimit, DroppedShare, ErroredShare, Rate
from agenttrace.core.span import Span
from agenttrace.core.watch import WriterState
from agenttrace.online import results
from agenttrace.online.alerts import every
from agenttrace.online.evaluator import OnlineEvaluator
from agenttrace.online.look import Look
from agenttrace.online.rate_watch import RateWatch
from agenttrace.scorers import ContainsScorer
from agenttrace.store import MemoryStore, SQLiteStore

HOUR = 3_600 * 10**9


@pytest.fixture(params=["memory", "file"])
def store(request, tmp_path):
    store = MemoryStore() if request.param == "memory" else SQLiteStore(tmp_path / "traces.db")
    yield store
    store.close()


class Broken:
    name, threshold = "Broken", 1.0

    def score(self, example, trace):
        raise RuntimeError(f"no such column {example.actual_output}")


def evaluated(tracer, *outputs, scorer=None, **trace_fields):
    @tracer.observe(span_type="agent")
    def agent(output):
        if trace_fields:
            tracer.set_session_id(trace_fields["session"])
            tracer.set_customer_id(trace_fields["customer"])
        tracer.async_evaluate([scorer or ContainsScorer("five")], actual_output=output)

    for output in outputs:
        agent(output)
        assert tracer.wait_for_evaluations(60)


@pytest.fixture(params=["memory", "file"])
def place(request, tmp_path):
    return "memory" if request.param == "memory" else tmp_path / "t.db"


def test_a_failure_is_told_when_it_is_new_and_not_again(place):
    lows, all_lows = [], []
    tracer = Tracer("shop", store=place, alerts=[lows.append, every(all_lows.append)])
    evaluated(tracer, "one", "two", "three")
    assert [low.news for low in lows] == ["new"]
    assert [low.news for low in all_lows] == ["new", "again", "again"]
    assert lows[0].failures == ("below its threshold",)
    tracer.shutdown()


def test_a_failure_that_was_fixed_is_told_when_it_is_back(place):
    lows = []
    tracer = Tracer("shop", store=place, alerts=[lows.append])
    evaluated(tracer, "one")
    (failure,) = tracer.store.failures()
    tracer.store.set_failure_state(failure.fingerprint, "fixed", fixed_in="v2")
    evaluated(tracer, "two", "three")
    assert [low.news for low in lows] == ["new", "back again"]
    tracer.shutdown()


def test_of_two_processes_one_tells(tmp_path):
    lows = []
    for _ in range(2):
        tracer = Tracer("shop", store=SQLiteStore(tmp_path / "t.db"), alerts=[lows.append])
        evaluated(tracer, "one")
        tracer.shutdown()
    assert len(lows) == 1


def test_an_alert_knows_the_session_the_customer_and_a_link(tmp_path, monkeypatch):
    lows = []
    tracer = Tracer("shop", store=tmp_path / "t.db", alerts=[lows.append])
    evaluated(tracer, "one", session="s-1", customer="acme")
    (low,) = lows
    assert (low.session_id, low.customer_id) == ("s-1", "acme")
    assert low.link == f"agenttrace view {low.trace_id}"
    monkeypatch.setenv("AGENTTRACE_VIEW_URL", "https://traces.example.com/")
    assert low.to_dict()["link"] == f"https://traces.example.com/t/{low.trace_id}?s={low.span_id}"
    assert "session s-1, customer acme" in str(low)
    assert "evidence" not in low.to_dict()["score"]
    tracer.shutdown()


def test_an_errored_judge_is_told_and_logged_once(caplog):
    lows = []
    tracer = Tracer("shop", store="memory", alerts=[lows.append])
    with caplog.at_level(logging.WARNING, logger="agenttrace"):
        evaluated(tracer, "7", "8", scorer=Broken())
    assert [(low.score.outcome, low.news) for low in lows] == [("errored", "new")]
    assert caplog.text.count("Broken gave no score: RuntimeError: no such column") == 1
    assert tracer.stats()["evaluations"]["errored"] == 2
    tracer.shutdown()


def test_an_errored_judge_is_logged_without_any_alert(caplog):
    tracer = Tracer("shop", store="memory")
    with caplog.at_level(logging.WARNING, logger="agenttrace"):
        evaluated(tracer, "7", scorer=Broken())
    assert "Broken gave no score" in caplog.text
    tracer.shutdown()


# Rates over a window.


def store_scores(store, *values, name="Faithfulness", trace=1):
    key = trace << 64
    store.write(
        Batch(
            [Span(trace_key=key, span_key=1, name="a", span_type="agent", project="shop", start_ns=1)],
            [
                ScoreRow(
                    f"{key:032x}",
                    None,
                    Score.errored(name, 0.5, "down") if value is None else Score.of(name, value, 0.5),
                )
                for value in values
            ],
        )
    )


def watch(store, *rules, holder="one"):
    return RateWatch(rules, store, "shop", holder)


def test_a_rate_below_its_limit_is_told_once_until_it_has_recovered(store):
    rule = Rate("Faithfulness", below=0.8, window="1h", at_least=4)
    looking = watch(store, rule)
    store_scores(store, 1, 0, 0)
    assert [*looking.check()] == []  # too few
    store_scores(store, 1)
    (alert,) = looking.check()
    assert (alert.value, alert.cases, alert.window) == (0.5, 4, "1h")
    assert str(alert) == "Faithfulness passed below 0.8 over 1h: 0.5 in 4 cases of project shop"
    assert [*looking.check()] == []
    store_scores(store, *[1] * 6)
    assert [*looking.check()] == []  # 8 of 10: it holds
    store_scores(store, *[0] * 3)
    assert [alert.cases for alert in looking.check()] == [13]


def test_what_is_older_than_the_window_does_not_count(store):
    store_scores(store, 0, 0, 0)
    looking = watch(store, Rate("Faithfulness", below=0.8, window="1h", at_least=1))
    assert [*looking.check(time.time_ns() + 2 * HOUR)] == []
    assert len([*looking.check()]) == 1


def test_of_two_processes_with_one_rule_one_tells(store):
    store_scores(store, 0, 0, 0)
    rule = Rate("Faithfulness", below=0.8, at_least=1)
    first, second = watch(store, rule), watch(store, rule, holder="two")
    looks = [[*one.check()] for one in (first, second, first, second)]
    assert [*map(len, looks)] == [1, 0, 0, 0]


class Locked(MemoryStore):
    """Its traces cannot be counted until the lock is gone."""

    locked = True

    def trace_counts(self, **choice):
        if self.locked:
            raise StoreError("database is locked")
        return super().trace_counts(**choice)

    def trace_cost(self, **choice):
        return 6.0


def test_a_rule_that_cannot_be_looked_at_keeps_no_other_from_being_told():
    store = Locked()
    store_scores(store, 0, 0, 0)
    store.write(Batch([Span(trace_key=5, span_key=1, name="a", project="shop", start_ns=time.time_ns())]))
    looking = watch(store, CostLimit(above=5), Rate("Faithfulness", below=0.8, at_least=1))
    look = Look(looking.check, looking.pause)
    with pytest.raises(StoreError):
        look.look()
    assert [alert.rule for alert in look.news] == ["Faithfulness passed below 0.8 over 1h"]
    store.locked = False
    assert [alert.value for alert in looking.check()] == [6.0]  # and it is told when it can be


def test_a_rule_whose_lease_could_not_be_asked_for_is_told_the_next_time():
    class NoLease(MemoryStore):
        refuse = True

        def lease(self, *args):
            if self.refuse:
                raise StoreError("database is locked")
            return super().lease(*args)

    store = NoLease()
    store_scores(store, 0, 0, 0)
    looking = watch(store, Rate("Faithfulness", below=0.8, at_least=1))
    with pytest.raises(StoreError):
        [*looking.check()]
    store.refuse = False
    assert len([*looking.check()]) == 1


def test_what_a_look_finds_that_takes_longer_than_it_may_is_told_all_the_same(monkeypatch):
    """And no other look is begun meanwhile."""
    monkeypatch.setattr(results, "CALL_SECONDS", 0.1)
    looks, done = [], threading.Event()

    class Slow(MemoryStore):
        def score_counts(self, **choice):
            looks.append(done.is_set())
            done.wait(60)
            return super().score_counts(**choice)

    store = Slow()
    store_scores(store, 0, 0, 0)
    heard = []
    rule = Rate("Faithfulness", below=0.8, at_least=1, window="20s")
    evaluator = OnlineEvaluator(
        store, "shop", flush_spans=lambda timeout: None, rules=[rule], alerts=[heard.append]
    )
    evaluator.watch()
    end = time.monotonic() + 60
    while not looks and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(1.5)  # longer than the pause between two looks
    assert (looks, heard) == ([False], [])
    done.set()
    while not heard and time.monotonic() < end:
        time.sleep(0.01)
    assert [alert.cases for alert in heard] == [3]
    evaluator.close(0.1)


def test_the_share_of_errored_scores_is_of_all_that_were_to_be_judged(store):
    store_scores(store, 1, None, None, name="Judge")
    (alert,) = watch(store, ErroredShare(above=0.5, at_least=3)).check()
    assert (round(alert.value, 3), alert.cases) == (0.667, 3)
    assert [*watch(store, ErroredShare(above=0.5, scorer="Other", at_least=1)).check()] == []


def test_costs_are_those_of_traces_and_judges(store):
    store.write(
        Batch(
            [
                Span(
                    trace_key=1 << 64,
                    span_key=1,
                    name="a",
                    span_type="llm",
                    project="shop",
                    start_ns=time.time_ns(),
                    usage={"cost": 3.0},
                )
            ],
            [ScoreRow(f"{1 << 64:032x}", None, costly(2.5))],
        )
    )
    (alert,) = watch(store, CostLimit(above=5)).check()
    assert alert.value == 5.5


def costly(dollars):
    return Score(name="J", value=1.0, threshold=0.5, outcome="passed", cost=dollars)


class Counting(MemoryStore):
    """Its writers have these counts."""

    counts = ({"written": 100}, {"written": 0})

    def writers(self):
        return [
            WriterState(
                writer_id=str(at), machine="", pid=at, program="", started_ns=0, seen_ns=0, ended_ns=None,
                counts=counts,
            )
            for at, counts in enumerate(self.counts)
        ]  # fmt: skip


def test_dropped_spans_are_counted_over_all_processes_within_the_window():
    store = Counting()
    looking = watch(store, DroppedShare(above=0.1, at_least=10))
    assert [*looking.check(0)] == []
    store.counts = ({"written": 180}, {"written": 0, "queue_full": 20})
    (alert,) = looking.check(HOUR // 2)
    assert (alert.value, alert.cases) == (0.2, 100)


@pytest.mark.parametrize("order", [1, -1])
def test_a_rule_of_a_short_window_takes_nothing_from_one_of_a_long_window(order):
    store, alerts = Counting(), []
    rules = [
        DroppedShare(above=0.01, window="1h", at_least=1_000),
        DroppedShare(above=0.5, window="1m", at_least=1),
    ]
    looking = watch(store, *rules[::order])
    for minute in range(90):
        store.counts = ({"written": 95 * minute, "queue_full": 5 * minute},)
        alerts += looking.check(minute * HOUR // 60)
    (alert,) = alerts
    assert (alert.window, alert.value, alert.cases) == ("1h", 0.05, 1_000)
    assert len(looking._spans) <= 2 * 62


def test_of_a_short_window_only_what_ended_in_it_is_counted_beside_a_long_one():
    store, minute = Counting(), HOUR // 60
    looking = watch(store, DroppedShare(above=0.4, window="1m", at_least=1), DroppedShare(above=0.9))
    for at in (0, 1):
        store.counts = ({"written": 100 * at},)
        assert [*looking.check(at * minute)] == []
    store.counts = ({"written": 110, "queue_full": 10},)
    (alert,) = looking.check(2 * minute)
    assert (alert.value, alert.cases) == (0.5, 20)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rate("A"), "below= or above="),
        (lambda: Rate("A", below=80), "from 0 to 1"),
        (lambda: Rate("A", below=0.8, window="soon"), "window is a duration such as"),
        (lambda: Rate("A", below=0.8, at_least=0), "at_least"),
        (lambda: Rate("", below=0.8), "by its name"),
    ],
)
def test_a_rule_that_cannot_work_is_an_error_at_once(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_a_tracer_with_rules_tells_its_alerts_of_rates(tmp_path):
    news = []
    rules = [Rate("Contains", below=0.8, at_least=3, window="20s"), CostLimit(above=1_000, window="20s")]
    tracer = Tracer("shop", store=tmp_path / "t.db", alerts=[*rules, news.append])
    evaluated(tracer, "one", "two", "three")
    for _ in range(200):
        if any(one.to_dict()["kind"] == "rate" for one in news):
            break
        evaluated(tracer)
        time.sleep(0.05)
    assert [one.to_dict()["kind"] for one in news] == ["score", "rate"]
    tracer.shutdown()


def test_what_a_broken_scorer_repeats_of_a_secret_input_reaches_nobody_else(place, caplog):
    class Telling:
        name, threshold = "Telling", 1.0

        def score(self, example, trace):
            raise RuntimeError(f"cannot judge {example.input['password']}")

    lows, results = [], []
    tracer = Tracer("shop", store=place, alerts=[lows.append])
    with tracer.span("agent"):
        handle = tracer.async_evaluate(
            [Telling()], input={"password": "open-sesame"}, actual_output="x", on_result=results.append
        )
    assert tracer.wait_for_evaluations(60)
    (found,) = tracer.store.traces()
    stored = repr([score.to_dict() for _, score in tracer.store.scores(found.trace_id)])
    assert "cannot judge [redacted]" in stored
    assert "open-sesame" not in stored + repr([low.to_dict() for low in lows]) + caplog.text
    assert "open-sesame" in handle.result(60)[0].reason
    assert "open-sesame" in results[0][0].reason
    tracer.shutdown()
