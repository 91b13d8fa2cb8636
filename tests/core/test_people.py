"""On which cases scorers and people agree; which cases people should look at."""

from agenttrace.core.annotation import Annotation
from agenttrace.core.failure import Failure
from agenttrace.core.people import StoredScore, pairs_of, replaced, review_queue


def score(
    trace="t1", value=1.0, name="Judge", at=1, span=None, run=None, position=None, votes=(), result=None
):
    outcome = "passed" if value is not None and value >= 0.5 else "failed"
    return StoredScore(trace, span, run, result, position, name, value, 0.5, outcome, at, votes)


def said(trace="t1", thumbs="up", by="ann", at=1, **fields):
    return Annotation(
        annotation_id=f"{trace}{by}{at}",
        project="p",
        trace_id=trace,
        thumbs=thumbs,
        by=by,
        created_ns=at,
        **fields,
    )


def verdicts(scores, annotations):
    return [(pair.case[0], pair.scorer, pair.people) for pair in pairs_of(scores, annotations)]


def test_a_case_counts_where_both_have_judged_it():
    scores = [score("t1"), score("t2", 0.0), score("t3")]
    annotations = [said("t1", "down"), said("t2", "down"), said("t4")]
    assert verdicts(scores, annotations) == [("t1", True, False), ("t2", False, False)]


def test_the_newest_score_and_each_person_s_newest_word_count():
    scores = [score(value=0.0, at=1), score(value=1.0, at=2)]
    annotations = [said(thumbs="down", at=1), said(thumbs="up", at=2)]
    assert verdicts(scores, annotations) == [("t1", True, True)]


def test_most_people_decide_and_a_tie_is_no_verdict():
    annotations = [said(by="ann"), said(by="bob", thumbs="down")]
    assert verdicts([score()], annotations) == []
    assert verdicts([score()], [*annotations, said(by="cem", thumbs="down")]) == [("t1", True, False)]


def test_a_word_on_what_the_judge_judges_goes_before_a_general_one_and_other_labels_do_not_count():
    annotations = [
        said(thumbs="down"),
        said(by="bob", label="Judge"),
        said(by="cem", thumbs="down", label="tone"),
    ]
    assert verdicts([score()], annotations) == [("t1", True, True)]


def test_a_word_on_one_span_is_about_the_scores_of_that_span():
    scores = [score(span="a"), score(span="b", value=0.0)]
    assert verdicts(scores, [said(span_id="b")]) == [("t1", False, True)]


def test_a_note_alone_is_no_verdict():
    assert verdicts([score()], [said(thumbs=None, note="hm")]) == []


def failure(traces, count=1, state="open"):
    return Failure(
        fingerprint="f",
        project="p",
        scorer="Judge",
        title="low",
        state=state,
        fixed_in=None,
        changed_ns=None,
        first_ns=1,
        last_ns=1,
        count=count,
        traces=traces,
    )


def queue(*scores, annotations=(), failures=()):
    return [(one.trace_id, *one.reasons) for one in review_queue(scores, annotations, failures)]


def test_the_queue_begins_with_disagreement_then_trials_votes_new_failures_and_what_is_near():
    scores = [
        score("near", 0.55),
        score("votes", 0.9, votes=(0.2, 0.9, 0.9)),
        score("trial1", 1.0, run="r", position=0, result=0),
        score("trial2", 0.0, run="r", position=0, result=1),
        score("other", 0.0, run="r", position=1, result=2),
        score("wrong", 1.0),
        score("fine", 1.0),
        score("low", 0.0),
    ]
    assert queue(*scores, annotations=[said("wrong", "down")], failures=[failure(("low",))]) == [
        ("wrong", "disagreement"),
        ("trial1", "trials differ"),
        ("trial2", "trials differ"),
        ("votes", "votes differ"),
        ("low", "new failure"),
        ("near", "near the threshold"),
    ]


def test_what_people_have_judged_is_asked_again_only_where_a_scorer_disagrees():
    assert queue(score(value=0.55), annotations=[said()]) == []
    assert queue(score(value=0.45), annotations=[said()]) == [("t1", "disagreement")]


def test_frequent_and_fixed_failures_and_people_s_own_scores_are_not_asked_for():
    assert queue(failures=[failure(("a",), count=9), failure(("b",), state="fixed")]) == []
    assert queue(score(name="Human", value=0.55)) == []


def test_the_queue_is_no_longer_than_asked_for():
    assert len(review_queue([score(f"t{n}", 0.55) for n in range(9)], (), (), limit=4)) == 4


def test_where_as_many_people_say_good_as_bad_the_case_stays_to_be_looked_at():
    annotations = [said(by="ann"), said(by="bob", thumbs="down")]
    (case,) = review_queue([score()], annotations, [])
    assert (case.trace_id, case.reasons) == ("t1", ("people disagree",))
    assert review_queue([score()], [*annotations, said(by="bob", at=2)], []) == []


def test_of_one_persons_verdicts_on_the_same_thing_all_but_the_newest_are_replaced():
    words = [
        said(thumbs="down", at=1),
        said(at=3),
        said(at=2, label="tone"),
        said(at=2, span_id="a"),
        said(by="bob"),
    ]
    assert replaced(words) == {words[0].annotation_id}
