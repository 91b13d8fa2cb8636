"""How far a call fits an expected one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from unittest.mock import patch

import pytest

from agenttrace import Example, ToolOrderScorer
from agenttrace.core.errors import ExpectationError, ScorerError
from agenttrace.core.marks import REDACTED
from agenttrace.core.tool import Parameter, ToolDefinition
from agenttrace.core.tool_call import ToolCall
from agenttrace.core.trace import Trace
from agenttrace.expectations import (
    ABSENT,
    approx,
    call,
    default,
    gt,
    has,
    length,
    lt,
    not_,
    one_of,
    reading,
    ref,
)
from agenttrace.matching import Comparison, compare
from agenttrace.matching.agreement import CallAgreement
from tests.expectations.strategies import trace_of

WEATHER = ToolDefinition(
    name="weather",
    parameters=(Parameter("city"), Parameter("days", default=3), Parameter("options", kind="var_keyword")),
)
TOOLS = {"weather": WEATHER}


def compared(expected: object, arguments: dict[str, object], **options: object) -> Comparison:
    run = trace_of([{"name": "weather", "arguments": arguments}])
    return compare([expected], run, tools=TOOLS, **options)  # type: ignore[arg-type]


RECORDED = {"city": "Paris", "days": 3, "options": {}}


def test_defaults_spelled_out_or_not_compare_equal() -> None:
    assert compared(call("weather", city="Paris"), RECORDED).holds
    assert compared(call("weather", city="Paris", days=3), RECORDED).holds
    assert not compared(call("weather", city="Paris"), {**RECORDED, "days": 4}).holds
    assert compared(call("weather", city="Paris", lang="fr"), {**RECORDED, "options": {"lang": "fr"}}).holds


def test_in_listed_mode_defaults_are_not_asked_for() -> None:
    assert compared(call("weather", city="Paris"), {**RECORDED, "days": 9}, match="listed").holds
    assert compared(call("weather", {"city": "Paris"}, match="listed"), {**RECORDED, "days": 9}).holds
    extra = {**RECORDED, "options": {"lang": "fr", "unit": "C"}}
    assert compared(call("weather", lang="fr"), extra, match="listed").holds


def test_matchers_pass_through_the_signature() -> None:
    assert compared(call("weather", city="Paris", days=approx(4, abs=1)), RECORDED).holds


def test_a_parameter_that_the_tool_does_not_have_is_an_error_with_a_suggestion() -> None:
    strict = {"weather": ToolDefinition(name="weather", parameters=(Parameter("city"),))}
    with pytest.raises(ExpectationError, match="did you mean 'city'"):
        compare([call("weather", ciyt="Paris")], trace_of([{"name": "weather"}]), tools=strict)


def test_the_mode_of_a_call_goes_before_that_of_the_comparison() -> None:
    extra = trace_of([{"name": "f", "arguments": {"x": 1, "y": 2}}])
    assert not compare([call("f", x=1)], extra).holds
    assert compare([call("f", {"x": 1}, match="listed")], extra).holds
    assert compare([call("f", {"x": 5}, match="ignore")], extra).holds
    assert not compare([call("f", {"x": 1}, match="exact")], extra, match="listed").holds


def test_ignored_parameters_are_left_out_on_both_sides() -> None:
    run = trace_of([{"name": "f", "arguments": {"x": 1, "request_id": "r1"}}])
    assert compare([call("f", {"x": 1, "request_id": "other"}, ignore=["request_id"])], run).holds
    assert compare([call("f", {"x": 1}, ignore="request_id")], run).holds


def test_arguments_that_could_not_be_read_do_not_agree_and_say_why() -> None:
    run = trace_of([{"name": "f", "arguments": "{not json"}])
    comparison = compare([call("f", x=1)], run)
    assert not comparison.holds
    assert "not JSON" in comparison.rows[0].differences[0].note
    assert compare(["f"], run).holds


def test_an_output_is_compared_as_a_value() -> None:
    run = trace_of([{"name": "f", "arguments": {"x": 1}, "output": {"items": [1, 2]}}])
    assert compare([call("f", output={"items": (1, 2.0)})], run).holds
    assert not compare([call("f", output=None)], run).holds
    assert compare([call("f", {"x": 1}, output={"items": [1, 3]})], run).coverage == 0.75


def test_a_call_that_raised_gave_no_output_not_null() -> None:
    run = trace_of([{"name": "save", "arguments": {"x": 1}, "error": "OSError: disk full"}])
    comparison = compare([call("save", x=1, output=None)], run)
    assert not comparison.holds
    assert "returned nothing" in comparison.rows[0].differences[0].note
    assert compare([call("save", x=1, output=ABSENT)], run).holds
    assert compare([call("save", x=1)], run).holds
    returned = trace_of([{"name": "save", "arguments": {"x": 1}, "output": None}])
    assert compare([call("save", output=None)], returned).holds


@pytest.mark.parametrize("expected", [None, "ok", ABSENT])
def test_what_a_call_gave_that_was_written_down_without_it_cannot_be_told(expected: object) -> None:
    for written in ("save", {"name": "save", "arguments": {}}):
        example = Example(expected_tools=[call("save", output=expected)], tools_called=[written])
        score = ToolOrderScorer().score(example)
        assert score.outcome == "errored", score
        assert "say what the call returned, as its 'output'" in score.reason
    unasked = Example(expected_tools=["save"], tools_called=["save"])
    assert ToolOrderScorer().score(unasked).outcome == "passed"


def test_bounds_of_moments_are_those_of_time_whatever_their_offsets() -> None:
    def holds(bound: object, moment: str) -> bool:
        return compare(
            [call("at", when=bound)], trace_of([{"name": "at", "arguments": {"when": moment}}])
        ).holds

    limit = "2025-06-01T00:00:00Z"
    assert not holds(gt(limit), "2025-06-01T01:00:00+02:00")
    assert holds(lt(limit), "2025-06-01T01:00:00+02:00")
    assert holds(gt(limit), "2025-06-01T03:00:00+02:00")
    assert holds(lt("2025-06-01T00:00:00.5"), "2025-06-01T00:00:00.25")
    assert holds(gt("2025-06-01T00:00:00"), "2025-06-01 00:00:00.1")
    assert holds(gt("2025-06-01"), "2025-06-02")  # of texts that are no moments the order of characters


def test_an_answer_of_not_implemented_says_neither_yes_nor_no() -> None:
    run = trace_of([{"name": "at", "arguments": {"n": 1}}])
    with pytest.raises(ScorerError, match="returns true or false, got NotImplemented"):
        compare([call("at", n=lambda n: NotImplemented)], run)


@pytest.mark.parametrize(
    ("guard", "value"),
    [
        (lambda raises: raises, 1),
        (lambda raises: one_of(raises, 2), 1),
        (lambda raises: one_of(2, raises), 1),
        (lambda raises: has(raises), [1]),
        (lambda raises: {"k": one_of(raises)}, {"k": 1}),
        (lambda raises: length(one_of(raises)), [1]),
        (lambda raises: default(raises), 1),
        (lambda raises: not_(not_(raises)), 1),
    ],
)
def test_a_value_does_not_pass_not_where_a_predicate_anywhere_in_it_raises(
    guard: Callable[[object], object], value: object
) -> None:
    run = trace_of([{"name": "t", "arguments": {"x": value}}])
    comparison = compare([call("t", x=not_(guard(lambda v: v["a"])))], run)
    assert not comparison.holds
    assert "the predicate raised TypeError" in comparison.rows[0].differences[0].note


@pytest.mark.parametrize("word", ["is_error", "isError"])
def test_a_recorded_call_that_says_that_it_is_an_error_failed(word: str) -> None:
    (called,) = trace_of([{"name": "a", word: True}]).tool_calls
    assert called.failed
    (worked,) = trace_of([{"name": "a", word: False}]).tool_calls
    assert not worked.failed


def same_words(expected: str, actual: str) -> bool:
    return sorted(expected.lower().split()) == sorted(actual.lower().split())


def test_comparators_compare_single_parameters_or_whole_arguments() -> None:
    run = trace_of([{"name": "ask", "arguments": {"q": "Weather PARIS", "n": 3}}])
    assert compare([call("ask", q="paris weather", n=3)], run, comparators={"ask": {"q": same_words}}).holds
    assert not compare(
        [call("ask", q="rome weather", n=3)], run, comparators={"ask": {"q": same_words}}
    ).holds
    graded = compare([call("ask", n=1)], run, comparators={"ask": lambda expected, got: 0.25})
    assert graded.coverage == 0.25
    assert graded.rows[0].differences[0].note == "by <lambda>"


def test_a_comparator_that_sorts_what_it_is_given_changes_neither_the_run_nor_the_expectation() -> None:
    def in_any_order(expected: list[str], actual: list[str]) -> bool:
        expected.sort()
        actual.sort()
        return expected == actual

    run = Trace.from_calls([{"name": "tag", "arguments": {"tags": ["b", "a"], "by": [["d", "c"]]}}])
    expected = [call("tag", tags=["a", "b"], by=[["d", "c"]])]
    for comparators in (
        {"tag": {"tags": in_any_order}},
        {"tag": lambda e, a: a.clear() or e.clear() or True},
    ):
        assert compare(expected, run, comparators=comparators).holds
        assert run.tool_calls[0].arguments == {"tags": ["b", "a"], "by": [["d", "c"]]}
        assert not compare(expected, run).holds


def test_a_comparator_that_returns_nonsense_is_an_error() -> None:
    with pytest.raises(ScorerError, match="from 0 to 1"):
        compare([call("ask", n=1)], trace_of(["ask"]), comparators={"ask": lambda expected, got: 3})


def test_an_unknown_tool_is_an_error_with_a_suggestion_where_tools_are_known() -> None:
    with pytest.raises(ExpectationError, match="did you mean 'weather'"):
        compare(["wether"], trace_of(["weather"]), tools=TOOLS)
    assert not compare(["wether"], trace_of(["weather"])).holds


def test_a_reference_to_nothing_known_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(ExpectationError, match="did you mean 'weather'"):
        compare([call("weather", city=ref("wether.output"))], trace_of(["weather"]), tools=TOOLS)


def test_a_trace_brings_its_own_tools() -> None:
    run = trace_of([{"name": "weather", "arguments": RECORDED}])
    trace = Trace(run.spans, tools=TOOLS)
    assert compare([call("weather", city="Paris")], trace).holds
    with pytest.raises(ExpectationError):
        compare(["wether"], trace)


def test_a_row_compared_by_a_comparator_is_json_safe() -> None:
    run = trace_of([{"name": "ask", "arguments": {"q": "a"}}])
    (row,) = compare([call("ask", q="b")], run, comparators={"ask": {"q": same_words}}).rows
    assert row.to_dict()["differences"][0]["expected"] == "'b'"


SCALARS: list[object] = [
    None,
    "NaN",
    True,
    False,
    0,
    1,
    1.0,
    0.5,
    2**60,
    "",
    "1",
    "a",
    "é",
    "\ud800",
    "\ufffd",
]
SCALARS += ["2026-01-02T03:04:05Z", "2026-01-02T04:04:05+01:00", REDACTED, f"a{REDACTED}", "a…[+8 chars]"]


@pytest.mark.parametrize("mode", ["exact", "listed", "ignore"])
@pytest.mark.parametrize("defined", ["not", "by the same names", "by others"])
@pytest.mark.parametrize(
    "names", [("city", "days"), ("$type", "city"), ("$type",), ("$float",), ("k\ud800",)], ids=repr
)
def test_scalars_by_the_same_names_agree_as_any_arguments_do(
    mode: str, defined: str, names: tuple[str, ...]
) -> None:
    own = ToolDefinition(name="weather", parameters=tuple(Parameter(name) for name in names))
    tool = {"not": None, "by the same names": own, "by others": WEATHER}[defined]

    def agreed(expected: dict[str, object], actual: dict[str, object]) -> tuple[float, list[str]] | str:
        made = ToolCall(name="weather", arguments=actual, index=0, tool=tool)
        agreement = CallAgreement([made], mode=mode)  # type: ignore[arg-type]
        with reading._read(favourable=True) as read:
            try:
                return agreement.agreement(call("weather", expected), 0), list(map(str, read.doubts))
            except ExpectationError as error:
                return str(error)

    written = [name.replace("$", "$$") for name in names]  # what is written so is expected as it stands
    for wanted, there in product(SCALARS, SCALARS):
        both = [dict.fromkeys(of, 1) | {of[0]: value} for of, value in ((written, wanted), (names, there))]
        quick = agreed(*both)
        with patch.object(CallAgreement, "_agree_plainly", lambda *_: None):
            assert quick == agreed(*both), both
