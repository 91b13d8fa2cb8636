"""Where to, and how, OTLP is sent: arguments first, then OpenTelemetry's environment variables."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar, get_args
from urllib.parse import unquote

from agenttrace.core.errors import ConfigError
from agenttrace.exporters.otlp_encoding import Kind, Protocol
from agenttrace.http.endpoint import checked_base_url

T = TypeVar("T", bound=str)

Compression = Literal["gzip", "deflate", "none"]

DEFAULT_ENDPOINT = "http://localhost:4318"
DEFAULT_TIMEOUT = 10.0
CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_PREFIX = "OTEL_EXPORTER_OTLP_"
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class OTLPSettings:
    """Checked settings. `headers` may hold a key: they are in no repr, no log, no error."""

    urls: Mapping[Kind, str]
    headers: Mapping[str, str] = field(repr=False)
    protocol: Protocol
    compression: Compression
    timeout: float
    content: bool


def settings(
    endpoint: str | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    protocol: Protocol | None = None,
    compression: Compression | None = None,
    timeout: float | None = None,
    content: bool | None = None,
) -> OTLPSettings:
    """The settings that the arguments give, and where one is None the environment, or the default.

    Raises:
        ConfigError: something that cannot work. The text never holds a header's value.
    """
    return OTLPSettings(
        urls={kind: _url(kind, endpoint) for kind in get_args(Kind)},
        headers=_headers(headers),
        protocol=_one_of(protocol, "protocol", "PROTOCOL", get_args(Protocol), "http/protobuf"),
        compression=_one_of(compression, "compression", "COMPRESSION", get_args(Compression), "gzip"),
        timeout=_timeout(timeout),
        content=_content() if content is None else content,
    )


def _url(kind: Kind, endpoint: str | None) -> str:
    if endpoint is None:
        variable = f"{_PREFIX}{kind.upper()}_ENDPOINT"
        own = os.environ.get(variable, "").strip()
        if own:
            return checked_base_url(own, variable)
        variable = f"{_PREFIX}ENDPOINT"
        endpoint = os.environ.get(variable, "").strip() or DEFAULT_ENDPOINT
        base = checked_base_url(endpoint, variable)
    else:
        base = checked_base_url(endpoint, "endpoint")
    for known in get_args(Kind):
        base = base.removesuffix(f"/v1/{known}")
    return f"{base}/v1/{kind}"


def _headers(given: Mapping[str, str] | None) -> dict[str, str]:
    source = "headers"
    if given is None:
        source = f"{_PREFIX}HEADERS"
        pairs = (entry.partition("=") for entry in os.environ.get(source, "").split(",") if entry.strip())
        given = {unquote(name.strip()): unquote(value.strip()) for name, _, value in pairs}
    headers = {}
    for name, value in given.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise ConfigError(f"{source} holds a name that no header has; write name: value pairs")
        text = value.strip() if isinstance(value, str) else None
        if text is None or not all(" " <= char <= "~" for char in text):
            raise ConfigError(
                f"the value of {name!r} in {source} is no ASCII text on one line; copy it again"
            )
        headers[name.lower()] = text
    return headers


def _one_of(given: str | None, name: str, variable: str, known: tuple[T, ...], default: T) -> T:
    source = name if given is not None else f"{_PREFIX}{variable}"
    value = given if given is not None else os.environ.get(source, "").strip() or default
    for choice in known:
        if choice == value:
            return choice
    hint = "; gRPC is not spoken, collectors take HTTP on port 4318" if value == "grpc" else ""
    raise ConfigError(f"{source} is one of {', '.join(known)}; got {value!r}{hint}")


def _timeout(given: float | None) -> float:
    """Seconds; the environment's number is of milliseconds."""
    variable = f"{_PREFIX}TIMEOUT"
    text = os.environ.get(variable, "").strip()
    if given is None and text:
        try:
            given = float(text) / 1000
        except ValueError:
            raise ConfigError(f"{variable} is a number of milliseconds, got {text!r}") from None
    timeout = DEFAULT_TIMEOUT if given is None else given
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        raise ConfigError(f"timeout is a number of seconds above 0, got {timeout!r}")
    return float(timeout)


def _content() -> bool:
    # Off by default in OpenTelemetry, where a library records unasked. Who adds an exporter has asked.
    return os.environ.get(CONTENT_VARIABLE, "").strip().lower() not in ("false", "0", "no_content")
