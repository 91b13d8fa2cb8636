"""A report goes where it is to go: not over the examples, and with nothing beside it on stdout."""

import json

import pytest

_AGENT = """
from agenttrace import observe

@observe(span_type="tool")
def lookup(k):
    return 1

def agent(k):
    print("thinking")
    lookup(k)
    return "1"
"""
_EXAMPLES = "examples:\n- {name: a, input: {k: 1}, expected_tools: [lookup]}\n"


@pytest.fixture
def run(agenttrace, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "printing_shop.py").write_text(_AGENT)
    (tmp_path / "ok.yaml").write_text(_EXAMPLES)
    arguments = ("eval", "run", "ok.yaml", "--function", "printing_shop:agent", "--scorer", "ToolOrder", "-q")
    return lambda *more: agenttrace(*arguments, *more)


@pytest.mark.parametrize("option", ["--json", "--junit", "--md", "--csv", "--html", "--save-baseline"])
def test_a_report_does_not_replace_the_examples(run, tmp_path, option):
    ran = run(option, "./ok.yaml")
    assert ran.code == 2
    assert "the command reads this file, which would be replaced" in ran.err
    assert (tmp_path / "ok.yaml").read_text() == _EXAMPLES


def test_what_an_agent_prints_is_not_in_the_report_on_stdout(run):
    ran = run("--json", "-")
    assert ran.code == 0
    assert json.loads(ran.out)["counts"]["passed"] == 1
    assert "thinking" in ran.err
    assert "thinking" in run().out
