"""Traces the travel agent, evaluates it while it works and while it goes wrong, shows what was stored.

Run it from anywhere: ``python examples/travel_agent/run.py``.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from travel_agent import MyAgent, Quirk, judgment

from agenttrace import get_examples_from_yaml, run_evaluation
from agenttrace.cli.main import own_command
from agenttrace.reports import report_lines, show, trace_lines
from agenttrace.scorers import ToolOrderScorer

TESTS = Path(__file__).with_name("tests.yaml")


def main() -> None:
    examples = get_examples_from_yaml(TESTS)
    scorers = [ToolOrderScorer(exact_match=True)]

    print("1. Run the agent once, recorded\n")
    with judgment.capture() as captured:
        print(MyAgent().run_agent("What's the attraction and weather in Paris for early June?"))

    print("\n2. Evaluate it on tests.yaml\n")
    show(report_lines(run_evaluation(examples, scorers, function=MyAgent().run_agent, tracer=judgment)))

    for number, quirk in enumerate(get_args(Quirk), 3):
        print(f"\n{number}. Evaluate an agent that {_told(quirk)}\n")
        function = MyAgent(quirk=quirk).run_agent
        show(report_lines(run_evaluation(examples[:1], scorers, function=function, tracer=judgment)))

    print(f"\n{number + 1}. The first run, read back from the store\n")
    judgment.flush(timeout=5.0)
    stored = judgment.store.trace(captured.trace.trace_id)
    assert stored is not None, "the trace was flushed, so it is stored"
    show(trace_lines(stored, judgment.store.scores(stored.trace_id)))
    print(f"\nEvery run is in the store:\n  {own_command()} traces list\n  {own_command()} traces show")


def _told(quirk: str) -> str:
    return {
        "wrong city": "looks up the wrong city",
        "wrong order": "calls its tools in the wrong order",
        "wrong dates": "gets the dates wrong",
        "forgets weather": "forgets the weather",
    }.get(quirk, quirk)


if __name__ == "__main__":
    main()
