# ruff: noqa
# fmt: off
from agenttrace import Client
from agenttrace.judges import FaithfulnessScorer
client = Client()
res = client.run_evaluation(
    examples=dataset.examples,
    scorers=[FaithfulnessScorer(threshold=0.9)],
    model="gpt-4.1",
)
