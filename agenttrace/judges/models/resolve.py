"""From a model's name to the model: its provider, address and key."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.core.protocols import ChatModel
from agenttrace.http.endpoint import ApiKey, checked_base_url
from agenttrace.judges.models.anthropic import AnthropicModel
from agenttrace.judges.models.openai_compatible import OpenAICompatibleModel, Structured

DEFAULT_MODEL_VARIABLE = "AGENTTRACE_JUDGE_MODEL"


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider's address, and the environment variables that hold its key and another address."""

    base_url: str
    key_variable: str | None
    url_variable: str
    prefixes: tuple[str, ...] = ()
    api: Literal["chat", "messages"] = "chat"
    structured: Structured = "json_schema"


PROVIDERS: dict[str, Provider] = {
    "anthropic": Provider(
        "https://api.anthropic.com", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ("claude-",), api="messages"
    ),
    "deepseek": Provider(
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        "DEEPSEEK_BASE_URL",
        ("deepseek-",),
        structured="json_object",
    ),
    "fireworks": Provider("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "FIREWORKS_BASE_URL"),
    "google": Provider(
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "GEMINI_BASE_URL",
        ("gemini-",),
    ),
    "groq": Provider(
        "https://api.groq.com/openai/v1", "GROQ_API_KEY", "GROQ_BASE_URL", structured="json_object"
    ),
    "mistral": Provider("https://api.mistral.ai/v1", "MISTRAL_API_KEY", "MISTRAL_BASE_URL", ("mistral-",)),
    "ollama": Provider("http://127.0.0.1:11434/v1", None, "OLLAMA_BASE_URL"),
    "openai": Provider(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        ("gpt-", "chatgpt-", "o1", "o3", "o4"),
    ),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_API_KEY", "TOGETHER_BASE_URL"),
    "vllm": Provider("http://127.0.0.1:8000/v1", None, "VLLM_BASE_URL"),
    "xai": Provider("https://api.x.ai/v1", "XAI_API_KEY", "XAI_BASE_URL", ("grok-",)),
}

_models: dict[tuple[str, str, str | None], ChatModel] = {}


def resolve_model(
    model: str | ChatModel, *, base_url: str | None = None, api_key: str | None = None, **options: Any
) -> ChatModel:
    """Return the model that a name stands for; a model object is returned as it is.

    A name is ``"provider/model"``, or a bare one whose beginning says the provider (``gpt-4.1``,
    ``claude-sonnet-4-5``); with `base_url` or ``OPENAI_BASE_URL`` any bare name is a model of that
    OpenAI-compatible endpoint. Keys and addresses come from the arguments or from the provider's environment
    variables, nowhere else. The same name and settings give the same object, so that connections are shared.
    `options` go to the model's class (`timeout`, `temperature`, `api` …).

    Raises:
        ConfigError: the provider or the model is unknown, there is no key, or the key or the address cannot
            work.
    """
    if not isinstance(model, str):
        if not callable(getattr(model, "complete", None)):
            raise ConfigError(f"a model is a name or has an async complete(), got {type(model).__name__}")
        return model
    provider, name = _split(model, base_url)
    settings = PROVIDERS[provider]
    source = settings.url_variable if base_url is None else "base_url"
    url = base_url or os.environ.get(settings.url_variable) or settings.base_url
    key = _key(model, settings, api_key, custom=base_url is not None)
    memo = (f"{provider}/{name}", url, None if key is None else key.reveal())
    if not options and memo in _models:
        return _models[memo]
    chat_model = _build(settings, name, url, key, source, options)
    if not options:
        _models[memo] = chat_model
    return chat_model


def default_model() -> str | None:
    """Return the model's name in ``AGENTTRACE_JUDGE_MODEL``, or None."""
    return os.environ.get(DEFAULT_MODEL_VARIABLE, "").strip() or None


def _split(model: str, base_url: str | None) -> tuple[str, str]:
    """Return the provider and its own name for the model."""
    provider, slash, name = model.strip().partition("/")
    if slash and name and provider in PROVIDERS:
        return provider, name
    if base_url is not None and model.strip():
        return "openai", model.strip()
    if slash:
        hint = did_you_mean(provider, PROVIDERS)
        if "known:" not in hint:
            hint += f" (known: {', '.join(sorted(PROVIDERS))})"
        raise ConfigError(f"unknown provider {provider!r} in the model {model!r}{hint}")
    for candidate, settings in PROVIDERS.items():
        if settings.prefixes and provider.startswith(settings.prefixes):
            return candidate, provider
    if provider and os.environ.get("OPENAI_BASE_URL"):
        return "openai", provider
    raise ConfigError(
        f"cannot tell who serves the model {model!r}; write 'provider/model', "
        f"with one of: {', '.join(sorted(PROVIDERS))}"
    )


def _key(model: str, settings: Provider, api_key: str | None, *, custom: bool) -> ApiKey | None:
    if api_key is not None:
        return ApiKey(api_key)
    variable = settings.key_variable
    # A key from the environment belongs to the environment's endpoint, not to an address given in code.
    if variable is None or custom:
        return None
    key = os.environ.get(variable)
    if not key:
        raise ConfigError(f"the model {model!r} needs a key: set {variable}, or pass api_key=")
    return ApiKey(key, variable)


def _build(
    settings: Provider, name: str, url: str, key: ApiKey | None, source: str, options: dict[str, Any]
) -> ChatModel:
    base_url = checked_base_url(url, source)
    if settings.api == "messages":
        if key is None:
            raise ConfigError("Anthropic's API needs a key: pass api_key= along with base_url=")
        return AnthropicModel(name, api_key=key, base_url=base_url, **options)
    options = {"structured": settings.structured, **options}
    return OpenAICompatibleModel(name, base_url=base_url, api_key=key, **options)
