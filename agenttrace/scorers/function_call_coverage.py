"""Whether all required functions were called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal, Unpack

from agenttrace.core.errors import ScorerError
from agenttrace.core.example import Example
from agenttrace.core.json_reader import InvalidJSON, lenient_json
from agenttrace.core.score import Score
from agenttrace.core.text import shorten
from agenttrace.core.trace import Trace
from agenttrace.expectations.pattern import Call
from agenttrace.expectations.reading import in_both_readings
from agenttrace.matching.fitting_order import in_fitting_order
from agenttrace.matching.lcs import lcs_length
from agenttrace.matching.parallel import parallel_facts
from agenttrace.matching.selection import actual_calls
from agenttrace.scorers.call_scorer import CallOptions, CallScorer
from agenttrace.templates.template import Template, TemplateTrouble, is_template

Metric = Literal["all_required_calls_made", "required_calls_coverage"]


class FunctionCallCoverageScorer(CallScorer):
    """1.0 where every required function was called, else 0.0; other calls are free.

    `function_calls` is a list of names, the text of a JSON list, or a Jinja template over ``sample`` (the
    example's fields, with its additional_metadata beside them) that renders one; without it the example's
    `expected_tools` are required. A name that is listed twice is required twice. In mode *in_order* the
    required calls must also stand in that order. Nothing required is 1.0.

    With R the required and T the called names, c their counts: made = Σ min(c_R, c_T), total = |R|, coverage
    = made / total (1 where nothing is required), unrequired = |T| − made. The mode decides
    `all_required_calls_made` only. All six are in the details; `metric` says which is the value.

    Raises:
        ScorerError: the mode or the metric is unknown, `function_calls` is not a list of names, or a template
            cannot be read.
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
        super().__init__(name, threshold, options)
        if mode not in ("any_order", "in_order"):
            raise ScorerError(f"{name}: mode is 'any_order' or 'in_order', got {mode!r}")
        if metric not in ("all_required_calls_made", "required_calls_coverage"):
            raise ScorerError(
                f"{name}: metric is 'all_required_calls_made' or 'required_calls_coverage', got {metric!r}"
            )
        self.function_calls = function_calls
        self.mode = mode
        self.metric: Metric = metric
        self._render: Callable[[Example], Any] | None = None
        if isinstance(function_calls, str):
            self._render = json_renderer(name, function_calls)
        elif function_calls is not None:
            self._calls(function_calls, None)

    def check(self, example: Example) -> None:
        """Raise ScorerError where nothing says what is required."""
        self._required(example)

    @in_both_readings
    def score(self, example: Example, trace: Trace | None = None) -> Score:
        """Count the required calls that were made.

        Raises:
            ScorerError: nothing says what is required, or what was called.
            ExpectationError: a required function is not among the recorded tools.
        """
        run = actual_calls(example, trace)
        expected = self._required(example)
        required = self._compared_names(expected, run)
        calls = in_fitting_order(required, self._chosen_calls(run, expected))
        actual = [call.name for call in calls]
        num_made = (Counter(required) & Counter(actual)).total()
        in_order = lcs_length(required, actual) == len(required)
        complete = in_order if self.mode == "in_order" else num_made == len(required)
        details: dict[str, Any] = {
            "all_required_calls_made": float(complete),
            "required_calls_coverage": num_made / len(required) if required else 1.0,
            "num_required_calls_made": num_made,
            "num_required_calls_not_made": len(required) - num_made,
            "num_unrequired_calls": len(actual) - num_made,
            "num_required_calls_total": len(required),
            **(parallel_facts(calls) if self.mode == "in_order" else {}),
        }
        missing = list((Counter(required) - Counter(actual)).elements())
        reason = f"{num_made} of {len(required)} required calls made"
        if missing:
            reason += f"; missing: {', '.join(missing)}"
        elif not complete:
            reason += ", not in the required order"
        return self.scored(details[self.metric], reason, details)

    def _required(self, example: Example) -> Sequence[Call]:
        if self._render is not None:
            return self._calls(self._render(example), example.source)
        if self.function_calls is not None:
            return self._calls(self.function_calls, None)
        if example.expected_tools is None:
            raise ScorerError(f"{self.name} needs function_calls, or the example's expected_tools")
        return self._expected_calls(example.expected_tools, example.source)

    def _calls(self, names: Any, source: str | None) -> Sequence[Call]:
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
            raise ScorerError(
                f"{self.name}: function_calls is a list of names, got {shorten(repr(names), 200)}"
            )
        return self._expected_calls(list(names), source)


def json_renderer(scorer: str, text: str) -> Callable[[Example], Any]:
    """Return a function that gives the JSON value of the text for an example.

    A template sees ``sample``: the example's fields, with its additional_metadata beside them (which go
    first). One that is an expression gives its value; any other, and an expression that gives a text, the
    value of the JSON text. See `Template` for what it may do, and for how long.

    Raises:
        ScorerError: the template cannot be read, or the text is not JSON. The returned function raises it
            where the template cannot be rendered or does not render JSON.
    """
    if not is_template(text):
        value = _json(scorer, text)
        return lambda _: value
    try:
        template = Template.parse(text)
    except TemplateTrouble as trouble:
        raise ScorerError(
            f"{scorer}: the template {shorten(repr(text), 200)} cannot be read: {trouble}"
        ) from None

    def render(example: Example) -> Any:
        fields = example.to_dict()
        sample = {**fields, **(fields.get("additional_metadata") or {})}
        try:
            output = template.render(sample=sample)
        except TemplateTrouble as trouble:
            raise ScorerError(
                f"{scorer}: the template {shorten(repr(text), 200)} cannot be rendered: {trouble}"
            ) from None
        return _json(scorer, output) if isinstance(output, str) else output

    return render


def _json(scorer: str, text: str) -> Any:
    try:
        return lenient_json(text)
    except InvalidJSON:
        raise ScorerError(f"{scorer}: this is not a JSON list of names: {shorten(text, 200)!r}") from None
