"""Options that cannot work are refused when a model is made, before anything is asked."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from agenttrace.core.errors import ConfigError
from agenttrace.judges.models.anthropic import AnthropicModel
from agenttrace.judges.models.openai_compatible import OpenAICompatibleModel

MODELS = (OpenAICompatibleModel, AnthropicModel)
ADDRESS: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1", "api_key": "sk-test"}
OF_ALL = [("timeout", math.nan), ("timeout", 0), ("timeout", "60"), ("temperature", math.nan)]
OF_ALL += [("temperature", -1), ("temperature", "hot"), ("extra", [1])]
OF_ONE = [(OpenAICompatibleModel, "api", "chats"), (OpenAICompatibleModel, "structured", "json")]
OF_ONE += [(AnthropicModel, "max_tokens", 0), (AnthropicModel, "max_tokens", "many")]


@pytest.mark.parametrize(
    ("model", "option", "value"), [*((model, *one) for model in MODELS for one in OF_ALL), *OF_ONE]
)
def test_an_option_that_cannot_work_is_refused(model: Any, option: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"{option} is .*, got {re.escape(repr(value))}"):
        model("m", **ADDRESS, **{option: value})


@pytest.mark.parametrize("model", MODELS)
def test_a_model_has_a_name(model: Any) -> None:
    with pytest.raises(ConfigError, match="non-empty string, got ''"):
        model("", **ADDRESS)
