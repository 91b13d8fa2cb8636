"""What should happen, as users write it and files hold it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from agenttrace.core.errors import DatasetError, did_you_mean
from agenttrace.core.tool_call import ExpectedToolCall


def _now() -> str:
    return datetime.now(timezone.utc).isoformat()


class Example(BaseModel):
    """What should happen, and for recorded runs what did.

    Every field is optional; a scorer says which it needs. `input` is passed to the agent: a mapping as
    keyword arguments, a string as the one argument, None as none. `actual_output`, `tools_called` and
    `retrieval_context` hold a recorded run; where an agent is run, its output takes the place of
    `actual_output`. `expected_tools` is a list of names, of mappings with ``tool_name`` and ``parameters``, of
    ``call(…)``, or any expectation. Unknown fields are an error.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, validate_assignment=True)

    input: str | dict[str, Any] | None = None
    actual_output: Any = None
    expected_output: Any = None
    context: list[str] | None = None
    retrieval_context: list[str] | None = None
    tools_called: list[Any] | None = None
    expected_tools: Any = None
    additional_metadata: dict[str, Any] | None = None
    name: str | None = None
    example_id: str = Field(default_factory=lambda: str(uuid4()))
    created_at: str = Field(default_factory=_now)

    @model_validator(mode="before")
    @classmethod
    def _known_fields_only(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        for key in data:
            if key not in cls.model_fields:
                raise DatasetError(
                    f"an Example has no field {key!r}" + did_you_mean(str(key), cls.model_fields)
                )
        return {k: v for k, v in data.items() if v is not None or k not in ("example_id", "created_at")}

    @field_validator("expected_tools")
    @classmethod
    def _readable_tools(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            for item in value:
                if isinstance(item, str) or (
                    isinstance(item, Mapping) and ({"tool_name", "name"} & item.keys())
                ):
                    ExpectedToolCall.of(item)
        elif isinstance(value, str):
            raise DatasetError(
                f"expected_tools is a list of tools, got the string {value!r}; write [{value!r}]"
            )
        return value

    def to_dict(self) -> dict[str, Any]:
        """Every field under its name, None included."""
        return self.model_dump(mode="python")
