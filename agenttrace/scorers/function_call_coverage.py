"""Whether all required functions were called."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.score import Score
from agenttrace.core.trace import Trace
from agenttrace.expectations.lcs import lcs_length
from agenttrace.expectations.selection import Selection
from agenttrace.scorers.call_options import CallOptions, chosen_calls
from agenttrace.scorers.threshold import checked_threshold

Metric = Literal["all_required_calls_made", "required_calls_coverage"]


class FunctionCallCoverageScorer:
    """1.0 where every required function was called, else 0.0; other calls are free.

    `function_calls` is a list of names, the text of a JSON list, or a Jinja template over ``sample`` (the
    example's fields, with its additional_metadata beside them) that renders one; without it the example's
    `expected_tools` are required. A name that is listed twice is required twice. In mode *in_order* the
    required calls must also stand in that order. Nothing required is 1.0.

    With R the required and T the called names, c their counts: made = Σ min(c_R, c_T), total = |R|, coverage
    = made / total (1 where nothing is required), unrequired = |T| − made. The mode decides
    `all_required_calls_made` only. All six are in the details; `metric` says which is the value.
    """

    def __init__(
        self,
        function_calls: Sequence[str] | str | None = None,
        mode: Literal["any_order", "in_order"] = "any_order",
        threshold: float = 1.0,
        *,
        metric: Metric = "all_required_calls_made",
        name: str = "Function Call Coverage",
        **options: Unpack[CallOptions],
    ) -> None:
        self.name = name
        self.threshold = checked_threshold(threshold, name)
        if mode not in ("any_order", "in_order"):
            raise ScorerError(f"{name}: mode is 'any_order' or 'in_order', got {mode!r}")
        if metric not in ("all_required_calls_made", "required_calls_coverage"):
            raise ScorerError(
                f"{name}: metric is 'all_required_calls_made' or 'required_calls_coverage', got {metric!r}"
            )
        self.function_calls = function_calls
        self.mode = mode
        self.metric: Metric = metric
        self.selection = Selection.of(**options)
        if function_calls is not None and not isinstance(function_calls, str):
            _names(name, function_calls)

    def check(self, example: Example) -> None:
        """Raise ScorerError where nothing says what is required."""
        self._required(example)

    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Count.

        Raises:
            ScorerError: nothing says what is required, or what was called.
        """
        required = [self.selection.name_of(name) for name in self._required(example)]
        called = [call.name for call in chosen_calls(example, trace, self.selection)]
        made = (Counter(required) & Counter(called)).total()
        in_order = lcs_length(required, called) == len(required)
        complete = in_order if self.mode == "in_order" else made == len(required)
        details = {
            "all_required_calls_made": float(complete),
            "required_calls_coverage": made / len(required) if required else 1.0,
            "num_required_calls_made": made,
            "num_required_calls_not_made": len(required) - made,
            "num_unrequired_calls": len(called) - made,
            "num_required_calls_total": len(required),
        }
        missing = list((Counter(required) - Counter(called)).elements())
        reason = f"{made} of {len(required)} required calls made"
        if missing:
            reason += f"; missing: {', '.join(missing)}"
        elif not complete:
            reason += ", not in the required order"
        return Score.of(self.name, details[self.metric], self.threshold, reason=reason, details=details)

    def _required(self, example: Example) -> list[str]:
        given: Any = self.function_calls
        if given is None:
            given = example.expected_tools
            if given is None:
                raise ScorerError(f"{self.name} needs function_calls, or the example's expected_tools")
            return [item if isinstance(item, str) else _name_of(self.name, item) for item in given]
        if isinstance(given, str):
            given = _rendered(self.name, given, example)
        return _names(self.name, given)


def _name_of(scorer: str, item: Any) -> str:
    name = item.get("tool_name", item.get("name")) if isinstance(item, dict) else getattr(item, "name", None)
    if not isinstance(name, str):
        raise ScorerError(f"{scorer}: expected_tools is a plain list of tools here, got {item!r}")
    return name


def _names(scorer: str, given: Any) -> list[str]:
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) and name for name in given):
        raise ScorerError(f"{scorer}: function_calls is a list of names, got {given!r}")
    return list(given)


def _rendered(scorer: str, template: str, example: Example) -> Any:
    """The value of a JSON list, or of a template that renders one: sandboxed, strict, over JSON data."""
    text = template
    if "{{" in template or "{%" in template:
        from jinja2 import StrictUndefined, TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        def as_json(value: Any) -> Any:
            return json.dumps(value) if isinstance(value, list | tuple | dict) else value

        environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, finalize=as_json)
        fields = example.to_dict()
        sample = {**fields, **(fields.get("additional_metadata") or {})}
        try:
            text = environment.from_string(template).render(sample=sample)
        except TemplateError as error:
            raise ScorerError(f"{scorer}: the template {template!r} cannot be rendered: {error}") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise ScorerError(f"{scorer}: function_calls is not a JSON list of names: {text[:200]!r}") from None
