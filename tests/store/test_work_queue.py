"""What every queue of evaluations promises: each item goes to one claimant, late results are not taken."""

import os
import threading
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from store_values import TRACE, a_score, a_trace

from agenttrace.core.batch import ScoreRow
from agenttrace.core.pending import FAILED, Claim, WorkCounts, WorkItem
from agenttrace.core.score import Score
from agenttrace.store import MemoryStore, SQLiteStore

ID = f"{TRACE:032x}"
ITEM = WorkItem("shop", ID, "quality")
FOREVER = 3600.0


def item(number, rule="quality", project="shop"):
    return WorkItem(project, f"{number:032x}", rule)


def scores_of(store):
    return [score.name for _, score in store.scores(ID)]


def row(name):
    return ScoreRow(ID, None, a_score(name))


@pytest.fixture
def queue(store):
    return store.work_queue()


def test_an_item_is_due_once_it_has_rested(queue):
    queue.add([ITEM], FOREVER)
    assert queue.claim("a", 10, FOREVER) == []
    queue.add([ITEM], 0)
    assert queue.claim("a", 10, FOREVER) == [Claim(ITEM, 1, 1, None)]


def test_an_item_that_waits_is_put_off(queue):
    queue.add([ITEM], 0)
    queue.add([ITEM], FOREVER)
    assert queue.claim("a", 10, FOREVER) == []


def test_what_is_added_twice_is_there_once(queue):
    queue.add([ITEM, ITEM], 0)
    queue.add([ITEM], 0)
    assert len(queue.claim("a", 10, FOREVER)) == 1
    assert queue.claim("b", 10, FOREVER) == []


def test_a_lease_that_ended_lets_another_claim_it_and_the_late_result_is_not_taken(queue, store):
    store.export(a_trace())
    queue.add([ITEM], 0)
    [late] = queue.claim("a", 1, 0)
    [claim] = queue.claim("b", 1, FOREVER)
    assert (claim.number, claim.tries) == (2, 2)
    assert not queue.settle(late, "x", [row("late")])
    assert queue.renew([late, claim], FOREVER) == [claim]
    queue.give_back([late], 0)
    assert queue.claim("c", 1, FOREVER) == []
    assert queue.settle(claim, "x", [row("right")])
    assert not queue.settle(claim, "x", [row("again")])
    assert scores_of(store) == ["right"]


def test_spans_that_come_during_an_evaluation_have_it_done_again_in_the_place_of_the_first(queue, store):
    store.export(a_trace())
    store.write_scores([(ID, None, a_score("of the user"))])
    queue.add([ITEM], 0)
    [first] = queue.claim("a", 1, FOREVER)
    queue.add([ITEM], 0)
    assert queue.claim("b", 1, FOREVER) == []
    assert queue.settle(first, "3 spans", [row("quality"), row("speed")])
    [second] = queue.claim("b", 1, FOREVER)
    assert second.seen == "3 spans"
    assert queue.settle(second, "4 spans", [row("quality")])
    assert sorted(scores_of(store)) == ["of the user", "quality"]


def test_a_score_that_could_not_be_kept_has_no_others_deleted_in_its_place(sqlite_store):
    queue = sqlite_store.work_queue()
    sqlite_store.export(a_trace())
    sqlite_store.write_scores([(ID, None, a_score("of the user"))])
    odd = ScoreRow(ID, None, replace(a_score("odd"), cost=1 << 80))
    for scores in ([odd, row("quality")], [odd], [row("quality")]):
        queue.add([ITEM], 0)
        [claim] = queue.claim("a", 1, FOREVER)
        assert queue.settle(claim, f"{len(scores)} {scores[0].score.name}", scores)
        kept = ["quality"] if row("quality") in scores else []
        assert sorted(scores_of(sqlite_store)) == sorted(["of the user", *kept])


def test_scores_stay_where_nothing_new_was_seen(queue, store):
    store.export(a_trace())
    for scores in ([row("quality")], None, None):
        queue.add([ITEM], 0)
        [claim] = queue.claim("a", 1, FOREVER)
        assert queue.settle(claim, "3 spans", scores)
    assert scores_of(store) == ["quality"]


def test_a_deleted_trace_takes_no_other_traces_scores_with_it(queue, store):
    store.export(a_trace())
    queue.add([ITEM], 0)
    [claim] = queue.claim("a", 1, FOREVER)
    queue.settle(claim, "x", [row("quality")])
    store.delete_trace(ID)
    store.export(a_trace(5))
    other = f"{5:032x}"
    store.write_scores([(other, None, a_score("of another trace"))])
    queue.add([ITEM], 0)
    [claim] = queue.claim("a", 1, FOREVER)
    queue.settle(claim, "y", [])
    assert [score.name for _, score in store.scores(other)] == ["of another trace"]


def test_what_is_given_back_is_due_when_it_was_said(queue):
    queue.add([ITEM], 0)
    claims = queue.claim("a", 1, FOREVER)
    queue.give_back(claims, FOREVER)
    assert queue.claim("a", 1, FOREVER) == []
    queue.add([ITEM], 0)
    assert [claim.tries for claim in queue.claim("a", 1, FOREVER)] == [1]


def test_tries_count_the_claimants_that_came_to_nothing(queue):
    queue.add([ITEM], 0)
    for tries in (1, 2, 3):
        assert [claim.tries for claim in queue.claim("dies", 1, 0)] == [tries]
    [claim] = queue.claim("a", 1, FOREVER)
    assert claim.tries == 4
    queue.settle(claim, "x", [])
    queue.add([ITEM], 0)
    assert [claim.tries for claim in queue.claim("a", 1, FOREVER)] == [1]


def test_only_items_of_the_rules_that_are_named_are_claimed(queue):
    queue.add([item(1, "quality"), item(1, "safety")], 0)
    assert [claim.item.rule for claim in queue.claim("a", 9, FOREVER, rules=["safety"])] == ["safety"]
    assert queue.claim("a", 9, FOREVER, rules=[]) == []


def test_those_that_are_due_for_longest_come_first(queue):
    for number in (3, 1, 2):
        queue.add([item(number)], -number)
    claims = queue.claim("a", 2, FOREVER)
    assert [int(claim.item.trace_id, 16) for claim in claims] == [3, 2]


def test_projects_take_turns(queue):
    queue.add([item(number, project="large") for number in range(1, 50)], -2)
    queue.add([item(number, rule, "small") for number in (1, 2) for rule in ("quality", "safety")], -1)
    owned = [claim.item.project for _ in range(2) for claim in queue.claim("a", 4, FOREVER)]
    assert owned == ["large", "small"] * 4
    assert {claim.item.project for claim in queue.claim("a", 4, FOREVER)} == {"large"}


def test_what_could_not_be_evaluated_is_counted(queue):
    queue.add([item(1), item(2)], 0)
    for claim in queue.claim("a", 2, FOREVER):
        queue.settle(claim, FAILED + "it broke", [])
    assert queue.counts() == {"shop": WorkCounts(failed=2)}


def test_nothing_is_made_to_look_for_what_waits(path):
    queue = SQLiteStore(path).work_queue()
    assert (queue.claim("a", 1, FOREVER), queue.counts()) == ([], {})
    assert not os.path.exists(path)


def test_a_failure_whose_score_was_replaced_is_not_counted_any_more(sqlite_store):
    sqlite_store.export(a_trace())
    queue = sqlite_store.work_queue()
    for value in (0.0, 1.0):
        queue.add([ITEM], 0)
        [claim] = queue.claim("a", 1, FOREVER)
        queue.settle(claim, "x", [ScoreRow(ID, None, Score.of("s", value, 0.5, reason="bad"))])
        assert [failure.count for failure in sqlite_store.failures()] in ([1], [0], [])
    assert [failure for failure in sqlite_store.failures() if failure.count] == []


def test_counts_say_how_many_rest_are_due_are_claimed_and_done(queue):
    queue.add([item(1), item(2), item(3)], 0)
    queue.add([item(4), item(1, project="other")], FOREVER)
    first, _ = queue.claim("a", 2, FOREVER)
    queue.settle(first, "x", [])
    assert queue.counts() == {"shop": WorkCounts(1, 1, 1, 1), "other": WorkCounts(1, 0, 0, 0)}


def test_of_many_threads_that_claim_at_once_each_item_goes_to_one(queue):
    queue.add([item(number) for number in range(60)], 0)
    claims, lock = [], threading.Lock()

    def work(owner):
        while mine := queue.claim(owner, 3, FOREVER):
            with lock:
                claims.extend(mine)

    threads = [threading.Thread(target=work, args=(f"worker {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(int(claim.item.trace_id, 16) for claim in claims) == list(range(60))


class Queues(RuleBasedStateMachine):
    """A queue against a plain model of it: who holds what, what is done, which scores there are."""

    def __init__(self):
        super().__init__()
        self.store = MemoryStore()
        self.queue = self.store.work_queue()
        self.waiting, self.held, self.lost, self.scored = set(), {}, [], {}
        self.again = set()

    @rule(number=st.integers(0, 3))
    def add(self, number):
        self.queue.add([item(number)], 0)
        if number in self.held:
            self.again.add(number)
        else:
            self.waiting.add(number)

    @rule(most=st.integers(1, 3), lasts=st.booleans())
    def claim(self, most, lasts):
        claims = self.queue.claim("a", most, FOREVER if lasts else 0)
        numbers = [int(claim.item.trace_id, 16) for claim in claims]
        free = self.waiting | {number for number, (_, lasting) in self.held.items() if not lasting}
        assert len(numbers) == len(set(numbers)) == min(most, len(free))
        assert set(numbers) <= free
        for number, claim in zip(numbers, claims, strict=True):
            if number in self.held:
                self.lost.append(self.held[number][0])
            self.waiting.discard(number)
            self.again.discard(number)
            self.held[number] = (claim, lasts)

    @rule()
    def settle(self):
        for number, (claim, _) in list(self.held.items()):
            name = f"{number} by {claim.number}"
            assert self.queue.settle(claim, "x", [ScoreRow(claim.item.trace_id, None, a_score(name))])
            self.scored[number] = name
            del self.held[number]
            if number in self.again:
                self.waiting.add(number)
            self.again.discard(number)

    @rule()
    def settle_late(self):
        for claim in self.lost:
            assert not self.queue.settle(claim, "x", [ScoreRow(claim.item.trace_id, None, a_score("late"))])

    @invariant()
    def each_was_scored_once(self):
        for number in range(4):
            names = [score.name for _, score in self.store.scores(f"{number:032x}")]
            assert names == ([self.scored[number]] if number in self.scored else [])


Queues.TestCase.settings = settings(max_examples=30, stateful_step_count=25, deadline=None)
TestQueues = Queues.TestCase
