"""Agents that run elsewhere: what they send by OpenTelemetry becomes part of the trace of a run here."""

from __future__ import annotations

from agenttrace.remote_agents.endpoint import OTLPEndpoint
from agenttrace.remote_agents.remote_run import RemoteRun

__all__ = ["OTLPEndpoint", "RemoteRun"]
