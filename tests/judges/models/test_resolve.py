"""From a model's name to its endpoint."""

from __future__ import annotations

from typing import Any

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.judges.models.anthropic import AnthropicModel
from agenttrace.judges.models.fake import FakeChatModel
from agenttrace.judges.models.openai_compatible import OpenAICompatibleModel
from agenttrace.judges.models.resolve import PROVIDERS, resolve_model


@pytest.mark.parametrize(
    ("name", "kind", "model", "url"),
    [
        ("gpt-4.1", OpenAICompatibleModel, "gpt-4.1", "https://api.openai.com/v1"),
        ("o3", OpenAICompatibleModel, "o3", "https://api.openai.com/v1"),
        ("openai/gpt-4.1", OpenAICompatibleModel, "gpt-4.1", "https://api.openai.com/v1"),
        ("claude-sonnet-4-5", AnthropicModel, "claude-sonnet-4-5", "https://api.anthropic.com"),
        ("anthropic/claude-x", AnthropicModel, "claude-x", "https://api.anthropic.com"),
        (
            "openrouter/meta-llama/llama-3",
            OpenAICompatibleModel,
            "meta-llama/llama-3",
            "https://openrouter.ai/api/v1",
        ),
        ("ollama/qwen3", OpenAICompatibleModel, "qwen3", "http://127.0.0.1:11434/v1"),
    ],
)
def test_a_name_says_who_serves_the_model(
    monkeypatch: pytest.MonkeyPatch, name: str, kind: type, model: str, url: str
) -> None:
    for provider in PROVIDERS.values():
        if provider.key_variable:
            monkeypatch.setenv(provider.key_variable, "sk-test")
    found: Any = resolve_model(name)
    assert (type(found), found.name, found.base_url) == (kind, model, url)


def test_every_provider_can_be_resolved_with_a_key() -> None:
    for name, provider in PROVIDERS.items():
        found: Any = resolve_model(f"{name}/some-model", api_key="sk-test")
        assert found.base_url == provider.base_url


def test_a_misspelt_provider_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"unknown provider 'opneai'.*did you mean 'openai'\?") as caught:
        resolve_model("opneai/gpt-4.1")
    assert all(name in str(caught.value) for name in PROVIDERS)
    with pytest.raises(ConfigError, match=r"known: anthropic, .*xai"):
        resolve_model("zzz/gpt-4.1")


@pytest.mark.parametrize("name", ["my-own-model", "", "openai/", "/x", "  "])
def test_a_bare_name_that_says_nothing_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match="anthropic, "):
        resolve_model(name)


def test_a_missing_key_is_an_error_that_names_the_variable() -> None:
    with pytest.raises(ConfigError, match=r"'gpt-4.1' needs a key: set OPENAI_API_KEY, or pass api_key="):
        resolve_model("gpt-4.1")
    with pytest.raises(ConfigError, match="ANTHROPIC_API_KEY"):
        resolve_model("claude-haiku-4-5")


def test_addresses_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    found: Any = resolve_model("qwen3")
    assert (found.name, found.base_url) == ("qwen3", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1?key=sk-SECRET")
    with pytest.raises(ConfigError, match=r"OPENAI_BASE_URL for 127.0.0.1 holds a user, a query") as caught:
        resolve_model("gpt-4.1")
    assert "SECRET" not in str(caught.value)


def test_a_key_of_the_environment_does_not_go_to_an_address_given_in_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-SECRET")
    found: Any = resolve_model("my-model", base_url="http://127.0.0.1:9/v1")
    assert found._key is None
    with pytest.raises(ConfigError, match="pass api_key= along with base_url="):
        resolve_model("anthropic/claude-haiku-4-5", base_url="http://127.0.0.1:9")


def test_the_same_name_and_settings_share_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one")
    first = resolve_model("gpt-4.1")
    assert resolve_model("openai/gpt-4.1") is first
    assert resolve_model("gpt-4.1", temperature=0.7) is not first
    monkeypatch.setenv("OPENAI_API_KEY", "sk-two")
    assert resolve_model("gpt-4.1") is not first


def test_a_model_object_is_taken_as_it_is() -> None:
    fake = FakeChatModel({})
    assert resolve_model(fake) is fake
    with pytest.raises(ConfigError, match=r"a name or has an async complete\(\), got int"):
        resolve_model(3)  # type: ignore[arg-type]
