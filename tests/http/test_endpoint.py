"""Keys and addresses, checked when they enter (scenarios 102 and 103)."""

from __future__ import annotations

import asyncio
import logging
import pickle
import traceback
from typing import Any

import pytest

from agenttrace.core.errors import ConfigError, JudgeError
from agenttrace.http.endpoint import ApiKey, checked_base_url
from agenttrace.judges.models.anthropic import AnthropicModel
from agenttrace.judges.models.openai_compatible import OpenAICompatibleModel

SECRET = "sk-VERYSECRETKEY123"
MESSAGES = [{"role": "user", "content": "hello"}]


def everything_about(error: BaseException) -> str:
    """The text, the traceback and every attribute of an exception and of all that hang on it."""
    parts, seen, waiting = [], set(), [error]
    while waiting:
        current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        parts += [str(current), repr(current), "".join(traceback.format_exception(current))]
        parts += [repr(current.args), repr(vars(current))]
        waiting += [other for other in (current.__cause__, current.__context__) if other is not None]
    return "\n".join(parts)


@pytest.mark.parametrize("key", [f"{SECRET}\n", f"  {SECRET}\r\n", f"\t{SECRET} "])
def test_line_ends_round_a_key_are_stripped(endpoint: Any, respond: Any, key: str) -> None:
    server = endpoint(lambda _: respond({"choices": [{"message": {"content": "hi"}}]}))
    model = OpenAICompatibleModel("gpt-4.1", base_url=server.url, api_key=key)
    assert asyncio.run(model.complete(MESSAGES)).text == "hi"
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    "key", [f"{SECRET}\nx", f"{SECRET}é", f"{SECRET} two", f"{SECRET}\x00", f"“{SECRET}”", f"{SECRET}\u200b"]
)
def test_a_key_that_cannot_be_one_is_refused_without_being_shown(key: str) -> None:
    for make in (
        lambda: OpenAICompatibleModel("gpt-4.1", base_url="https://host/v1", api_key=key),
        lambda: AnthropicModel("claude-sonnet-4-5", api_key=key),
    ):
        with pytest.raises(ConfigError, match="a character that no key has") as caught:
            make()
        assert SECRET not in everything_about(caught.value)


@pytest.mark.parametrize("key", ["", " \n"])
def test_an_empty_key_is_an_error_that_names_its_source(key: str) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is empty"):
        ApiKey(key, "OPENAI_API_KEY")


def test_a_key_does_not_show_itself_and_does_not_travel() -> None:
    key = ApiKey(SECRET, "OPENAI_API_KEY")
    assert SECRET not in f"{key!r} {key} {[key]}"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(key)


@pytest.mark.parametrize(
    "url",
    [
        f"https://host/v1?key={SECRET}",
        f"https://user:{SECRET}@host/v1",
        f"https://{SECRET}@host/v1",
        f"https://host/v1#{SECRET}",
        f"{SECRET}://host",
        f"{SECRET}",
        f"https://host:{SECRET}/v1",
        f"https://[{SECRET}/v1",
    ],
)
def test_a_key_inside_an_address_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        checked_base_url(url)
    assert SECRET.lower() not in everything_about(caught.value).lower()


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "gopher://host/1", "ftp://host", "", "host/v1", "//host"]
)
def test_an_address_that_is_not_http_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"http:// or https://"):
        checked_base_url(url)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "[::ffff:169.254.169.254]",
        "[fe80::1]",
        "169.254.43518",
    ],
)
def test_a_link_local_address_is_refused_in_every_spelling(host: str) -> None:
    with pytest.raises(ConfigError, match="link-local"):
        checked_base_url(f"http://{host}/latest/meta-data")


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        (" https://api.openai.com/v1\n", "https://api.openai.com/v1"),
        ("http://10.0.0.7:8080", "http://10.0.0.7:8080"),
    ],
)
def test_local_and_private_addresses_are_allowed(url: str, kept: str) -> None:
    assert checked_base_url(url) == kept


def _close(_: Any) -> list[bytes]:
    return [b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", b""]


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("status", [200, 302, 400, 401, 403, 404, 429, 500, None])
def test_no_failure_of_an_endpoint_shows_the_key(
    endpoint: Any, respond: Any, caplog: pytest.LogCaptureFixture, kind: str, status: int | None
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"Incorrect API key provided: {SECRET}. See https://host?key={SECRET}"}}
    server = endpoint(lambda _: _close(_) if status is None else respond(echo, status))
    transport_settings = {"timeout": 1.5}  # all of it is spent where a status is tried again
    model: Any = (
        OpenAICompatibleModel("gpt-4.1", base_url=server.url, api_key=SECRET, **transport_settings)  # type: ignore[arg-type]
        if kind == "openai"
        else AnthropicModel("claude-sonnet-4-5", base_url=server.url, api_key=SECRET, **transport_settings)  # type: ignore[arg-type]
    )
    if status == 200:
        assert SECRET not in repr(asyncio.run(model.complete(MESSAGES)))
    else:
        with pytest.raises(JudgeError) as caught:
            asyncio.run(model.complete(MESSAGES))
        assert SECRET not in everything_about(caught.value)
    assert SECRET not in f"{model!r} {model.identity} {caplog.text}"
    assert server.requests[0].headers.get("authorization", server.requests[0].headers.get("x-api-key"))
