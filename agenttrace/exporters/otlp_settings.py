"""The settings of an OTLP exporter: its arguments, then OpenTelemetry's environment variables."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar, get_args
from urllib.parse import unquote

from agenttrace.core.errors import ConfigError
from agenttrace.core.numbers import is_number
from agenttrace.exporters.otlp_encoding import Kind, Protocol
from agenttrace.http.endpoint import checked_base_url

T = TypeVar("T", bound=str)

Compression = Literal["gzip", "deflate", "none"]

ScoresTo = Literal["auto", "otlp", "phoenix", "mlflow", "langfuse"]

DEFAULT_ENDPOINT = "http://localhost:4318"
DEFAULT_TIMEOUT = 10.0
CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_CONTENT = {
    "": True,
    "true": True,
    "1": True,
    "span_only": True,
    "event_only": True,
    "span_and_event": True,
    "false": False,
    "0": False,
    "no_content": False,
}
_RESERVED_HEADERS = frozenset(
    ("connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding")
)
_PREFIX = "OTEL_EXPORTER_OTLP_"
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_MIN_MASK_LENGTH = 4


@dataclass(frozen=True, slots=True)
class SignalSettings:
    """Checked settings for one signal. `headers` may hold a key: no repr, log or error shows them."""

    kind: Kind
    url: str
    headers: Mapping[str, str] = field(repr=False)
    protocol: Protocol
    compression: Compression
    timeout: float

    def mask(self, text: str) -> str:
        """Replace the headers' values in a text by ``***``, in case a collector has echoed them."""
        for value in self.headers.values():
            for part in sorted({value, *value.split()}, key=len, reverse=True):
                if len(part) >= _MIN_MASK_LENGTH:
                    text = text.replace(part, "***")
        return text


def signal_settings(
    kind: Kind,
    endpoint: str | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    protocol: Protocol | None = None,
    compression: Compression | None = None,
    timeout: float | None = None,
) -> SignalSettings | None:
    """Settings from the arguments; for each that is None from the environment, or the default.

    Returns None where the environment names an address for the other signal alone: nothing is sent unasked.

    Raises:
        ConfigError: something that cannot work. The text never holds a header's value.
    """
    url = _url(kind, endpoint)
    if url is None:
        return None
    return SignalSettings(
        kind=kind,
        url=url,
        headers=_headers(kind, headers),
        protocol=_one_of(kind, protocol, "PROTOCOL", get_args(Protocol), "http/protobuf"),
        compression=_one_of(kind, compression, "COMPRESSION", get_args(Compression), "gzip"),
        timeout=_timeout(kind, timeout),
    )


def content_setting(content: bool | None) -> bool:
    """Whether arguments, results and messages are sent.

    OpenTelemetry's default is no, because its libraries record unasked. Here it is yes: the user has added an
    exporter.
    """
    if content is not None:
        if not isinstance(content, bool):
            raise ConfigError(f"content is True or False, got {content!r}")
        return content
    value = os.environ.get(CONTENT_VARIABLE, "").strip().lower()
    if value not in _CONTENT:
        words = ", ".join(word for word in _CONTENT if word)
        raise ConfigError(f"{CONTENT_VARIABLE} is one of {words}; got {value!r}")
    return _CONTENT[value]


def scores_setting(scores: ScoresTo | bool) -> ScoresTo | None:
    """Where scores go; None for nowhere.

    Raises:
        ConfigError: a word that is none of them.
    """
    if isinstance(scores, bool):
        return "auto" if scores else None
    checked: ScoresTo = one_of("scores", scores, get_args(ScoresTo))
    return checked


def one_of(name: str, word: T, words: tuple[T, ...]) -> T:
    """The word, if it is one of those that an argument may be.

    Raises:
        ConfigError: it is not.
    """
    if not isinstance(word, str) or word not in words:
        raise ConfigError(f"{name} is one of {', '.join(words)}; got {word!r}")
    return word


def _variable(kind: Kind, name: str) -> tuple[str, str]:
    """A setting of the environment, the signal's own first: the variable's name, its value or ''."""
    variable = ""
    for variable in (f"{_PREFIX}{kind.upper()}_{name}", f"{_PREFIX}{name}"):
        value = os.environ.get(variable, "").strip()
        if value:
            return variable, value
    return variable, ""


def _url(kind: Kind, endpoint: str | None) -> str | None:
    source = "endpoint"
    if endpoint is None:
        source, endpoint = _variable(kind, "ENDPOINT")
        if source.endswith(f"{kind.upper()}_ENDPOINT"):
            return checked_base_url(endpoint, source)  # the whole address, as it is
        if not endpoint and any(os.environ.get(f"{_PREFIX}{one.upper()}_ENDPOINT") for one in get_args(Kind)):
            return None
    if not isinstance(endpoint, str):
        raise ConfigError(f"endpoint is an address such as {DEFAULT_ENDPOINT}, got {endpoint!r}")
    base = checked_base_url(endpoint or DEFAULT_ENDPOINT, source)
    for signal in get_args(Kind):
        base = base.removesuffix(f"/v1/{signal}")
    return f"{base}/v1/{kind}"


def _headers(kind: Kind, entries: Mapping[str, str] | None) -> dict[str, str]:
    source = "headers"
    if entries is None:
        source, text = _variable(kind, "HEADERS")
        pairs = [entry.partition("=") for entry in text.split(",") if entry.strip()]
        if not all(separator for _, separator, _ in pairs):
            raise ConfigError(f"{source} is a list of name=value pairs, with commas between them")
        entries = {unquote(name.strip()): unquote(value.strip()) for name, _, value in pairs}
    elif not isinstance(entries, Mapping):
        raise ConfigError(f"headers is a mapping of names to values, got {type(entries).__name__}")
    headers = {}
    for name, value in entries.items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise ConfigError(f"{source} holds a name that no header has; write name: value pairs")
        if name.lower() in _RESERVED_HEADERS:
            raise ConfigError(f"{source} holds {name!r}, which the exporter itself sets; leave it out")
        text = value.strip() if isinstance(value, str) else "\n"
        if not all(" " <= char <= "~" for char in text):
            raise ConfigError(
                f"the value of {name!r} in {source} is no ASCII text on one line; copy it again"
            )
        headers[name.lower()] = text
    return headers


def _one_of(kind: Kind, argument: str | None, name: str, choices: tuple[T, ...], default: T) -> T:
    source, value = (name.lower(), argument) if argument is not None else _variable(kind, name)
    value = value.lower() if isinstance(value, str) else value
    for choice in choices:
        if choice == (value or default):
            return choice
    hint = "; gRPC is not spoken, collectors take HTTP on port 4318" if value == "grpc" else ""
    raise ConfigError(f"{source} is one of {', '.join(choices)}; got {value!r}{hint}")


def _timeout(kind: Kind, argument: float | None) -> float:
    """Seconds; the environment's number is of milliseconds."""
    timeout: float = DEFAULT_TIMEOUT
    if argument is not None:
        timeout = argument
    else:
        variable, text = _variable(kind, "TIMEOUT")
        try:
            timeout = float(text) / 1000 if text else DEFAULT_TIMEOUT
        except ValueError:
            timeout = 0.0
        if not 0 < timeout < math.inf:
            raise ConfigError(f"{variable} is a number of milliseconds above 0, got {text!r}")
    if not (is_number(timeout) and 0 < timeout < math.inf):
        raise ConfigError(f"timeout is a number of seconds above 0, got {timeout!r}")
    return float(timeout)
