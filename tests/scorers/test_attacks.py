"""Ways in which a score said more than the record knows, each with what it must say instead."""

import json
import pickle
import re
from decimal import Decimal

import pytest

from agenttrace import (
    ABSENT,
    ANY,
    EvalDataset,
    Example,
    Limits,
    Tracer,
    call,
    has,
    length,
    not_,
    one_of,
    opt,
    ref,
)
from agenttrace.core.errors import ScorerError
from agenttrace.core.trace import Trace
from agenttrace.expectations import default, expectation_of
from agenttrace.judges.evidence import as_text
from agenttrace.scorers import (
    ContainsScorer,
    ExactMatchScorer,
    ExecutionOrderScorer,
    JSONCorrectnessScorer,
    JSONSimilarityScorer,
    LoopScorer,
    NumericDifferenceScorer,
    RegexScorer,
    ToolCallArgsScorer,
    ToolCallOutputScorer,
    ToolOrderScorer,
)

CUTTING = {"capture_limits": Limits(value=300)}
SECRET = "sk-abcdefghijklmnopqrstuv"
CUT_OFF, NAN, UNOPENED = {"a": 1, "$truncated": 3}, {"$float": "NaN"}, {"$type": "x"}


def run(go, **options):
    """The trace of a run that was captured, and what another process reads of it."""
    tracer = Tracer("attacks", store="memory", **options)
    with tracer.capture() as captured, tracer.span("root") as root:
        root.output = go(tracer)
    return captured.trace, pickle.loads(pickle.dumps(captured.trace))


def one_call(x, **options):
    """The same of a run with one call ``t(x)``."""
    return run(lambda tracer: tracer.observe(lambda x: x, name="t", span_type="tool")(x), **options)


def answer(text, **options):
    """The captured trace of a run that gave this answer."""
    return run(lambda tracer: text, **options)[0]


def outcome(scorer, trace, expected=None):
    return scorer.score(Example(expected_output=expected), trace).outcome


def of_order(trace, *expected, **options):
    return ToolOrderScorer(**options).score(Example(expected_tools=list(expected)), trace).outcome


class TestAnAnswerThatWasCut:
    TEXT = "A" * 400 + "\n"

    @pytest.mark.parametrize(
        ("scorer", "expected"),
        [
            (ContainsScorer(["chars"]), None),
            (ContainsScorer(["+"]), None),
            (ContainsScorer(["#"], ignore_case=True), None),
            (RegexScorer(r"\d"), None),
            (RegexScorer(".*", full=True), None),
            (ExactMatchScorer(ignore_case=True), "a" * 400 + "\n"),
            (ExactMatchScorer(strip=True), "A" * 400),
        ],
    )
    def test_is_not_searched_in_its_mark(self, scorer, expected):
        assert outcome(scorer, answer(self.TEXT, **CUTTING), expected) == "errored"

    @pytest.mark.parametrize(
        ("scorer", "expected"),
        [
            (ContainsScorer(["AAA"]), None),
            (RegexScorer("A{20}"), None),
            (ExactMatchScorer(ignore_case=True), TEXT),
            (ExactMatchScorer(strip=True), TEXT),
            (JSONSimilarityScorer(), TEXT),
        ],
    )
    def test_passes_where_what_is_known_decides(self, scorer, expected):
        assert outcome(scorer, answer(self.TEXT, **CUTTING), expected) == "passed"

    def test_may_be_any_json(self):
        rows = {"rows": [{"id": number} for number in range(50)]}
        assert outcome(JSONSimilarityScorer(), answer(json.dumps(rows)), rows) == "passed"
        assert outcome(JSONSimilarityScorer(), answer(json.dumps(rows), **CUTTING), rows) == "errored"

    def test_that_is_expected_too_is_no_value(self):
        cut = answer(self.TEXT, **CUTTING).output
        example = Example(expected_output=cut, actual_output=cut)
        for scorer in (
            ExactMatchScorer(),
            ExactMatchScorer(strip=True),
            ContainsScorer(),
            JSONSimilarityScorer(),
        ):
            assert scorer.score(example).outcome == "errored"


class TestAnAnswerThatWasRedacted:
    def test_is_not_searched_in_its_mark(self):
        trace = answer(f"use the key {SECRET} for it")
        assert outcome(ContainsScorer(["redacted"]), trace) == "errored"
        assert outcome(RegexScorer("redacted"), trace) == "errored"
        assert outcome(ContainsScorer(["for it", "use the"]), trace) == "passed"
        assert outcome(RegexScorer("use the"), trace) == "passed"

    def test_may_be_any_json(self):
        text = '{"pem": "-----BEGIN PRIVATE KEY-----\\nabc", "n": 1}'
        assert outcome(JSONSimilarityScorer(), answer(text), json.loads(text)) == "errored"
        assert outcome(JSONSimilarityScorer(), answer(text), text) == "passed"


class TestATextThatWasRedacted:
    def test_and_cut_does_not_end_with_its_mark(self):
        text = f"key {SECRET} " + "word " * 100
        for trace in one_call(text, **CUTTING):
            assert of_order(trace, call("t", x=not_(text))) == "errored"
            assert of_order(trace, call("t", x=text)) == "errored"
            assert of_order(trace, call("t", x=has("chars"))) == "errored"
            assert of_order(trace, call("t", x=has("word word"))) == "passed"
            assert of_order(trace, call("t", x="another")) == "failed"

    def test_may_have_had_no_quotes_around_the_secret(self):
        text = '{"token": 123456789012, "a": 1}'
        captured, stored = one_call(text)
        assert of_order(captured, call("t", x=text)) == "passed"
        assert of_order(captured, call("t", x=not_(text))) == "failed"
        assert of_order(stored, call("t", x=text)) == "errored"
        assert of_order(stored, call("t", x=not_(text))) == "errored"
        assert of_order(stored, call("t", x='{"key": 123456789012, "a": 1}')) == "failed"


class TestAKeyThatIsNotKnownWhole:
    @pytest.mark.parametrize("hidden", [SECRET, "ke…[+4 chars]", "ke…[+4 chars #" + "0" * 32 + "]"])
    def test_may_be_the_one_that_is_expected(self, hidden):
        expected = SECRET if hidden == SECRET else "key-01"
        for trace in one_call({hidden: 1, "b": 2}):
            for told in (
                {expected: 1, "b": 2},
                not_({expected: 1, "b": 2}),
                has(expected),
                not_(has(expected)),
                has({expected: 1}),
                has({expected: ABSENT}),
                {expected: ABSENT, "b": 2, hidden: 1} if hidden != SECRET else has({expected: ABSENT}),
            ):
                assert of_order(trace, call("t", x=told)) == "errored", told

    @pytest.mark.parametrize("hidden", [SECRET, "ke…[+4 chars]"])
    def test_decides_where_it_makes_no_difference(self, hidden):
        expected = SECRET if hidden == SECRET else "key-01"
        for trace in one_call({hidden: 1, "b": 2}):
            assert of_order(trace, call("t", x={expected: 7, "b": 2})) == "failed"
            assert of_order(trace, call("t", x={expected: 1, "c": 2})) == "failed"
            assert of_order(trace, call("t", x={"b": 2})) == "failed"
            assert of_order(trace, call("t", x=has("b"))) == "passed"
            assert of_order(trace, call("t", {"x": {"b": 2}}, match="listed")) == "passed"
            assert of_order(trace, call("t", x=length(2))) == "passed"

    def test_may_be_the_one_that_is_referred_to(self):
        def go(tracer):
            tracer.observe(lambda: {SECRET: 1}, name="find", span_type="tool")()
            tracer.observe(lambda x: None, name="use", span_type="tool")(1)

        for trace in run(go):
            assert of_order(trace, call("find"), call("use", x=ref(f"find.output['{SECRET}']"))) == "errored"
            assert of_order(trace, call("find"), call("use", x=ref("find.output[*]"))) == "passed"

    def test_is_the_same_in_two_calls_or_not(self):
        def go(tracer):
            tool = tracer.observe(lambda x: None, name="t", span_type="tool")
            tool({SECRET: 1})
            tool({SECRET + "other": 1})

        for trace in run(go):
            assert LoopScorer().score(Example(), trace).outcome == "errored"


def test_an_argument_that_was_cut_off_is_none_by_the_name_of_its_mark():
    def go(tracer):
        for _ in range(20):
            with tracer.span("t", span_type="tool") as span:
                span.input = {f"k{number:03d}": number for number in range(40)}

    for trace in run(go, **CUTTING):
        scorer = ToolCallArgsScorer([{"name": "t", "args": {"k039": 39}}], mode="listed")
        assert scorer.score(Example(), trace).outcome == "errored"


class TestAnExpectationTakenFromARecord:
    @pytest.mark.parametrize(
        ("value", "other"),
        [
            ({f"k{n:04d}": n for n in range(2_000)}, {f"k{n:04d}": n % 1_999 for n in range(2_000)}),
            (list(range(2_000)), [*range(1_999), -1]),
            ({"rows": list(range(2_000))}, {"rows": [*range(1_999), -1]}),
            ({SECRET: 1}, {SECRET + "other": 1}),
            (b"x" * 400, b"x" * 400),
            ({"a": b"x" * 400}, {"a": b"x" * 400}),
        ],
    )
    def test_is_no_value_where_it_was_cut(self, value, other):
        limits = Limits(value=1_000_000, bytes=100)
        taken, another = (
            one_call(x, capture_limits=limits, redact=lambda name, x: x)[1] for x in (value, other)
        )
        output = taken.tool_calls[0].output
        for actual in (output, another.tool_calls[0].output):
            for scorer in (ExactMatchScorer(), JSONSimilarityScorer()):
                assert (
                    scorer.score(Example(expected_output=output, actual_output=actual)).outcome == "errored"
                )
        assert of_order(taken, *expectation_of(taken)) == "passed"
        assert of_order(another, *expectation_of(taken)) == "passed"  # as any value does

    @pytest.mark.parametrize("value", [{"$type": "x"}, {"$truncated": 3, "a": 1}, 10.5])
    def test_agrees_with_its_own_record(self, value):
        for trace in one_call(value):
            assert of_order(trace, *expectation_of(trace)) == "passed"
            assert of_order(one_call({"b": 1})[0], *expectation_of(trace)) == "failed"
        trace = one_call({"$float": "NaN"})[0]
        assert of_order(trace, *expectation_of(trace)) == "passed"


class TestArgumentsThatWereNotRecorded:
    @pytest.fixture(params=[0, 1])
    def trace(self, request):
        def go(tracer):
            tool = tracer.observe(lambda x: x, name="t", span_type="tool", capture_input=False)
            tool(1)
            tool(2)

        return run(go)[request.param]

    @pytest.mark.parametrize("arguments", [{"x": 1}, {}, {"x": not_(1)}, {"x": ABSENT}, {"x": ANY}])
    def test_are_not_none(self, trace, arguments):
        for match in ("exact", "listed"):
            if arguments or match == "exact":
                assert of_order(trace, call("t", arguments, match=match)) == "errored"

    def test_make_no_difference_where_none_are_expected(self, trace):
        assert of_order(trace, "t", "t", exact_match=True) == "passed"
        assert of_order(trace, call("t", {}, match="ignore")) == "passed"
        assert of_order(trace, *expectation_of(trace)) == "passed"
        assert of_order(trace, call("t", output=1), call("t", output=2)) == "passed"

    def test_may_be_the_same_or_not(self, trace):
        assert LoopScorer().score(Example(), trace).outcome == "errored"

    def test_are_no_arguments_where_a_run_is_written_by_hand(self):
        trace = Trace.from_calls([{"name": "t"}])
        assert of_order(trace, call("t", {})) == "passed"
        assert of_order(trace, call("t", x=1)) == "failed"

    def test_are_none_where_the_tool_takes_none(self):
        for trace in run(lambda tracer: tracer.observe(lambda: 1, name="t", span_type="tool")()):
            assert of_order(trace, call("t", {})) == "passed"


class TestAMappingOfTheUsersThatLooksLikeOurs:
    @pytest.mark.parametrize("value", [CUT_OFF, UNOPENED, {"a": 1, "$truncated": -5}])
    def test_is_itself_inside_a_matcher(self, value):
        for trace in one_call([value]):
            assert of_order(trace, call("t", x=[one_of(value)])) == "passed"
            assert of_order(trace, call("t", x=[not_(value)])) == "failed"
            assert of_order(trace, call("t", x=has(value))) == "passed"
            assert of_order(trace, call("t", x=one_of([value]))) == "passed"
            assert of_order(trace, call("t", x=[one_of({"a": 1})])) == "failed"

    def test_is_not_read_twice(self):
        for trace in one_call(NAN):
            assert of_order(trace, call("t", x=one_of(float("nan")))) == "failed"
            assert of_order(trace, call("t", x=not_(float("nan")))) == "passed"
            assert of_order(trace, call("t", x=default(float("nan")))) == "failed"

    @pytest.mark.parametrize("value", [{"a": 1, "$truncated": -5}, CUT_OFF])
    def test_is_not_cut(self, value):
        for trace in one_call(value):
            assert of_order(trace, call("t", x={"a": 1})) == "failed"
            assert of_order(trace, call("t", x={"a": 1, "b": 2})) == "failed"
            assert of_order(trace, call("t", x=has("$truncated"))) == "passed"

    @pytest.mark.parametrize("value", [CUT_OFF, NAN, UNOPENED])
    def test_is_the_same_where_it_comes_from_an_earlier_call(self, value):
        def go(tracer):
            tracer.observe(lambda: value, name="find", span_type="tool")()
            tracer.observe(lambda x: None, name="use", span_type="tool")(value)
            tracer.observe(lambda x: None, name="use", span_type="tool")(value)

        for trace in run(go):
            assert of_order(trace, call("find"), call("use", x=ref("find.output"))) == "passed"
            assert LoopScorer().score(Example(), trace).outcome == "failed"


class TestAnAnswerThatWasNotOpened:
    class Opaque:
        pass

    def test_is_no_action(self):
        same = self.Opaque()
        for example in (
            Example(actual_output=[same], expected_output=["a"]),
            Example(actual_output=["a"], expected_output=[same]),
        ):
            with pytest.raises(ScorerError, match="actions was not opened when it was recorded"):
                ExecutionOrderScorer().score(example)

    def test_is_no_object_of_a_schema(self):
        for answer_given in (self.Opaque(), [self.Opaque()]):
            with pytest.raises(ScorerError, match="it was not opened when it was recorded"):
                JSONCorrectnessScorer({}).score(Example(actual_output=answer_given))

    def test_is_not_one_that_looks_so(self):
        scorer = JSONCorrectnessScorer({"type": "array", "items": {"required": ["$type"]}})
        assert outcome(scorer, answer([UNOPENED])) == "passed"


def test_a_decimal_of_a_trace_is_a_number():
    assert outcome(NumericDifferenceScorer(), answer(Decimal("1.5")), 1.5) == "passed"


def test_whether_a_label_fits_is_asked_anew_where_agreeing_breaks_the_verdict():
    def go(tracer):
        tracer.observe(lambda secret: 7, name="find", span_type="tool")("y")
        tracer.observe(lambda password: None, name="login", span_type="tool")("p")
        tracer.observe(lambda value: None, name="use", span_type="tool")(7)

    path = [
        opt(call("find", secret="x", as_="f")),
        call("login", password="p"),
        call("use", value=not_(ref("f.output"))),
    ]
    captured, stored = run(go)
    assert of_order(captured, *path) == "passed"
    assert of_order(stored, *path) == "errored"


class TestDigestsStayInTheProcess:
    DIGEST = re.compile("[0-9a-f]{32}")

    @pytest.fixture(
        params=["t" * 400, b"b" * 400, [b"b" * 400], {"a": ["t" * 400]}, f"{SECRET} " + "t" * 400]
    )
    def trace(self, request):
        limits = Limits(value=300, bytes=100)
        return one_call(request.param, capture_limits=limits)[0]

    def test_in_scores_written_as_data(self, trace):
        output = trace.tool_calls[0].output
        scores = [
            ToolCallArgsScorer([{"name": "t", "args": {"x": "q"}}]).score(Example(), trace),
            ToolCallOutputScorer([{"name": "t", "output": "q"}]).score(Example(), trace),
            ExactMatchScorer().score(Example(expected_output="q", actual_output=output)),
            JSONSimilarityScorer().score(Example(expected_output="q", actual_output=output)),
            ToolOrderScorer().score(Example(expected_tools=[call("t", x="q")]), trace),
            LoopScorer().score(Example(), trace),
        ]
        if isinstance(output, str):
            scores += [
                RegexScorer("t+").score(Example(actual_output=output)),
                ContainsScorer("#").score(Example(actual_output=output)),
            ]
        for score in scores:
            assert not self.DIGEST.search(str(score.to_dict())), score.name
            assert not self.DIGEST.search(str((score.diff, score.reason))), score.name

    def test_in_examples_and_what_a_judge_sees(self, trace, tmp_path):
        example = Example(actual_output=trace.tool_calls[0].output, tools_called=trace.tool_calls)
        assert not self.DIGEST.search(str(example.to_dict()))
        saved = EvalDataset([example]).save_as("json", tmp_path)
        assert not self.DIGEST.search(saved.read_text())
        assert not self.DIGEST.search(as_text(trace.tool_calls[0].output))


def test_a_key_may_be_cut_where_others_were_left_out():
    cut = {"a": 1, "ke…[+4 chars]": 2, "$truncated": 2}
    whole = {"a": 1, "key-01": 2, "b": 3, "c": 4}
    trace = Trace.from_calls([{"name": "t", "arguments": {"x": cut}}])
    assert of_order(trace, call("t", x=whole)) == "errored"
    assert of_order(trace, call("t", x=not_(whole))) == "errored"
    assert of_order(trace, call("t", x={"a": 1, "b": 3, "c": 4, "d": 5})) == "failed"
