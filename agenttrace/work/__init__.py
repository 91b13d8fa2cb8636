"""Evaluations that rules ask for: queued when a trace has come to rest, done by any number of workers."""

from agenttrace.work.observing import Observing
from agenttrace.work.rules import Rule, read_rules
from agenttrace.work.worker import Worker, WorkerCounts

__all__ = ["Observing", "Rule", "Worker", "WorkerCounts", "read_rules"]
