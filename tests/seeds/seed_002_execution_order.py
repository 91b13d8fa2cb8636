# ruff: noqa
# fmt: off
scorer = ExecutionOrderScorer(threshold=0.8)
scorer = ExecutionOrderScorer(threshold=0.8, should_consider_ordering=True)
scorer = ExecutionOrderScorer(threshold=0.8, should_exact_match=True)
from agenttrace import Client
from agenttrace import Example
client = Client()
example = Example(
    actual_output=["GoogleSearch", "Perplexity"],
    expected_output=["DBQuery", "GoogleSearch"],
)
# supply your own threshold
scorer = ExecutionOrderScorer(threshold=0.8)
results = client.run_evaluation(
    examples=[example],
    scorers=[scorer],
)
print(results)
