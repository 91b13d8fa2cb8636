"""An agent that is evaluated while it works: the scores land on its spans, off its own thread.

Run it from anywhere: ``python examples/online_evals.py`` (needs the package ``openai``). With OPENAI_API_KEY
set, agent and judge use that account; without, a model on loopback stands in for both.
"""

from __future__ import annotations

import os

from local_judge import LocalJudge
from openai import OpenAI

from agenttrace import Example, Tracer, wrap
from agenttrace.judges import AnswerRelevancyScorer
from agenttrace.reports import show, trace_lines
from agenttrace.scorers import ContainsScorer

if "OPENAI_API_KEY" not in os.environ:
    print("no OPENAI_API_KEY: a model on loopback stands in")
    os.environ.update(LocalJudge().start().environment)

client = wrap(OpenAI())
judgment = Tracer(project_name="my_project")


@judgment.observe(span_type="tool", scorers=[ContainsScorer("world")])  # every call is evaluated
def my_tool() -> str:
    return "Hello world!"


@judgment.observe(span_type="function")
def main() -> str | None:
    task_input = my_tool()
    res = (
        client.chat.completions.create(
            model="gpt-4.1",
            messages=[{"role": "user", "content": f"{task_input}"}],
        )
        .choices[0]
        .message.content
    )
    judgment.async_evaluate(
        scorers=[AnswerRelevancyScorer(threshold=0.5)],
        example=Example(input=task_input, actual_output=res),
        model="gpt-4.1",
    )
    return res


def show_what_was_stored() -> None:
    """A service would go on working; this script ends here, so it waits."""
    judgment.wait_for_evaluations(timeout=60.0)
    judgment.flush(timeout=5.0)
    (newest,) = judgment.store.traces(project="my_project", limit=1)
    trace = judgment.store.trace(newest.trace_id)
    assert trace is not None, "it was flushed"
    show(trace_lines(trace, judgment.store.scores(trace.trace_id)))
    print(f"evaluations: {judgment.stats()['evaluations']}")


if __name__ == "__main__":
    print(f"the agent answered: {main()}\n")
    show_what_was_stored()
