"""The diff of a score is made when it is read or stored, and nothing else shows that."""

import copy
import pickle
import sqlite3
import threading
from contextlib import closing
from dataclasses import FrozenInstanceError, asdict, replace

import pytest

from agenttrace import Client, Tracer
from agenttrace.core.example import Example
from agenttrace.core.later import Later, is_to_come
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.evaluation import run_evaluation
from agenttrace.expectations import call, expect, gt, re_
from agenttrace.redaction import Redaction
from agenttrace.scorers import ToolOrderScorer, TrajectoryScorer, explained
from agenttrace.scoring.checks import unfit_field
from agenttrace.store import open_store

RUN = [{"name": "find", "arguments": {"id": 7}}, {"name": "pay", "arguments": {"amount": 12.5}}]
EXPECTED = [call("find", id=7), call("pay", amount=12.0), call("notify")]
SCORERS = [ToolOrderScorer, TrajectoryScorer]


def a_score(expected=EXPECTED, run=RUN, scorer=ToolOrderScorer, **options):
    return scorer(**options).score(Example(expected_tools=expected), Trace.from_calls(run))


def made_at_once(monkeypatch, **arguments):
    """The same score as it is where nothing is made later."""
    with monkeypatch.context() as patched:
        patched.setattr(explained, "MOST_CALLS", -1)
        return a_score(**arguments)


def is_unmade(score):
    assert is_to_come(score, "diff") == is_to_come(score, "details")
    return is_to_come(score, "diff")


@pytest.fixture
def diffs_made(monkeypatch):
    """The threads on which diffs were made."""
    made = []
    explain = explained.explain
    monkeypatch.setattr(
        explained,
        "explain",
        lambda comparison: made.append(threading.current_thread()) or explain(comparison),
    )
    return made


@pytest.mark.parametrize("scorer", SCORERS)
def test_scoring_makes_no_diff_and_reading_makes_it_once(diffs_made, scorer):
    score = a_score(scorer=scorer)
    assert (score.outcome, diffs_made) == ("failed", [])
    assert "notify" in score.diff
    assert [row["kind"] for row in score.details["rows"]] == ["matched", "differs", "missing"]
    copied = score.with_duration(1.0)
    assert score.diff == copied.diff
    assert len(diffs_made) == 1


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize(
    "expected",
    [EXPECTED, EXPECTED[::-1], expect(["find"], never="pay"), [call("find", id=gt(8))], ["pay", "find"], []],
)
def test_what_is_made_later_is_what_was_made_at_once(monkeypatch, scorer, expected):
    later = a_score(expected, scorer=scorer)
    at_once = made_at_once(monkeypatch, expected=expected, scorer=scorer)
    assert (is_unmade(later), is_unmade(at_once)) == (later.outcome == "failed", False)
    assert later == at_once
    assert repr(later) == repr(at_once)
    assert later.to_dict() == at_once.to_dict()


def test_copies_share_what_is_made(diffs_made):
    score = a_score()
    named = score.with_duration(2.0)
    assert is_unmade(named)
    assert (named.diff, named.details) == (score.diff, score.details)
    assert len(diffs_made) == 1


@pytest.mark.parametrize(
    "again",
    [
        lambda score: pickle.loads(pickle.dumps(score)),
        copy.copy,
        copy.deepcopy,
        replace,
        lambda score: Score.from_dict(score.to_dict()),
        lambda score: Score(**asdict(score)),
    ],
    ids=["pickle", "copy", "deepcopy", "replace", "to_dict", "asdict"],
)
def test_a_score_with_an_unread_diff_is_the_same_after_every_way_to_copy_it(again):
    score = a_score()
    other = again(score)
    assert not is_unmade(other)
    assert other == score == a_score()


def test_a_score_stays_frozen():
    score = a_score()
    with pytest.raises(FrozenInstanceError):
        score.diff = "other"
    with pytest.raises(FrozenInstanceError):
        score.details = {}
    with pytest.raises(FrozenInstanceError):
        del score.diff
    assert is_unmade(score)


def test_what_is_changed_after_scoring_does_not_change_the_diff(monkeypatch):
    wanted = made_at_once(monkeypatch)
    expected = [
        {"tool_name": "find", "parameters": {"id": 7}},
        {"tool_name": "pay", "parameters": {"amount": 12.0}},
    ]
    expected = [*expected, "notify"]
    run = copy.deepcopy(RUN)
    example = Example(expected_tools=expected, tools_called=run)
    score = ToolOrderScorer().score(example)
    expected[1]["parameters"]["amount"] = 99
    run[1]["arguments"]["amount"] = 99
    example.expected_tools.clear()
    example.tools_called[1]["arguments"]["amount"] = 99
    assert score.diff == wanted.diff
    assert score.details["rows"] == wanted.details["rows"]


def test_what_runs_code_of_the_users_is_made_within_the_scoring(diffs_made):
    calls = []
    predicate = lambda value: calls.append(value)  # noqa: E731 - a predicate as users write it
    for expected, options in [
        ([call("find", id=predicate)], {}),
        ([call("find", id={"$re": "^9"})], {}),
        ([call("find", id=re_("^9"))], {}),
        ([call("find", id=8)], {"comparators": {"find": lambda one, other: False}}),
    ]:
        score = a_score(expected, **options)
        assert (score.outcome, is_unmade(score)) == ("failed", False)
    asked = len(calls)
    assert a_score([call("find", id=7)]).passed
    assert (len(diffs_made), len(calls)) == (4, asked)


def test_what_cannot_be_told_is_explained_within_the_scoring():
    run = [{"name": "find", "arguments": {"id": "[redacted]"}}, {"name": "pay", "arguments": {"amount": 1}}]
    score = a_score([call("find", id="x"), call("pay", amount=2)], run)
    assert (score.outcome, is_unmade(score)) == ("failed", False)
    assert score.details["cannot_be_told"]["why"]


def test_the_diff_of_a_long_run_is_made_within_the_scoring():
    run = [{"name": "find", "arguments": {"id": n}} for n in range(explained.MOST_CALLS)]
    assert not is_unmade(a_score([call("find", id=-1)], run))


def test_checking_a_score_does_not_make_its_diff():
    score = a_score()
    assert unfit_field(score) is None
    assert is_unmade(score)


def test_the_scores_of_an_evaluation_are_made_when_they_are_read(diffs_made):
    report = run_evaluation(
        [Example(input="x", expected_tools=["notify"], tools_called=RUN)], [ToolOrderScorer()], store=None
    )
    (score,) = next(iter(report)).scores
    assert score.outcome == "failed"
    assert "notify" in score.diff


def test_where_a_score_is_stored_its_diff_is_stored_redacted(tmp_path):
    path = tmp_path / "traces.db"
    secret = "sk-" + "a1B2" * 12
    run = [{"name": "login", "arguments": {"note": secret}}]
    client = Client(store=path)
    example = Example(input="x", expected_tools=[call("login", note="other")], tools_called=run)
    client.run_evaluation([example], [ToolOrderScorer()])
    client.store.close()
    with closing(sqlite3.connect(path)) as db:
        ((stored,),) = db.execute("SELECT rest FROM scores").fetchall()
    assert '"diff"' in stored
    assert "login" in stored
    assert secret not in stored
    assert secret not in Redaction().score(a_score([call("login", note="other")], run)).diff


def test_in_production_the_diff_is_made_on_the_workers_thread(diffs_made):
    tracer = Tracer("shop", store=open_store("memory"))

    @tracer.observe(span_type="tool")
    def find(id):  # noqa: A002
        return id

    @tracer.observe
    def agent():
        find(7)
        tracer.async_evaluate([ToolOrderScorer()], expected_tools=[call("find", id=8)], input="x")

    agent()
    tracer.flush(10)
    tracer.shutdown(10)
    assert len(diffs_made) == 1
    assert threading.main_thread() not in diffs_made


def test_a_later_lets_go_of_what_it_was_made_of():
    class Big:
        pass

    from weakref import ref

    big = Big()
    gone = ref(big)
    later = Later(lambda kept=big: "made")
    del big
    assert gone() is not None
    assert (later.get(), later.get()) == ("made", "made")
    assert gone() is None


@pytest.mark.parametrize("scorer", [ToolOrderScorer(), TrajectoryScorer()], ids=lambda scorer: scorer.name)
def test_what_a_predicate_raised_is_in_the_reason(scorer):
    run = [{"name": "find", "arguments": {"id": {"amount": 9}}}]
    example = Example(expected_tools=[call("find", id=lambda value: value["amuont"] > 5)], tools_called=run)
    score = scorer.score(example)
    assert score.outcome == "failed"
    assert score.reason.endswith("; id: the predicate raised KeyError: 'amuont'")
