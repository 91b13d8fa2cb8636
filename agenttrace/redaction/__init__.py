"""Take secrets out of what is recorded."""

from __future__ import annotations

from agenttrace.redaction.option import Redact, redaction_of, without_secrets
from agenttrace.redaction.redaction import Redaction

__all__ = ["Redact", "Redaction", "redaction_of", "without_secrets"]
