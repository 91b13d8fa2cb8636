"""The variables by which OpenTelemetry's SDKs, in any language, are told where to send what they record."""

from __future__ import annotations

import os
from collections.abc import Mapping

TOKEN_HEADER = "x-agenttrace-run"  # noqa: S105 - a name, no token
"""The header of a request that says whose run it is of. Its value has no character that needs quoting."""
_DELAY_MS = "200"
_HOST = "127.0.0.1"


def otlp_environment(address: str, token: str, trace_headers: Mapping[str, str]) -> dict[str, str]:
    """Variables for a child process, which take the place of others of these names.

    Spans and logs go to `address`, in protobuf, a fifth of a second after they ended; all spans are sampled,
    metrics are sent nowhere. `trace_headers` go in under their names in capitals: ``TRACEPARENT``.
    """
    header = f"{TOKEN_HEADER}={token}"
    variables = {
        "OTEL_SDK_DISABLED": "false",
        "OTEL_TRACES_SAMPLER": "always_on",
        "OTEL_TRACES_EXPORTER": "otlp",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        "OTEL_EXPORTER_OTLP_HEADERS": header,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_BSP_SCHEDULE_DELAY": _DELAY_MS,
        "OTEL_BLRP_SCHEDULE_DELAY": _DELAY_MS,
    }
    for signal in ("TRACES", "LOGS"):  # those of one signal go before the others
        variables[f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"] = f"{address}/v1/{signal.lower()}"
        variables[f"OTEL_EXPORTER_OTLP_{signal}_HEADERS"] = header
        variables[f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL"] = "http/protobuf"
    for name in ("NO_PROXY", "no_proxy"):  # else an exporter would ask a proxy for this machine
        listed = [part for part in os.environ.get(name, "").split(",") if part.strip()]
        variables[name] = ",".join([*listed, *([] if _HOST in listed else [_HOST])])
    return {**variables, **{name.upper(): value for name, value in trace_headers.items()}}
