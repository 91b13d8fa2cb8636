"""Uses that type checkers accept: what the documents show, with the types that come out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, assert_type

from agenttrace import (
    ANY,
    Client,
    EvalDataset,
    EvaluationReport,
    Example,
    ExecutionOrderScorer,
    ExpectedToolCall,
    Rate,
    Score,
    Task,
    ToolCall,
    ToolOrderScorer,
    Trace,
    Tracer,
    any_of,
    approx,
    assert_test,
    call,
    every,
    expect,
    get_examples_from_yaml,
    load_task,
    log_alert,
    many,
    observe,
    opt,
    par,
    re_,
    ref,
    run_evaluation,
    semantic,
    seq,
    webhook,
)
from agenttrace.core.batch import ScoreRow
from agenttrace.core.protocols import (
    ChatModel,
    ChecksExamples,
    ChecksModel,
    GetsReady,
    HasPath,
    Identified,
    KeepsUnsent,
    Named,
    Scorer,
    TakesModel,
    TakesScores,
    TellsHealth,
    optional,
)
from agenttrace.core.span import Span
from agenttrace.expectations import Expectation, Pattern, expectation_of
from agenttrace.judges import FaithfulnessScorer, FakeChatModel, semantic_judge
from agenttrace.online.alerts import LowScore
from agenttrace.online.handle import EvaluationHandle
from agenttrace.scorers import ToolCallCountScorer, TrajectoryScorer, scorer, scorer_named
from agenttrace.simulation import Recording, Simulation, cases, raises, sequence, slow, when
from agenttrace.store import SQLiteStore

tracer = Tracer(
    project_name="typed",
    store="memory",
    alerts=[Rate("Faithfulness", below=0.8), log_alert, every(webhook("https://example.com"))],
    keep="30d",
)
word: str = tracer.annotate("ab" * 16, thumbs="up", by="ann")


@tracer.observe(span_type="tool", tags=["read"])
def lookup(order: int, currency: str = "EUR") -> dict[str, float]:
    return {"amount": 12.5}


@tracer.observe
async def answer(question: str) -> str:
    return question


@observe(span_type="tool")
def pages(first: int) -> Iterator[int]:
    yield first


@observe
async def tokens(text: str) -> AsyncIterator[str]:
    yield text


@observe(
    span_type="agent",
    name="desk",
    capture_input=False,
    metadata={"version": 2},
    tags=("read", "slow"),
    scorers=[ToolOrderScorer()],
    sample_rate=0.5,
)
def desk(order: int, *, urgent: bool = False) -> str:
    return "done"


@tracer.observe_tools
class Desk:
    def refund(self, order: int) -> str:
        return "done"


def decorated_functions_keep_their_types() -> None:
    assert_type(lookup(7), dict[str, float])
    assert_type(lookup(order=7, currency="USD"), dict[str, float])
    assert_type(desk(7, urgent=True), str)
    assert_type(Desk().refund(7), str)
    for page in pages(1):
        assert_type(page, int)


async def decorated_coroutines_keep_their_types() -> None:
    assert_type(await answer("why?"), str)
    async for token in tokens("a b"):
        assert_type(token, str)


def blocks_and_captures_are_typed() -> None:
    with tracer.span("plan", span_type="chain") as span:
        span.output = {"steps": 3}
    with tracer.turn() as turn:
        turn.output = "done"
    with tracer.capture() as captured, tracer.turn(2):
        lookup(7)
    assert_type(captured.trace, Trace)
    assert_type(tracer.store.health().waiting, int)
    tracer.store.write_scores([ScoreRow(captured.trace.trace_id, None, Score.of("helpful", 1.0, 0.5))])
    assert_type(captured.trace.tool_calls, tuple[ToolCall, ...])
    assert_type(captured.trace.tool_calls[0].failed, bool | None)


def expectations_are_typed() -> None:
    path: Pattern = call("login") >> par(call("hotel", city="Paris"), "flight") >> opt("seat_map")
    path = path >> any_of("book", seq("hold", "pay")) >> many("notify", 1, 2)
    whole = expect(path, never=["delete_*"], max_calls=4, mode="in_order", severity={"never": "warn"})
    assert_type(whole, Expectation)
    expect([call("refund", amount=approx(12, abs=1), id=ref("lookup.output.id"), note=re_("^a"), who=ANY)])
    expected: ExpectedToolCall = call("refund", id=7, match="listed")
    assert_type(expected.name, str)


def examples_and_datasets_are_typed() -> None:
    example = Example(input={"order": 7}, expected_tools=["lookup", {"tool_name": "refund"}], name="one")
    path = call("login") >> par("hotel", "flight")
    names: list[str] = ["lookup"]
    mixed: list[Any] = ["lookup", call("refund")]
    for tools in (names, mixed):
        Example(expected_tools=tools, tools_called=tools)
    Example(expected_tools=path)
    Example(expected_tools=["a", call("b"), path, ["c", {"par": ["d"]}]])
    Example(expected_tools=expect(path, never="drop"))
    Example(expected_tools={"path": ["a"], "max_calls": 3})
    trace = Trace.from_calls(["lookup"])
    Example(expected_tools=expectation_of(trace), tools_called=trace.tool_calls)
    dataset = EvalDataset(examples=[example])
    for each in dataset:
        assert_type(each, Example)
    assert_type(get_examples_from_yaml("tests.yaml"), list[Example])


class Own:
    name = "Own"
    threshold = 0.5

    def score(self, example: Example, trace: Trace) -> Score:
        return Score.of(self.name, 1.0, self.threshold)


class OwnLater:
    name = "Own, later"
    threshold = 0.5

    async def score(self, example: Example, trace: Trace) -> Score:
        return Score.of(self.name, 1.0, self.threshold)


class OwnJudge(Own):
    def check(self, example: Example) -> None: ...

    def with_model(self, model: str | ChatModel) -> Scorer:
        return self

    def check_model(self) -> None: ...


class OwnSink:
    """An exporter that takes scores."""

    def export(self, spans: Sequence[Span]) -> None: ...

    def flush(self, timeout: float) -> bool:
        return True

    def close(self) -> None: ...

    def write_scores(self, scores: Sequence[tuple[str, str | None, Score]]) -> None: ...


def with_hooks_of_a_scorer(one: ChecksExamples, two: TakesModel, three: ChecksModel) -> None: ...


def with_hooks_of_a_store(one: HasPath, two: TellsHealth, three: KeepsUnsent, four: GetsReady) -> None: ...


def with_hooks_of_a_model(one: Named, two: Identified) -> None: ...


def classes_have_hooks_without_inheriting(store: SQLiteStore, model: FakeChatModel) -> None:
    with_hooks_of_a_scorer(OwnJudge(), OwnJudge(), OwnJudge())
    with_hooks_of_a_store(store, store, store, store)
    with_hooks_of_a_model(model, model)
    Tracer(exporters=[OwnSink()])
    assert_type(optional(OwnSink(), TakesScores), TakesScores | None)


@scorer
def polite(output: str) -> bool:
    return "please" in output


@scorer(name="Brevity", threshold=0.8)
async def brief(output: str, tool_calls: tuple[ToolCall, ...]) -> tuple[float, str]:
    return 1.0, "short"


def evaluations_are_typed() -> None:
    scorers: list[Scorer] = [
        ToolOrderScorer(exact_match=True, parameters="listed", tools="tag:write", attempts="collapse"),
        ExecutionOrderScorer(should_consider_ordering=True),
        ToolCallCountScorer({"search": (">=", 1)}, agent="desk"),
        TrajectoryScorer(metric="f1", expected=["a"], names={"x": "y"}),
        FaithfulnessScorer(threshold=0.8, model=FakeChatModel("{}")),
        Own(),
        OwnLater(),
        polite,
        brief,
        scorer_named("loop"),
    ]
    report = run_evaluation([Example()], scorers, function=lookup, tracer=tracer, trials=3)
    assert_type(report, EvaluationReport)
    assert_type(report.counts, dict[str, int])
    for result in report:
        assert_type(result.success, bool)
        assert_type(result.scorers_data[0].score, float | None)
    assert_test(test_file="tests.yaml", scorers=scorers, function=answer, require="pass_rate >= 0.8")
    Client().run_evaluation(examples=[Example()], scorers=[Own()], model="gpt-4.1")


async def judged_scores_are_awaited(judge: FakeChatModel) -> None:
    example = Example(expected_tools=[call("mail", body=semantic("a greeting"))], tools_called=["mail"])
    assert_type(await ToolOrderScorer(ask=semantic_judge(judge)).score(example), Score)
    assert_type(await TrajectoryScorer(ask=lambda text, value: True).score(example), Score)


async def online_evaluations_are_typed() -> None:
    def told(scores: tuple[Score, ...]) -> None: ...

    async def alarmed(low: LowScore) -> None: ...

    handle = tracer.async_evaluate(
        [Own()], Example(actual_output="x"), sample_rate=0.1, on_result=told, alerts=[alarmed]
    )
    assert_type(handle, EvaluationHandle)
    tracer.async_evaluate(
        scorers=[Own()],
        input={"question": "why?"},
        actual_output=7,
        context=["it is so"],
        tools_called=["lookup", ToolCall(name="refund")],
        expected_tools=[call("lookup"), "refund"],
        additional_metadata={"run": 1},
        model=FakeChatModel("{}"),
        timeout=2.5,
    )
    assert_type(handle.result(timeout=1.0), tuple[Score, ...])
    assert_type(await handle, tuple[Score, ...])


def scores_and_traces_are_typed(anything: Any) -> None:
    example, trace = Example(expected_tools=["a"], tools_called=["a"]), Trace.from_calls(["a"])
    assert_type(ToolOrderScorer().score(example, trace).value, float | None)
    assert_type(ToolOrderScorer(exact_match=True, agent="desk").score(example).value, float | None)
    assert_type(TrajectoryScorer(metric="f1").score(example, trace).value, float | None)
    kept: ToolOrderScorer = ToolOrderScorer()
    assert_type(kept.score(example), Score)
    score = ExecutionOrderScorer().score(Example(), Trace.from_calls(["a", {"name": "b", "arguments": {}}]))
    assert_type(score, Score)
    assert_type(score.value, float | None)
    assert_type(Trace.from_messages([{"role": "user", "content": "hi"}]).tool_calls[0].name, str)


def tasks_are_typed() -> None:
    task = load_task("task.yaml", function=str.upper)
    assert_type(task, Task)
    assert_type(task.run(concurrency=2, trials="auto"), EvaluationReport)


def simulations_are_typed(recorded: Trace) -> None:
    desk = Tracer("desk")
    answers = {"search": sequence("a", raises(TimeoutError)), "book": cases(when({"n": 1}, slow("ok", 0.1)))}
    with desk.simulate(answers, state={"n": 1}, others="error", later=["book"]) as run:
        assert_type(run.calls[0].name, str)
    with desk.replay(recorded, models="live", ignore="now") as replayed:
        assert_type(replayed.left_at, int)
    for simulate in ({"search": 1}, Simulation(answers), Recording(recorded)):
        run_evaluation(
            [Example(simulate={"search": 1})], [ToolOrderScorer()], function=print, simulate=simulate
        )
