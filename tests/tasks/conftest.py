import sys
import textwrap

import pytest

from agenttrace.tracing import observed_function

AGENT = """
from agenttrace import observe, scorer


@observe(span_type="tool")
def search(query):
    return "a result"


@observe(span_type="tool")
def calculator(expression):
    return 4


def run(query):
    if "boom" in query:
        raise ValueError("boom")
    search(query)
    if "sum" in query:
        calculator(query)
        return "yes"
    return "no"


class Desk:
    def answer(self, query):
        return query


@scorer(name="short answer")
def is_short(output):
    return len(output) < 4


def bounded(limit=3):
    return scorer(name="bounded")(lambda output: len(output) <= limit)


def largest(values):
    return max(values)


def asks(nothing):
    return 0


NUMBER = 3
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a file into the directory of the test, which is the working directory; returns its path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("AGENTTRACE_STORE", str(tmp_path / "traces.db"))

    def write(text, name="task.yaml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    write(AGENT, "an_agent.py")
    yield write
    sys.modules.pop("an_agent", None)


@pytest.fixture(autouse=True)
def _no_tools_of_other_files(monkeypatch):
    """Forget the tools that other modules observed: a task's names are checked against those it knows."""
    monkeypatch.setattr(observed_function, "_tools", {})
