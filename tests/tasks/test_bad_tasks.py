"""What is wrong in a task file is an error with file and line, before any agent runs."""

# ruff: noqa: E501 - a case a line

import os

import pytest

from agenttrace import load_task
from agenttrace.core.errors import DatasetError

GOOD = """
key: a
function: an_agent:run
examples:
  - {input: a sum, name: first, additional_metadata: {calls: [search]}}
  - {input: a word, name: second, additional_metadata: {}}
scorers:
  - type: function_call_coverage
    function_calls: [search]
    metrics:
      - type: mean
"""


def broken(write, *changes):
    text = GOOD
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    with pytest.raises(DatasetError) as caught:
        load_task(write(text))
    return str(caught.value).replace(os.getcwd() + os.sep, "")


def test_the_file_is_good_before_it_is_broken(write):
    assert load_task(write(GOOD)).run().passed


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("function:", "functoin:", "task.yaml:2: functoin: unknown key 'functoin'; did you mean 'function'?"),
        ("    metrics:", "    metrcs:", "task.yaml:7: scorers[0]: function_call_coverage has no option 'metrcs'; did you mean 'metrics'?"),
        ("type: mean", "type: meen", "task.yaml:10: scorers[0].metrics[0]: there is no metric 'meen'; did you mean 'mean'?"),
        ("type: mean", "type: mean\n        feild: a", "task.yaml:11: scorers[0].metrics[0].feild: unknown key 'feild'; did you mean 'field'?"),
        ("type: mean", "field: a", "task.yaml:10: scorers[0].metrics[0]: a metric needs the key 'type'"),
        ("type: mean", "type: std_dev\n        ddof: 2", "task.yaml:11: scorers[0].metrics[0].ddof: got int 2, wanted 0 or 1"),
        ("type: mean", "type: binary_classification", "task.yaml:10: scorers[0].metrics[0]: the key 'field_gt' is missing"),
        ("type: mean", "type: mean\n      - type: mean", "task.yaml:11: scorers[0].metrics[1]: two metrics are called 'value_mean'"),
        ("type: mean", "type: mean\n        field: sample.cals", "task.yaml:10: scorers[0].metrics[0]: field: no sample has 'sample.cals': no 'cals' in sample"),
        ("type: mean", "{type: python, function: 'an_agent:larges'}", "an_agent has no 'larges'; did you mean 'largest'?"),
        ("type: mean", "{type: python, function: 'an_agent:asks'}", "the metric an_agent:asks asks for 'nothing'; known: results, scores, values"),
        ("type: mean", "{type: mean, field: sample.name}", "task.yaml:10: scorers[0].metrics[0]: field: sample.name is str 'first' in"),
        ("type: mean", "{type: frequency, field: sample.calls}", "field: sample.calls is list ['search'] in"),
        ("type: mean", "{type: binary_classification, field_gt: sample.calls, field_pred: output, positive_answer: a, negative_answer: b}", "field_gt: sample.calls is list ['search'] in"),
        ("type: mean", "{type: binary_classification, field_gt: sample.name, field_pred: output, positive_answer: true, negative_answer: 'true'}", "positive_answer and negative_answer are both 'true'"),
        ("type: mean", "{type: python, function: 'an_agent:is_short'}", "the metric an_agent:is_short takes none of values, scores, results"),
        ("function_call_coverage", "function_call_covrage", "task.yaml:7: scorers[0]: there is no scorer 'function_call_covrage'; did you mean 'FunctionCallCoverageScorer'?"),
        ("    function_calls: [search]", "    function_cals: [search]", "has no option 'function_cals'; did you mean 'function_calls'?"),
        ("    function_calls: [search]", "    mode: any", "mode is 'any_order' or 'in_order', got 'any'"),
        ("    function_calls: [search]", "    purpose: quality", "task.yaml:8: scorers[0].purpose: got str 'quality', wanted 'score' or 'qa'"),
        ("    function_calls: [search]", "    purpose: qa\n    gate: true", "task.yaml:9: scorers[0].gate: purpose: qa informs, gate: true decides"),
        ("function: an_agent:run", "function: an_agent:rum", "task.yaml:2: function: an_agent has no 'rum'; did you mean 'run'?"),
        ("function: an_agent:run", "function: no_such_agent:run", "there is no module 'no_such_agent'"),
        ("function: an_agent:run", "function: an_agent", "wanted package.module:function"),
        ("function: an_agent:run", "function: an_agent:NUMBER", "which cannot be called"),
        ("function: an_agent:run", "function: an_agent:Desk.answer", "is a method of a class"),
        ("function: an_agent:run", "function: [a]", "task.yaml:2: function: got list ['a'], wanted a text"),
        ("function: an_agent:run\n", "", "task.yaml:3: example 1 has no recorded run (tools_called or actual_output), and the task has no source of calls"),
        ("function: an_agent:run", "function: an_agent:run\ndataset: rows.yaml", "dataset names a file of examples, and examples are here too"),
        ("function: an_agent:run", "function: an_agent:run\ntraces: runs.jsonl", "function makes the calls, traces have recorded ones"),
        ("{input: a sum,", "{inptu: a sum,", "task.yaml:4: examples[0]: an Example has no field 'inptu'; did you mean 'input'?"),
        ("name: second", "name: first", "first"),
        ("key: a", "key: 3", "task.yaml:1: key: got int 3, wanted a text"),
        ("key: a", "key: ''", "task.yaml:1: key: got str '', wanted a text that is not empty"),
        ("key: a", "key: a\nkey: b", "the key 'key' stands twice"),
        ("[search]\n", "'{{ sample.calls }}'\n", "task.yaml:8: scorers[0].function_calls: the template: there is no 'calls'"),
        ("[search]\n", "'{{ sample.calls'\n", "task.yaml:8: scorers[0].function_calls: the template: unexpected end of template"),
        ("[search]\n", "'{{ sample.__class__ }}'\n", "task.yaml:8: scorers[0].function_calls: the template: '__class__' is an attribute of Python's"),
        ("[search]\n", "'{% include \"x\" %}'\n", "task.yaml:8: scorers[0].function_calls: the template: the tag 'include' is not allowed"),
        ("[search]\n", "'{{ 3 }}'\n", "function_calls is a list of names, got 3"),
        ("[search]\n", "|\n      [\n      {{ sample.nothing }}]\n", "the template, line 2 of it: there is no 'nothing'"),
        ("[search]\n", "{$file: ../secret.j2}\n", "task.yaml:8: scorers[0].function_calls: '../secret.j2' is not in the task's folder"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_and_line(write, before, after, message):
    assert message in broken(write, (before, after))


def test_a_template_that_never_ends_is_said_with_file_and_line(write, monkeypatch):
    from agenttrace.templates import template as module

    monkeypatch.setattr(module, "SECONDS", 0.2)
    loops = "'{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}'\n"
    message = broken(write, ("[search]\n", loops))
    assert message.startswith(
        "task.yaml:8: scorers[0].function_calls: the template: it is not rendered within 0.2 s"
    )


def test_a_template_that_explodes_is_said_with_file_and_line(write):
    message = broken(write, ("[search]\n", "\"{{ 'a' * 10 ** 10 }}\"\n"))
    assert message.startswith(
        "task.yaml:8: scorers[0].function_calls: the template: it takes more than 64 MB"
    )


@pytest.mark.parametrize(
    "path", ["../outside.j2", "/etc/hostname", "sub/../../outside.j2", "linked.j2", "folder/outside.j2"]
)
def test_a_template_s_file_outside_the_folder_of_the_task_is_refused(write, tmp_path, path):
    write("{{ sample.calls }}", "outside.j2")
    task = write(GOOD.replace("[search]\n", f"{{$file: {path}}}\n"), "tasks/task.yaml")
    (tmp_path / "tasks" / "sub").mkdir()
    (tmp_path / "tasks" / "linked.j2").symlink_to(tmp_path / "outside.j2")
    (tmp_path / "tasks" / "folder").symlink_to(tmp_path)
    with pytest.raises(
        DatasetError, match=r"task.yaml:8: scorers\[0\]\.function_calls: .* is not in the task's folder"
    ):
        load_task(task)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{$file: missing.j2}", "there is no such file"),
        ("{$file: folder}", "this is a directory"),
        ("{$file: large.j2}", "at most 0 MB are read"),
        ("{$file: ''}", "stands alone, with the name of a file"),
        ("{$file: a.j2, more: 1}", "stands alone, with the name of a file"),
    ],
)
def test_a_template_s_file_that_cannot_be_read_is_an_error(write, tmp_path, value, message):
    (tmp_path / "folder").mkdir()
    write("x" * 64_001, "large.j2")
    assert message in broken(write, ("[search]\n", f"{value}\n"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("key: a\nscorers: [tool_order]", "there are no examples: give dataset"),
        ("key: a\nexamples: []", "there are no examples: an evaluation of nothing"),
        ("key: a\nexamples: [{input: a, tools_called: [b]}]", "there are no scorers"),
        ("dataset: missing.yaml", "task.yaml:1: dataset: "),
        ("dataset: {path: rows.yaml, columns: [input]}", "'input' is a field of an example"),
        ("dataset: own.csv", "unknown column 'calls'"),
        ("dataset: own.csv", "a column of your own is named in the columns of dataset"),
        (
            "traces: rows.yaml\nscorers: [tool_order]",
            "agenttrace traces export --to otlp writes files that can be read",
        ),
        ("dataset: {path: rows.yaml, only: [zzz]}", "task.yaml:1: dataset"),
        ("dataset: {paht: rows.yaml}", "task.yaml:1: dataset.paht: unknown key 'paht'; did you mean 'path'?"),
        ("dataset: [a]", "task.yaml:1: dataset: got list ['a'], wanted a mapping"),
        ("traces: {limit: 3}", "give path (a file of traces), or where"),
        ("traces: {path: a, where: b}", "path reads a file, where a store"),
        ("traces: {by: inptu, path: a}", "wanted 'trace_id' or 'input'"),
        ("traces: missing.jsonl\nscorers: [tool_order]", "task.yaml:1: traces: "),
        ("traces: {store: missing.db, where: ''}", "there is no store at"),
        ("traces: {where: 'project:'}", "task.yaml:1: traces: "),
        ("- a", "got list ['a'], wanted a mapping with the keys of a task"),
        ("", "got nothing, wanted a mapping"),
        ("key: [", "this is not YAML"),
        ("key: a\nscorers:\n  - 3", "task.yaml:3: scorers[0]: got int 3"),
        ("key: a\nscorers:\n  - {key: a}", "task.yaml:3: scorers[0]: the key 'type' is missing"),
        (
            "key: a\nscorers:\n  - 'tool_order:thr'",
            "task.yaml:3: scorers[0]: got 'thr' in 'thr', wanted option=value",
        ),
        ("key: a\nscorers: tool_order", "task.yaml:2: scorers: got str 'tool_order', wanted a list"),
    ],
)
def test_a_file_that_is_no_task_says_why(write, text, message):
    write("{'examples': [{'input': 'a', 'tools_called': ['b']}]}", "rows.yaml")
    write("input,calls\na,b\n", "own.csv")
    with pytest.raises(DatasetError) as caught:
        load_task(write(text))
    assert message in str(caught.value).replace(os.getcwd() + os.sep, "")


def test_two_scorers_of_one_name_or_one_key_are_an_error(write):
    twice = "  - {type: function_call_coverage, function_calls: [a]}\n"
    assert "two scorers are called 'Function Call Coverage'; give one a display_name" in broken(
        write, ("scorers:\n", "scorers:\n" + twice)
    )
    keys = "  - {type: tool_order, key: k}\n  - {type: regex, pattern: a, key: k}\n"
    assert "the key 'k' is that of scorers[0] already" in broken(write, ("scorers:\n", "scorers:\n" + keys))


def test_nothing_runs_before_all_is_checked(write, tmp_path):
    write(
        """
        from pathlib import Path

        def run(query):
            Path("ran").touch()
        """,
        "leaves_a_mark.py",
    )
    broken(write, ("an_agent:run", "leaves_a_mark:run"), ("[search]\n", "'{{ sample.calls }}'\n"))
    assert not (tmp_path / "ran").exists()


def test_a_function_and_recorded_traces_contradict_each_other(write):
    with pytest.raises(DatasetError, match="a function is given, and traces have recorded calls"):
        load_task(write("traces: a.jsonl\nscorers: [tool_order]"), function=print)


def test_json_errors_name_the_line_too(write):
    text = '{\n  "key": "a",\n  "scorers": [\n    {"type": "tool_order",\n     "metrics": [\n       {"type": "men"}]}],\n "dataset": "x"}'
    with pytest.raises(
        DatasetError, match=r"task.json:6: scorers\[0\]\.metrics\[0\]: there is no metric 'men'"
    ):
        load_task(write(text, "task.json"))


SHORT = "function: an_agent:run\nexamples: [{input: a}]\nscorers: [{type: function_call_coverage, function_calls: [a]}]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("require: 0.8\n" + SHORT, "task.yaml:1: require: require is a line such as 'pass_rate >= 0.8'"),
        ("require: pass_rate > 2\n" + SHORT, "task.yaml:1: require: require is a line such as"),
        (SHORT + "require:\n- pass_rate > 0.2\n- pas_rate > 0.2\n", "task.yaml:4: require: require has no measure 'pas_rate'"),
        (SHORT.replace("examples: [{input: a}]", "dataset: {path: a, limit: 0}"), "dataset.limit: got int 0, wanted at least 1"),
        (SHORT.replace("function: an_agent:run\nexamples: [{input: a}]", "traces: none.json"), "task.yaml:1: traces: none.json: there is no such file"),
        (SHORT.replace("an_agent", "raising"), "task.yaml:1: function: the module 'raising' cannot be imported: ZeroDivisionError: division by zero ("),
        (SHORT.replace("an_agent", "unreadable"), "unreadable.py:2)"),
        (SHORT.replace("function_call_coverage, function_calls: [a]", "'needing:S'"), "task.yaml:3: scorers[0]: the module 'needing' cannot be imported: ModuleNotFoundError"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_or_imported_is_said_with_the_place_in_the_task(write, text, message):
    write("x = 1\ny = 1 / 0\n", "raising.py")
    write("x = 1\ndef f(:\n", "unreadable.py")
    write("import no_module_of_this_name\n", "needing.py")
    with pytest.raises(DatasetError) as trouble:
        load_task(write(text))
    assert message in str(trouble.value)
