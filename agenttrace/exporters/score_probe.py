"""Find out which back end answers at an address that takes no OTLP logs.

At most three requests (GET, without a body, three seconds each), to the address to which the exporter sends
anyway and to no other host; redirects are not followed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from agenttrace.core.json_reader import lenient_json
from agenttrace.exporters.otlp_settings import SignalSettings
from agenttrace.exporters.score_backends import BACK_ENDS, BackEndName
from agenttrace.http.transport import Answer, Transport

NOT_LOGS = frozenset({404, 405})
"""Statuses by which a server says that it takes no logs."""

PROBE_SECONDS = 3.0
_MAX_BYTES = 65_536
_VERSION = re.compile(rb"\s*\d+\.\d+[\w.+-]*\s*")


@dataclass(frozen=True, slots=True)
class _Question:
    """Where to ask, and whether the answer is that back end's."""

    name: BackEndName
    path: str

    def fits(self, answer: Answer) -> bool:
        if self.name == "phoenix":
            return answer.status == 200 and _VERSION.fullmatch(answer.body) is not None
        try:
            reply = lenient_json(answer.body)
        except ValueError:
            return False
        if not isinstance(reply, dict):
            return False
        if self.name == "mlflow":  # an error in its own form, where the experiment was deleted
            return "experiment" in reply or "error_code" in reply
        return answer.status in (200, 503) and {"status", "version"} <= reply.keys()


_QUESTIONS = (
    _Question("phoenix", "/arize_phoenix_version"),
    _Question("mlflow", "/api/2.0/mlflow/experiments/get?experiment_id=0"),
    _Question("langfuse", "/api/public/health"),
)


def base_of(settings: SignalSettings) -> str:
    """The address to which OTLP goes, without the signal's own path."""
    return settings.url.removesuffix(f"/v1/{settings.kind}").rstrip("/")


async def find_back_end(settings: SignalSettings) -> BackEndName | None:
    """Ask the host of these settings what it is; None where no question is answered as a back end does."""
    transport = Transport(timeout=min(PROBE_SECONDS, settings.timeout), attempts=1, max_bytes=_MAX_BYTES)
    for question in _QUESTIONS:
        root = BACK_ENDS[question.name].root(base_of(settings))
        answer = await transport.get(root + question.path, settings.headers)
        if isinstance(answer, Answer) and question.fits(answer):
            return question.name
    return None
