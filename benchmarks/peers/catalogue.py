"""Which peers there are, and which of them an interpreter has."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.peers.fence import CLOSED


@dataclass(frozen=True)
class Peer:
    """A module of this package, the distribution it needs, what `import_time` imports of it.

    `setting` says what is measured, `environment` what is set before it is imported.
    """

    module: str
    distribution: str
    imports: str
    setting: str
    environment: Mapping[str, str] = field(default_factory=dict)


PEERS = [
    Peer(
        "opentelemetry_sdk",
        "opentelemetry-sdk",
        "opentelemetry.sdk.trace.export",
        "by hand: arguments bound, JSON attributes, batch processor, exporter that drops",
    ),
    Peer(
        "openai_agents",
        "openai-agents",
        "agents",
        "function_span by hand: arguments bound, JSON, batch processor, exporter that drops",
    ),
    Peer("sentry", "sentry-sdk", "sentry_sdk", "trace(AI_TOOL), personal data on, transport that drops"),
    Peer(
        "deepeval",
        "deepeval",
        "deepeval.tracing",
        "observe(type='tool'), no account: traces are made, not sent",
        {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "DEEPEVAL_DISABLE_DOTENV": "1", "CONFIDENT_TRACE_VERBOSE": "0"},
    ),
    Peer("judgeval", "judgeval", "judgeval", "Tracer.observe(span_type='tool'), no key: local"),
    Peer("logfire", "logfire", "logfire", "instrument(record_return=True), exporter that drops"),
    Peer(
        "openinference",
        "openinference-instrumentation",
        "openinference.instrumentation",
        "tracer.tool, batch processor, exporter that drops",
    ),
    Peer(
        "langfuse",
        "langfuse",
        "langfuse",
        "observe(as_type='tool'), exporter that drops",
        {"LANGFUSE_BASE_URL": CLOSED},
    ),
    Peer(
        "langsmith",
        "langsmith",
        "langsmith.run_helpers",
        "traceable(run_type='tool'), HTTP session that drops",
        {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": CLOSED},
    ),
]


def installed(interpreters: list[str]) -> dict[str, tuple[str, str]]:
    """For each distribution that one of the interpreters has: the first of these, and the version."""
    names = [peer.distribution for peer in PEERS]
    found: dict[str, tuple[str, str]] = {}
    for interpreter in interpreters:
        asked = subprocess.run(
            [interpreter, "-c", _ASK, json.dumps(names)], capture_output=True, text=True, check=True
        )
        for name, version in json.loads(asked.stdout).items():
            found.setdefault(name, (interpreter, version))
    return found


_ASK = """
import json, sys
from importlib import metadata
found = {}
for name in json.loads(sys.argv[1]):
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""
