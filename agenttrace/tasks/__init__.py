"""An evaluation as a file: examples, what runs them, scorers with options that are templates, metrics."""

from agenttrace.tasks.metrics import MetricResult
from agenttrace.tasks.schema import task_schema
from agenttrace.tasks.task import Task, load_task, metrics_of
from agenttrace.tasks.task_file import is_task_file

__all__ = ["MetricResult", "Task", "is_task_file", "load_task", "metrics_of", "task_schema"]
