"""People's word: kept with the trace, as a score too, checked, without secrets."""

import pytest

from agenttrace import ConfigError, Example, ExpectationError, Score, StoreError, Tracer, call, run_evaluation
from agenttrace.scorers import ContainsScorer


@pytest.fixture(params=["memory", "file"])
def tracer(request, tmp_path):
    tracer = Tracer("shop", store="memory" if request.param == "memory" else tmp_path / "t.db")
    yield tracer
    tracer.shutdown()


def recorded(tracer):
    @tracer.observe(span_type="agent")
    def agent(question):
        return "fine"

    agent("?")
    tracer.flush()
    return tracer.store.traces(limit=1)[0].trace_id


def test_what_a_person_says_is_kept_and_is_a_score_of_a_human_scorer(tracer):
    trace_id = recorded(tracer)
    number = tracer.annotate(trace_id, thumbs="down", note="too short", by="ann")
    (word,) = tracer.store.annotations(trace_id=trace_id)
    assert (word.annotation_id, word.thumbs, word.note, word.by, word.project) == (
        number,
        "down",
        "too short",
        "ann",
        "shop",
    )
    ((span_id, score),) = tracer.store.scores(trace_id)
    assert (span_id, score.name, score.value, score.outcome, score.reason) == (
        None,
        "Human",
        0.0,
        "failed",
        "too short",
    )


def test_a_label_names_the_human_scorer_and_a_note_alone_is_no_score(tracer):
    trace_id = recorded(tracer)
    tracer.annotate(trace_id, score=0.75, label="Faithfulness")
    tracer.annotate(trace_id, note="see ticket 7")
    assert [score.name for _, score in tracer.store.scores(trace_id)] == ["Human: Faithfulness"]
    assert [word.note for word in tracer.store.annotations()] == ["see ticket 7", None]


def test_a_corrected_expectation_is_kept_in_the_form_of_files(tracer):
    trace_id = recorded(tracer)
    tracer.annotate(trace_id, expected=[call("refund", id=7)])
    tracer.annotate(trace_id, expected="Five days.")
    answer, calls = tracer.store.annotations()
    assert answer.expected == {"expected_output": "Five days."}
    assert calls.expected == {"expected_tools": [{"tool_name": "refund", "parameters": {"id": 7}}]}


def test_a_result_of_a_run_is_named_by_its_place_and_leads_to_its_trace(tracer):
    report = run_evaluation(
        [Example(input="x", actual_output="a")],
        [ContainsScorer("b")],
        store=tracer.store,
        project_name="shop",
    )
    tracer.annotate(result=f"{report.run_id[:8]}:0", thumbs=True)
    (word,) = tracer.store.annotations()
    assert (word.run_id, word.result, word.thumbs) == (report.run_id, 0, "up")
    assert word.trace_id == report.results[0].trace_id


def test_secrets_in_a_note_are_not_kept(tracer):
    trace_id = recorded(tracer)
    tracer.annotate(
        trace_id, note='he typed {"password": "hunter2"} there', expected=[call("login", password="x1")]
    )
    (word,) = tracer.store.annotations()
    assert "hunter2" not in word.note
    assert "x1" not in str(word.expected)


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"trace_id": "ab" * 16}, ConfigError, "says something"),
        ({"thumbs": "up"}, ConfigError, "about a trace"),
        ({"trace_id": "abcd", "thumbs": "up"}, ConfigError, "32 hex digits"),
        ({"trace_id": "ab" * 16, "thumbs": "sideways"}, ConfigError, "'up' or 'down'"),
        ({"trace_id": "ab" * 16, "thumbs": ["up"]}, ConfigError, "'up' or 'down'"),
        ({"trace_id": "ab" * 16, "score": 7}, ConfigError, "from 0 to 1"),
        ({"trace_id": "ab" * 16, "score": float("nan")}, ConfigError, "from 0 to 1"),
        ({"trace_id": "ab" * 16, "note": "x" * 20_000}, ConfigError, "characters"),
        ({"trace_id": "ab" * 16, "thumbs": "up", "span_id": "7"}, ConfigError, "16 hex digits"),
        ({"result": "nonsense", "thumbs": "up"}, ConfigError, "RUN:PLACE"),
        ({"result": "abcdef:0", "thumbs": "up"}, StoreError, "no run"),
        ({"trace_id": "ab" * 16, "expected": [{"no": "call", "of": "ours"}]}, ExpectationError, "call"),
    ],
)
def test_a_word_that_cannot_be_read_is_an_error(tracer, fields, error, message):
    with pytest.raises(error, match=message):
        tracer.annotate(**fields)


def test_people_s_word_outlives_its_trace_and_waits_in_memory_for_a_file_that_cannot_be_written(tmp_path):
    tracer = Tracer("shop", store=tmp_path / "t.db")
    trace_id = recorded(tracer)
    tracer.store._fallback.open(OSError("full"))
    tracer.annotate(trace_id, thumbs="up")
    assert len(tracer.store.annotations()) == 1
    tracer.store._fallback._again_at = 0.0
    assert tracer.store.flush(60)
    assert len(tracer.store.annotations()) == 1
    tracer.store.delete_trace(trace_id)
    assert len(tracer.store.annotations()) == 1
    tracer.shutdown()


def test_a_later_word_of_the_same_person_replaces_the_score_and_the_failure_of_the_earlier(tracer):
    trace_id = recorded(tracer)
    tracer.annotate(trace_id, thumbs="down", by="ann")
    assert [(one.scorer, one.count) for one in tracer.store.failures()] == [("Human", 1)]
    tracer.annotate(trace_id, thumbs="up", by="ann")
    assert [score.outcome for _, score in tracer.store.scores(trace_id)] == ["passed"]
    assert [row.outcome for row in tracer.store.stored_scores()] == ["passed"]
    assert tracer.store.failures() == []
    assert [word.thumbs for word in tracer.store.annotations(trace_id=trace_id)] == ["up", "down"]
    tracer.annotate(trace_id, thumbs="down", by="ann")
    assert [(one.scorer, one.count) for one in tracer.store.failures()] == [("Human", 1)]


def test_a_word_of_another_person_label_or_span_replaces_nothing(tracer):
    trace_id = recorded(tracer)
    tracer.annotate(trace_id, thumbs="down", by="ann")
    tracer.annotate(trace_id, thumbs="down", by="bob")
    tracer.annotate(trace_id, thumbs="up", by="ann", label="tone")
    tracer.annotate(trace_id, thumbs="up", by="ann", span_id="ab" * 8)
    tracer.annotate(trace_id, note="a note alone", by="ann")
    assert len(tracer.store.scores(trace_id)) == 4
    tracer.annotate(trace_id, thumbs="up", by="ann")
    assert len(tracer.store.scores(trace_id)) == 4
    assert [one.count for one in tracer.store.failures()] == [1]  # bob still says so


def test_bad_is_a_failure_of_its_own_only_where_no_scorer_says_so_or_is_judged_by_it(tracer):
    failed, judged = recorded(tracer), recorded(tracer)
    tracer.store.write_scores([(failed, None, Score.of("Faithfulness", 0.0, 0.5))])
    tracer.store.write_scores([(judged, None, Score.of("Faithfulness", 1.0, 0.5))])
    tracer.flush()
    tracer.annotate(failed, thumbs="down", by="ann")
    tracer.annotate(failed, thumbs="down", by="ann", label="Faithfulness")
    tracer.annotate(judged, thumbs="down", by="ann", label="Faithfulness")
    assert [one.scorer for one in tracer.store.failures()] == ["Faithfulness"]
