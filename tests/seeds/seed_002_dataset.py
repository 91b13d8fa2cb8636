# ruff: noqa
# fmt: off
from agenttrace import Example
from agenttrace import EvalDataset
examples = [
    Example(input="...", actual_output="..."),
    Example(input="...", actual_output="..."),
]
dataset = EvalDataset(
    examples=examples
)
dataset.add_example(Example(input="Question 3?", actual_output="Answer 3."))
from agenttrace import Client
from agenttrace import EvalDataset
client = Client()
client.push_dataset(alias="my_dataset", dataset=dataset, project_name="my_project")
pulled_dataset = client.pull_dataset(alias="my_dataset", project_name="my_project")
