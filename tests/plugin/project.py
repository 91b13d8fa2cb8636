"""A directory with tests of an agent, and what a run of pytest there gave."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from textwrap import dedent

from tests.pseudo_terminal import run_on_a_terminal

EXAMPLES = """
examples:
- name: right
  input: {order: 7, amount: 12}
  expected_tools: [{refund: {order: 7, amount: 12}}]
- name: wrong
  input: {order: 8, amount: 12.5}
  expected_tools: [{refund: {order: 8, amount: 12}}]
"""

SHOP = """
import pytest
from agenttrace import Example, Tracer, call
from agenttrace.scorers import ToolOrderScorer

tracer = Tracer("shop", store="memory")

@tracer.observe(span_type="tool")
def refund(order, amount):
    return "ok"
"""

MARKED = """
@pytest.mark.agenttrace(examples="refunds.yaml", scorers=[ToolOrderScorer()])
def test_refund(order, amount):
    return refund(order, amount)
"""

RAISES = """
turns = iter(range(100))

@pytest.mark.agenttrace([Example(name="one", expected_tools=["refund"])], scorers=[ToolOrderScorer()])
def test_raises(example):
    if next(turns) % 2 == 0:
        raise KeyError("no such order")
    refund(1, 2)
"""


_NOT_NEEDED = ("randomly", "cacheprovider", "langsmith_plugin", "hypothesispytest")
FEWER_PLUGINS = [f"-pno:{name}" for name in _NOT_NEEDED]
"""What a run does without: the last two take three quarters of the time in which pytest starts."""


def environment_of_a_developer():
    """This one without what a CI sets: where `CI` is set, pytest repeats whole errors in its summary."""
    set_by_a_ci = ("PYTEST_", "GITHUB_", "CI", "BUILD_NUMBER")
    return {key: value for key, value in os.environ.items() if not key.startswith(set_by_a_ci)}


class Project:
    """A directory with tests, and what a run of pytest there gave."""

    def __init__(self, path):
        self.path = path

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(dedent(text))

    def run(self, *options, **environment):
        ran = subprocess.run(
            [sys.executable, "-m", "pytest", *FEWER_PLUGINS, *options],
            cwd=self.path,
            env={**environment_of_a_developer(), "COLUMNS": "200", **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        self.code, self.out = ran.returncode, ran.stdout + ran.stderr
        return ran.stdout.splitlines()

    def run_on_a_terminal(self, *options, **environment):
        """Run pytest with a pseudo terminal; what it printed there."""
        command = [sys.executable, "-m", "pytest", *FEWER_PLUGINS, *options]
        printed, _ = run_on_a_terminal(command, self.path, {**environment_of_a_developer(), **environment})
        return printed.replace("\r\n", "\n")

    def cases(self):
        """The cases of the JUnit file, by name."""
        root = ElementTree.parse(self.path / "junit.xml").getroot()
        return {case.get("name"): case for case in root.iter("testcase")}
