# ruff: noqa
# fmt: off
from agenttrace import Client
from agenttrace import Example
from agenttrace.judges import FaithfulnessScorer
client = Client()
agent = given_agent  # ours
task = "What if these shoes don't fit?"
example = Example(
    input=task,
    actual_output=agent.run(task),  # e.g. "We offer a 30-day full refund at no extra cost."
    retrieval_context=["All customers are eligible for a 44 day full refund at no extra cost."],
)
scorer = FaithfulnessScorer(threshold=0.5)
client.assert_test(
    examples=[example],
    scorers=[scorer],
    model="gpt-4.1",
    project_name="my-first-test"
)
