"""Read examples from files, write them to files."""

from agenttrace.datasets.dataset import EvalDataset
from agenttrace.datasets.yaml_format import get_examples_from_yaml

__all__ = ["EvalDataset", "get_examples_from_yaml"]
