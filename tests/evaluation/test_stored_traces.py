"""Stored traces scored in bulk: each score once, beside its trace, on one process as on several."""

import pytest

from agenttrace.core.errors import AgentTraceError
from agenttrace.core.example import Example
from agenttrace.core.query_parsing import parse
from agenttrace.core.score import Score
from agenttrace.evaluation import run_evaluation, stored_traces
from agenttrace.evaluation.stored_traces import score_traces
from agenttrace.scorers.budget import BudgetScorer
from agenttrace.scorers.loop import LoopScorer
from agenttrace.scorers.tool_order import ToolOrderScorer
from agenttrace.store import MemoryStore, SQLiteStore
from agenttrace.tracer import Tracer


class Flaky:
    """Raises as long as it is broken."""

    name = "Flaky"
    threshold = 0.5
    broken = True

    def score(self, example, trace):
        if Flaky.broken:
            raise OSError("no answer")
        return Score.of(self.name, 1.0, self.threshold)


class Brief:
    """Passes short answers; it has neither options nor a version."""

    name = "Brief"
    threshold = 0.5

    def score(self, example, trace):
        return Score.of(self.name, 1.0, self.threshold)


class Stops(Flaky):
    name = "Stops"

    def score(self, example, trace):
        if example.actual_output == "2":
            raise KeyboardInterrupt
        return Score.of(self.name, 1.0, self.threshold)


def recorded(store, count):
    tracer = Tracer("bulk", store=store)
    search = tracer.observe(lambda q: q, span_type="tool", name="search")

    @tracer.observe(span_type="agent")
    def agent(q):
        for _ in range(1 + q % 2):
            search(q)
        return str(q)

    for number in range(count):
        agent(number)
    tracer.shutdown()
    return store


@pytest.fixture
def store(tmp_path):
    store = recorded(SQLiteStore(tmp_path / "traces.db"), 7)
    yield store
    store.close()


def words(store):
    """Every score of a trace: the trace's output, the scorer, the value."""
    lines = []
    for trace in store.iter_traces():
        scores = store.scores(trace.trace_id)
        lines += [(trace.output, score.name, score.value, span_id) for span_id, score in scores]
    return sorted(lines)


def test_each_trace_gets_a_score_of_each_scorer(store):
    scored = score_traces(store, [BudgetScorer(calls=1), LoopScorer()], parse(""))
    assert (scored.traces, scored.unchanged) == (7, 0)
    assert dict(scored.outcomes["Budget"]) == {"passed": 4, "failed": 3}
    assert [line for line in words(store) if line[1] == "Budget"] == [
        (str(number), "Budget", float(number % 2 == 0), None) for number in range(7)
    ]


def test_the_same_again_scores_nothing_and_doubles_nothing(store):
    score_traces(store, [BudgetScorer(calls=1)], parse(""))
    before = words(store)
    again = score_traces(store, [BudgetScorer(calls=1)], parse(""))
    assert (again.traces, again.unchanged, dict(again.outcomes)) == (7, 7, {})
    replaced = score_traces(store, [BudgetScorer(calls=1)], parse(""), again=True)
    assert replaced.unchanged == 0
    assert words(store) == before


def test_other_options_are_another_score_beside_it(store):
    score_traces(store, [BudgetScorer(calls=1)], parse(""))
    other = score_traces(store, [BudgetScorer(calls=2)], parse(""))
    assert (other.unchanged, other.mean("Budget")) == (0, 1.0)
    assert len(words(store)) == 14


def test_an_errored_score_is_tried_again_and_replaced(store, monkeypatch):
    monkeypatch.setattr(Flaky, "broken", True)
    assert score_traces(store, [Flaky()], parse("")).count("errored") == 7
    monkeypatch.setattr(Flaky, "broken", False)
    assert score_traces(store, [Flaky()], parse("")).count("passed") == 7
    assert [line[2] for line in words(store)] == [1.0] * 7


def test_only_traces_that_match_are_scored(store):
    assert score_traces(store, [LoopScorer()], parse("tool:nothing")).traces == 0
    assert score_traces(store, [LoopScorer()], parse("tool:search"), limit=3).traces == 3


def test_an_interruption_keeps_what_was_scored(store, monkeypatch):
    monkeypatch.setattr(stored_traces, "PART", 1)
    with pytest.raises(KeyboardInterrupt):
        score_traces(store, [Stops()], parse(""), processes=1)
    assert [line[0] for line in words(store)] == ["3", "4", "5", "6"]


def test_a_scorer_that_needs_an_expectation_is_refused_before_anything_is_scored(store):
    with pytest.raises(AgentTraceError, match="expected_tools"):
        score_traces(store, [ToolOrderScorer()], parse(""))


def test_several_processes_give_the_same_scores(store, tmp_path, monkeypatch):
    monkeypatch.setattr(stored_traces, "PART", 2)
    there = score_traces(store, [BudgetScorer(calls=1), LoopScorer()], parse(""), processes=2)
    alone = recorded(SQLiteStore(tmp_path / "alone.db"), 7)
    here = score_traces(alone, [BudgetScorer(calls=1), LoopScorer()], parse(""), processes=1)
    assert there == here
    assert words(store) == words(alone)
    alone.close()


def test_a_store_in_memory_is_scored_here():
    store = recorded(MemoryStore(), 3)
    assert score_traces(store, [LoopScorer()], parse("")).traces == 3
    assert score_traces(store, [LoopScorer()], parse("")).unchanged == 3


def test_a_run_of_the_same_scorer_is_another_word(store):
    trace = next(iter(store.iter_traces()))
    store.write_scores([(trace.trace_id, None, Score.of("Budget", 0.0, 1.0))])
    score_traces(store, [BudgetScorer(calls=1)], parse(""), again=True)
    assert sum(1 for line in words(store) if line[0] == trace.output) == 2


def scored_online(store):
    """Six traces whose root span has an online score, half of them asked for within the call."""
    tracer = Tracer("online", store=store)

    @tracer.observe(span_type="agent")
    def asking(q):
        tracer.async_evaluate([LoopScorer(), Brief()], input=str(q), actual_output="x")
        return str(q)

    decorated = tracer.observe(lambda q: str(q), span_type="agent", scorers=[LoopScorer(), Brief()])
    for number in range(3):
        asking(number)
        decorated(number)
    tracer.wait_for_evaluations(30)
    tracer.shutdown()
    return store


@pytest.fixture(params=["sqlite", "memory"])
def online_store(request, tmp_path):
    store = SQLiteStore(tmp_path / "traces.db") if request.param == "sqlite" else MemoryStore()
    yield scored_online(store)
    store.close()


def test_what_online_evaluation_scored_is_left_alone(online_store):
    before = words(online_store)
    scored = score_traces(online_store, [LoopScorer(), Brief()], parse(""))
    assert (scored.traces, scored.unchanged, dict(scored.outcomes)) == (6, 6, {})
    assert words(online_store) == before
    other = score_traces(online_store, [LoopScorer(repeats=5)], parse(""))
    assert (other.unchanged, other.count("passed")) == (0, 6)


def test_again_replaces_online_scores_of_the_trace_and_no_others(online_store):
    trace = next(iter(online_store.iter_traces()))
    word = Score.of("human:Loop", 0.0, 0.5).to_dict() | {"metadata": {"annotation": "a", "by": "ann"}}
    inner = "0" * 15 + "1"
    online_store.write_scores(
        [
            (trace.trace_id, trace.root.span_id, Score.from_dict(word)),
            (trace.trace_id, inner, Score.of("Brief", 0.0, 0.5)),
        ]
    )
    kinds = len(online_store.scores(trace.trace_id))
    for _ in range(2):
        scored = score_traces(online_store, [LoopScorer(), Brief()], parse(""), again=True)
        assert scored.unchanged == 0
        scores = online_store.scores(trace.trace_id)
        assert len(scores) == kinds
        places = {(score.name, span_id) for span_id, score in scores}
        assert places == {
            ("Loop", None),
            ("Brief", None),
            ("Brief", inner),
            ("human:Loop", trace.root.span_id),
        }


def test_a_score_of_a_run_is_another_word_in_every_store(online_store):
    traces = list(online_store.iter_traces())
    tracer = Tracer("run", store=online_store)
    agent = tracer.observe(lambda q: str(q), span_type="agent", name="evaluated")
    run_evaluation([Example(input="1")], [Brief()], function=agent, tracer=tracer)
    tracer.shutdown()
    scored = score_traces(online_store, [Brief()], parse(""), again=False)
    assert (scored.traces, scored.unchanged) == (len(traces) + 1, len(traces))
