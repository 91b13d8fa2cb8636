"""What may be said beside the scorers when an evaluation in production is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from agenttrace.core.errors import ConfigError, did_you_mean
from agenttrace.evaluation.alerts import Alert
from agenttrace.evaluation.request import OnResult
from agenttrace.evaluation.validity import check_alerts

if TYPE_CHECKING:
    from agenttrace.core.protocols import ChatModel


class Wishes(TypedDict, total=False):
    """The named parameters of `async_evaluate`: the fields of an example, then how it is judged.

    Collected in one dict, because sixteen parameters with defaults of their own cost each call half a
    microsecond.
    """

    input: Any
    actual_output: Any
    expected_output: Any
    context: list[str] | None
    retrieval_context: list[str] | None
    tools_called: list[Any] | None
    expected_tools: Any
    additional_metadata: dict[str, Any] | None
    model: str | ChatModel | None
    sample_rate: float
    span_id: str | None
    timeout: float | None
    on_result: OnResult | None
    alerts: Sequence[Alert]


_KNOWN = frozenset(Wishes.__annotations__)
_RULES = frozenset(("model", "sample_rate", "span_id", "timeout", "on_result", "alerts"))


def take_fields(wishes: Wishes, example: dict[str, Any] | None) -> dict[str, Any] | None:
    """The fields to judge: the example's, or those that are taken out of `wishes`, with all that is None.

    Raises:
        ConfigError: a name that is not known, a field beside those of an `example`.
    """
    given: dict[str, Any] = wishes  # type: ignore[assignment]
    fields = {}
    for name, value in tuple(given.items()):
        if name in _RULES:
            if value is None:
                del given[name]
            continue
        if name not in _KNOWN:
            raise ConfigError(f"async_evaluate has no parameter {name!r}{did_you_mean(name, _KNOWN)}")
        fields[name] = given.pop(name)
        if example is not None and value is not None:
            raise ConfigError(f"async_evaluate takes an example or its fields, got both: {name}")
    return example if example is not None else fields


def check_wishes(wishes: Wishes) -> None:
    """Raise ConfigError for a deadline, a callback or alerts that cannot work."""
    timeout, on_result = wishes.get("timeout"), wishes.get("on_result")
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0
    ):
        raise ConfigError(f"timeout is a number of seconds above 0, got {timeout!r}")
    if on_result is not None and not callable(on_result):
        raise ConfigError(f"on_result is a function of the scores, got {on_result!r}")
    check_alerts(wishes.get("alerts", ()))
