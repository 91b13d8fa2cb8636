"""What a run really recorded, compared by scorers: each verdict is right, or the score is errored.

Each value is recorded as a run records it, and stands in an example as users write it.
"""

import math
from functools import reduce

import pytest

from agenttrace import (
    ANY,
    Example,
    Trace,
    Tracer,
    approx,
    call,
    expect,
    gt,
    has,
    length,
    lt,
    lte,
    not_,
    re_,
    ref,
    run_evaluation,
    type_,
)
from agenttrace.scorers import (
    ContainsScorer,
    ExactMatchScorer,
    ExecutionOrderScorer,
    LoopScorer,
    RegexScorer,
    ToolCallArgsScorer,
    ToolCallOutputScorer,
    ToolDependencyScorer,
    ToolOrderScorer,
    TrajectoryScorer,
)


class Obj:
    """Recording does not open it."""

    def __init__(self, n):
        self.n = n


@pytest.fixture
def tracer():
    with_memory = Tracer("values", store="memory")
    yield with_memory
    with_memory.shutdown()


@pytest.fixture
def captured(tracer):
    """A function that records a call of ``tool(x)``, which returns what it got, as the answer of a run."""

    @tracer.observe(span_type="tool")
    def tool(x):
        return x

    def trace(*values):
        with tracer.capture() as capture:
            tracer.observe(lambda: [tool(value) for value in values][-1], name="agent", span_type="agent")()
        return capture.trace

    return trace


def by_hand(value):
    """A trace of the same call, from plain data."""
    return Trace.from_calls([{"name": "tool", "arguments": {"x": value}, "output": value}], output=value)


def outcome(expected, trace):
    """The outcome where ``tool(x=expected)`` is expected."""
    return ToolOrderScorer().score(Example(expected_tools=[call("tool", x=expected)]), trace).outcome


def never(wrong):
    """The outcomes that are right, or honest, where the other one is wrong."""
    return {"passed": ("failed", "errored"), "failed": ("passed", "errored")}[wrong]


# Values that recording opened, and objects that it did not.

LIBRARY_VALUES = {
    "arrays": lambda np, pd: (np.array([9, 9]), np.array([1, 2])),
    "int64": lambda np, pd: (np.int64(8), np.int64(7)),
    "bool_": lambda np, pd: (np.bool_(True), np.bool_(False)),
    "float32": lambda np, pd: (np.float32(1), np.float32(2)),
    "datetime64": lambda np, pd: (np.datetime64("2025-06-01"), np.datetime64("2025-06-02")),
    "data frames": lambda np, pd: (pd.DataFrame({"z": [1]}), pd.DataFrame({"a": [2]})),
    "timestamps": lambda np, pd: (pd.Timestamp("2025-06-01"), pd.Timestamp("2025-06-02")),
}


@pytest.mark.parametrize("kind", LIBRARY_VALUES)
def test_two_different_values_of_a_library_are_not_equal(kind, captured):
    one, other = LIBRARY_VALUES[kind](pytest.importorskip("numpy"), pytest.importorskip("pandas"))
    for record in (captured, by_hand):
        assert outcome(one, record(other)) == "failed"
        assert outcome(one, record(one)) == "passed"


def test_numbers_of_numpy_equal_those_of_python(captured):
    np = pytest.importorskip("numpy")
    for record in (captured, by_hand):
        assert outcome(7, record(np.int64(7))) == "passed"
        assert outcome(8, record(np.int64(7))) == "failed"
    actions = Example(actual_output=[np.int64(1)], expected_output=[np.int64(2)])
    assert ExecutionOrderScorer().score(actions).outcome == "failed"


def test_answers_that_are_arrays_are_compared_by_their_numbers():
    np = pytest.importorskip("numpy")
    example = Example(actual_output=np.array([1, 2, 3]), expected_output=np.array([9, 9]))
    assert ExactMatchScorer().score(example, None).outcome == "failed"
    report = run_evaluation(
        [Example(expected_output=np.array([9, 9]))],
        [ExactMatchScorer()],
        function=lambda: np.array([1, 2, 3]),
    )
    assert report[0].outcome == "failed"


@pytest.mark.parametrize(("used", "wanted"), [(7, "passed"), (999, "failed")])
def test_a_reference_to_a_number_of_numpy_is_that_number(used, wanted, tracer):
    np = pytest.importorskip("numpy")
    find = tracer.observe(lambda: {"id": np.int64(7)}, name="find", span_type="tool")
    use = tracer.observe(lambda order: None, name="use", span_type="tool")
    with tracer.capture() as capture, tracer.span("root"):
        find()
        use(np.int64(used))
    example = Example(expected_tools=["find", call("use", order=ref("find.output.id"))])
    assert ToolOrderScorer().score(example, capture.trace).outcome == wanted


def test_calls_with_different_tables_are_no_loop(captured):
    pd = pytest.importorskip("pandas")
    trace = captured(*(pd.DataFrame({"a": [n]}) for n in range(4)))
    assert LoopScorer().score(Example(), trace).value == 1.0


def test_of_two_objects_that_were_not_opened_nothing_can_be_told(captured, tracer):
    for record in (captured, by_hand):
        assert outcome(Obj(1), record(Obj(2))) == "errored"
    assert LoopScorer().score(Example(), captured(Obj(1), Obj(2))).outcome == "errored"

    @tracer.observe(span_type="tool")
    def search(session=object()):  # noqa: B008 - a default that is recorded without being opened
        pass

    with tracer.capture() as capture, tracer.span("root"):
        search(object())
    example = Example(expected_tools=[call("search", {})])
    assert ToolOrderScorer().score(example, capture.trace).outcome == "errored"


# What was cut.

TEXT = "x" * 100_000
OTHER = "x" * 70_000 + "y" * 30_000
NUMBERS = list(range(1_500))
CHANGED = [*range(1_200), -1, *range(1_201, 1_500)]
DEEP = reduce(lambda inner, _: [inner], range(30), 7)

BEYOND = {
    "another text": (OTHER, TEXT, "passed"),
    "not_ of what stands at the end": (not_(re_("DROP TABLE")), TEXT + "DROP TABLE", "passed"),
    "a smaller length": (length(lte(70_000)), TEXT, "passed"),
    "the length of what was kept": (length(1_001), NUMBERS, "passed"),
    "other bytes": (b"a" * 1_024 + b"b" * 99, b"a" * 1_024 + b"c" * 99, "passed"),
    "another item": (NUMBERS, CHANGED, "passed"),
    "a text that only looks cut": ("abcdef", "abc…[+3 chars]", "passed"),
    "an end that matches": (re_("zzz$"), TEXT + "zzz", "failed"),
    "a part at the end": (has("needle"), TEXT + "needle", "failed"),
    "the length": (length(100_000), TEXT, "failed"),
    "an item at the end": (has(1_400), NUMBERS, "failed"),
    "the same text": (TEXT, TEXT, "failed"),
    "the same list": (NUMBERS, NUMBERS, "failed"),
    "the same mapping": ({f"k{n}": n for n in NUMBERS}, {f"k{n}": n for n in NUMBERS}, "failed"),
    "the same texts": (["x" * 1_000] * 200, ["x" * 1_000] * 200, "failed"),
    "the same depth": (DEEP, DEEP, "failed"),
}


@pytest.mark.parametrize("how", ["captured", "by hand"])
@pytest.mark.parametrize("kind", BEYOND)
def test_what_lies_beyond_a_limit_decides_no_verdict_wrongly(kind, how, captured):
    expected, actual, wrong = BEYOND[kind]
    trace = (captured if how == "captured" else by_hand)(actual)
    assert outcome(expected, trace) in never(wrong)


ROWS = [{"id": n, "name": "n" * 100} for n in range(1_000)]


@pytest.mark.parametrize(
    ("expected", "actual"), [([TEXT, "hello"], [TEXT, "hello"]), (ROWS, ROWS), (set(NUMBERS), set(NUMBERS))]
)
def test_equal_values_that_were_cut_twice_never_fail(expected, actual, captured):
    assert outcome(expected, captured(actual)) != "failed"


def test_a_long_set_does_not_equal_a_part_of_it():
    assert outcome(set(range(1_500)), by_hand(list(range(1_000)))) != "passed"


def test_lengths_and_sizes_are_known_though_the_value_was_cut(captured):
    assert outcome(length(100_000), captured(TEXT)) == "passed"
    assert outcome(length(lte(70_000)), captured(TEXT)) == "failed"
    assert outcome(length(1_500), captured(NUMBERS)) == "passed"


def test_outputs_and_answers_beyond_a_limit_are_read_both_ways(captured):
    trace = captured(TEXT)
    assert (
        ToolCallOutputScorer([{"name": "tool", "output": OTHER}]).score(Example(), trace).outcome != "passed"
    )
    assert ExactMatchScorer().score(Example(expected_output=OTHER), trace).outcome != "passed"
    late = captured("x" * 90_000 + "needle" + "x" * 20_000)
    for scorer in (ContainsScorer("needle"), RegexScorer("needle")):
        assert scorer.score(Example(), late).outcome != "failed"


# What was redacted.


@pytest.fixture
def secrets(tracer):
    """A run that signs in and uses a token that it made up."""

    @tracer.observe(span_type="tool")
    def login(user, password, api_key="sk-live-abcdefghijklmnopqrstuvwx"):
        return {"session_token": "s-1", "user": user}

    @tracer.observe(span_type="tool")
    def use(session_token):
        pass

    with tracer.capture() as capture, tracer.span("root"):
        login("u", "hunter2", "sk-live-OTHERxxxxxxxxxxxxxxxxxxx")
        use("made-up")
    return capture.trace


SECRET = {
    "a made-up token": (["login", call("use", session_token=ref("login.output.session_token"))], "passed"),
    "another key than the default": ([call("login", user="u", password=ANY)], "passed"),
    "not the password that it was": ([call("login", password=not_("hunter2"), match="listed")], "passed"),
    "the text of the mark": ([call("login", password="[redacted]", match="listed")], "passed"),
    "the password that it was": ([call("login", password="hunter2", match="listed")], "failed"),
}


@pytest.mark.parametrize("kind", SECRET)
def test_a_secret_decides_no_verdict_wrongly(kind, secrets):
    expected, wrong = SECRET[kind]
    assert ToolOrderScorer().score(Example(expected_tools=expected), secrets).outcome in never(wrong)


def test_other_scorers_of_calls_with_secrets_are_honest_too(secrets):
    password = {"name": "login", "args": {"password": "hunter2"}}
    assert ToolCallArgsScorer([password], mode="listed").score(Example(), secrets).outcome != "failed"
    token = {"name": "login", "output": {"session_token": "s-2", "user": "u"}}
    assert ToolCallOutputScorer([token]).score(Example(), secrets).outcome != "passed"
    depends = [{"tool_name": "use", "result_dependencies": ["login"]}]
    assert ToolDependencyScorer().score(Example(expected_tools=depends), secrets).outcome != "passed"


def test_calls_with_different_tokens_are_no_loop(tracer):
    use = tracer.observe(lambda session_token: None, name="use", span_type="tool")
    with tracer.capture() as capture, tracer.span("root"):
        use("a")
        use("b")
    assert LoopScorer().score(Example(), capture.trace).outcome != "failed"
    once = TrajectoryScorer(expected=expect(["use", "use"], no_repeats=True))
    assert once.score(Example(), capture.trace).outcome != "failed"


def test_values_that_hold_or_look_like_a_secret_decide_no_verdict_wrongly(captured):
    assert outcome({"auth": "basic"}, captured({"auth": "basic"})) != "failed"
    key = "key sk-live-abcdefghijklmnopqrstuvwx"
    assert outcome(key, captured(key)) != "failed"
    assert outcome(key, captured("key sk-live-OTHERxxxxxxxxxxxxxxxxxxx")) != "passed"


# Large numbers, and those that JSON has no word for.

BIG = 2**60
NUMBERS_TOLD = {
    "an integer": (type_(int), BIG, "passed"),
    "no text": (type_(str), BIG, "failed"),
    "greater": (gt(5), BIG, "passed"),
    "less": (lt(2**61), BIG, "passed"),
    "near": (approx(1.1529215e18, rel=1e-6), BIG, "passed"),
    "by a function": (lambda value: value > 5, BIG, "passed"),
    "not its text": (str(BIG), BIG, "failed"),
    "its float": (float(BIG), BIG, "passed"),
    "not the next one": (BIG + 1, BIG, "failed"),
    "a very long one": (10**4_000, 10**4_000, "passed"),
    "not the next very long one": (10**4_000 + 1, 10**4_000, "failed"),
    "infinity is greater": (gt(0), math.inf, "passed"),
    "infinity is near itself": (approx(math.inf), math.inf, "passed"),
    "infinity is a float": (type_(float), math.inf, "passed"),
    "no number is a float": (type_(float), math.nan, "passed"),
    "no number is no mapping": (type_(dict), math.nan, "failed"),
}


@pytest.mark.parametrize("how", ["captured", "by hand"])
@pytest.mark.parametrize("kind", NUMBERS_TOLD)
def test_numbers_of_any_size_are_told(kind, how, captured):
    expected, actual, wanted = NUMBERS_TOLD[kind]
    assert outcome(expected, (captured if how == "captured" else by_hand)(actual)) == wanted


# Keys, surrogates, predicates, names taken by **kwargs.


def raises(value):
    raise ValueError(value)


@pytest.mark.parametrize(
    ("expected", "actual", "wanted"),
    [
        ({1.0: "a"}, {1: "a"}, "passed"),
        ("a\ud800b", "a\ud800b", "passed"),
        (not_(raises), 5, "failed"),
    ],
)
def test_odd_values_are_decided(expected, actual, wanted):
    assert outcome(expected, by_hand(actual)) == wanted


def test_names_that_a_tool_takes_by_any_name_can_be_ignored_and_expected(tracer):
    @tracer.observe(span_type="tool")
    def tool(x, **kw):
        pass

    with tracer.capture() as capture, tracer.span("root"):
        tool(1, kw=2)

    def holds(**arguments):
        example = Example(expected_tools=[call("tool", **arguments)])
        return ToolOrderScorer().score(example, capture.trace).passed

    assert holds(x=1, ignore=["kw"])
    assert holds(x=1, kw=2)
    assert not holds(x=1, kw=3)
