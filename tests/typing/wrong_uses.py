"""Uses that type checkers must reject.

Each is marked with the code under which mypy rejects it. A mark that is not needed is itself an error, to
mypy and to pyright: a wrong use that becomes accepted fails the check.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from collections.abc import Sequence

from agenttrace import (
    Example,
    ExecutionOrderScorer,
    ExpectedToolCall,
    Score,
    ToolCall,
    ToolOrderScorer,
    Trace,
    Tracer,
    assert_test,
    call,
    expect,
    observe,
    run_evaluation,
)
from agenttrace.core.protocols import ChecksExamples
from agenttrace.matching import compare
from agenttrace.scorers import ToolCallCountScorer, TrajectoryScorer, scorer

tracer = Tracer(project_name="typed", store="memory")


@tracer.observe(span_type="tool")
def lookup(order: int) -> str:
    return str(order)


def wants_expected(calls: Sequence[ExpectedToolCall]) -> None: ...


def wants_actual(calls: Sequence[ToolCall]) -> None: ...


def expected_and_actual_are_not_swapped(trace: Trace) -> None:
    wants_actual([call("lookup")])  # type: ignore[list-item]
    wants_actual([ExpectedToolCall(name="lookup")])  # type: ignore[list-item]
    wants_expected(trace.tool_calls)  # type: ignore[arg-type]
    wants_expected([ToolCall(name="lookup")])  # type: ignore[list-item]
    Example(expected_tools=trace.tool_calls)  # type: ignore[arg-type]
    Example(expected_tools=trace)  # type: ignore[arg-type]
    Example(tools_called=[call("lookup")])  # type: ignore[list-item]
    compare(["lookup"], [call("lookup")])  # type: ignore[list-item]
    ToolOrderScorer().score(trace, Example())  # type: ignore[arg-type]
    ExecutionOrderScorer().score(trace, Example())  # type: ignore[arg-type]


async def a_judge_is_waited_for_and_nothing_else_is(example: Example) -> None:
    ToolOrderScorer(ask=lambda text, value: True).score(example).value  # type: ignore[attr-defined]  # noqa: B018
    await ToolOrderScorer().score(example)  # type: ignore[misc]


def decorated_functions_keep_their_parameters() -> None:
    lookup("seven")  # type: ignore[arg-type]
    lookup()  # type: ignore[call-arg]
    lookup(7, 8)  # type: ignore[call-arg]
    lookup(7).bit_length()  # type: ignore[attr-defined]


def options_have_their_types() -> None:
    ToolOrderScorer(threshold="high")  # type: ignore[call-overload]
    ToolOrderScorer(parameters="some")  # type: ignore[call-overload]
    ToolOrderScorer(attempts="first")  # type: ignore[call-overload]
    ToolOrderScorer(exact=True)  # type: ignore[call-overload]
    TrajectoryScorer(metric="recall")  # type: ignore[call-overload]
    TrajectoryScorer(agents="desk")  # type: ignore[call-overload]
    ToolCallCountScorer({"search": 1})  # type: ignore[dict-item]
    expect(["a"], mode="ordered")  # type: ignore[arg-type]
    expect(["a"], severity="error")  # type: ignore[arg-type]
    call("a", match="subset")  # type: ignore[arg-type]
    Tracer(store=7)  # type: ignore[arg-type]
    Tracer(project="typed")  # type: ignore[call-arg]
    tracer.observe(span="tool")  # type: ignore[call-overload]
    observe(span="tool")  # type: ignore[call-overload]
    observe(capture_input="no")  # type: ignore[call-overload]
    tracer.observe(scorers=[ToolOrderScorer])  # type: ignore[list-item]
    Example(expected_tool=["a"])  # type: ignore[call-arg]
    Example(input=7)  # type: ignore[arg-type]


class NoThreshold:
    name = "No threshold"

    def score(self, example: Example, trace: Trace) -> Score:
        return Score.of(self.name, 1.0, 1.0)


def wants_a_hook(checking: ChecksExamples) -> None: ...


def a_hook_has_its_method(own: NoThreshold) -> None:
    wants_a_hook(own)  # type: ignore[arg-type]


def scorers_are_scorers() -> None:
    run_evaluation([Example()], [ToolOrderScorer])  # type: ignore[list-item]
    run_evaluation([Example()], [NoThreshold()])  # type: ignore[list-item]
    run_evaluation([{"input": "a"}], [ToolOrderScorer()])  # type: ignore[list-item]
    assert_test([Example()], [ToolOrderScorer()], trials="3")  # type: ignore[arg-type]
    tracer.async_evaluate([lambda example: 1.0], input="a")  # type: ignore[list-item]
    tracer.async_evaluate([ToolOrderScorer()], modle="gpt-4.1")  # type: ignore[call-arg]
    tracer.async_evaluate([ToolOrderScorer()], context="one text")  # type: ignore[arg-type]
    tracer.async_evaluate([ToolOrderScorer()], on_result=print, timeout="1 s")  # type: ignore[arg-type]
    scorer(threshold=1.0)(7)  # type: ignore[arg-type]


async def handles_are_awaited_for_scores() -> None:
    handle = tracer.async_evaluate([ToolOrderScorer()], input="a", sample_rate="all")  # type: ignore[arg-type]
    (await handle).value  # type: ignore[attr-defined]  # noqa: B018
