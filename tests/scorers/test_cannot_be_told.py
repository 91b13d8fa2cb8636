"""What was cut, redacted or not opened when it was recorded makes a score errored, never a guess."""

import json
import random

import pytest

from agenttrace import (
    ANY,
    ConfigError,
    Example,
    Limits,
    Tracer,
    approx,
    call,
    expect,
    gt,
    has,
    length,
    lte,
    many,
    not_,
    one_of,
    par,
    re_,
    ref,
    register_snapshot,
    type_,
)
from agenttrace.core.marks import known_part
from agenttrace.core.snapshot import snapshot
from agenttrace.core.trace import Trace
from agenttrace.redaction import Redaction
from agenttrace.scorers import (
    ContainsScorer,
    ExactMatchScorer,
    LoopScorer,
    RegexScorer,
    ToolCallOutputScorer,
    ToolOrderScorer,
    TrajectoryScorer,
)

LONG = "x" * 70_000 + "DROP TABLE" + "y" * 30_000
CUT, _ = snapshot(LONG, 65_536)
LIST, _ = snapshot(list(range(1_500)))


class Obj:
    """Recording does not open it."""


def scored(expected, arguments, scorer=None):
    """The score of a call that was recorded with these arguments."""
    trace = Trace.from_calls([{"name": "t", "arguments": {"x": arguments}}])
    example = Example(expected_tools=[call("t", x=expected)])
    return (scorer or ToolOrderScorer()).score(example, trace)


@pytest.mark.parametrize(
    ("expected", "actual", "outcome"),
    [
        (LONG, CUT, "errored"),
        (LONG[:-1], CUT, "failed"),
        ("z" + LONG[1:], CUT, "failed"),
        (LONG[:70_000] + "z" * 30_010, CUT, "errored"),
        (not_(re_("DROP TABLE")), CUT, "errored"),
        (re_("DROP TABLE"), CUT, "errored"),
        (re_("^x+"), CUT, "passed"),
        (re_("x$"), CUT, "errored"),
        (length(lte(70_000)), CUT, "failed"),
        (length(len(LONG)), CUT, "passed"),
        (has("xxx"), CUT, "passed"),
        (has("needle"), CUT, "errored"),
        (not_(has("xxx")), CUT, "failed"),
        (type_(str), CUT, "passed"),
        (type_(int), CUT, "failed"),
        (ANY, CUT, "passed"),
        (one_of("a", LONG), CUT, "errored"),
        (one_of("a", "b"), CUT, "failed"),
        (gt("a"), CUT, "errored"),
        (lambda value: "DROP" in value, CUT, "errored"),
        (list(range(1_500)), LIST, "errored"),
        ([7, *range(1, 1_500)], LIST, "failed"),
        (list(range(1_001)), LIST, "failed"),
        (length(1_500), LIST, "passed"),
        (length(1_001), LIST, "failed"),
        (has(5), LIST, "passed"),
        (has(1_200), LIST, "errored"),
        ("hunter2", "[redacted]", "errored"),
        (not_("hunter2"), "[redacted]", "errored"),
        (ANY, "[redacted]", "passed"),
        (approx(3), "[redacted]", "errored"),
        ("key sk-123, twice", "key [redacted], twice", "errored"),
        ("other sk-123, twice", "key [redacted], twice", "failed"),
        (7, "key [redacted], twice", "failed"),
        (7, Obj(), "errored"),
        (not_(7), Obj(), "errored"),
        ({"a": {"b": 7}}, {"a": {"b": Obj()}}, "errored"),
        ({"a": {"b": 7}}, {"a": {"c": Obj()}}, "failed"),
    ],
)
def test_a_value_that_was_not_recorded_whole(expected, actual, outcome):
    score = scored(expected, actual)
    assert score.outcome == outcome
    if outcome == "errored":
        assert "the record does not tell: x" in score.reason
        assert "of t (call 1) was" in score.reason
        told = score.details["cannot_be_told"]
        assert (told["against"], told["in_favour"]) == (0.0, 1.0)
        assert told["why"]


def test_a_verdict_that_is_the_same_either_way_stands_and_says_so():
    trace = Trace.from_calls([{"name": "t", "arguments": {"x": CUT, "y": 1}}, {"name": "u"}])
    example = Example(expected_tools=[call("t", x=LONG, y=1), "u"])
    score = TrajectoryScorer(threshold=0.5).score(example, trace)
    assert score.outcome == "passed"
    assert score.value == 0.75
    assert score.details["cannot_be_told"]["in_favour"] == 1.0
    assert TrajectoryScorer(threshold=0.9).score(example, trace).outcome == "errored"


def test_calls_that_are_the_same_as_far_as_they_were_recorded_are_no_loop_for_sure():
    calls = [{"name": "t", "arguments": {"token": "[redacted]"}}] * 2
    assert LoopScorer().score(Example(), Trace.from_calls(calls)).outcome == "errored"
    expectation = expect(["t", "t"], no_repeats=True)
    score = TrajectoryScorer(expected=expectation).score(Example(), Trace.from_calls(calls))
    assert score.outcome == "errored"
    others = [{"name": "t", "arguments": {"token": "[redacted]", "n": n}} for n in (1, 2)]
    assert LoopScorer().score(Example(), Trace.from_calls(others)).passed


OTHER_KEY = "sk-live-OTHERxxxxxxxxxxxxxxxxxxx"


class TestASecret:
    @pytest.fixture
    def run(self, tmp_path):
        tracer = Tracer("secrets", store=tmp_path / "traces.db")

        @tracer.observe(span_type="tool")
        def login(user, password, api_key="sk-live-abcdefghijklmnopqrstuvwx"):
            return {"session_token": "s-1", "user": user}

        @tracer.observe(span_type="tool")
        def use(session_token):
            pass

        with tracer.capture() as captured, tracer.span("root"):
            login("u", "hunter2", OTHER_KEY)
            use("made-up")
            use("s-1")
        yield captured.trace, tracer
        tracer.shutdown()

    @pytest.mark.parametrize(
        ("expected", "outcome"),
        [
            (["login", call("use", session_token=ref("login.output.session_token"))], "failed"),
            (["login", "use", call("use", session_token=ref("login.output.session_token"))], "passed"),
            (["login", call("use", session_token=ref("login.output.user")), "use"], "failed"),
            ([call("login", user="u", password=ANY)], "failed"),  # the other key is not the default
            (
                [call("login", user="u", password="hunter2", api_key="sk-live-OTHERxxxxxxxxxxxxxxxxxxx")],
                "passed",
            ),
            ([call("login", user="u", password=not_("hunter2"), match="listed")], "failed"),
            ([call("login", user="u", password=not_("hunter3"), match="listed")], "passed"),
            ([call("login", user="u", password="hunter2", match="listed")], "passed"),
            ([call("login", user="u", password="hunter3", match="listed")], "failed"),
            ([call("login", user="u", password=one_of("a", "hunter2"), match="listed")], "passed"),
            ([call("login", user="u", password=re_("^h"), match="listed")], "errored"),
            ([call("login", user="u", password=length(7), match="listed")], "errored"),
            ([call("login", user="u", match="listed")], "passed"),
            ([call("login", user="other", match="listed")], "failed"),
            (["login", "use", "use"], "passed"),
        ],
    )
    def test_is_compared_by_a_digest_within_the_process(self, run, expected, outcome):
        trace, _ = run
        expected = [*expected, "use"][:3] if len(expected) == 2 else expected
        if len(expected) == 1:
            expected = [*expected, "use", "use"]
        assert ToolOrderScorer().score(Example(expected_tools=expected), trace).outcome == outcome

    @pytest.mark.parametrize(
        ("expected", "outcome"),
        [
            (["login", call("use", session_token=ref("login.output.session_token")), "use"], "errored"),
            ([call("login", user="u", password=ANY), "use", "use"], "errored"),
            ([call("login", user="u", password=not_("hunter2"), match="listed"), "use", "use"], "errored"),
            ([call("login", user="u", password="hunter2", match="listed"), "use", "use"], "errored"),
            ([call("login", user="u", match="listed"), "use", "use"], "passed"),
            ([call("login", user="other", match="listed"), "use", "use"], "failed"),
        ],
    )
    def test_cannot_be_told_from_what_is_stored(self, run, expected, outcome):
        trace, tracer = run
        tracer.flush()
        stored = tracer.store.trace(trace.trace_id)
        assert ToolOrderScorer().score(Example(expected_tools=expected), stored).outcome == outcome

    def test_two_calls_with_different_secrets_are_no_loop(self, run):
        trace, _ = run
        assert LoopScorer().score(Example(), trace).value == 1.0


def test_outputs_and_answers_are_read_the_same_way():
    trace = Trace.from_calls([{"name": "t", "output": LONG}])
    expected = [{"name": "t", "output": LONG}]
    assert ToolCallOutputScorer(expected).score(Example(), trace).outcome in ("passed", "errored")
    answer = Example(actual_output=CUT, expected_output=LONG)
    assert ExactMatchScorer().score(answer, None).outcome == "errored"
    assert ContainsScorer("needle").score(answer, None).outcome == "errored"
    assert ContainsScorer("xxx").score(answer, None).passed
    assert RegexScorer("needle").score(answer, None).outcome == "errored"
    assert RegexScorer("^x").score(answer, None).passed


VALUES = [1, 2, True, None, "a", "b", "ab" * 20, "ab" * 19 + "cc", [1, 2, 3], [1, 2, 4], list(range(30))]


def expected_of(chance, value):
    other = chance.choice(VALUES)
    return chance.choice(
        [
            value, value, other, ANY, not_(value), not_(other), one_of(value, other), has("a"), has(2),
            length(40), length(3), type_(str), type_(list), re_("cc$"), re_("ab"), not_(re_("cc")),
            not_(has(2)), not_(one_of(other, "a")), lambda got: got == value,
        ]
    )  # fmt: skip


def degraded(chance, value):
    """The value as a recording with small limits, redaction, or without a reader for it would keep it."""
    how = chance.randrange(5)
    if how == 0:
        return "[redacted]"
    if how == 1:
        return {"$type": "app.Thing"}
    if how == 2 and isinstance(value, str):
        size = chance.randrange(1, len(value) + 1)
        return value if size >= len(value) else f"{value[:size]}…[+{len(value) - size} chars]"
    if how == 3 and isinstance(value, list):
        size = chance.randrange(0, len(value))
        return [*value[:size], {"$truncated": len(value) - size}]
    return value


def test_recording_less_makes_no_fail_a_pass_and_no_pass_a_fail():
    """10,000 pairs of an expectation and a run: with less recorded, a verdict stays or is errored."""
    chance = random.Random(11)
    changed = errored = 0
    for number in range(10_000):
        values = [chance.choice(VALUES) for _ in range(chance.randrange(1, 4))]
        names = [chance.choice("tu") for _ in values]
        calls = [call(name, x=expected_of(chance, value)) for name, value in zip(names, values, strict=True)]
        if chance.random() < 0.3:
            calls = [par(*calls)] if len(calls) > 1 else [many(calls[0])]
        run = [{"name": n, "arguments": {"x": v}} for n, v in zip(names, values, strict=True)]
        less = [{**one, "arguments": {"x": degraded(chance, one["arguments"]["x"])}} for one in run]
        scorer = chance.choice(
            [
                TrajectoryScorer(expected=expect(calls), threshold=chance.choice((0.3, 0.5, 1.0))),
                TrajectoryScorer(expected=expect(calls), metric="f1", threshold=0.6),
                TrajectoryScorer(expected=expect(calls, mode="any_order"), metric="holds"),
                LoopScorer(),
            ]
        )
        if less == run:
            continue
        changed += 1
        whole = scorer.score(Example(), Trace.from_calls(run)).outcome
        partly = scorer.score(Example(), Trace.from_calls(less)).outcome
        errored += partly == "errored"
        assert partly in (whole, "errored"), (
            number,
            json.dumps(run),
            less,
            calls,
            scorer.name,
            whole,
            partly,
        )
    assert changed > 2_000
    assert errored > 500


class TestADigestOfWhatWasCut:
    @pytest.fixture
    def trace(self, tmp_path):
        tracer = Tracer("cut", store=tmp_path / "traces.db", capture_limits=Limits(value=1_000))

        @tracer.observe(span_type="tool")
        def query(sql):
            return sql

        with tracer.capture() as captured, tracer.span("root"):
            query("x" * 5_000 + "end")
            query("x" * 5_000 + "eND")
            query(b"z" * 3_000)
        tracer.flush()
        yield tracer.store.trace(captured.trace.trace_id)
        tracer.shutdown()

    @pytest.mark.parametrize(
        ("sql", "outcome"),
        [
            ("x" * 5_000 + "end", "passed"),
            ("x" * 5_000 + "eNd", "failed"),
            (not_("x" * 5_000 + "end"), "failed"),
            (not_("x" * 5_000 + "eNd"), "passed"),
            (one_of("x", "x" * 5_000 + "end"), "passed"),
            (re_("end$"), "errored"),
            (lambda sql: sql.endswith("end"), "errored"),
        ],
    )
    def test_decides_whether_it_equals_a_value(self, trace, sql, outcome):
        expected = [call("query", sql=sql), "query", call("query", sql=b"z" * 3_000)]
        assert ToolOrderScorer().score(Example(expected_tools=expected), trace).outcome == outcome

    def test_decides_whether_two_calls_are_the_same(self, trace):
        assert LoopScorer().score(Example(), trace).outcome == "passed"

    def test_is_in_no_score_that_is_stored_or_sent(self, trace):
        score = ToolOrderScorer().score(Example(expected_tools=[call("query", sql="y"), "query"]), trace)
        digest = known_part(trace.tool_calls[0].arguments["sql"]).digest
        assert digest is not None
        kept = Redaction().score(score)
        assert digest not in repr((kept.diff, kept.reason, kept.details, kept.error, score.diff))
        assert digest not in json.dumps(trace.to_dict())


def test_an_expectation_taken_from_a_record_is_no_value_either():
    scorer = ToolOrderScorer()
    for taken in ("[redacted]", "abc…[+3 chars]"):
        example = Example(
            expected_tools=[call("t", x=taken)], tools_called=[{"name": "t", "arguments": {"x": "abcdef"}}]
        )
        assert scorer.score(example).outcome == "errored"


class TestAHandlerOfTheUsers:
    class Cart:
        pass

    @pytest.mark.parametrize(
        ("handler", "trouble"),
        [
            (lambda cart: 1 / 0, "its handler raised ZeroDivisionError"),
            (lambda cart: cart, "its handler returned the value itself"),
        ],
    )
    def test_that_fails_breaks_no_call_and_is_named_by_the_score(self, handler, trouble):
        register_snapshot(self.Cart, handler)
        tracer = Tracer("cart", store="memory")
        with tracer.capture() as captured:
            assert tracer.observe(lambda cart: 7, name="pay", span_type="tool")(self.Cart()) == 7
        expected = [call("pay", cart={"total": 12})]
        score = ToolOrderScorer().score(Example(expected_tools=expected), captured.trace)
        assert score.outcome == "errored"
        assert f"cart of pay (call 1) was not opened ({__name__}.TestAHandlerOfTheUsers.Cart: {trouble})" in (
            score.reason
        )

    @pytest.mark.parametrize(("kind", "handler"), [("Cart", str), (Cart(), str), (Cart, None)])
    def test_that_is_none_is_an_error_at_once(self, kind, handler):
        with pytest.raises(ConfigError, match="register_snapshot takes a class and a function"):
            register_snapshot(kind, handler)
