# ruff: noqa
# fmt: off
from agenttrace import Client
example = given_example  # ours
scorer = given_scorer  # ours
client = Client()
results = client.run_evaluation(
    examples=[example],
    scorers=[scorer],
    model="gpt-4.1",
)
