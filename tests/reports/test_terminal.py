from dataclasses import replace

from agenttrace.core.example import Example
from agenttrace.core.report import EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.reports.first_line import failure_line
from agenttrace.reports.terminal import report_text


def result(outcome="passed", position=0, name=None, **fields):
    return ScoringResult(example=Example(name=name), outcome=outcome, position=position, **fields)


def text_of(*results, **fields):
    return report_text(EvaluationReport(results=results, **fields))


def failing(name="Faithfulness", value=0.0, **fields):
    return Score.of(name, value, 0.5, **fields)


def test_a_failing_report_has_the_lines_that_judgeval_users_know():
    known = [
        "=" * 80,
        "⚠️  TEST RESULTS: 0/1 passed (1 failed)",
        "=" * 80,
        "",
        "✗ Test 1: FAILED",
        "  Scorer: Faithfulness",
        "    Score: 0.0",
        "    Reason: R",
        "  " + "-" * 40,
        "",
        "=" * 80,
    ]
    lines = text_of(result("failed", scores=(failing(reason="R"),))).splitlines()
    assert len(lines) == len(known)
    assert all(line.startswith(start) for line, start in zip(lines, known, strict=True))


def test_the_diff_threshold_mode_name_trial_trace_and_source_are_shown():
    diff = '✓ 1  lookup_order(id=7)\n- 2  notify(to="ann")   missing'
    trace = Trace.from_calls(["lookup_order"])
    score = failing("Tool Order", reason="1 of 2", diff=diff, details={"mode": "in_order"})
    text = text_of(
        result(
            "failed",
            name="refund-7",
            scores=(score,),
            trace=trace,
            trial=2,
            trials=3,
            source="tests/refunds.yaml:12",
        )
    )
    assert f"refund-7 · trial 2/3 · trace {trace.trace_id[:8]}" in text
    assert "    Score: 0.0   (threshold 0.5, in_order)\n" in text
    assert "    ✓ 1  lookup_order(id=7)\n    - 2  notify" in text
    assert "  expected at tests/refunds.yaml:12\n" in text
    assert max(map(len, text.splitlines())) == 80


def test_scores_that_hold_in_a_failing_test_take_one_line():
    text = text_of(
        result(
            "failed",
            scores=(failing(), Score.of("Answer", 2 / 3, 0.5), Score.skipped("Judge", 0.5, "no context")),
        )
    )
    assert "  ✓ Answer: 0.6667\n" in text
    assert "  · Judge: skipped\n" in text


def test_errored_is_not_failed():
    broken = Score.errored("Judge", 0.5, ValueError("no reply"))
    text = text_of(result("errored", scores=(broken,)), result("errored", error="nothing was recorded"))
    assert "TEST RESULTS: 0/2 passed (2 errored)" in text
    assert "! Test 1: ERRORED" in text
    assert "Score: none, the scorer broke" in text
    assert "Error: ValueError: no reply" in text
    assert "Error: nothing was recorded" in text


def test_what_cannot_be_scored_is_no_scorer_that_broke():
    refused = Score.errored("Tool Order", 1.0, "the expectation cannot be used: t.yaml:3: no tool 'refnd'")
    text = text_of(result("errored", scores=(refused,)))
    assert "    Score: none   (threshold 1.0)\n" in text
    assert "    Reason: the expectation cannot be used: t.yaml:3: no tool 'refnd'\n" in text
    assert "broke" not in text


def test_an_agent_that_failed_shows_its_error_and_what_it_had_called():
    trace = Trace.from_calls([{"name": "search", "arguments": {"q": "x"}}, {"name": "book", "error": "full"}])
    text = text_of(result("failed", error="Traceback\n  line\nRuntimeError: gone", trace=trace))
    assert "  Error: RuntimeError: gone\n    Traceback\n      line\n" in text
    assert '    1  search(q="x")\n' in text
    assert "    2  book()  " in text


def test_all_passed_is_said_in_a_line_each():
    text = text_of(result(name="a"), result(position=1, name="b"))
    assert text.startswith("=" * 80 + "\n✓ TEST RESULTS: 2/2 passed\n")
    assert "✓ Test 1: PASSED" in text
    assert "✓ Test 2: PASSED" in text
    assert "Scorer" not in text


def test_many_examples_are_bounded_failures_in_full_passes_counted():
    passes = [result(position=n) for n in range(900)]
    failures = [result("failed", position=900 + n, scores=(failing(),)) for n in range(10)]
    text = text_of(*passes, *failures)
    assert text.count("FAILED\n") == 10
    assert "✓ 900 passed, not listed" in text
    assert len(text.splitlines()) < 100
    failures = [result("failed", position=n, scores=(failing(),)) for n in range(400)]
    text = text_of(*failures)
    assert "… 350 more did not pass" in text
    assert len(text) < 30_000


def test_long_reasons_errors_and_diffs_are_cut_visibly():
    score = failing(reason="r" * 100_000, diff="\n".join(f"- {n}" for n in range(5_000)))
    text = text_of(result("failed", scores=(score,), error="\n".join(["frame"] * 500 + ["E: x"])))
    assert "[+98000 chars]" in text
    assert "… 4880 more lines" in text
    assert "… 484 lines above" in text
    assert len(text) < 20_000


def test_recorded_text_cannot_control_the_terminal():
    evil = "\x1b]0;owned\x07\x1b[2J\r"
    score = Score.of("n" + evil, 0.0, 0.5, reason=evil, diff=evil, details={"mode": evil})
    trace = Trace.from_calls([{"name": evil, "arguments": {evil: evil}, "error": evil}])
    text = text_of(
        result("failed", name=evil, scores=(score,), error=evil, trace=trace, source=evil),
        metadata={"requirement": evil},
    )
    assert not [c for c in text if c != "\n" and not c.isprintable() and c != "\ufe0f"]


def test_a_reason_of_several_lines_stays_indented():
    assert "    Reason: one\n            two\n" in text_of(
        result("failed", scores=(failing(reason="one\ntwo"),))
    )


def test_trials_requirement_and_interruption_are_summed_up():
    results = [result("passed" if n % 2 else "failed", trial=n + 1, trials=4) for n in range(4)]
    text = text_of(*results, metadata={"requirement": "pass_rate >= 0.8, got 0.5", "interrupted": True})
    assert "2 of 4 runs passed (4 trials an example): pass rate 0.5\n" in text
    assert "required: pass_rate >= 0.8, got 0.5\n" in text
    assert "interrupted: the examples that are not listed were not run\n" in text


def trials(*values, calls=("lookup",), **fields):
    """Trials of one example, with Tool Order's values; those below 0.5 fail with the same diff."""
    return [
        result(
            "passed" if value >= 0.5 else "failed",
            name="refund-7",
            scores=(
                Score.of(
                    "Tool Order",
                    value,
                    0.5,
                    reason="" if value >= 0.5 else "1 of 2",
                    diff=None if value >= 0.5 else "- 2  notify()   missing",
                ),
            ),
            trace=Trace.from_calls(["lookup", "notify"] if value >= 0.5 else list(calls)),
            trial=number,
            trials=len(values),
            **fields,
        )
        for number, value in enumerate(values, 1)
    ]


def test_the_trials_of_a_failing_example_are_one_block_with_each_reason_once():
    text = text_of(*trials(1.0, 0.0, 1.0, 0.0, 1.0, 1.0, source="tests/refunds.yaml:12"))
    assert text.count("Test 1") == 1
    assert "✗ Test 1: 4 of 6 trials passed" in text
    assert text.count("- 2  notify()   missing") == 1
    assert "  twice (trial 2, 4), because:\n  Scorer: Tool Order\n" in text
    assert "    Tool Order: mean 0.6667 over 6 of 6\n" in text
    assert text.count("expected at tests/refunds.yaml:12") == 1
    assert (
        "  Flip: trial 2 failed and trial 1 passed: the agent did something else: notify was called only"
        in text
    )


def test_the_first_line_of_a_failure_counts_the_trials():
    report = EvaluationReport(results=tuple(trials(1.0, 0.0, 1.0, 0.0, 1.0, 1.0)))
    assert failure_line(report) == (
        "refund-7: 4 of 6 trials passed; twice because: 1 of 2; - 2 notify() missing"
    )


def test_trials_that_all_pass_are_one_line_and_their_means():
    lines = text_of(*trials(1.0, 0.9)).splitlines()
    assert lines[4].startswith("✓ Test 1: 2 of 2 trials passed")
    assert lines[4].endswith("refund-7")
    assert lines[5] == "    Tool Order: mean 0.95 over 2 of 2"


def test_trials_that_failed_for_several_reasons_have_each():
    one, other = trials(0.0, 0.4)
    lines = text_of(one, replace(other, scores=(failing(reason="another"),))).splitlines()
    assert [line for line in lines if "because:" in line] == [
        "  once (trial 1), because:",
        "  once (trial 2), because:",
    ]


def test_passing_scores_are_shown_in_short_and_those_that_inform_say_so():
    scores = (Score.of("Answer", 1.0, 0.5), Score.of("Tone", 0.2, 0.5, reason="dull", diff="- x").informing())
    passing = text_of(result("passed", name="one", scores=scores))
    assert "    Answer 1.0 · Tone 0.2 (informs)\n" in passing
    failed = text_of(result("failed", name="one", scores=(failing(reason="wrong"), scores[1])))
    assert "  · Tone: 0.2 (informs)\n" in failed
    assert "dull" not in failed


LATE = (
    "desk.ask did not return within its timeout of 2 s\nopen spans: find\nit stood here:\n  agent.py, line 7"
)


def test_the_first_line_of_a_late_agent_says_that_it_is_late_not_where_it_stood():
    late = result("failed", name="slow", error=LATE)
    assert failure_line(EvaluationReport(results=(late,))) == (
        "slow: desk.ask did not return within its timeout of 2 s"
    )
    assert "  Error: desk.ask did not return within its timeout of 2 s\n    open spans: find" in text_of(late)


def test_the_first_line_of_an_agent_that_raised_is_what_it_raised():
    error = 'Traceback (most recent call last):\n  File "agent.py", line 7, in ask\nKeyError: 999'
    assert (
        failure_line(EvaluationReport(results=(result("failed", name="a", error=error),)))
        == "a: KeyError: 999"
    )


def test_the_first_line_of_unreadable_arguments_says_that_they_are():
    diff = '~ 1  refund(id=7)\n     expected {"id": 7}, got null\n     (the arguments are not JSON)'
    score = failing("Tool Order", reason="0 of 1 aligned", diff=diff)
    line = failure_line(EvaluationReport(results=(result("failed", name="a", scores=(score,)),)))
    assert line == "a: 0 of 1 aligned; (the arguments are not JSON)"


def test_the_first_line_names_what_is_wrong_before_a_call_that_may_be_allowed():
    diff = '+    search(city="Rome")  extra\n~ 2  book(nights=3)\n     nights: expected 3, got 2'
    score = failing("Tool Order", reason="0 of 1 aligned", diff=diff)
    line = failure_line(EvaluationReport(results=(result("failed", name="a", scores=(score,)),)))
    assert line == "a: 0 of 1 aligned; nights: expected 3, got 2"
    score = failing("Tool Order", reason="1 more", diff='+    search(city="Rome")  extra')
    line = failure_line(EvaluationReport(results=(result("failed", name="a", scores=(score,)),)))
    assert line == 'a: 1 more; + search(city="Rome") extra'


def test_an_example_is_marked_as_its_worst_trial_as_in_every_other_report():
    trials = [
        ScoringResult(example=Example(name="flaky"), outcome=outcome, trial=number, trials=2, error=error)
        for number, (outcome, error) in enumerate([("errored", "no reply"), ("failed", "KeyError: 7")], 1)
    ]
    assert "✗ Test 1: 0 of 2 trials passed" in text_of(*trials)


def test_the_first_line_gives_no_example_the_reason_of_another():
    def failed(name, reason, **fields):
        return result("failed", name=name, scores=(failing("Contains", reason=reason),), **fields)

    def line(*results):
        return failure_line(EvaluationReport(results=results))

    alpha, beta = failed("alpha", "missing: 'y'"), failed("beta", "missing: 'x'")
    first = "alpha: missing: 'y'"
    assert line(alpha, beta) == f"2 failed of 2: {first} (and 1 more: beta)"
    many = [failed(f"n{number}", "missing: 'x'", position=number) for number in range(1, 5)]
    assert line(alpha, *many) == f"5 failed of 5: {first} (and 4 more: n1, n2, n3, …)"
    raised = result("failed", name="gamma", error="KeyError: 7")
    assert (
        line(alpha, raised, result("passed", name="delta")) == f"2 failed of 3: {first} (and 1 more: gamma)"
    )
    alike = failed("beta", "missing: 'y'")
    assert line(alpha, alike) == "2 failed of 2: alpha, beta: missing: 'y'"


REQUIRED = {"require": "pass^3 >= 0.5", "value": 0.22123, "interval": [0.131, 0.349], "holds": False}


def test_the_first_line_names_the_requirement_that_is_not_met_and_each_example_once():
    reward = Score.of("reward", 0.0, 1.0)
    results = tuple(
        result("failed", name=f"task {n // 4}", position=n // 4, trial=n % 4 + 1, trials=4, scores=(reward,))
        for n in range(16)
    )
    report = EvaluationReport(results=results, metadata={"requirements": [REQUIRED]})
    assert failure_line(report) == (
        "required pass^3 >= 0.5, got 0.221 (0.13 to 0.35); "
        "16 failed of 16: task 0, task 1, task 2, … 1 more: reward 0 (threshold 1)"
    )
    met = replace(report, metadata={"requirements": [{**REQUIRED, "holds": True}]})
    assert failure_line(met).startswith("16 failed of 16: task 0")
    silent = replace(report, results=tuple(replace(one, scores=()) for one in results))
    assert failure_line(silent).endswith("task 2, … 1 more")


def test_an_errored_result_goes_before_a_requirement_that_it_leaves_open():
    results = (result("errored", name="a", error="boom"), result("passed", name="b"))
    report = EvaluationReport(results=results, metadata={"requirements": [REQUIRED]})
    assert failure_line(report) == "1 errored of 2: a: boom"


def test_scores_that_inform_say_why_where_those_that_decide_do_not():
    reward = Score.of("reward", 0.0, 1.0)
    order = failing(
        "Tool Order", reason="1 of 2 expected calls aligned", diff="- 2  refund()   missing"
    ).informing()
    one = result("failed", name="a", scores=(reward, order))
    text = text_of(one)
    assert "  · Tool Order: 0.0 (informs)\n    Reason: 1 of 2 expected calls aligned\n" in text
    assert "    - 2  refund()   missing\n" in text
    assert failure_line(EvaluationReport(results=(one,))) == (
        "a: reward 0 (threshold 1); Tool Order: 1 of 2 expected calls aligned; - 2 refund() missing"
    )


def test_the_trials_of_a_failing_example_are_named_by_their_traces():
    some = trials(1.0, 0.0, 1.0)
    text = text_of(*some)
    ids = ", ".join(f"{one.trace_id[:8]} (trial {one.trial})" for one in some)
    assert f"  Traces: {ids}\n" in text


def test_of_trials_that_failed_alike_a_score_that_informs_shows_the_value_of_each():
    tones = (0.2, 0.2, 0.7)
    some = [
        replace(one, scores=(*one.scores, Score.of("Tone", tone, 0.5).informing()))
        for one, tone in zip(trials(0.0, 0.0, 0.0), tones, strict=True)
    ]
    assert "  · Tone: 0.2, 0.2, 0.7 (informs)\n" in text_of(*some)
    assert "  · Tone: 0.2 (informs)\n" in text_of(*some[:2])
    many = [replace(some[n % 3], trial=n + 1, trials=30) for n in range(30)]
    assert "  · Tone: 0.2 to 0.7 (informs)\n" in text_of(*many)


def test_a_report_of_many_long_failures_is_bounded():
    long = "\n".join(f"- {n}  call()   missing" for n in range(40))
    results = [
        result(
            "failed",
            name=f"n{n}",
            position=n,
            scores=(failing(reason=f"r{n}", diff=long),),
            stored_trace_id=f"{n:032x}"[::-1],
        )
        for n in range(60)
    ]
    lines = text_of(*results).splitlines()
    assert len(lines) < 600
    assert any(line.endswith("n49: trace 13000000: r49; - 0 call() missing") for line in lines)
    assert "… 10 more did not pass; all of them are in the report's results" in lines
