"""The samples and tables of the seed documents 001 and 004, read from the documents themselves."""

import ast
import asyncio
import json
import re
from pathlib import Path

import pytest

from agenttrace import Example, FunctionCallCoverageScorer
from agenttrace.integrations.uipath import AgentExecution, ToolCallOrderEvaluator
from agenttrace.scorers import ToolCallOrderScorer

SEEDS = Path(__file__).parents[2] / ".." / "shared" / "seeds"
ORDER = SEEDS / "001_3f0bbf4bb3125779.txt"
COVERAGE = SEEDS / "004_da27de4090c6db9f.txt"
OUR_IMPORTS = "from agenttrace.integrations.uipath import "
"""What takes the place of the two uipath import lines' beginnings; nothing else in the samples is changed."""

pytestmark = pytest.mark.shared


def text_of(document):
    if not document.exists():
        pytest.skip("the seed documents are not beside the project")
    return document.read_text(encoding="utf-8")


def order_samples():
    """The python blocks of the order document, those that run first, with our import lines."""
    blocks = re.findall(r"```python\n(.*?)```", text_of(ORDER), re.DOTALL)
    return [re.sub(r"from uipath\.eval\.\w+ import ", OUR_IMPORTS, block) for block in blocks]


def run_with_await(source, names):
    """Run a snippet that awaits outside of any function, as a notebook does."""
    code = compile(source, "<sample>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    done = eval(code, names)
    if done is not None:
        asyncio.run(done)


def promised(source):
    """(what is printed, the value that the comment beside it promises)."""
    for label, value in re.findall(r'print\(f"(\w+): .*?"\)\s*# (\d\.\d+|\[.*?\])', source):
        yield label, ast.literal_eval(value)


def test_every_sample_of_the_order_page_gives_what_its_comments_say(capsys):
    *samples, justification = order_samples()
    names: dict = {}
    checked = 0
    for sample in samples:
        run_with_await(sample, names)
        printed = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
        for label, value in promised(sample):
            assert ast.literal_eval(printed[label]) == value, sample
            checked += 1
    assert (len(samples), checked) == (6, 7)
    details = names["result"].details
    assert list(ast.literal_eval(justification)) == [
        "actual_tool_calls_order", "expected_tool_calls_order", "lcs",
    ]  # fmt: skip
    assert details.actual_tool_calls_order == details.expected_tool_calls_order == details.lcs
    assert details.lcs == ["init", "process", "cleanup"]


def test_only_the_two_uipath_import_lines_of_the_samples_are_changed():
    before = re.findall(r"```python\n(.*?)```", text_of(ORDER), re.DOTALL)
    changed = [
        new
        for old_block, new_block in zip(before, order_samples(), strict=True)
        for old, new in zip(old_block.splitlines(), new_block.splitlines(), strict=True)
        if old != new
    ]
    assert changed == [OUR_IMPORTS + "ToolCallOrderEvaluator", OUR_IMPORTS + "AgentExecution"]


def test_the_worked_example_of_the_order_page_comes_out():
    text = text_of(ORDER)
    found = re.search(
        r"Expected: `(.*?)`\n- Actual: `(.*?)`\n- LCS: `(.*?)` .*\n- Score: `3/4 = (.*?)`", text
    )
    expected, actual, lcs, value = map(ast.literal_eval, found.groups())
    score = ToolCallOrderScorer(expected).score(Example(tools_called=actual))
    assert (score.value, score.details["lcs"]) == (value, lcs)


def test_the_error_handling_of_the_order_page_holds():
    evaluator = ToolCallOrderEvaluator(id="edge", config={"name": "ToolCallOrderEvaluator"})
    nothing = AgentExecution(agent_input={}, agent_output={}, agent_trace=[])

    def score(order):
        return asyncio.run(
            evaluator.validate_and_evaluate_criteria(
                agent_execution=nothing, evaluation_criteria={"tool_calls_order": order}
            )
        ).score

    text = text_of(ORDER)
    assert "**Empty actual calls**: Score 0.0" in text
    assert score(["a"]) == 0.0
    assert "**Empty expected calls**: Error (invalid criteria)" in text
    with pytest.raises(ValueError, match="empty"):
        score([])


def test_the_table_of_the_coverage_page_comes_out():
    text = text_of(COVERAGE)
    required = json.loads(re.search(r"Given function_calls: (\[.*?\]):", text)[1])
    rows = re.findall(r"^(\[.*?\])(any|in order)(\d\.\d)(\d)(\d)$", text, re.MULTILINE)
    assert len(rows) == 4
    for called, mode, complete, made, unrequired in rows:
        scorer = FunctionCallCoverageScorer(required, mode="any_order" if mode == "any" else "in_order")
        score = scorer.score(Example(tools_called=json.loads(called)))
        details = score.details
        assert score.value == details["all_required_calls_made"] == float(complete)
        assert details["num_required_calls_made"] == int(made)
        assert details["num_unrequired_calls"] == int(unrequired)


def test_the_six_outputs_of_the_coverage_page_are_the_details():
    names = re.findall(r"^  • (\w+): ", text_of(COVERAGE), re.MULTILINE)[:6]
    score = FunctionCallCoverageScorer(["a"]).score(Example(tools_called=["a"]))
    assert sorted(score.details) == sorted(names)


def test_the_ways_to_write_function_calls_of_the_coverage_page_are_read():
    text = text_of(COVERAGE)
    example = Example(
        tools_called=["search", "calculator"],
        additional_metadata={
            "function_calls": ["search", "calculator"],
            "tools": [{"name": "search"}, {"name": "calculator"}],
        },
    )
    ways = re.findall(r"function_calls: (\"\{\{.*?\}\}\"|'\[.*?\]')", text)
    ways += re.findall(r"e\.g\. (\"\{\{.*?\}\}\")", text)
    assert len(ways) == 4
    for way in ways:
        scorer = FunctionCallCoverageScorer(way[1:-1].replace(r"\|", "|"))
        assert scorer.score(example).details["num_required_calls_made"] == 2, way
