"""Spans arrive over HTTP: OTLP requests are read within bounds, and answered once what they hold is kept."""

from __future__ import annotations

from agenttrace.receiver.application import OTLPReceiver
from agenttrace.receiver.intake import Intake
from agenttrace.receiver.keeping import Keeper
from agenttrace.receiver.keeping_process import KeepingProcess
from agenttrace.receiver.sink import StoreSink

__all__ = ["Intake", "Keeper", "KeepingProcess", "OTLPReceiver", "StoreSink"]
