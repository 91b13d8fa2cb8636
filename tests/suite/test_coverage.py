"""Which tools, arguments, errors and refusals a suite looks at."""

import json
import pickle

import pytest

from agenttrace import (
    ANY,
    EvaluationReport,
    ExactMatchScorer,
    Example,
    ScoringResult,
    ToolCall,
    ToolCallArgsScorer,
    ToolCallCountScorer,
    ToolOrderScorer,
    ToolPermissionScorer,
    Trace,
    TrajectoryScorer,
    call,
    expect,
    run_evaluation,
)
from agenttrace.core.errors import ConfigError
from agenttrace.core.suite_coverage import Coverage
from agenttrace.suite import coverage, merged_coverage

PAY = {"name": "pay", "arguments": {"order": "o-1", "amount": 5}, "output": "ok"}
FIND = {"name": "find", "arguments": {"who": "ann"}, "output": {"id": "o-1"}}


def report(*examples, scorers=None):
    rows = [Example(expected_tools=expected, tools_called=called) for expected, called in examples]
    return run_evaluation(rows, scorers or [ToolOrderScorer()])


def of(coverage, word):
    return {name: getattr(tool, word) for name, tool in coverage.tools.items()}


def test_a_tool_counts_as_constrained_where_a_path_a_guard_or_a_count_names_it():
    covered = report(
        (["find"], [FIND, PAY]),
        (expect(at_most={"pay": 1}), [PAY]),
        (expect(never=["delete_*"], before=[("find", "pay")]), [FIND, {"name": "look"}]),
    ).coverage(tools=["delete_order"])
    assert of(covered, "constrained_by") == {"delete_order": 1, "find": 2, "look": 0, "pay": 2}
    assert covered.percent == 75
    assert [tool.name for tool in covered.known if not tool.constrained] == ["look"]


def test_negative_cases_are_examples_that_forbid_every_call_of_a_tool():
    covered = report(
        ([], []),
        (expect(never="pay"), [FIND]),
        (expect(only=["find"]), [FIND]),
        (expect(at_most={"pay": 0}), [FIND]),
        (expect(["find"], mode="exact"), [FIND]),
        (expect(max_calls=0), []),
        (["find"], [FIND, PAY]),
    ).coverage()
    assert of(covered, "forbidden_by") == {"find": 2, "pay": 6}


def test_the_mode_of_the_scorer_forbids_what_the_path_does_not_name():
    strict = report((["find"], [FIND, PAY]), scorers=[ToolOrderScorer(exact_match=True)])
    assert of(strict.coverage(), "forbidden_by") == {"find": 0, "pay": 1}
    assert of(coverage(strict), "forbidden_by") == {"find": 0, "pay": 0}


def test_an_argument_is_pinned_by_a_literal_or_a_matcher_but_not_by_any():
    covered = report(
        ([call("pay", order=ANY, amount=5)], [PAY]),
        ([call("find", who="ann", match="ignore")], [FIND]),
    ).coverage()
    assert of(covered, "arguments_seen") == {"find": {"who"}, "pay": {"order", "amount"}}
    assert of(covered, "arguments_pinned") == {"find": set(), "pay": {"amount"}}


def test_failed_calls_are_error_paths_that_were_seen():
    covered = report((["pay"], [{**PAY, "error": "declined"}, PAY])).coverage()
    assert of(covered, "failed_calls") == {"pay": 1}
    assert of(covered, "calls") == {"pay": 2}


def test_expectations_of_the_scorers_themselves_count():
    scorers = [
        TrajectoryScorer(expected=expect(never=["delete"])),
        ToolCallCountScorer({"pay": ("=", 1), "wipe": ("<", 1)}),
        ToolPermissionScorer(deny=["drop_*"]),
        ToolCallArgsScorer([{"name": "find", "args": {"who": "ann"}}]),
    ]
    covered = report((None, [FIND, PAY]), scorers=scorers).coverage(tools=["drop_table", "look"])
    assert of(covered, "constrained_by") == {
        "delete": 1, "drop_table": 1, "find": 1, "look": 0, "pay": 1, "wipe": 1,
    }  # fmt: skip
    assert of(covered, "forbidden_by") == {
        "delete": 1, "drop_table": 1, "find": 0, "look": 0, "pay": 0, "wipe": 1,
    }  # fmt: skip


def test_a_tool_that_only_an_expectation_names_is_shown_and_not_counted():
    covered = report((["find", "ghost"], [FIND])).coverage()
    assert not covered.tools["ghost"].known
    assert covered.percent == 100
    assert any(line.startswith("ghost (never seen)") for line in covered.lines)


def test_tools_that_were_observed_and_never_called_are_offered(tracer):
    @tracer.observe(span_type="tool")
    def find(who):
        return who

    @tracer.observe(span_type="tool")
    def wipe(table, really=False):
        return table

    examples = [Example(input={"who": "ann"}, expected_tools=["find"])]
    made = run_evaluation(examples, [ToolOrderScorer()], function=find, tracer=tracer)
    covered = made.coverage()  # all that this process has observed, other tests' tools too
    assert covered.tools["wipe"].offered
    assert covered.tools["wipe"].arguments_seen == {"table", "really"}
    assert made.coverage(tools=["find", "wipe"]).percent == 50
    assert made.coverage(tools=["find"]).percent == 100


def test_trials_of_one_example_are_one_example_and_several_runs(tracer):
    @tracer.observe(span_type="tool")
    def find(who):
        return who

    examples = [Example(input={"who": "ann"}, expected_tools=["find"])]
    covered = run_evaluation(examples, [ToolOrderScorer()], function=find, tracer=tracer, trials=3).coverage()
    assert (covered.examples, covered.runs, covered.tools["find"].calls) == (1, 3, 3)
    assert covered.tools["find"].constrained_by == 1


def test_the_coverage_of_several_workers_is_merged_from_their_json():
    parts = [report((["find"], [FIND, PAY])).coverage(), report((expect(never="pay"), [FIND])).coverage()]
    sent = [json.loads(json.dumps(part.to_dict())) for part in parts]
    whole = report((["find"], [FIND, PAY]), (expect(never="pay"), [FIND])).coverage()
    assert merged_coverage(sent) == merged_coverage(parts) == whole
    assert Coverage.from_dict(sent[0]) == parts[0]
    assert merged_coverage([]) == Coverage()


def test_too_little_coverage_says_which_tools_nobody_names():
    covered = report((["find"], [FIND, PAY])).coverage()
    assert covered.shortfall(50) is None
    assert covered.shortfall(80) == (
        "tool coverage 50 % is under the 80 % asked for; no expectation names pay"
    )
    assert Coverage().shortfall(0) is None
    assert "no tool is known" in Coverage().shortfall(1)


def test_results_without_any_calls_are_counted_as_unknown():
    rows = [Example(actual_output="x", expected_output="x")]
    covered = run_evaluation(rows, [ExactMatchScorer()]).coverage()
    assert (covered.runs, covered.unknown_runs, covered.percent) == (1, 1, None)


def test_what_stands_for_arguments_that_were_not_recorded_is_no_argument():
    cut = {"name": "pay", "arguments": {"order": "o-1", "$truncated": 2}}
    unknown = {"name": "find", "arguments": {"$type": "unreadable"}}
    trace = Trace()
    trace.tool_calls = tuple(ToolCall(**one) for one in (cut, unknown))
    result = ScoringResult(example=Example(), trace=trace, outcome="passed")
    assert of(coverage([result]), "arguments_seen") == {"find": set(), "pay": {"order"}}


def test_a_report_that_was_not_made_here_says_what_to_use():
    bare = EvaluationReport(results=())
    with pytest.raises(ConfigError, match=r"use agenttrace\.suite\.coverage\(report\)"):
        bare.coverage()
    with pytest.raises(ConfigError, match=r"mutation_score\(report, scorers\)"):
        bare.mutation_score()


def test_scorers_stay_in_their_process():
    made = report((["find"], [FIND]))
    again = pickle.loads(pickle.dumps(made))
    assert made.analyses is not None
    assert again.analyses is None
    assert again.to_dict() == made.to_dict()
    assert "analyses" not in repr(made)
