"""The service of a team: its pages, and OpenTelemetry's door for the spans of its agents."""

from __future__ import annotations

from agenttrace.service.doors import Doors
from agenttrace.service.running import Service
from agenttrace.service.tokens import Tokens

__all__ = ["Doors", "Service", "Tokens"]
