"""What a run leaves behind is scored by what changed, and says what cannot be told."""

import asyncio
import math
import sqlite3
import sys
import threading
import time
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from agenttrace import Example, Tracer, approx, call, run_evaluation
from agenttrace.core.errors import DatasetError, ExpectationError
from agenttrace.scorers import StateScorer


class StandIn:
    """As a stand-in for an object that is made when it is asked for anything, and cannot be."""

    __class__ = property(lambda self: 1 / 0)


def test_a_stand_in_that_raises_whatever_it_is_asked_does_not_reach_the_caller():
    tracer = Tracer("shop", store="memory")

    @tracer.observe
    def agent():
        tracer.state("user", StandIn())
        return "done"

    with tracer.capture():
        tracer.state("early", StandIn())
        assert agent() == "done"
    tracer.shutdown()


def shop():
    return {
        "orders": {"7": {"status": "open", "amount": 12.5}, "8": {"status": "open", "amount": 3.0}},
        "refunds": {},
        "carts": {"7": ["mug"]},
    }


@pytest.fixture
def tracer():
    tracer = Tracer("outcome", store="memory")
    yield tracer
    tracer.shutdown()


def ran(tracer, act, state=None, name="db"):
    """The trace of a run that does `act` to a state."""
    state = shop() if state is None else state
    with tracer.capture() as captured, tracer.span("agent"):
        tracer.state(name, lambda: state)
        act(state)
    return captured.trace


def refund(db, amount=12.5):
    db["orders"]["7"]["status"] = "refunded"
    db["refunds"]["r1"] = {"order": 7, "amount": amount}
    del db["carts"]["7"]


EXPECTED = {
    "changed": {"orders.7.status": "refunded"},
    "added": {"refunds.*": {"order": 7, "amount": approx(12.5)}},
    "removed": ["carts.7"],
}


def scored(trace, expected, **options):
    return StateScorer(**options).score(Example(expected_state={"db": expected}), trace)


def test_a_run_that_leaves_behind_what_was_expected_passes(tracer):
    score = scored(ran(tracer, refund), {**EXPECTED, "only": True})
    assert (score.value, score.outcome) == (1.0, "passed"), score.diff
    assert score.reason == "3 of 3 expected changes made, 0 forbidden changes"


def test_the_diff_says_place_by_place_what_is_wrong(tracer):
    def act(db):
        refund(db, amount=125.0)
        db["carts"]["7"] = ["mug"]
        db["orders"]["8"]["status"] = "lost"

    score = scored(ran(tracer, act), {**EXPECTED, "only": True})
    assert score.value == 0.25
    assert score.diff == (
        '    ✓ changed  db.orders.7.status   "open" → "refunded"\n'
        "    ~ added    db.refunds.r1\n"
        '      {"order": 7, "amount": 125.0}\n'
        "      amount: expected approx(12.5), got 125.0\n"
        "    - removed  db.carts.7           missing: is still there\n"
        '    ! changed  db.orders.8.status   "open" → "lost"   forbidden'
    )


def test_other_changes_are_shown_and_allowed_without_only(tracer):
    def act(db):
        refund(db)
        db["orders"]["8"]["status"] = "lost"

    score = scored(ran(tracer, act), EXPECTED)
    assert score.value == 1.0
    assert '+ changed  db.orders.8.status   "open" → "lost"' in score.diff
    assert scored(ran(tracer, act), EXPECTED, only=True).value == 0.75


def test_only_lets_nothing_change_not_even_another_field_of_an_added_row(tracer):
    assert scored(ran(tracer, lambda db: None), {"only": True}).value == 1.0
    assert scored(ran(tracer, refund), {"only": True}).value == 0.0

    def act(db):
        db["refunds"]["r1"] = {"order": 7, "amount": 12.5, "to": "somebody else"}

    expected = {"added": {"refunds.r1": {"order": 7, "amount": 12.5}}}
    assert scored(ran(tracer, act), expected).value == 1.0
    assert scored(ran(tracer, act), {**expected, "only": True}).value == 0.0
    named = {"added": {"refunds.r1.order": 7, "refunds.r1.amount": 12.5}, "only": True}
    assert scored(ran(tracer, act), named).details["forbidden"] == 1


def test_a_change_that_was_so_before_is_none(tracer):
    def act(db):
        db["orders"]["7"]["status"] = "open"

    score = scored(ran(tracer, act), {"changed": {"orders.7.status": "open"}})
    assert (score.value, score.details["rows"][0]["note"]) == (0.0, "did not change")
    assert scored(ran(tracer, act), {"end": {"orders.7.status": "open"}}).value == 1.0


def test_paths_may_be_nested_and_keys_may_have_dots(tracer):
    files = {"a.txt": "old", "dir": {"b.txt": "old"}}

    def act(state):
        state["a.txt"] = "new"
        state["dir"]["b.txt"] = "new"
        state["c.d.txt"] = "new"

    trace = ran(tracer, act, files)
    changed = {"a.txt": "new", "dir": {"b.txt": "new"}}
    assert scored(trace, {"changed": changed, "added": {"c.d.txt": "new"}, "only": True}).value == 1.0
    assert scored(trace, {"changed": {"dir.b.txt": "new"}}).value == 1.0


def test_two_patterns_do_not_take_the_same_row(tracer):
    def act(db):
        db["refunds"]["a"] = {"amount": 5}
        db["refunds"]["b"] = {"amount": 5}

    trace = ran(tracer, act)
    twice = {"added": [{"refunds.*": {"amount": 5}}, {"refunds.*": {"amount": 5}}], "only": True}
    assert scored(trace, twice).value == 1.0
    assert scored(trace, {"added": {"refunds.*": {"amount": 5}}, "only": True}).value == 0.5
    thrice = {"added": [{"refunds.*": {"amount": 5}}] * 3}
    assert scored(trace, thrice).value == pytest.approx(2 / 3)


def test_rows_of_a_table_are_paired_though_one_was_inserted(tracer):
    rows = [{"id": n, "status": "open"} for n in range(30)]

    def act(state):
        state[20]["status"] = "paid"
        state.insert(3, {"id": 99, "status": "new"})
        del state[25]

    score = scored(
        ran(tracer, act, rows),
        {
            "changed": {"[21].status": "paid"},
            "added": {"*": {"id": 99, "status": "new"}},
            "removed": {"[24]": {"id": 24, "status": "open"}},
            "only": True,
        },
    )
    assert score.value == 1.0, score.diff


def test_ignored_places_may_change(tracer):
    def act(db):
        refund(db)
        db["orders"]["7"]["updated"] = "now"
        db["refunds"]["r1"]["updated"] = "now"

    assert scored(ran(tracer, act), {**EXPECTED, "only": True}).value < 1
    assert scored(ran(tracer, act), {**EXPECTED, "only": True, "ignore": "**.updated"}).value == 1.0


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ("a.txt", {"a.txt": 1}),
        ("files.a.txt", {"files": {"a.txt": 1, "b.txt": 1}}),
        ("files.*.size", {"files": {"a.txt": {"size": 1}}}),
        ("**.v1.0", {"deep": {"er": {"v1.0": 1}}}),
        ("rows[0].a.txt", {"rows": [{"a.txt": 1}]}),
        ("rows[*].a.txt", {"rows": [{"a.txt": 1}, {"a.txt": 1}]}),
        ("a[0]", {"a[0]": 1}),
        ("log.**", {"log": {"x": 1, "y": [{"z": 1}]}}),
    ],
)
def test_a_key_with_dots_is_taken_whole_where_it_is_ignored_too(tracer, path, state):
    def act(db):
        for holder in _dicts(db):
            holder.update({key: 2 for key, value in holder.items() if value == 1 and key != "b.txt"})

    trace = ran(tracer, act, state)
    assert scored(trace, {"only": True}).value == 0.0
    assert scored(trace, {"only": True, "ignore": path}).value == 1.0


def _dicts(value):
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dicts(item)


def test_expected_calls_are_replayed_to_make_the_target(tracer):
    def tool(db, order, amount):
        db["orders"][str(order)]["status"] = "refunded"
        db["refunds"]["r1"] = {"order": order, "amount": amount}
        del db["carts"][str(order)]

    scorer = StateScorer(replay={"refund": tool})
    expected = {"state_from": [{"refund": {"order": 7, "amount": 12.5}}]}
    assert scorer.score(Example(expected_state={"db": expected}), ran(tracer, refund)).value == 1.0
    wrong = scorer.score(
        Example(expected_state={"db": expected}), ran(tracer, lambda db: refund(db, amount=1.0))
    )
    assert wrong.value == pytest.approx(2 / 3)
    assert "~ added    db.refunds.r1.amount" in wrong.diff
    own = Example(
        expected_tools=[call("refund", order=7, amount=12.5)],
        expected_state={"db": {"state_from": "expected_tools"}},
    )
    assert scorer.score(own, ran(tracer, refund)).value == 1.0


def test_what_expected_calls_do_not_change_is_forbidden_and_what_they_do_is_missed(tracer):
    def tool(db, order):
        db["orders"][order]["status"] = "refunded"
        del db["carts"][order]

    def other(db):
        db["orders"]["8"]["status"] = "refunded"
        db["refunds"]["r9"] = 1

    gold = Example(expected_state={"db": {"state_from": [{"refund": {"order": "7"}}]}})
    scorer = StateScorer(replay={"refund": tool})
    score = scorer.score(gold, ran(tracer, other))
    assert (score.value, score.reason) == (0.0, "0 of 2 expected changes made, 2 forbidden changes")
    assert (
        score.diff
        == """\
    - changed  db.orders.7.status   missing: still "open", expected "refunded"
    ! changed  db.orders.8.status   "open" → "refunded"   forbidden
    ! added    db.refunds.r9        1   forbidden
    - removed  db.carts.7           missing: is still there"""
    )
    gone = scorer.score(gold, ran(tracer, lambda db: db["orders"].clear()))
    assert "- changed  db.orders.7" in gone.diff
    assert "missing: was removed" in gone.diff
    assert "! removed  db.orders.8" in gone.diff
    assert gone.reason == "0 of 2 expected changes made, 1 forbidden change"


def test_long_values_show_where_they_differ_and_have_the_whole_line(tracer):
    start = {"text": "same\n" * 40 + "old", "rows": {}}

    def act(state):
        state["text"] = "same\n" * 40 + "new"
        state["rows"]["B3"] = {"passenger": "Ada Lovelace", "flight": "LH200", "seat": "3C"}

    diff = scored(ran(tracer, act, start), {"only": True}).diff
    assert 'old" → ' in diff
    assert 'new"' in diff
    assert '\n      {"passenger": "Ada Lovelace", "flight": "LH200", "seat": "3C"}\n' in diff
    assert all(len(line) <= 80 for line in diff.split("\n"))


def test_a_call_that_cannot_be_replayed_is_an_error_before_the_agent_runs():
    example = Example(expected_state={"db": {"state_from": [{"refnd": {"id": 7}}]}})
    with pytest.raises(Exception, match=r"replay has no function of that name; did you mean 'refund'"):
        StateScorer(replay={"refund": print}).check(example)
    broken = StateScorer(replay={"refund": lambda db, order: db["nowhere"]})
    tracer = Tracer("outcome", store="memory")
    example = Example(expected_state={"db": {"state_from": [{"refund": {"order": 7}}]}})
    with pytest.raises(Exception, match="could not be replayed: KeyError: 'nowhere'"):
        broken.score(example, ran(tracer, refund))


async def async_refund(db, order):
    """Change nothing unless it is awaited."""


def generated_refund(db, order):
    """Change nothing unless it is iterated."""
    yield


@pytest.mark.parametrize("tool", [async_refund, generated_refund, 5])
def test_a_function_that_a_call_does_not_run_makes_no_target(tool):
    example = Example(expected_state={"db": {"state_from": [{"refund": {"order": 7}}]}})
    with pytest.raises(Exception, match="replay has plain functions, that of refund is"):
        StateScorer(replay={"refund": tool}).check(example)


@pytest.mark.parametrize("tool", [async_refund, generated_refund])
def test_what_a_plain_function_leaves_to_be_run_is_an_error(tracer, tool):
    example = Example(expected_state={"db": {"state_from": [{"refund": {"order": 7}}]}})
    scorer = StateScorer(replay={"refund": lambda db, order: tool(db, order)})
    with pytest.raises(Exception, match="so it has not run; replay has plain functions"):
        scorer.score(example, ran(tracer, refund))


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"db": {"chnaged": {"a": 1}}}, "has no 'chnaged'; did you mean 'changed'"),
        ({"db": {}}, "wanted a mapping with some of changed"),
        ({"db": 3}, "wanted a mapping with some of changed"),
        ([], "wanted a mapping of states' names"),
        ({"changed": {"orders.7": "paid"}}, r"the state's name comes first: \{db: \{changed: …\}\}"),
        ({"only": True}, r"the state's name comes first: \{db: \{only: …\}\}"),
        ({"db": {"orders.7": "paid"}}, r"a path stands below one of them: \{changed: \{orders.7: …\}\}"),
    ],
)
def test_a_word_that_there_is_not_is_an_error_where_the_example_is_made(expected, message):
    with pytest.raises(DatasetError, match=message):
        Example(expected_state=expected)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"only": "yes"}, r"only: got str 'yes', wanted true or false"),
        ({"only": False}, "says nothing that could fail"),
        ({"ignore": "a"}, "says nothing that could fail"),
        ({"changed": ["a"]}, "wanted a mapping of paths to values"),
        ({"changed": {"a": {"$gtt": 1}}}, r"changed\.a: .*did you mean"),
        ({"removed": 3}, "wanted a path, or a list of paths"),
        ({"state_from": [{"any_of": ["a", "b"]}]}, "wanted one call"),
        ({"state_from": [{"a": {"x": {"$gt": 3}}}]}, "its arguments are values"),
        ({"state_from": ["a"], "end": {"x": 1}}, "beside it stands only ignore"),
    ],
)
def test_what_cannot_be_understood_is_an_error_before_the_agent_runs(expected, message):
    with pytest.raises(ExpectationError, match=message):
        StateScorer(replay={"a": print}).check(Example(expected_state={"db": expected}))


def test_values_that_json_has_no_word_for_are_compared_as_values(tracer):
    noon = datetime(2025, 6, 1, 12, tzinfo=UTC)

    def act(state):
        state |= {"price": Decimal("1.10"), "at": noon, "tags": {"b", "a"}, "rate": math.nan, "n": 1.0}

    start = {"price": Decimal("1.00"), "at": None, "tags": {"a"}, "rate": 0.5, "n": 1, "raw": b"ab"}
    expected = {"price": Decimal("1.1"), "at": noon, "rate": math.nan, "tags": ["a", "b"]}
    score = scored(ran(tracer, act, start), {"changed": expected, "only": True})
    assert score.value == 1.0, score.diff
    stable = {"d": Decimal("1.10"), "s": {1, 2}, "f": math.nan, "b": b"abc", "t": noon, "big": 2**90}
    assert scored(ran(tracer, lambda state: None, stable), {"only": True}).value == 1.0
    assert scored(ran(tracer, lambda state: state.update(a=True), {"a": 1}), {"only": True}).value == 0.0


def test_an_object_that_is_not_opened_cannot_be_told(tracer):
    score = in_evaluation(
        tracer, {"lock": threading.Lock(), "n": 1}, lambda s: s.update(n=2), {"changed": {"n": 2}}
    )
    assert score.outcome == "passed"
    score = in_evaluation(
        tracer,
        {"lock": threading.Lock(), "n": 1},
        lambda s: s.update(n=2),
        {"changed": {"n": 2}, "only": True},
    )
    assert score.outcome == "errored"
    assert "lock of the state db was not opened" in score.reason
    assert "To have it told: return plain data in its place, or say ignore" in score.reason


def in_evaluation(tracer, state, act, expected, **options):
    def agent():
        tracer.state("db", lambda: state)
        act(state)

    report = run_evaluation(
        [Example(expected_state={"db": expected})], [StateScorer()], function=agent, tracer=tracer, **options
    )
    (result,) = report
    (score,) = result.scores
    return score


def test_a_cyclic_state_ends_and_what_did_not_come_back_is_told(tracer):
    state = {"n": 1}
    state["self"] = state
    assert in_evaluation(tracer, state, lambda s: s.update(n=2), {"changed": {"n": 2}}).outcome == "passed"


def test_secrets_in_a_state_are_told_as_changed_or_not_also_from_the_store(tmp_path):
    tracer = Tracer("outcome", store=f"{tmp_path}/traces.db")

    def act(state):
        state["users"][0]["password"] = "changed-8842"
        state["users"][1]["name"] = "Bo"

    users = {"users": [{"name": n, "password": f"secret-{n}-99"} for n in ("Ada", "Bob", "Cy")]}
    trace = ran(tracer, act, users)
    tracer.flush()
    stored = tracer.store.trace(trace.trace_id)
    expected = {"changed": {"users[1].name": "Bo"}, "only": True}
    for each in (trace, stored):
        score = scored(each, expected)
        assert (score.value, score.details["forbidden"]) == (0.5, 1), score.diff
        assert "8842" not in repr(score.to_dict()) + str(each.states)
    whole = {"changed": {"users[1].name": "Bo", "users[0].password": "changed-8842"}, "only": True}
    assert scored(trace, whole).value == 1.0
    example = Example(expected_state={"db": whole})
    untold = StateScorer().score(example, stored)
    assert untold.outcome == "errored"
    assert "was redacted" in untold.reason
    tracer.shutdown()


def test_stored_traces_give_the_same_score(tracer):
    trace = ran(tracer, lambda db: refund(db, amount=3.0))
    tracer.flush()
    stored = tracer.store.trace(trace.trace_id)
    live, again = (scored(each, {**EXPECTED, "only": True}) for each in (trace, stored))
    assert (again.value, again.diff, again.details) == (live.value, live.diff, live.details)


# --- where states come from ---


def test_a_state_of_the_tracer_is_read_by_every_capture_and_only_there(tracer):
    reads = []
    db = {"n": 0}

    def snapshot():
        reads.append(1)
        return db

    tracer.state("db", snapshot)

    @tracer.observe
    def agent():
        db["n"] += 1

    agent()
    assert reads == []
    for n in (2, 3):
        with tracer.capture() as captured:
            agent()
        assert captured.trace.states["db"].end == {"n": n}
    assert len(reads) == 4


def test_a_value_is_copied_and_several_states_are_told_apart(tracer):
    db, mail = {"n": 0}, []
    tracer.state("db", db)
    tracer.state("mail", mail)
    with tracer.capture() as captured, tracer.span("agent"):
        db["n"] = 1
        mail.append({"to": "ann"})
    expected = {
        "db": {"changed": {"n": 1}, "only": True},
        "mail": {"added": {"[0].to": "ann"}, "only": True},
    }
    score = StateScorer().score(Example(expected_state=expected), captured.trace)
    assert score.value == 1.0, score.diff
    assert captured.trace.name == "agent"
    assert captured.trace.tool_calls == ()


def test_tools_that_read_the_state_are_no_calls_of_the_agent(tracer):
    @tracer.observe(span_type="tool")
    def list_orders():
        return [1]

    tracer.state("db", list_orders)
    with tracer.capture() as captured:
        pass
    assert captured.trace.tool_calls == ()
    assert captured.trace.states["db"].end == [1]
    tracer.flush()
    assert len(tracer.store.traces()) == 1


async def _later():
    await asyncio.sleep(0)
    return {"n": 1}


def test_async_functions_are_read_in_plain_and_in_async_captures_and_in_evaluations(tracer):
    tracer.state("db", _later)
    with tracer.capture() as captured:
        pass
    assert captured.trace.states["db"].end == {"n": 1}

    async def main():
        async with tracer.capture() as captured:
            pass
        with tracer.capture() as plain:
            pass
        return captured.trace, plain.trace

    trace, plain = asyncio.run(main())
    assert trace.states["db"].end == {"n": 1}
    assert "async with tracer.capture()" in plain.states["db"].problem
    example = Example(expected_state={"db": {"only": True}})
    report = run_evaluation([example], [StateScorer()], function=lambda: None, tracer=tracer)
    assert report[0].scores[0].outcome == "passed", report[0].scores[0]


def test_a_database_in_memory_is_read_where_the_agent_runs(tracer):
    def agent(order):
        db = sqlite3.connect(":memory:")
        db.execute("create table orders (id integer, status text)")
        db.execute("insert into orders values (7, 'open'), (8, 'open')")
        tracer.state("orders", lambda: dict(db.execute("select * from orders").fetchall()))
        db.execute("update orders set status = 'paid' where id = ?", [order])

    examples = [
        Example(
            name=f"{n}", input={"order": n}, expected_state={"orders": {"changed": {n: "paid"}, "only": True}}
        )
        for n in (7, 8) * 5
    ]
    report = run_evaluation(examples, [StateScorer()], function=agent, tracer=tracer, concurrency=4)
    assert [result.outcome for result in report] == ["passed"] * 10, report[0].scores


def test_concurrent_runs_on_one_state_are_errored_not_blamed_on_each_other(tracer):
    db = {"n": 0}
    tracer.state("db", lambda: db)
    together = threading.Barrier(2, timeout=20)

    def agent():
        together.wait()

    example = Example(expected_state={"db": {"only": True}})
    report = run_evaluation(
        [example, example.changed()], [StateScorer()], function=agent, tracer=tracer, concurrency=2
    )
    assert {score.outcome for result in report for score in result.scores} == {"errored"}
    assert "read by several runs at once" in report[0].scores[0].reason


@pytest.mark.parametrize(
    ("snapshot", "reason"),
    [
        (lambda: 1 / 0, "its function raised ZeroDivisionError: division by zero"),
        (lambda: sys.exit(3), "its function raised SystemExit: 3"),
        (lambda: sqlite3.connect(":memory:"), "it is a sqlite3.Connection, which cannot be copied"),
        (lambda: (n for n in "ab"), "it is a generator, which cannot be copied"),
    ],
)
def test_a_snapshot_that_fails_is_an_error_of_the_evaluation_and_never_of_the_agent(tracer, snapshot, reason):
    done = []

    def agent():
        tracer.state("db", snapshot)
        done.append(1)

    example = Example(expected_state={"db": {"only": True}})
    (result,) = run_evaluation([example], [StateScorer()], function=agent, tracer=tracer)
    assert done == [1]
    assert (result.outcome, result.scores[0].outcome) == ("errored", "errored")
    assert reason in result.scores[0].reason


def test_a_snapshot_that_hangs_is_left_after_the_timeout(tracer):
    release = threading.Event()
    tracer.state("db", lambda: release.wait(60))
    example = Example(expected_state={"db": {"only": True}})
    (result,) = run_evaluation([example], [StateScorer()], function=lambda: None, tracer=tracer, timeout=2)
    release.set()
    assert result.scores[0].outcome == "errored"
    assert "at the start, reading it took too long" in result.scores[0].reason


def test_a_state_that_an_agent_registers_in_each_turn_keeps_its_start(tracer):
    tracer.state("db", {"n": 100})
    state = {"n": 1}
    with tracer.capture() as captured:
        for _ in range(3):
            tracer.state("db", lambda: state)
            state["n"] += 1
    reading = captured.trace.states["db"]
    assert (reading.start, reading.end, reading.shared) == ({"n": 1}, {"n": 4}, False)


def test_a_state_that_was_not_read_is_an_error_with_the_nearest_name(tracer):
    with pytest.raises(Exception, match=r"'bd' was not read in this run; known: db"):
        StateScorer().score(Example(expected_state={"bd": {"only": True}}), ran(tracer, refund))


def test_a_state_that_changes_while_it_is_read_never_reaches_the_agent(tracer):
    state = {n: [n] for n in range(2_000)}
    stop = threading.Event()

    def churn():
        n = 10_000
        while not stop.is_set():
            state[n] = [n]
            state.pop(n - 50, None)
            n += 1

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(10):
            with tracer.capture() as captured:
                tracer.state("db", lambda: state)
            assert "db" in captured.trace.states
    finally:
        stop.set()
        thread.join()


def test_a_huge_state_is_compared_whole_in_a_capture(tracer):
    state = {f"k{n}": {"value": n, "text": "x" * 40} for n in range(20_000)}
    began = time.monotonic()
    trace = ran(tracer, lambda s: s["k777"].update(value=-1), state)
    score = scored(trace, {"changed": {"k777.value": -1}, "only": True})
    assert score.value == 1.0
    assert time.monotonic() - began < 600


def test_expected_states_are_read_from_yaml_with_file_and_line(tmp_path):
    from agenttrace import get_examples_from_yaml

    path = tmp_path / "suite.yaml"
    path.write_text(
        "examples:\n"
        "  - name: refund\n"
        "    expected_state:\n"
        "      db:\n"
        "        changed: {orders.7.status: refunded}\n"
        "        added: {refunds.*: {amount: {$approx: 12.5}}}\n"
        "        only: true\n"
    )
    (example,) = get_examples_from_yaml(path)
    assert example.expected_state["db"]["only"] is True
    path.write_text(path.read_text().replace("$approx", "$aprox"))
    with pytest.raises(DatasetError, match=r"suite\.yaml:\d+: .*expected_state.*approx"):
        get_examples_from_yaml(path)
    path.write_text(path.read_text().replace("{$aprox: 12.5}", "12.5").replace("only: true", "only: perhaps"))
    with pytest.raises(
        DatasetError, match=r"suite\.yaml:7: examples\[0\]\.expected_state\.db\.only: got str 'perhaps'"
    ):
        get_examples_from_yaml(path)
