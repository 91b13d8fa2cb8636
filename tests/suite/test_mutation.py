"""Damage to passing runs, and how much of it is noticed."""

import asyncio
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace import (
    BudgetScorer,
    ContainsScorer,
    Example,
    LoopScorer,
    Score,
    ToolCallOrderScorer,
    ToolOrderScorer,
    Trace,
    TrajectoryScorer,
    call,
    expect,
    ref,
    run_evaluation,
    scorer,
)
from agenttrace.core.errors import ConfigError, ExpectationError
from agenttrace.core.marks import cause_within
from agenttrace.core.tool_call import ToolCall, Window
from agenttrace.expectations import expectation_of
from agenttrace.expectations.parse import parse_expectation
from agenttrace.expectations.values import agreement
from agenttrace.suite import mutation_score
from agenttrace.suite.addition import Addition
from agenttrace.suite.damage import Effects, Run, changed, guests_among
from agenttrace.suite.damaged_run import ScoredRun, trace_with
from agenttrace.suite.mutation import KINDS

FIND = {"name": "find", "arguments": {"who": "ann"}, "output": {"orders": [{"id": "o-17"}]}, "kind": "read"}
REFUND = {
    "name": "refund", "arguments": {"order": "o-17", "amount": 5}, "output": "ok", "kind": "write",
}  # fmt: skip
CANCEL = {"name": "cancel", "arguments": {"order": "o-99"}, "output": "ok", "kind": "write"}
NAMES = ["find", "refund"]


def report(*examples, scorers=None):
    rows = [Example(expected_tools=expected, tools_called=called) for expected, called in examples]
    return run_evaluation(rows, scorers or [ToolOrderScorer()])


def kinds(score):
    return {kind: (tally.noticed, tally.total) for kind, tally in score.kinds.items()}


def damages(calls, *, output=None, writes=None, guests=()):
    made = Trace.from_calls(calls).tool_calls
    effects = Effects.of([*made, *Trace.from_calls(guests).tool_calls], writes)
    return list(
        Run(made, output, effects, guests_among(Trace.from_calls(guests).tool_calls, effects)).damages()
    )


def test_names_in_order_notice_what_is_missing_and_nothing_else():
    score = report((NAMES, [FIND, REFUND])).mutation_score(suggest=False)
    assert kinds(score) == {
        "dropped": (2, 2), "repeated": (0, 1), "swapped": (1, 1), "argument": (0, 2),
        "invented": (0, 1), "unasked": (0, 1), "failed": (0, 2),
    }  # fmt: skip
    assert score.percent == pytest.approx(30)
    assert score.tools["refund"].total == 6


def test_the_exact_run_notices_all_but_failures_that_are_passed_over():
    examples = [(expectation_of(Trace.from_calls([FIND, REFUND])), [FIND, REFUND])]
    score = report(*examples, scorers=[ToolOrderScorer(exact_match=True)]).mutation_score(suggest=False)
    assert {kind for kind, tally in score.kinds.items() if tally.noticed < tally.total} == {"failed"}


def test_the_printed_score_says_what_nobody_notices_and_what_to_add():
    lines = report((NAMES, [FIND, REFUND])).mutation_score().lines
    assert lines[0] == "Mutation score: 30 %, 3 of 10 damaged runs would be noticed (1 passing runs, seed 0)"
    assert any(
        line.startswith("+ nobody notices a second refund: add at_most={'refund': 1} (1 example): 30 % ->")
        for line in lines
    )


def test_suggestions_are_tried_and_the_score_with_them_is_the_one_of_the_public_scorer():
    score = report((NAMES, [FIND, REFUND]), ([], [])).mutation_score()
    texts = {suggestion.text for suggestion in score.suggestions}
    assert "call('refund', order=ref('find.output.orders[*].id'))" in texts
    assert "call('refund', amount=5)" in texts
    assert "tool_errors=0" in texts
    better = expect(
        [call("find", who="ann", match="listed"),
         call("refund", order=ref("find.output.orders[*].id"), amount=5, match="listed")],
        at_most={"refund": 1}, never=[], tool_errors=0,
    )  # fmt: skip
    assert score.together.percent == 100
    assert report((better, [FIND, REFUND]), ([], [])).mutation_score(suggest=False).percent == 100


def test_a_suggestion_that_a_passing_run_breaks_is_not_made():
    calls = [{**REFUND, "arguments": {"amount": n}} for n in range(9)]
    examples = [Example(example_id="same", expected_tools=["refund"], tools_called=[one]) for one in calls]
    trials = [
        result for example in examples for result in run_evaluation([example], [ToolOrderScorer()]).results
    ]
    score = mutation_score(trials, [ToolOrderScorer()], kinds=["argument", "repeated"])
    assert [suggestion.text for suggestion in score.suggestions] == ["at_most={'refund': 1}"]


def test_calls_that_nobody_asked_for_come_from_the_other_runs():
    examples = [(NAMES, [FIND, REFUND]), (["cancel"], [CANCEL])]
    score = report(*examples).mutation_score(kinds=["unasked"])
    assert {(kind, tool) for kind, tool in score.tallies} == {("unasked", "cancel"), ("unasked", "refund")}
    assert score.percent == 0
    (suggestion,) = score.suggestions
    assert suggestion.additions == {
        0: {"never": ["cancel"], "at_most": {"refund": 1}},
        1: {"never": ["refund"], "at_most": {"cancel": 1}},
    }  # fmt: skip
    assert suggestion.after.percent == 100


def test_without_tags_the_tools_called_are_the_only_ones_that_are_suggested():
    plain = [{"name": "find"}], [{"name": "pay"}]
    score = report((["find"], plain[0]), (["pay"], plain[1])).mutation_score(kinds=["unasked"])
    assert [suggestion.additions for suggestion in score.suggestions] == [
        {0: {"only": ["find"]}, 1: {"only": ["pay"]}}
    ]


def test_what_only_reads_is_neither_repeated_nor_called_unasked():
    made = damages([FIND, REFUND], guests=[FIND, CANCEL])
    assert [(d.kind, d.tool) for d in made if d.kind in ("repeated", "unasked")] == [
        ("repeated", "refund"), ("unasked", "cancel"),
    ]  # fmt: skip
    by_name = damages([FIND, REFUND], writes=["find"])
    assert [d.tool for d in by_name if d.kind == "repeated"] == ["find"]


def test_two_reads_are_swapped_only_where_the_second_uses_what_the_first_gave():
    look = {"name": "look", "arguments": {"order": "o-17"}, "kind": "read"}
    other = {"name": "look", "arguments": {"order": "o-55"}, "kind": "read"}
    assert [d.kind for d in damages([FIND, look, REFUND]) if d.position == 0].count("swapped") == 1
    assert [d.kind for d in damages([FIND, other, REFUND]) if d.position == 0].count("swapped") == 0


def test_equal_calls_and_calls_that_overlapped_are_not_swapped():
    assert "swapped" not in {d.kind for d in damages([REFUND, REFUND])}
    windows = [Window(0, 10, 0, 0), Window(5, 15, 1, 1), Window(20, 30, 2, 2)]
    calls = tuple(ToolCall(name=name, index=n, window=windows[n]) for n, name in enumerate("abc"))
    made = [d for d in Run(calls, None, Effects.of(calls, None)).damages() if d.kind == "swapped"]
    assert [(d.tool, d.other) for d in made] == [("b", "c")]


def test_a_repeated_call_stands_behind_those_that_overlapped_with_it():
    windows = [Window(0, 10, 0, 0), Window(5, 15, 1, 1)]
    calls = tuple(ToolCall(name=name, index=n, window=windows[n]) for n, name in enumerate("ab"))
    made = [d for d in Run(calls, None, Effects.of(calls, None)).damages() if d.kind == "repeated"]
    assert ["".join(one.name for one in d.calls) for d in made] == ["aba", "abb"]


def test_what_was_cut_or_redacted_is_not_changed():
    hidden = {"name": "pay", "arguments": {"card": "[redacted]", "text": "abc…[+7 chars]", "n": 5}}
    made = damages([hidden], output="[redacted]")
    assert [d.argument for d in made if d.kind in ("argument", "invented")] == ["n"]
    assert "answer" not in {d.kind for d in made}


def test_an_id_is_invented_where_an_earlier_output_had_it():
    nested = {"name": "pay", "arguments": {"items": [{"id": "o-17"}], "note": "o-18"}}
    text = {"name": "find", "output": '{"orders": ["o-17"]}'}
    made = {d.argument: d for d in damages([text, nested]) if d.kind in ("argument", "invented")}
    assert {name: d.kind for name, d in made.items()} == {"items": "invented", "note": "argument"}
    assert made["items"].calls[1].arguments["items"] == [{"id": "o-28"}]
    failed = damages([{**text, "error": "gone"}, nested])
    assert "invented" not in {d.kind for d in failed}


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
))  # fmt: skip
def test_a_changed_value_never_agrees_with_the_old_one(value):
    recorded = Trace.from_calls([{"name": "t", "arguments": {"v": value}}]).tool_calls[0].arguments["v"]
    if cause_within(recorded) is None:
        assert agreement(recorded, changed(recorded)) < 1


def some_calls(chance):
    names = chance.choices(["find", "refund", "cancel", "look"], k=chance.randint(0, 5))
    return [
        {
            "name": name,
            "arguments": {"id": f"o-{chance.randint(1, 3)}7", "n": chance.randint(0, 2)},
            "output": {"id": f"o-{chance.randint(1, 3)}7"},
            **({"error": "no"} if chance.random() < 0.2 else {}),
            **({"kind": "write"} if name in ("refund", "cancel") and chance.random() < 0.9 else {}),
        }
        for name in names
    ]


def some_expectation(chance, calls):
    if chance.random() < 0.3:
        return [one["name"] for one in calls]
    path = expectation_of(Trace.from_calls(calls), "calls")
    path = [item for item in path if chance.random() < 0.7]
    if chance.random() < 0.5 or not path:
        return expect(path or None, at_most={"refund": 2}, tool_errors=2) if chance.random() < 0.5 else path
    return path


def test_every_verdict_is_that_of_the_public_scorer_on_a_trace_from_plain_calls():
    chance = random.Random(7)
    compared = 0
    for _ in range(180):
        calls = some_calls(chance)
        example = Example(expected_tools=some_expectation(chance, calls), tools_called=calls)
        scorers = (ToolOrderScorer(exact_match=chance.random() < 0.3), TrajectoryScorer(metric="f1"))
        trace = Trace.from_calls(calls)
        run = ScoredRun(0, example, trace, scorers)
        effects = Effects.of(trace.tool_calls, None)
        guests = guests_among(Trace.from_calls(some_calls(chance)).tool_calls, effects)
        for damage in Run(trace.tool_calls, None, effects, guests).damages():
            plain = Trace.from_calls(damage.calls)
            passes = []
            for one in scorers:
                try:
                    passes.append(one.score(example, plain).outcome == "passed")
                except Exception:
                    passes.append(False)
            assert (run.outcome(damage.calls, None) == "passed") == all(passes)
            built = trace_with(trace, damage.calls, None)
            assert [c.name for c in built.tool_calls] == [c.name for c in plain.tool_calls]
            assert [(c.arguments, c.failed, c.index) for c in built.tool_calls] == [
                (c.arguments, c.failed, c.index) for c in plain.tool_calls
            ]
            compared += 1
    assert compared > 2_000


def test_more_constraints_never_lower_the_score():
    chance = random.Random(11)
    additions = [
        Addition(at_most={"refund": 5}), Addition(never=("ghost",)), Addition(tool_errors=5),
        Addition(only=("find", "refund", "cancel", "look")), Addition(at_most={"look": 5}),
        Addition(at_most={"refund": 1}), Addition(tool_errors=0), Addition(at_least={"find": 1}),
        Addition(pins={("refund", "n"): 1}), Addition(pins={("find", "id"): {"$type": "string"}}),
    ]  # fmt: skip
    compared = 0
    for _ in range(200):
        calls = some_calls(chance)
        names = [one["name"] for one in calls]
        try:
            stricter = chance.choice(additions).added_to(names)
        except ExpectationError:  # which the path contradicts
            continue
        loose, strict = report((names, calls)), report((stricter, calls))
        if not (loose.passed and strict.passed):
            continue
        before, after = (one.mutation_score(suggest=False) for one in (loose, strict))
        assert after.total.total == before.total.total
        for key, tally in before.tallies.items():
            assert after.tallies[key].noticed >= tally.noticed
        compared += 1
    assert compared > 60


def test_no_suggestion_lowers_the_score_and_all_together_are_no_worse_than_any():
    chance = random.Random(3)
    for _ in range(25):
        examples = []
        for _ in range(3):
            calls = some_calls(chance)
            examples.append(([one["name"] for one in calls], calls))
        score = report(*examples).mutation_score()
        assert all(one.after.noticed > one.before.noticed for one in score.suggestions)
        if score.together is not None:
            assert score.together.noticed >= max(one.after.noticed for one in score.suggestions)


def test_the_same_seed_chooses_the_same_damage_and_what_is_cut_is_said():
    one = report((["refund"] * 6, [FIND, REFUND] * 6))
    first, again = (one.mutation_score(per_run=8, seed=4, suggest=False) for _ in range(2))
    assert first == again
    assert first.total.total == 8
    assert first.cut > 20
    assert any(f"{first.cut} more damaged runs were not scored" in note for note in first.notes)
    assert set(first.kinds) == set(one.mutation_score(suggest=False).kinds)
    assert one.mutation_score(most=5, suggest=False).total.total <= 5


def test_scorers_that_ask_a_model_are_not_asked_and_named():
    class Judge:
        name, threshold, questions = "Kind", 0.5, 0

        def with_model(self, model):
            return self

        def score(self, example, trace):
            self.questions += 1
            return Score.of(self.name, 1.0, self.threshold)

    judge = Judge()

    @scorer(name="Later")
    async def later(tool_calls):
        await asyncio.sleep(0)
        return 1.0

    rows = [Example(expected_tools=NAMES, tools_called=[FIND, REFUND], actual_output="done")]
    made = run_evaluation(rows, [ToolOrderScorer(), judge, later])
    assert made.passed, str(made)
    score = made.mutation_score()
    assert judge.questions == 1
    assert score.total.total > 5
    assert any("'Kind' was left out: it asks a model" in note for note in score.notes)
    assert any("'Later' was left out: it is async" in note for note in score.notes)
    only_judges = mutation_score(made, [judge])
    assert only_judges.total.total == 0
    assert any("no scorer is left" in note for note in only_judges.notes)


def test_what_only_informs_neither_notices_nor_keeps_a_run_from_being_damaged():
    reward = scorer(lambda metadata: metadata["r"], name="reward")
    rows = [Example(tools_called=[FIND, REFUND], expected_tools=NAMES, additional_metadata={"r": 1})]
    informing = [ToolOrderScorer(gate=False), BudgetScorer(calls=1, gate=False)]
    made = run_evaluation(rows, [reward, *informing])
    score = made.mutation_score(suggest=False)
    assert (score.total.noticed, score.runs, score.notes) == (0, 1, ())
    assert run_evaluation(rows, [reward]).mutation_score(suggest=False).total == score.total
    assert mutation_score(made, [ToolOrderScorer(), informing[1]], suggest=False).total.noticed > 0


def test_the_scorer_by_which_a_run_does_not_pass_again_is_named():
    rows = [Example(tools_called=[FIND, REFUND], expected_tools=NAMES)]
    made = run_evaluation(rows, [ToolOrderScorer()])
    score = mutation_score(made, [ToolOrderScorer(), BudgetScorer(calls=1)])
    assert score.notes == ("1 passing runs were not damaged: scored again, they do not pass: 'Budget'.",)


def test_damage_is_done_to_the_chosen_tools_alone():
    made = report((NAMES, [FIND, REFUND]), (NAMES, [FIND, REFUND, CANCEL]))
    whole = made.mutation_score(suggest=False)
    assert set(made.mutation_score(tools="refund", suggest=False).tools) == {"find", "refund"}  # a swap
    some = made.mutation_score(tools=["ref*", "cancel"], kinds=["dropped", "argument"], suggest=False)
    assert set(some.tools) == {"refund", "cancel"}
    assert some.tools["refund"].total < whole.tools["refund"].total
    by_kind = made.mutation_score(tools="tag:write", kinds=["dropped"], suggest=False)
    assert by_kind.tools == made.mutation_score(tools=["refund", "cancel"], kinds=["dropped"]).tools
    none = made.mutation_score(tools="refnd")
    assert none.total.total == 0
    assert "No passing run calls refnd: nothing was damaged." in none.notes


def test_what_is_noticed_in_part_is_not_said_to_be_noticed_by_nobody():
    made = report((NAMES, [FIND, REFUND]), (expect(NAMES, at_most={"refund": 1}), [FIND, REFUND]))
    score = made.mutation_score(kinds=["repeated"])
    assert (score.total.noticed, score.total.total) == (1, 2)
    (suggestion,) = score.suggestions
    assert (suggestion.missed, suggestion.total) == (1, 2)
    assert str(suggestion).startswith("a second refund goes unnoticed in 1 of 2: add at_most={'refund': 1}")


def test_the_table_has_the_words_by_which_kinds_are_chosen():
    lines = report((NAMES, [FIND, REFUND])).mutation_score(suggest=False).lines
    assert [line.split()[0] for line in lines[2:9]] == list(KINDS[:7])
    assert any("dropped (a call is missing)" in line for line in lines)


def test_a_changed_answer_is_noticed_by_a_scorer_that_reads_it():
    rows = [Example(tools_called=[REFUND], expected_tools=["refund"], actual_output="refunded 5 dollars")]
    without = run_evaluation(rows, [ToolOrderScorer()]).mutation_score(kinds=["answer"])
    assert kinds(without) == {"answer": (0, 1)}
    assert any("another answer" in note for note in without.notes)
    rows[0].expected_output = "refunded 5"
    having = run_evaluation(rows, [ContainsScorer()]).mutation_score(kinds=["answer"])
    assert kinds(having) == {"answer": (1, 1)}


def test_runs_of_which_only_the_answer_is_known_have_their_answer_damaged():
    rows = [Example(actual_output="42 euro", expected_output="42")]
    score = run_evaluation(rows, [ContainsScorer()]).mutation_score()
    assert kinds(score) == {"answer": (1, 1)}


def test_only_passing_runs_are_damaged():
    score = report((["ghost"], [FIND, REFUND])).mutation_score()
    assert score.runs == 0
    assert score.percent is None
    assert score.lines[0].startswith("Mutation score: no damage")


def test_a_damaged_run_that_cannot_be_scored_is_no_pass_and_counted():
    @scorer(name="Breaks")
    def breaks(tool_calls):
        if len(tool_calls) > 2:
            raise RuntimeError("too many")
        return 1.0

    score = report((NAMES, [FIND, REFUND]), scorers=[breaks]).mutation_score(suggest=False)
    assert score.errored == score.kinds["repeated"].noticed + score.kinds["unasked"].noticed == 2


def test_captured_runs_keep_their_definitions_models_and_times(tracer):
    @tracer.observe(span_type="tool", tags=["read"])
    def find(who, limit=10):
        return {"id": "o-17"}

    @tracer.observe(span_type="tool", tags=["write"])
    def refund(order, amount=5):
        return "ok"

    @tracer.observe
    def agent(who):
        refund(find(who)["id"])
        return "refunded"

    expected = expect([call("find", who="ann"), "refund"], seconds=60)
    examples = [Example(input={"who": "ann"}, expected_tools=expected)]
    made = run_evaluation(examples, [ToolOrderScorer(), LoopScorer()], function=agent, tracer=tracer)
    assert made.passed, str(made)
    score = made.mutation_score()
    assert kinds(score)["dropped"] == (2, 2)
    assert kinds(score)["argument"] == (2, 3)  # the default of `limit` is expected, too
    assert kinds(score)["repeated"] == (1, 1)
    assert kinds(score)["invented"] == (0, 1)
    assert any("ref('find.output.id')" in one.text for one in score.suggestions)


def test_a_scorer_that_takes_no_constraints_gets_no_suggestion_that_breaks_it():
    rows = [Example(expected_tools=NAMES, tools_called=[FIND, REFUND])]
    score = run_evaluation(rows, [ToolCallOrderScorer()]).mutation_score()
    assert score.total.total
    assert not any(suggestion.text.startswith("at_most") for suggestion in score.suggestions)


def test_an_option_that_cannot_be_used_is_an_error():
    made = report((NAMES, [FIND, REFUND]))
    with pytest.raises(ConfigError, match="did you mean 'dropped'"):
        made.mutation_score(kinds=["droped"])
    with pytest.raises(ConfigError, match="per_run is a whole number from 1"):
        made.mutation_score(per_run=0)
    with pytest.raises(ConfigError, match="no option 'kind'"):
        made.mutation_score(kind=["dropped"])


def test_an_addition_keeps_the_stricter_of_two_limits():
    old = expect(["find"], at_most={"find": 1}, tool_errors=0, only=["find"])
    new = Addition(at_most={"find": 3}, tool_errors=2, only=("pay",)).added_to(old)
    assert new == old
    assert Addition(at_most={"pay": 1}).added_to(None) == parse_expectation({"at_most": {"pay": 1}})


def test_the_score_is_json():
    import json

    data = report((NAMES, [FIND, REFUND])).mutation_score().to_dict()
    assert json.loads(json.dumps(data)) == data
    assert set(data["kinds"]) <= set(KINDS)
