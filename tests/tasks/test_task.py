"""A task file runs: examples, templates, scorers and metrics as the file says."""

import json

import pytest

from agenttrace import EvaluationReport, Tracer, load_task
from agenttrace.core.errors import ConfigError, DatasetError
from agenttrace.reports import json_report, junit_report, markdown_report, report_text
from agenttrace.store import SQLiteStore
from agenttrace.tasks import is_task_file, metrics_of
from agenttrace.tracing import observed_function
from agenttrace.viewer.report import run_report

SEED = """
dataset:
  path: rows.jsonl
  columns: [function_calls, tools]
function: an_agent:run
scorers:
  - type: "function_call_coverage"
    function_calls: "{{ sample.function_calls }}"
    mode: "any_order"
    metrics:
      - {type: mean, field: all_required_calls_made}
      - {type: mean, field: required_calls_coverage}
      - {type: recall}
  - type: "function_call_coverage"
    function_calls: '["search", "calculator"]'
    mode: "in_order"
    display_name: In order
  - type: "function_call_coverage"
    function_calls: "{{ sample.tools | map(attribute='name') | list }}"
    display_name: Of tools
    purpose: qa
"""
ROWS = [
    {"input": "a sum", "function_calls": ["search", "calculator"], "tools": [{"name": "search"}]},
    {"input": "a word", "function_calls": ["search", "calculator"], "tools": [{"name": "calculator"}]},
]


@pytest.fixture
def seed(write):
    write("\n".join(map(json.dumps, ROWS)), "rows.jsonl")
    return write(SEED)


def by_name(report):
    return {(one.scorer, one.name): one for one in metrics_of(report)}


def test_the_task_of_the_documentation_runs_and_its_coverage_metrics_come_out(seed):
    report = load_task(seed).run()
    metrics = by_name(report)
    coverage = "Function Call Coverage"
    assert metrics[coverage, "all_required_calls_made_mean"].value == 0.5
    assert metrics[coverage, "required_calls_coverage_mean"].value == 0.75
    assert metrics[coverage, "recall"].value == 0.75
    values = [[score.value for score in result.scores] for result in report]
    assert values == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert [score.gate for score in report[1].scores] == [True, True, False]
    assert report[0].scores[0].details["num_required_calls_total"] == 2


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_yaml_and_json_are_the_same_task(seed, write, suffix):
    path = seed
    if suffix == "json":
        from agenttrace.datasets.yaml_format import parse_yaml

        path = write(json.dumps(parse_yaml(SEED, seed).data, indent=1), "task.json")
    report = load_task(path).run()
    assert report.counts == {"passed": 1, "failed": 1, "errored": 0}


def test_the_metrics_are_stored_with_the_run_and_stand_in_every_report(seed, tmp_path):
    report = load_task(seed).run(tracer=Tracer("tasks", store=str(tmp_path / "own.db")))
    stored = SQLiteStore(tmp_path / "own.db").run(report.run_id)
    assert [one.to_dict() for one in metrics_of(EvaluationReport.from_dict(stored))] == [
        one.to_dict() for one in metrics_of(report)
    ]
    assert stored["metadata"]["task"]["key"] == "task"
    assert "recall of Function Call Coverage: 0.75 over 2 of 2" in report_text(report)
    assert "| recall | Function Call Coverage | `0.75` | `2 of 2` |" in markdown_report(report)
    assert 'agenttrace:metric:Function Call Coverage:recall" value="0.75 over 2 of 2"' in junit_report(report)
    assert json.loads(json_report(report))["metadata"]["metrics"][2]["values"] == {"": 0.75}
    assert "<td>recall<td>Function Call Coverage" in run_report(report)


def test_an_agent_that_raises_is_left_out_of_the_metrics_and_not_counted_as_0(write):
    path = write("""
        function: an_agent:run
        examples:
          - {input: a sum, expected_tools: [search, calculator]}
          - {input: boom, expected_tools: [search]}
        scorers:
          - type: tool_order
            metrics: [{type: mean}]
    """)
    report = load_task(path).run()
    (metric,) = metrics_of(report)
    assert (metric.value, metric.count, metric.total) == (1.0, 1, 2)
    assert metric.left_out == {"agent failed": 1}
    assert "value_mean of Tool Order: 1 over 1 of 2 (1 agent failed)" in report_text(report)


def test_scorers_are_written_in_each_form_that_a_file_of_examples_knows(write):
    path = write("""
        key: forms
        function: an_agent:run
        examples: [{input: a sum, expected_tools: [search, calculator]}]
        scorers:
          - ToolOrder:threshold=0.5
          - {ToolOrder: {name: exact, exact_match: true}}
          - an_agent:is_short
          - an_agent:bounded:limit=2
          - {type: "an_agent:bounded", limit: "{{ sample.input | length - 2 }}", display_name: of the sample}
    """)
    report = load_task(path).run()
    assert {score.name: score.value for score in report[0].scores} == {
        "Tool Order": 1.0,
        "exact": 1.0,
        "short answer": 1.0,
        "bounded": 0.0,
        "of the sample": 1.0,
    }


def test_each_example_is_compared_with_its_own_options(write):
    path = write(r"""
        function: an_agent:run
        examples:
          - {input: a sum, additional_metadata: {answer: "yes"}}
          - {input: a word, additional_metadata: {answer: "no"}}
          - {input: a word, additional_metadata: {answer: "yes"}}
        scorers:
          - {type: regex, pattern: "^{{ sample.answer }}$"}
    """)
    assert [result.scores[0].value for result in load_task(path).run()] == [1.0, 1.0, 0.0]


def test_a_template_sees_the_sample_of_the_dataset_and_not_what_ran(write):
    path = write("""
        function: an_agent:run
        examples: [{input: a word, actual_output: old}]
        scorers:
          - {type: regex, pattern: "{{ sample.actual_output }}"}
    """)
    report = load_task(path).run()
    assert report[0].example.actual_output == "no"
    assert report[0].scores[0].value == 0.0


def test_a_template_may_stand_in_a_file_beside_the_task(write):
    write(
        "[{% for call in sample.calls %}\"{{ call }}\"{{ ', ' if not loop.last }}{% endfor %}]",
        "templates/calls.j2",
    )
    path = write("""
        function: an_agent:run
        examples: [{input: a sum, additional_metadata: {calls: [search, calculator]}}]
        scorers:
          - type: function_call_coverage
            function_calls: {$file: templates/calls.j2}
    """)
    assert load_task(path).run()[0].scores[0].details["num_required_calls_total"] == 2


def test_a_function_in_place_of_the_file_s(seed, monkeypatch):
    monkeypatch.setattr(observed_function, "_tools", {})  # those of other tests
    report = load_task(seed, function=lambda query: "no tools").run()
    assert [result.outcome for result in report] == ["errored", "errored"]
    assert all("nothing was recorded" in score.reason for result in report for score in result.scores)


def test_examples_of_a_dataset_are_selected(write):
    write(
        "{'examples': [{'input': 'a sum', 'name': 'a', 'tags': ['x']}, {'input': 'b', 'name': 'b'}]}",
        "rows.yaml",
    )
    path = write("""
        dataset: {path: rows.yaml, tags: [x], limit: 5}
        function: an_agent:run
        scorers: ["an_agent:is_short"]
    """)
    assert [example.name for example in load_task(path).examples] == ["a"]


@pytest.mark.parametrize(
    "rows", ['input,calls\na sum,"[""search""]"\n', '{"input": "a sum", "calls": ["search"]}']
)
def test_columns_of_a_table_are_in_the_sample(write, rows):
    name = "rows.csv" if rows.startswith("input") else "rows.jsonl"
    write(rows, name)
    path = write(f"""
        dataset: {{path: {name}, columns: [calls]}}
        function: an_agent:run
        scorers: [{{type: function_call_coverage, function_calls: "{{{{ sample.calls }}}}"}}]
    """)
    assert load_task(path).run().passed


def recorded(store):
    import an_agent

    tracer = Tracer("recorded", store=str(store))

    @tracer.observe(span_type="agent")
    def agent(query):
        return an_agent.run(query)

    agent("a sum")
    agent("a word")
    assert tracer.flush(timeout=60)
    return [line.trace_id for line in tracer.store.traces()]


def test_recorded_traces_are_the_source_of_calls(write, tmp_path):
    ids = recorded(tmp_path / "runs.db")
    path = write("""
        traces: {store: runs.db, where: "project:recorded", limit: 10}
        scorers:
          - type: function_call_coverage
            function_calls: ["search", "calculator"]
            metrics: [{type: mean, field: required_calls_coverage}]
    """)
    report = load_task(path).run()
    assert metrics_of(report)[0].value == 0.75
    assert {result.example.additional_metadata["trace_id"] for result in report} == set(ids)


def test_what_an_evaluation_of_recorded_runs_stores_is_no_run_for_the_next_one(write, tmp_path):
    recorded(tmp_path / "runs.db")
    path = write("""
        traces: {store: runs.db, where: "tool:search"}
        scorers: [{type: function_call_coverage, function_calls: [search]}]
    """)
    for _ in range(2):
        report = load_task(path).run(tracer=Tracer("recorded", store=str(tmp_path / "runs.db")))
        assert report.counts["passed"] == 2
    stored = SQLiteStore(tmp_path / "runs.db").traces()
    assert len(stored) == 6


def test_a_dataset_finds_its_traces_by_their_input(write, tmp_path):
    recorded(tmp_path / "runs.db")
    path = write("""
        traces: {store: runs.db, project: recorded}
        examples:
          - {input: {query: a sum}, expected_tools: [search, calculator]}
          - {input: {query: a word}, expected_tools: [search]}
        scorers: [tool_order]
    """)
    assert load_task(path).run().passed
    path.write_text(path.read_text().replace("a word", "another"))
    with pytest.raises(DatasetError, match=r"task.yaml:4: no trace for this example: a run of the input"):
        load_task(path)


def test_exported_traces_are_a_source_of_calls_too(write, tmp_path):
    from click.testing import CliRunner

    from agenttrace.cli.main import cli

    recorded(tmp_path / "runs.db")
    arguments = ["traces", "export", "--to", "otlp", "-o", "runs.jsonl", "--store", "runs.db"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    path = write("""
        traces: runs.jsonl
        scorers: [{type: function_call_coverage, function_calls: [search]}]
    """)
    assert load_task(path).run().counts["passed"] == 2


def test_examples_that_hold_recorded_runs_need_no_function(write):
    path = write("""
        key: held
        examples: [{input: x, tools_called: [search], expected_tools: [search]}]
        scorers: [tool_order]
    """)
    assert load_task(path).run().passed


def test_what_a_task_requires_is_told_and_left_to_who_decides(write):
    path = write("""
        key: refunds
        display_name: Refunds
        description: what it is for
        tags: [nightly]
        require: pass_rate >= 0.5
        function: an_agent:run
        examples: [{input: a sum}]
        scorers: ["an_agent:is_short"]
    """)
    task = load_task(path)
    assert (task.key, task.display_name, task.tags, task.require) == (
        "refunds",
        "Refunds",
        ("nightly",),
        ("pass_rate >= 0.5",),
    )
    assert task.run().project == "refunds"


@pytest.mark.parametrize(
    ("text", "is_task"),
    [
        ("examples: []", False),
        ("examples: [{input: a}]\nscorers: [ToolOrder]", False),
        ("examples: [{input: a}]\nscorers: [{type: tool_order}]", True),
        ("examples: [{input: a}]\nfunction: a:b", True),
        ("dataset: a.yaml", True),
        ("datset: a.yaml\nscorers: []", True),
        ("exampels: []", False),
        ("functon: a:b\nexamples: [{input: a}]", True),
        ("comments: c\nexamples: [{input: a}]", False),
        ("- a", False),
        ("{", False),
        ("", False),
    ],
)
def test_a_task_is_told_from_a_file_of_examples(write, text, is_task):
    assert is_task_file(write(text)) is is_task


def test_only_yaml_and_json_are_tasks(write):
    assert not is_task_file(write("dataset: a", "task.csv"))
    with pytest.raises(DatasetError, match="a task is a file of YAML or JSON"):
        load_task(write("dataset: a", "task.csv"))


def test_a_measure_that_raises_loses_no_results(write, tmp_path):
    from agenttrace import Example, run_evaluation
    from agenttrace.scorers import ExactMatchScorer

    store = SQLiteStore(tmp_path / "own.db")

    def broken(report):
        raise ConfigError("broken")

    with pytest.raises(ConfigError, match="broken"):
        run_evaluation(
            [Example(actual_output="a", expected_output="a")],
            [ExactMatchScorer()],
            store=store,
            measure=broken,
        )
    assert [run.passed for run in store.runs()] == [1]


def test_the_suite_s_quality_can_be_told_of_a_task_too(seed):
    score = load_task(seed).run().mutation_score()
    assert score.total.noticed > 0
    assert not any("was left out" in note for note in score.notes)


def test_a_judge_keeps_the_placeholders_of_its_prompt_and_asks_the_model_of_the_run(write):
    from agenttrace import FakeChatModel

    path = write("""
        examples: [{input: a, actual_output: an answer, additional_metadata: {bar: 0.4}}]
        scorers:
          - type: prompt
            prompt: "Is {{actual_output}} brief?"
            name: brief
            threshold: "{{ sample.bar }}"
          - type: prompt
            prompt: "Is {{actual_output}} polite?"
            display_name: polite
    """)
    task = load_task(path)
    model = FakeChatModel({"reason": "it is", "score": 0.5})
    (result,) = task.run(model=model)
    assert [(score.name, score.value, score.threshold) for score in result.scores] == [
        ("brief", 0.5, 0.4),
        ("polite", 0.5, 0.5),
    ]
    assert len(model.requests) == 2
