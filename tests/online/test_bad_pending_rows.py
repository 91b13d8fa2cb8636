"""A pending evaluation that somebody damaged in the store harms no other."""

import json
import sqlite3

import pytest

from agenttrace import Score, Tracer
from agenttrace.store import SQLiteStore


class Good:
    name, threshold = "Good", 0.5

    def score(self, example, trace):
        return Score.of(self.name, 1.0, self.threshold)


GOOD = {
    "trace_id": None,
    "span_id": None,
    "scorers": ["Good"],
    "model": None,
    "timeout": None,
    "example": {"input": "a", "actual_output": "b"},
    "unfinishable": None,
    "owner": None,
    "owned_at": 0.0,
}


def changed(**fields):
    return json.dumps({**GOOD, "key": "bad", **fields})


def without(name):
    return json.dumps({key: value for key, value in {**GOOD, "key": "bad"}.items() if key != name})


PASSED_OVER = {
    "no JSON": "{{{",
    "empty": "",
    "a list": "[1, 2]",
    "a number": "5",
    "no key": without("key"),
    "a key that is a number": changed(key=5),
    "no scorers": without("scorers"),
    "scorers that are a number": changed(scorers=5),
    "scorers that hold a list": changed(scorers=[["Good"]]),
    "an owner that is a mapping": changed(owner={"a": 1}),
    "bytes": b"\xff\xfe",
}
ERRORED = {
    "no example": without("example"),
    "an example that is a list": changed(example=[1]),
    "an example that is a text": changed(example="text"),
    "a trace id that is no number": changed(trace_id="zz"),
    "a trace id that is a mapping": changed(trace_id={"a": 1}),
    "a span id that is too long": changed(span_id="1" * 300),
    "a timeout that is a text": changed(timeout="soon"),
    "a timeout below zero": changed(timeout=-1),
    "a model that is a list": changed(model=["gpt"]),
    "a matcher that is none": changed(example={"input": "a", "expected_output": {"$re": "("}}),
}
RESUMED = {
    "an owner without parts": changed(owner="x"),
    "an owner whose process is a text": changed(owner="elsewhere|zero|1|n", owned_at=0.0),
    "an owner with a huge process": None,
    "a time that is a text": changed(owner="elsewhere|1|1|n", owned_at="noon"),
    "a field that no example has": changed(example={"input": "a", "no_such_field": 1}),
}


def resumed(tmp_path, bad):
    """The outcomes of what is resumed from a store with a good row on either side of the bad one."""
    path = tmp_path / "traces.db"
    store = SQLiteStore(path)
    for key in ("first", "middle", "last"):
        store.save_pending_evaluations("here", [{**GOOD, "key": key}])
    store.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE pending_evaluations SET request = ?, key = 'bad' WHERE key = 'middle'", (bad,))
    db.close()
    tracer = Tracer("here", store=str(path))
    try:
        handles = tracer.resume_evaluations([Good()])
        outcomes = [handle.result(60)[0].outcome for handle in handles]
        assert tracer.wait_for_evaluations(60)
        left = len(tracer.store.pending_evaluations("here"))
        return outcomes, left
    finally:
        tracer.shutdown()


@pytest.mark.parametrize("name", PASSED_OVER)
def test_a_row_that_does_not_say_what_is_asked_is_passed_over_and_stays(tmp_path, name):
    assert resumed(tmp_path, PASSED_OVER[name]) == (["passed", "passed"], 1)


@pytest.mark.parametrize("name", ERRORED)
def test_a_row_that_cannot_be_evaluated_gets_errored_scores_and_is_done(tmp_path, name):
    assert resumed(tmp_path, ERRORED[name]) == (["passed", "errored", "passed"], 0)


@pytest.mark.parametrize("name", RESUMED)
def test_a_row_whose_owner_is_nobody_is_resumed(tmp_path, name):
    from agenttrace.online.request import owner_text

    machine = owner_text("n").split("|")[0]
    bad = RESUMED[name] or changed(owner=f"{machine}|{'9' * 30}|1|n")
    outcomes, left = resumed(tmp_path, bad)
    assert len(outcomes) == 3
    assert [outcomes[0], outcomes[2], left] == ["passed", "passed", 0]
