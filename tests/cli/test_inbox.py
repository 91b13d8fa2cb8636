"""``agenttrace failures``, ``annotate``, ``annotations``, ``review``, ``scores agreement``."""

import json

import pytest

from agenttrace import Score, Tracer
from agenttrace.core.batch import Batch, ScoreRow


@pytest.fixture
def trace_ids(agenttrace, tmp_path):
    """Three traces of one project, of which a judge failed two."""
    tracer = Tracer("shop", store=tmp_path / "traces.db")

    @tracer.observe(span_type="agent")
    def agent(question):
        tracer.set_customer_id("acme")
        return "fine"

    for number in range(3):
        agent(number)
    tracer.flush()
    ids = [line.trace_id for line in tracer.store.traces()]
    values = dict(zip(ids, (0.0, 0.45, 1.0), strict=True))
    rows = [ScoreRow(trace, None, Score.of("Judge", value, 0.5)) for trace, value in values.items()]
    tracer.store.write(Batch(scores=rows))
    tracer.shutdown()
    return ids


def test_failures_are_listed_fixed_and_reopened(agenttrace, trace_ids):
    out = agenttrace("failures").out
    head, row = out.splitlines()
    assert head.split()[:3] == ["FAILURE", "STATE", "SEEN"]
    key = row.split()[0]
    assert "below its threshold" in row
    assert agenttrace("failures", "list", "--project", "shop").out == out
    ran = agenttrace("failures", "fix", key[:6], "--in", "v2")
    assert (ran.code, ran.out) == (0, f"{key} Judge: below its threshold: fixed in v2\n")
    (data,) = map(json.loads, agenttrace("failures", "--state", "fixed", "--json").out.splitlines())
    assert (data["fixed_in"], data["count"], data["customers"]) == ("v2", 2, ["acme"])
    assert "no failures" in agenttrace("failures", "--state", "open").err
    assert agenttrace("failures", "reopen", key).out.endswith(": open\n")


def test_a_failure_that_is_not_there_is_an_error(agenttrace, trace_ids):
    ran = agenttrace("failures", "fix", "ffffff", "--in", "v2")
    assert (ran.code, ran.err) == (
        2,
        "Error: no failure begins with 'ffffff'; `agenttrace failures` lists them\n",
    )
    assert agenttrace("failures", "fix", "ffffff").code == 2


def test_a_word_is_kept_and_listed(agenttrace, trace_ids):
    ran = agenttrace("annotate", trace_ids[0][:8], "--thumbs", "down", "--note", "rude", "--by", "ann")
    assert ran.code == 0
    assert ran.out.startswith("kept as ")
    head, row = agenttrace("annotations", "--trace", trace_ids[0][:8]).out.splitlines()
    assert head.split()[:3] == ["SAID", "BY", "TRACE"]
    assert row.split()[2:] == ["ann", trace_ids[0][:12], "down", "rude"]
    (data,) = map(json.loads, agenttrace("annotations", "list", "--json").out.splitlines())
    assert (data["trace_id"], data["project"], data["thumbs"]) == (trace_ids[0], "shop", "down")
    assert "nobody said" in agenttrace("annotations", "--project", "other").err


def test_a_word_on_nothing_or_of_nothing_is_wrong_use(agenttrace, trace_ids):
    assert "about a trace" in agenttrace("annotate", "--thumbs", "up").err
    assert "says something" in agenttrace("annotate", trace_ids[0]).err
    assert "no trace begins with" in agenttrace("annotate", "ffffffff", "--thumbs", "up").err
    assert "no JSON" in agenttrace("annotate", trace_ids[0], "--expected", "[x").err


def test_the_queue_of_what_people_should_look_at(agenttrace, trace_ids):
    agenttrace("annotate", trace_ids[2], "--thumbs", "down", "--by", "ann")
    lines = [json.loads(line) for line in agenttrace("review", "--json").out.splitlines()]
    assert [(line["trace_id"], line["reasons"]) for line in lines] == [
        (trace_ids[2], ["disagreement"]),
        (trace_ids[1], ["new failure", "near the threshold"]),
        (trace_ids[0], ["new failure"]),
    ]
    assert "disagreement" in agenttrace("review", "--limit", 1).out
    assert "nothing to review" in agenttrace("review", "--project", "other").err


def test_how_far_a_judge_agrees_with_people(agenttrace, trace_ids):
    assert "nobody has judged" in agenttrace("scores", "agreement", "Judge").out
    for trace, thumbs in zip(trace_ids, ("down", "up", "up"), strict=True):
        agenttrace("annotate", trace, "--thumbs", thumbs, "--by", "ann")
    out = agenttrace("scores", "agreement", "Judge").out
    assert "Judge and people, on 3 cases" in out
    assert "they agree on 67%" in out
    data = json.loads(agenttrace("scores", "agreement", "Judge", "--json").out)
    assert data["table"] == {"both_pass": 1, "only_scorer_passes": 0, "only_people_pass": 1, "both_fail": 1}
    assert data["kappa"] == pytest.approx(0.4)
    assert data["kappa_low"] < 0.4 < data["kappa_high"]
    assert [one["trace_id"] for one in data["disagreements"]] == [trace_ids[1]]
