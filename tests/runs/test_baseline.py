"""A test against a baseline raises where something got worse, and nowhere else."""

import json

import pytest

from agenttrace import Client, Example, assert_test, assert_test_async, run_evaluation
from agenttrace.core.errors import ConfigError
from agenttrace.core.report import EvaluationFailed, EvaluationReport, ScoringResult
from agenttrace.core.score import Score
from agenttrace.redaction import Redaction
from agenttrace.runs import metadata as run_metadata
from agenttrace.runs.baseline import read_baseline, write_baseline
from agenttrace.runs.compare import compare_runs
from agenttrace.runs.fingerprints import fingerprint_of
from agenttrace.runs.record import record_of_report, record_of_run
from agenttrace.scoring.redacted import redacted_report
from agenttrace.store import MemoryStore
from tests.evaluation.evaluation_fakes import Answer, Does


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def on_branch(monkeypatch):
    def on(name):
        revision = {"commit": "c" * 40, "branch": name, "dirty": None}
        monkeypatch.setattr(run_metadata, "git_revision", lambda: revision)

    return on


def examples(*right, wrong=()):
    return [
        Example(
            name=name, input={"x": name}, expected_output=name, actual_output=name if name in right else "no"
        )
        for name in sorted((*right, *wrong))
    ]


def test_a_run_on_the_branch_is_the_baseline_and_the_first_line_says_what_got_worse(store, on_branch):
    on_branch("main")
    main = run_evaluation(examples("a", "b", wrong=["c"]), [Answer()], store=store)
    on_branch("feature")
    run_evaluation(examples(wrong=["a", "b", "c"]), [Answer()], store=store)
    assert assert_test(examples("a", "b", wrong=["c"]), [Answer()], store=store, baseline="main").counts == {
        "passed": 2, "failed": 1, "errored": 0,
    }  # fmt: skip
    with pytest.raises(EvaluationFailed) as failed:
        assert_test(examples("a", wrong=["b", "c"]), [Answer()], store=store, baseline="main")
    first, *rest = str(failed.value).splitlines()
    assert first == f"1 of 3 examples got worse than main (run {main.run_id[:8]}): b: Answer 1.0 → 0.0"
    assert "TEST RESULTS: 1/3 passed (2 failed)" in "\n".join(rest)
    assert store.run(failed.value.report.run_id)["metadata"]["baseline"] == f"main (run {main.run_id[:8]})"


def test_an_errored_example_raises_whatever_it_was_before(store):
    def broken(example, trace):
        raise RuntimeError("no")

    before = run_evaluation(examples("a"), [Does(broken)], store=store)
    with pytest.raises(EvaluationFailed, match=r"^1 of 1 example errored \(compared with run"):
        assert_test(examples("a"), [Does(broken)], store=store, baseline=before)


def test_a_baseline_without_any_of_the_examples_raises_and_names_both_sets(store):
    before = run_evaluation(examples("a", "b"), [Answer()], store=store)
    with pytest.raises(EvaluationFailed) as failed:
        assert_test(examples("c", *(f"d{n}" for n in range(9))), [Answer()], store=store, baseline=before)
    first, *_ = str(failed.value).splitlines()
    assert first == (
        f"no example is also in the baseline {record_of_report(before).label}, so that nothing says whether "
        "any got worse: it has 'a', 'b'; this run has 'c', 'd0', 'd1', 'd2', 'd3' and 5 more"
    )


def test_new_failures_gone_examples_and_lower_passing_values_do_not_raise(store):
    def value(number):
        return Does(lambda example, trace: Score.of("Does", number, 0.5))

    before = run_evaluation(examples("a", "b"), [value(1.0)], store=store)
    assert assert_test(examples("a"), [value(0.6)], store=store, baseline=before)
    new = [*examples("a"), Example(name="new", expected_output=1, actual_output=2)]
    before = run_evaluation(examples("a"), [Answer()], store=store)
    assert not assert_test(new, [Answer()], store=store, baseline=before).passed


def test_less_stable_does_not_raise_and_the_requirement_must_hold_too(store):
    answers = iter([1, 1, 1, 1, 1, 0])
    example = Example(name="a", expected_output=1)
    options = {"function": lambda: next(answers), "trials": 3, "store": store}
    before = run_evaluation([example], [Answer()], **options)
    assert assert_test([example], [Answer()], baseline=before, **options).counts["passed"] == 2
    answers = iter([1, 1, 0])
    with pytest.raises(EvaluationFailed):
        assert_test([example], [Answer()], baseline=before, require="pass_rate >= 0.9", **options)


def trials(name, passes, of=4):
    return [Example(name=name, expected_output=1, actual_output=int(n < passes)) for n in range(of)]


def test_a_pass_rate_that_fell_over_all_examples_raises_and_the_first_line_says_so(store, tmp_path):
    names = [f"task {n:02}" for n in range(12)]
    options = {"store": store, "trials_by": "name"}
    before = run_evaluation([one for name in names for one in trials(name, 2)], [Answer()], **options)
    fewer = [one for name in names for one in trials(name, 1 if name < "task 08" else 2)]
    write_baseline(record_of_report(before), tmp_path / "baseline.json")
    for baseline in (before, before.run_id, tmp_path / "baseline.json"):
        with pytest.raises(EvaluationFailed) as failed:
            assert_test(fewer, [Answer()], baseline=baseline, **options)
        first, *rest = str(failed.value).splitlines()
        assert first.startswith(
            "the pass rate fell from 0.5 to 0.3333 over 12 examples (8 worse, 0 better, p = 0.008)"
        )
        assert "~ task 00: lower rate; passed 2 of 4 → 1 of 4, Answer 0.5 → 0.25" in rest
        assert (
            "of 4 trials, one example must fall from 4 passes to 0; smaller falls count over all examples"
        ) in rest
    one = [one for name in names for one in trials(name, 1 if name == "task 00" else 2)]
    assert assert_test(one, [Answer()], baseline=before, **options)


def test_a_mean_that_fell_raises_though_every_value_still_passes_unless_it_only_informs(store, tmp_path):
    def value(number, gate=True):
        score = Score.of("Does", number, 0.5)
        return Does(lambda example, trace: score if gate else score.informing())

    six = [Example(name=str(n)) for n in range(6)]
    before = run_evaluation(six, [value(1.0)], store=store)
    with pytest.raises(EvaluationFailed, match=r"^the mean of Does fell from 1\.0 to 0\.6 over 6 examples"):
        assert_test(six, [value(0.6)], store=store, baseline=before)
    informs = [value(0.6, gate=False), Answer()]
    right = [Example(name=str(n), expected_output=1, actual_output=1) for n in range(6)]
    before = run_evaluation(right, [value(1.0), Answer()], store=store)
    report = assert_test(right, informs, store=store, baseline=before)
    write_baseline(record_of_report(report), tmp_path / "baseline.json")
    assert read_baseline(tmp_path / "baseline.json").informing == {"Does"}
    assert record_of_run(store.run(report.run_id)).informing == {"Does"}


async def _async(store, baseline):
    return await assert_test_async(examples(wrong=["a"]), [Answer()], store=store, baseline=baseline)


def test_the_awaitable_form_and_a_client_take_a_baseline_too(store):
    import asyncio

    before = run_evaluation(examples("a"), [Answer()], store=store)
    with pytest.raises(EvaluationFailed, match="got worse"):
        asyncio.run(_async(store, before.run_id))
    with pytest.raises(EvaluationFailed, match="got worse"):
        Client("default", store=store).assert_test(examples(wrong=["a"]), [Answer()], baseline=before.run_id)


def test_a_baseline_that_does_not_exist_is_an_error_before_any_agent_runs(store, tmp_path):
    calls = []
    for baseline in ("main", "no.json", tmp_path / "none", "last", "abcd1234", 7):
        with pytest.raises(ConfigError) as error:
            assert_test(examples("a"), [Answer()], function=calls.append, store=store, baseline=baseline)
        assert "baseline" in str(error.value)
        if baseline != 7:
            assert "--save-baseline" in str(error.value)
    assert calls == []


def test_the_runs_of_another_suite_of_the_project_are_no_baseline(store, on_branch):
    on_branch("main")
    run_evaluation(examples("a"), [Answer()], store=store)
    with pytest.raises(ConfigError, match="no baseline 'main'"):
        assert_test(examples("b"), [Answer()], store=store, baseline="main")
    with pytest.raises(ConfigError, match="no baseline 'main'"):
        assert_test(examples("a"), [Answer()], store=store, baseline="main", eval_run_name="nightly")
    with pytest.raises(ConfigError, match="no baseline 'main'"):
        assert_test(examples("a"), [Answer()], store=store, baseline="main", project_name="other")


def test_a_file_holds_no_values_and_compares_as_the_run_itself(store, tmp_path):
    secret = Example(
        name="login", input={"x": "Ada Lovelace"}, expected_output="ten", actual_output="eleven pounds"
    )
    report = run_evaluation([*examples("b", "a"), secret], [Answer()], store=store, model="m")
    path = tmp_path / "deep" / "baseline.json"
    write_baseline(record_of_report(report), path)
    text = path.read_text()
    assert not [
        word for word in ("Lovelace", "ten", "eleven", "reason") if word in text.replace("agenttrace", "")
    ]
    read = read_baseline(path)
    for record in (record_of_report(report), record_of_run(store.run(report.run_id))):
        comparison = compare_runs(read, record)
        assert comparison.counts == {"same": 3}
        assert comparison.matched_by == {"name": 3}
        assert (read.run_id, read.name, read.model) == (record.run_id, record.name, record.model)
        assert read.dataset == record.dataset
    with pytest.raises(EvaluationFailed, match=r"got worse than .*baseline\.json: b"):
        assert_test(examples("a", wrong=["b"]), [Answer()], store=store, baseline=path)


@pytest.mark.parametrize("path", [".", ".."])
def test_a_directory_is_no_place_for_a_file(store, tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    report = run_evaluation(examples("a"), [Answer()], store=store)
    with pytest.raises(ConfigError, match="cannot be written"):
        write_baseline(record_of_report(report), path)


def test_a_file_has_one_line_an_example_in_the_order_of_names_and_is_the_same_again(store, tmp_path):
    report = run_evaluation(examples("b", "a", "c"), [Answer()], store=store)
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    write_baseline(record_of_report(report), one)
    write_baseline(record_of_run(store.run(report.run_id)), other)
    assert one.read_bytes() == other.read_bytes()
    lines = [line for line in one.read_text().splitlines() if '"fingerprint"' in line]
    assert [json.loads(line.rstrip(","))["name"] for line in lines] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is damaged"),
        ('{"agenttrace_baseline": 1, "examples": [', "is damaged"),
        ('{"agenttrace_baseline": 1}', "is damaged: KeyError"),
        ('{"agenttrace_baseline": 99}', "has version 99, and this agenttrace reads 1: upgrade"),
        ('{"results": []}', "is no baseline"),
        ("[1]", "is no baseline"),
    ],
)
def test_a_damaged_file_says_so(tmp_path, text, words):
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        read_baseline(path)


@pytest.mark.parametrize(
    "damage",
    [
        {"values": {"Answer": [10**400]}},
        {"values": {"Answer": ["nan"]}},
        {"values": {"Answer": "11"}},
        {"outcomes": "passed"},
        {"outcomes": ["great"]},
        {"outcomes": []},
        {"name": {"a": 1}},
        {"id": [1]},
    ],
    ids=lambda damage: str(damage)[:40],
)
def test_an_example_that_nobody_could_have_saved_is_damage(store, tmp_path, damage):
    path = tmp_path / "main.json"
    write_baseline(record_of_report(run_evaluation(examples("a"), [Answer()], store=store)), path)
    data = json.loads(path.read_text())
    data["examples"][0].update(damage)
    path.write_text(json.dumps(data))
    with pytest.raises(ConfigError, match=r"damaged: .* in example 1: "):
        assert_test(examples("a"), [Answer()], store=store, baseline=path)


def test_ids_are_compared_only_where_the_user_gave_them(store, tmp_path):
    own = Example(example_id="one", expected_output=1, actual_output=1)
    path = tmp_path / "b.json"
    write_baseline(record_of_report(run_evaluation([own, Example()], [Answer()], store=store)), path)
    assert [record.example_id for record in read_baseline(path).examples] == [None, "one"]


def test_runs_of_earlier_versions_without_fingerprints_can_be_compared(store):
    report = run_evaluation(examples("a"), [Answer()], store=store)
    run = store.run(report.run_id)
    run["metadata"] = {}
    assert compare_runs(record_of_run(run), record_of_report(report)).counts == {"same": 1}
    run["results"][0]["example"]["name"] = None
    run["results"][0]["example"]["example_id"] = "other"
    assert compare_runs(record_of_run(run), record_of_report(report)).matched_by == {"fingerprint": 1}


def test_what_was_redacted_or_read_back_is_still_the_same_example(store):
    secret = Example(name="login", input="Bearer abcdefghijklmnop0123", expected_output=1, actual_output=1)
    report = run_evaluation([secret], [Answer()], store=store)
    redacted = redacted_report(report, Redaction())
    assert redacted[0].example.input != secret.input
    for other in (redacted, EvaluationReport.from_dict(report.to_dict())):
        (change,) = compare_runs(record_of_report(report), record_of_report(other)).changes
        assert (change.is_changed, change.matched_by) == (False, "name")
        assert change.after.example_id is None


def test_recorded_runs_as_trials_have_the_fingerprint_of_their_own_example(store):
    runs = [Example(name=name, input=name, expected_output=1, actual_output=1) for name in "aab"]
    report = run_evaluation(runs, [Answer()], store=store, trials_by="name")
    record = record_of_run(store.run(report.run_id))
    assert [one.fingerprint for one in record.examples] == [fingerprint_of(runs[0]), fingerprint_of(runs[2])]
    assert report.metadata["dataset"]["examples"] == 3


def test_why_an_example_is_worse_is_no_reason_of_a_scorer_that_only_informs():
    scores = (
        Score.of("Style", 0.0, 0.5, reason="too long").informing(),
        Score.of("Answer", 0.0, 0.5, reason="wrong"),
    )
    result = ScoringResult(example=Example(name="a"), outcome="failed", scores=scores)
    (example,) = record_of_report(EvaluationReport(results=(result,))).examples
    assert example.why == "wrong"
