"""The commands of ``agenttrace dataset``."""

import json
import sys

import pytest

from agenttrace import Example, Tracer, run_evaluation
from agenttrace.datasets import EvalDataset
from agenttrace.scorers import ContainsScorer, ToolOrderScorer, registry
from agenttrace.store import SQLiteStore

TWO = """\
examples:
  - {name: a, input: {n: 1}, expected_tools: [look]}
  - {name: b, input: {n: 2}, expected_tools: [look, pay]}
"""


@pytest.fixture
def recorded(tmp_path):
    """Three runs in the store that the commands read."""
    tracer = Tracer("shop", store=str(tmp_path / "traces.db"))

    @tracer.observe(span_type="tool")
    def look(n):
        return {"order": "4711-0815"}

    @tracer.observe
    def desk(n):
        look(n)

    for n in (1, 2, 2):
        desk(n)
    tracer.flush(timeout=5)
    tracer.shutdown()


def test_recorded_runs_become_a_file_with_names_that_tell_them_apart(agenttrace, recorded, tmp_path):
    ran = agenttrace("dataset", "from-traces", "--to", "new.yaml", "--project", "shop")
    assert (ran.code, ran.out) == (0, "new.yaml: 3 examples\n")
    assert "4711-0815" not in (tmp_path / "new.yaml").read_text()
    dataset = EvalDataset.from_file(tmp_path / "new.yaml")
    assert sorted(example.name for example in dataset) == ["desk: 1", "desk: 2", "desk: 2 (2)"]
    assert dataset[0].expected_tools == [{"tool_name": "look", "parameters": {"n": 2}}]
    again = agenttrace("dataset", "from-traces", "--to", "new.yaml")
    assert (again.code, again.err) == (
        2,
        "Error: new.yaml: the file is there already; give another name, or --replace\n",
    )


def test_ids_a_limit_and_outputs_are_chosen(agenttrace, recorded, tmp_path):
    assert agenttrace("dataset", "from-traces", "--to", "one.jsonl", "--limit", 1, "--outputs").code == 0
    (example,) = EvalDataset.from_file(tmp_path / "one.jsonl")
    assert example.tools_called[0]["output"] == {"order": "4711-0815"}
    trace_id = example.additional_metadata["trace_id"]
    ran = agenttrace("dataset", "from-traces", trace_id[:12], "--to", "two.json", "--expect", "names")
    assert (ran.code, EvalDataset.from_file(tmp_path / "two.json")[0].expected_tools) == (0, ["look"])
    missing = agenttrace("dataset", "from-traces", "0000", "--to", "three.json")
    assert missing.code == 2
    assert "no trace begins with '0000' in" in missing.err


def test_an_empty_choice_is_2(agenttrace, recorded):
    ran = agenttrace("dataset", "from-traces", "--to", "new.yaml", "--project", "other")
    assert ran.code == 2
    assert "there are no such traces" in ran.err


@pytest.fixture
def evaluated(tmp_path):
    """A run of recorded runs: two trials of one example, the second of which passed, and a failing one."""
    recorded_runs = [
        Example(name="task 1", input="Pay.", tools_called=[look], actual_output="Done.", tags=["money"],
                expected_tools=["pay"], additional_metadata={"trial": trial})
        for trial, look in enumerate(["look", {"name": "pay", "arguments": {"n": 2}, "output": "4711-0815"}])
    ]  # fmt: skip
    recorded_runs.append(Example(name="task 2", tools_called=["look"], expected_tools=["pay"]))
    store = SQLiteStore(tmp_path / "traces.db")
    run_evaluation(
        recorded_runs,
        [ToolOrderScorer()],
        trials_by="name",
        store=store,
        eval_run_name="tau",
        project_name="p",
    )
    store.close()


def test_examples_that_passed_become_a_file_with_what_they_did(agenttrace, evaluated, tmp_path):
    ran = agenttrace("dataset", "from-run", "tau", "--passed", "--to", "passed.yaml")
    assert (ran.code, ran.out) == (0, "passed.yaml: 1 example\n")
    assert "4711-0815" not in (tmp_path / "passed.yaml").read_text()
    (example,) = EvalDataset.from_file(tmp_path / "passed.yaml")
    assert (example.name, example.input, example.actual_output) == ("task 1", "Pay.", "Done.")
    assert (example.tags, example.additional_metadata["trial"]) == (["money"], 1)
    assert example.expected_tools == [{"tool_name": "pay", "parameters": {"n": 2}}]
    assert example.tools_called[0]["output"] == {"$truncated": "span"}


def test_a_run_becomes_one_example_of_each_with_a_limit_and_its_own_expectation(
    agenttrace, evaluated, tmp_path
):
    assert agenttrace("dataset", "from-run", "--to", "all.yaml").out == "all.yaml: 2 examples\n"
    assert agenttrace("dataset", "from-run", "--to", "all.yaml").code == 2
    ran = agenttrace("dataset", "from-run", "--to", "all.yaml", "--replace", "--limit", 1, "--expect", "own")
    assert ran.out == "all.yaml: 1 example\n"
    (example,) = EvalDataset.from_file(tmp_path / "all.yaml")
    assert (example.expected_tools, example.additional_metadata["trial"]) == (["pay"], 0)


def test_an_example_whose_trace_is_gone_is_an_error_that_names_it(agenttrace, tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    run_evaluation([Example(name="a", actual_output="x")], [ContainsScorer("x")], store=store)
    store.close()
    ran = agenttrace("dataset", "from-run", "--to", "all.yaml")
    assert (ran.code, "nothing says what was called in a" in ran.err) == (2, True)
    assert agenttrace("dataset", "from-run", "--to", "all.yaml", "--expect", "nothing").code == 0


def test_a_run_of_which_nothing_passed_makes_no_file(agenttrace, tmp_path):
    store = SQLiteStore(tmp_path / "traces.db")
    run_evaluation([Example(name="a", actual_output="y")], [ContainsScorer("x")], store=store)
    store.close()
    ran = agenttrace("dataset", "from-run", "--passed", "--to", "all.yaml")
    assert (ran.code, "passed; see:" in ran.err, (tmp_path / "all.yaml").exists()) == (2, True, False)


def test_a_diff_names_what_was_added_removed_and_changed(agenttrace, tmp_path):
    (tmp_path / "a.yaml").write_text(TWO)
    (tmp_path / "b.yaml").write_text(
        TWO.replace("name: a", "name: c").replace("n: 1", "n: 3").replace("pay]", "refund]")
    )
    ran = agenttrace("dataset", "diff", "a.yaml", "b.yaml")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "- a.yaml:2 a",
        "+ b.yaml:2 c",
        "~ b.yaml:3 b: expected_tools",
        "1 added, 1 removed, 1 changed, 0 the same",
    ]
    assert agenttrace("dataset", "diff", "a.yaml", "a.yaml").code == 0


def test_a_file_is_converted_and_stays_the_same(agenttrace, tmp_path):
    (tmp_path / "a.yaml").write_text(TWO)
    for target in ("b.csv", "c.jsonl", "d.json"):
        assert agenttrace("dataset", "convert", "a.yaml", target).code == 0
        assert agenttrace("dataset", "diff", "a.yaml", target).code == 0
    assert agenttrace("dataset", "convert", "a.yaml", "b.csv").code == 2
    assert agenttrace("dataset", "convert", "a.yaml", "b.csv", "--replace").code == 0
    wrong = agenttrace("dataset", "convert", "a.yaml", "b.xml")
    assert wrong.code == 2
    assert "unknown kind of file '.xml'" in wrong.err


BAD = """\
examples:
  - {name: a, inptu: 1}
  - {name: b, expected_tools: [{name: look, x: 1}]}
  - {name: c}
  - {name: c}
  - {name: d, scorers: [ToolOdrer:exact=true]}
"""


def test_all_errors_of_all_files_are_printed(agenttrace, tmp_path):
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "bad.jsonl").write_text('{"name": "a"}\n{"nmae": "b"}\nnonsense\n')
    (tmp_path / "bad.csv").write_text("name,input\na\nb,c,d\ne,f\n")
    (tmp_path / "good.yaml").write_text(TWO)
    ran = agenttrace("dataset", "validate", "bad.yaml", "bad.jsonl", "bad.csv", "good.yaml", "none.yaml")
    assert ran.code == 2
    assert ran.out == "good.yaml: 2 examples\n"
    places = [line.split(" ")[0] for line in ran.err.splitlines()]
    assert places == [
        "bad.yaml:2:", "bad.yaml:3:", "bad.yaml:5:", "bad.yaml:6:",
        "bad.jsonl:2:", "bad.jsonl:3:", "bad.csv:2:", "bad.csv:3:", "none.yaml:", "9",
    ]  # fmt: skip
    assert agenttrace("dataset", "validate", "good.yaml").code == 0


def test_misspelt_tools_are_errors_where_the_agent_is_named(agenttrace, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "shop_of_validate.py").write_text(
        "from agenttrace import observe\n\n"
        "@observe(span_type='tool')\ndef charge_card(n): ...\n\ndef agent(n): ...\n"
    )
    (tmp_path / "a.yaml").write_text(TWO.replace("pay", "chagre_card"))
    assert agenttrace("dataset", "validate", "a.yaml").code == 0
    ran = agenttrace("dataset", "validate", "a.yaml", "--function", "shop_of_validate:agent")
    assert ran.code == 2
    assert "a.yaml:3: expected_tools: no tool 'chagre_card' is known; did you mean 'charge_card'?" in ran.err
    sys.modules.pop("shop_of_validate")


def test_simulated_tools_that_there_are_not_are_errors_where_the_agent_is_named(agenttrace, tmp_path):
    (tmp_path / "shop_of_answers.py").write_text(
        "from agenttrace import observe\n\n"
        "@observe(span_type='tool')\ndef take_payment(n): ...\n\ndef agent(n): ...\n"
    )
    (tmp_path / "a.yaml").write_text(
        "examples:\n- {name: a, input: x, simulate: {take_payment: 1}}\n"
        "- {name: b, input: x, simulate: {tak_payment: 1}}\n"
    )
    assert agenttrace("dataset", "validate", "a.yaml").code == 0
    ran = agenttrace("dataset", "validate", "a.yaml", "--function", "shop_of_answers:agent")
    assert ran.code == 2
    assert "a.yaml:3: simulate: there is no observed function 'tak_payment' to simulate; did you" in ran.err
    sys.modules.pop("shop_of_answers")


@pytest.mark.parametrize("kind", ["examples", "report"])
def test_schemas_are_printed_for_editors(agenttrace, kind):
    printed = json.loads(agenttrace("schema", kind).out)
    assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert kind != "examples" or printed == json.loads(agenttrace("schema").out)


def test_validate_finds_quarantines_and_inputs_that_cannot_be_used(agenttrace, tmp_path):
    (tmp_path / "shop_of_inputs.py").write_text("def agent(order):\n    return order\n")
    (tmp_path / "a.yaml").write_text(
        "examples:\n- {name: a, input: {order: 7}, quarantine: flaky}\n- {name: b, input: {ordr: 7}}\n"
    )
    ran = agenttrace("dataset", "validate", "a.yaml", "--function", "shop_of_inputs:agent")
    assert ran.code == 2
    assert "a.yaml:2: quarantine is written 'OWNER until YYYY-MM-DD: WHY', got 'flaky'" in ran.err
    assert "a.yaml:3: input: the input does not fit agent(order)" in ran.err
    assert "2 errors" in ran.err
    sys.modules.pop("shop_of_inputs")


SCORERS = """\
scorers: [ToolOrdr]
examples:
  - {name: a, input: x, expected_tools: [look], tools_called: [look]}
  - {name: b, input: x, expected_tools: [look], tools_called: [look], scorers: [Budgt, Budget: {cals: 1}]}
"""


def test_validate_names_scorers_that_are_misspelt_each_once_where_it_stands(agenttrace, tmp_path):
    (tmp_path / "a.yaml").write_text(SCORERS)
    ran = agenttrace("dataset", "validate", "a.yaml")
    assert (ran.code, ran.err.splitlines()) == (
        2,
        [
            "a.yaml:1: scorers[0]: there is no scorer 'ToolOrdr'; did you mean 'ToolOrderScorer'?",
            "a.yaml:4: scorers[0]: there is no scorer 'Budgt'; did you mean 'BudgetScorer'?",
            "a.yaml:4: scorers[1]: BudgetScorer has no option 'cals'; did you mean 'calls'?",
            "3 errors",
        ],
    )


def test_validate_notes_a_scorer_that_the_suite_may_have(agenttrace, tmp_path):
    (tmp_path / "a.yaml").write_text(
        SCORERS.replace("ToolOrdr", "helpfulness").replace("Budgt, ", "").replace("cals", "calls")
    )
    ran = agenttrace("dataset", "validate", "a.yaml")
    assert (ran.code, ran.out) == (0, "a.yaml: 2 examples\n")
    assert ran.err.startswith("note: a.yaml:1: scorers[0]: there is no scorer 'helpfulness'")
    known = agenttrace("dataset", "validate", "a.yaml", "--scorer", "ToolOrder:name=helpfulness")
    assert (known.code, known.err) == (0, "")
    other = agenttrace("dataset", "validate", "a.yaml", "--scorer", "ToolOrder")
    assert (other.code, other.err.splitlines()[-1]) == (2, "1 error")


def test_validate_knows_scorers_that_the_agents_module_registers(agenttrace, tmp_path):
    (tmp_path / "shop_of_scorers.py").write_text(
        "from agenttrace.scorers import ToolOrderScorer, register_scorer\n"
        "register_scorer(ToolOrderScorer, 'ToolOrdr')\n"
        "def agent(text): pass\n"
    )
    own = SCORERS.replace("look", "see_parcel_of_scorers")  # the tools of other tests are known, too
    (tmp_path / "a.yaml").write_text(own.replace("Budgt, ", "").replace("cals", "calls"))
    try:
        assert agenttrace("dataset", "validate", "a.yaml", "--function", "shop_of_scorers:agent").code == 0
    finally:
        sys.modules.pop("shop_of_scorers")
        registry._scorers.pop("toolordr", None)
