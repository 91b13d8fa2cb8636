"""What every store promises, the one in a file as the one in memory."""

from collections import Counter
from dataclasses import replace

import pytest
from store_values import TRACE, WEATHER, a_report, a_score, a_span, a_trace, fields

from agenttrace.core.batch import Batch, ScoreRow
from agenttrace.core.errors import StoreError
from agenttrace.core.example import Example
from agenttrace.core.protocols import KeepsResults, optional
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.span import Frame, SpanError
from agenttrace.core.tool import REQUIRED, Parameter, ToolDefinition
from agenttrace.store.bulk_scores import BY, RULE, replace_scores
from agenttrace.store.light_traces import LightTrace


def test_every_field_of_a_span_comes_back(store):
    span = a_span(
        (1 << 64) - 1,
        (1 << 128) - 1,
        parent_key=1 << 63,
        index=7,
        start_ns=5,
        end_ns=9,
        input={"city": "Zürich", "nested": {"a": [1, 2.5, None, True, "…"]}},
        output=["x", {"y": 1}],
        status="error",
        error=SpanError("ValueError", "no", (Frame("agent.py", 41, "run"),)),
        attributes={"agenttrace.tags": ["a", "b"], "n": 1},
        usage={"input_tokens": 3, "cost": 0.1},
        tool=WEATHER,
    )
    plain = a_span(2, (1 << 128) - 1)
    store.export([span, plain])

    trace = store.trace(span.trace_id)

    assert {s.span_key: fields(s) for s in trace.spans} == {
        span.span_key: fields(span),
        plain.span_key: fields(plain),
    }


def test_a_stored_trace_gives_the_tool_calls_of_the_live_one(store):
    store.export(a_trace())
    trace = store.trace(f"{TRACE:032x}")
    assert [(c.name, c.arguments, c.output, c.tool) for c in trace.tool_calls] == [
        ("get_weather", {"city": "Paris", "days": i}, f"day {i}", WEATHER) for i in (1, 2, 3)
    ]
    assert trace.root.name == "agent"


def test_the_same_span_sent_twelve_times_is_one_row_and_the_last_wins(store):
    for attempt in range(12):
        store.export([a_span(1, output=attempt), a_span(1, output=attempt + 100)])
    trace = store.trace(f"{TRACE:032x}")
    assert [span.output for span in trace.spans] == [111]


def test_an_unknown_trace_is_none(store):
    store.export([a_span()])
    assert store.trace("f" * 32) is None
    assert store.trace("not hex at all") is None
    assert store.run("ffff") is None


def test_a_unique_prefix_finds_a_trace_and_an_ambiguous_one_says_so(store):
    store.export([a_span(trace=0xAAAA1 << 108), a_span(trace=0xAAAA2 << 108)])
    assert store.trace("AAAA1").trace_key == 0xAAAA1 << 108
    with pytest.raises(StoreError, match="begins several"):
        store.trace("aaaa")
    with pytest.raises(StoreError, match="at least 4"):
        store.trace("aaa")


def test_traces_are_listed_newest_first_whatever_the_order_of_storing(store):
    for number, start in ((1, 300), (2, 100), (3, 200)):
        store.export(a_trace(number, start=start, name=f"run {number}"))
    assert [line.name for line in store.traces()] == ["run 1", "run 3", "run 2"]
    assert [line.name for line in store.traces(limit=1)] == ["run 1"]
    assert [line.name for line in store.traces(name="run 2")] == ["run 2"]
    assert store.traces(limit=0) == []


def test_a_line_of_the_list_says_what_the_trace_was(store):
    store.export(a_trace(start=1_000))
    (line,) = store.traces(project="p")
    assert (line.name, line.project, line.status) == ("agent", "p", "ok")
    assert (line.start_ns, line.duration_ns, line.spans, line.tool_calls) == (1_000, 100, 4, 3)
    assert store.traces(project="other") == []


def test_a_trace_is_open_until_its_root_arrives_in_a_later_batch(store):
    *children, root = a_trace(start=50)
    store.export(children)
    (line,) = store.traces()
    assert (line.status, line.name) == ("open", "get_weather")
    assert store.traces(name="agent") == []
    store.export([root])
    (line,) = store.traces(name="agent")
    assert (line.status, line.start_ns) == ("ok", 50)


def test_scores_come_back_under_their_trace_in_order(store):
    trace_id = f"{TRACE:032x}"
    first, second = a_score("a"), a_score("b", 0.25)
    store.write_scores([(trace_id, None, first), (trace_id, "0" * 15 + "1", second)])
    store.write_scores([("f" * 32, None, a_score("elsewhere"))])
    assert store.scores(trace_id) == [(None, first), ("0" * 15 + "1", second)]


def test_a_run_comes_back_as_its_own_data(store):
    report = a_report(results=3)
    run_id = store.write_report(report)
    assert store.run(run_id[:8]) == {"run_id": run_id, **report.to_dict()}
    assert [score.name for _, score in store.scores(f"{TRACE:032x}")] == ["Tool Order", "Judge"] * 3


def test_a_run_of_more_results_than_a_snapshot_holds_is_kept_whole(store):
    run_id = store.write_report(a_report(results=1_500))
    assert len(store.run(run_id)["results"]) == 1_500


def test_scores_are_replaced_where_they_say_the_same_of_a_trace(store):
    trace_id, root, inner = f"{TRACE:032x}", "0" * 15 + "1", "0" * 15 + "2"
    bulk = replace(a_score("Loop", 0.5), metadata={BY: "eval traces"})
    rule = replace(a_score("Loop", 0.5), metadata={RULE: "nightly"})
    store.write_scores([(trace_id, place, a_score("Loop")) for place in (root, inner, None)])
    store.write_scores([(trace_id, None, bulk), (trace_id, None, rule)])
    store.write_scores([(trace_id, root, a_score("Other"))])
    store.write_report(a_report(results=1))
    new = replace(bulk, reason="anew")
    replace_scores(store, [ScoreRow(trace_id, None, new)], {trace_id: root})
    places = [(span_id, score.name) for span_id, score in store.scores(trace_id)]
    left = {(inner, "Loop"): 1, (None, "Loop"): 2, (root, "Other"): 1}
    assert Counter(places) == {**left, (None, "Tool Order"): 1, (None, "Judge"): 1}
    assert [score.reason for _, score in store.scores(trace_id)].count("anew") == 1


def test_a_run_that_lasts_says_how_many_results_it_has_not_yet(store):
    if optional(store, KeepsResults) is None:
        pytest.skip("it takes whole runs only")
    report = a_report(results=1)
    for place, missing in enumerate((2, 1)):
        so_far = replace(report, metadata={"interrupted": True, "not_run": missing})
        store.add_results(so_far, [place], anew=place == 0)
        (line,) = store.runs()
        assert (line.passed, line.not_run) == (place + 1, missing)
    assert store.run(report.run_id)["metadata"] == {"interrupted": True, "not_run": 1}


def test_runs_are_listed_newest_first(store):
    for name, started in (("old", 1), ("new", 3), ("middle", 2)):
        store.write_report(a_report(name, started))
    assert [line.name for line in store.runs()] == ["new", "middle", "old"]
    assert [(line.passed, line.failed, dict(line.metadata)) for line in store.runs(limit=1)] == [
        (1, 0, {"commit": "abc"})
    ]
    assert store.runs(project="other") == []


def test_an_empty_run_is_kept(store):
    run_id = store.write_report(EvaluationReport(results=()))
    assert store.run(run_id)["results"] == []


@pytest.mark.parametrize(
    "alias", ["refunds", "../../etc/passwd", "名前", "a'; DROP TABLE spans; --", "x" * 500]
)
def test_a_dataset_keeps_its_versions_under_any_alias(store, alias):
    assert store.save_dataset(alias, "p", {"examples": [1, {"x": "é"}]}) == 1
    assert store.save_dataset(alias, "p", {"examples": [1, {"x": "é"}]}) == 1
    assert store.save_dataset(alias, "p", []) == 2
    assert store.load_dataset(alias, "p") == []
    assert store.load_dataset(alias, "p", 1) == {"examples": [1, {"x": "é"}]}
    assert store.load_dataset(alias, "p", 3) is None
    assert store.load_dataset(alias, "other") is None
    assert store.datasets() == [("p", alias, 2)]
    assert store.datasets(project="other") == []


@pytest.mark.parametrize("content", [float("nan"), {"x": object()}, "\ud800", {1, 2}])
def test_a_dataset_that_is_not_json_is_an_error(store, content):
    with pytest.raises(StoreError, match="not JSON"):
        store.save_dataset("d", "p", content)
    with pytest.raises(StoreError, match="needs a name"):
        store.save_dataset(" ", "p", [])


def test_a_deleted_trace_is_gone_with_its_scores_and_only_that_one(store):
    store.export(a_trace(1) + a_trace(2))
    for number in (1, 2):
        store.write_scores([(f"{number:032x}", None, a_score())])
    assert store.delete_trace(f"{1:032x}") is True
    assert store.delete_trace(f"{1:032x}") is False
    assert store.delete_trace("0000") is False
    assert store.trace(f"{1:032x}") is None
    assert store.scores(f"{1:032x}") == []
    assert len(store.trace(f"{2:032x}").spans) == 4
    assert len(store.scores(f"{2:032x}")) == 1


def test_a_trace_knows_the_tools_of_its_project_that_were_not_called(store):
    other = ToolDefinition("book", (Parameter("rest", "var_keyword"),))
    store.write(Batch(tools={"p": [other, WEATHER], "other project": [ToolDefinition("unrelated")]}))
    store.export(a_trace())
    tools = store.trace(f"{TRACE:032x}").tools
    assert tools == {"book": other, "get_weather": WEATHER}
    assert tools["book"].parameters[0].default is REQUIRED


def test_of_two_definitions_of_a_tool_each_call_keeps_its_own(store):
    old, new = ToolDefinition("t"), ToolDefinition("t", (Parameter("x"),))
    store.export([a_span(1, 1, name="t", tool=old)])
    store.export([a_span(1, 2, name="t", tool=new)])
    assert store.trace(f"{1:032x}").tools["t"] == old
    assert store.trace(f"{2:032x}").tools["t"] == new


def test_pending_evaluations_wait_until_they_are_dropped(store):
    store.save_pending_evaluations("p", [{"key": "a", "n": 1}, {"key": "b"}])
    store.save_pending_evaluations("q", [{"key": "c"}])
    assert store.pending_evaluations("p") == [{"key": "a", "n": 1}, {"key": "b"}]
    store.drop_pending_evaluations(["a", "never there"])
    assert store.pending_evaluations("p") == [{"key": "b"}]
    assert store.pending_evaluations("q") == [{"key": "c"}]


def test_a_pending_evaluation_is_given_to_one_who_claims_it(store):
    store.save_pending_evaluations("p", [{"key": "a", "owner": "x"}, {"key": "b"}])
    assert store.claim_pending_evaluations(["a", "b", "c"], "y", held_by="x") == ["a"]
    assert store.claim_pending_evaluations(["a"], "z", held_by="x") == []
    assert store.claim_pending_evaluations(["a", "b"], "z", held_by=None) == ["b"]
    assert store.claim_pending_evaluations(["a"], None, held_by="y") == ["a"]
    a, b = store.pending_evaluations("p")
    assert (a["owner"], b["owner"]) == (None, "z")
    assert a["owned_at"] > 0


def test_a_closed_store_can_be_read_and_flushing_is_true(store):
    store.export(a_trace())
    assert store.flush(60) is True
    store.close()
    store.close()
    assert len(store.trace(f"{TRACE:032x}").spans) == 4


def test_nothing_exported_is_nothing_kept(store):
    store.export([])
    assert store.traces() == []
    assert store.health().written == 0


def test_a_deleted_run_is_gone_with_its_scores_and_its_neighbour_stays(store):
    first, second = a_report(), a_report()
    store.write_report(first)
    store.write_report(second)
    trace_id = first[0].trace_id
    assert store.delete_run(first.run_id) is True
    assert store.delete_run(first.run_id) is False
    assert [run.run_id for run in store.runs()] == [second.run_id]
    assert store.run(first.run_id) is None
    if trace_id is not None:
        assert len(store.scores(trace_id)) == len(second[0].scores)


def test_results_that_were_not_run_are_counted_in_a_run_and_in_the_list(store):
    results = (
        ScoringResult(example=Example(), outcome="passed", scores=(Score.of("A", 1.0, 0.5),)),
        ScoringResult(example=Example(), outcome="not_run", position=1, error="the budget is spent"),
    )
    report = EvaluationReport(results=results, metadata={"not_run": 1})
    run = store.run(store.write_report(report))
    assert run["counts"] == report.counts == {"passed": 1, "failed": 0, "errored": 0, "not_run": 1}
    assert run["mean_counts"] == {"A": {"count": 1, "total": 2}}
    assert store.runs()[0].not_run == 1


def test_a_trace_is_drawn_without_its_values_which_are_read_when_they_are_asked_for(store):
    spans = a_trace(calls=4)
    failed = a_span(50, status="error", error=SpanError("ValueError", "no"), attributes={"status": "mine"})
    long = a_span(51, input={"text": "x" * 300_000}, output="é" * 10)
    store.export([*spans, failed, long])
    whole, light = store.trace(f"{TRACE:032x}"), LightTrace.of(store, f"{TRACE:032x}"[:9])
    names = (
        "span_key",
        "parent_key",
        "index",
        "name",
        "span_type",
        "start_ns",
        "end_ns",
        "status",
        "project",
    )
    assert [[getattr(span, name) for name in names] for span in light.trace.spans] == [
        [getattr(span, name) for name in names] for span in whole.spans
    ]
    assert [s.to_dict() for s in light.with_values(light.trace.spans)] == [s.to_dict() for s in whole.spans]
    inputs = light.inputs(light.trace.spans)
    assert {key: value for key, value in inputs.items() if key != 51} == {
        s.span_key: s.input for s in whole.spans if s.input is not None and s.span_key != 51
    }
    assert light.outputs(light.trace.spans)[51] == "é" * 10
    assert light.tool_calls == whole.tool_calls
    assert LightTrace.of(store, "f" * 32) is None
