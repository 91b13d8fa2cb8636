# ruff: noqa
# fmt: off
from agenttrace import get_examples_from_yaml
client.assert_test(
    examples=get_examples_from_yaml("tests.yaml"),
    scorers=[FaithfulnessScorer(threshold=0.5)],
    model="gpt-4.1",
)
